//! The times, clock sequences, nodes and owners in UUIDs.

use super::Uuid;
use super::gregorian::TO_1970;

impl Uuid {
    /// Returns the time of versions 1, 2 and 6: 100 ns since 1582-10-15, 60 bits. Version 2 lacks the low 32 bits
    /// (seven minutes), which are 0. `None` for other versions.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Uuid;
    /// // Appendix A.1 of RFC 9562.
    /// let uuid: Uuid = "c232ab00-9414-11ec-b3c8-9f6bdeced846".parse()?;
    /// assert_eq!(uuid.gregorian_100ns(), Some(0x1ec_9414_c232_ab00));
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub const fn gregorian_100ns(self) -> Option<u64> {
        let high = (self.0 >> 64) as u64;
        match self.version() {
            // Low, middle, version, high.
            Some(1) => Some(high >> 32 | (high >> 16 & 0xffff) << 32 | (high & 0xfff) << 48),
            Some(2) => Some((high >> 16 & 0xffff) << 32 | (high & 0xfff) << 48),
            // High, middle, version, low.
            Some(6) => Some(high >> 16 << 12 | high & 0xfff),
            _ => None,
        }
    }

    /// Returns the time of versions 1, 2, 6 and 7, Unix ms, rounded down (version 2: to seven minutes); `None` for other
    /// versions.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Uuid;
    /// // Appendix A.6 of RFC 9562: 2022-02-22T19:22:22Z.
    /// let uuid: Uuid = "017f22e2-79b0-7cc3-98c4-dc0c0c07398f".parse()?;
    /// assert_eq!(uuid.timestamp_ms(), Some(1_645_557_742_000));
    /// assert_eq!(Uuid::v4(0).timestamp_ms(), None);
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub const fn timestamp_ms(self) -> Option<i64> {
        match (self.version(), self.gregorian_100ns()) {
            (Some(7), _) => Some((self.0 >> 80) as i64),
            // 60 bits.
            (_, Some(since_1582)) => Some((since_1582.cast_signed() - TO_1970).div_euclid(10_000)),
            _ => None,
        }
    }

    /// Returns the clock sequence of versions 1 and 6 (14 bits) and version 2 (6 bits); `None` for other versions.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Uuid;
    /// let uuid: Uuid = "c232ab00-9414-11ec-b3c8-9f6bdeced846".parse()?;
    /// assert_eq!(uuid.clock_sequence(), Some(0x33c8));
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub const fn clock_sequence(self) -> Option<u16> {
        match self.version() {
            Some(1 | 6) => Some((self.0 >> 48 & 0x3fff) as u16),
            Some(2) => Some((self.0 >> 56 & 0x3f) as u16),
            _ => None,
        }
    }

    /// Returns the node of versions 1, 2 and 6, 48 bits; `None` for other versions.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Uuid;
    /// let uuid: Uuid = "c232ab00-9414-11ec-b3c8-9f6bdeced846".parse()?;
    /// assert_eq!(uuid.node(), Some(0x9f6b_dece_d846));
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub const fn node(self) -> Option<u64> {
        match self.version() {
            Some(1 | 2 | 6) => Some(self.0 as u64 & 0xffff_ffff_ffff),
            _ => None,
        }
    }

    /// Returns the owner of a version 2 (DCE 1.1: Authentication and Security Services, section 5.2.1.1): the domain (0
    /// for users, 1 for groups, 2 for organisations), and a number, such as the user id of POSIX. `None` for other
    /// versions.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Uuid;
    /// let uuid: Uuid = "000003e8-0e1f-21ec-8001-005056219395".parse()?;
    /// assert_eq!(uuid.local(), Some((1, 1000)), "group 1000");
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub const fn local(self) -> Option<(u8, u32)> {
        match self.version() {
            Some(2) => Some(((self.0 >> 48 & 0xff) as u8, (self.0 >> 96) as u32)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_2_has_a_domain_a_number_and_seven_minutes() {
        // The version 1 of the same instant, node and clock sequence is 8c45583a-0e1f-11ec-804d-005056219395.
        let uuid = Uuid::from_bits(0x0000_03e8_0e1f_21ec_8001_0050_5621_9395);
        assert_eq!(uuid.local(), Some((1, 1000)));
        assert_eq!((uuid.node(), uuid.clock_sequence()), (Some(0x50_5621_9395), Some(0)));
        let exact_ms = 1_630_828_920_177;
        let ms = uuid.timestamp_ms().expect("version 2 has a time");
        assert!((exact_ms - 429_497..=exact_ms).contains(&ms), "{ms}");
    }
}
