//! Reservations: a node that a store grants for hours to a directory of one machine.
//!
//! The processes of the machine take the windows of the node one after the other from a slot in that directory, each within the
//! window that the store has granted. So they need no store to start again after a crash.

use super::{Record, bits_of};
use crate::error::{Error, What};
use crate::layout::Layout;
use crate::mutant;
use crate::store::Version;
use crate::store::bytes::Format;
use crate::window::Window;

/// Length of a reservation in bytes.
pub const RESERVATION_BYTES: usize = 68 + super::RECORD_BYTES;

const FORMAT: Format = Format::new(b"reserved", 1);

/// The identity of a file, which its copies do not share: the start of the system that opened the file, the file
/// system, the file's number there, its birth, and its name.
///
/// A copy on the same machine has another number, or the number of a deleted file and a later birth. Another machine
/// has another system start. The name is part of the identity, because a renamed file would give the reservation of
/// another node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileIdentity {
    /// The random number that the kernel has drawn when the machine started.
    pub boot: u128,
    /// The number of the file system.
    pub device: u64,
    /// The number of the file there.
    pub inode: u64,
    /// When the file was made, in ns since 1970; 0 where the file system does not say.
    pub born_ns: u64,
    /// A hash of the parts of its path that name the store, the namespace and the node.
    pub name: u64,
}

/// A reservation as a directory keeps it.
///
/// | bytes | content, little-endian |
/// | --- | --- |
/// | 0 to 7 | `reserved` |
/// | 8 to 11 | version of this format |
/// | 12 to 27, 28 to 35, 36 to 43, 44 to 51, 52 to 59 | identity of the file: start of the system, file system, file, birth, name |
/// | 60 to 67 | version of the record in the store |
/// | 68 to 191 | [record](Record) of the node in the store |
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reservation {
    /// The file that the reservation was written to.
    pub identity: FileIdentity,
    /// The version of the record in the store.
    pub version: Version,
    /// The record in the store. Its window is the reservation.
    pub record: Record,
}

impl Reservation {
    /// The shortest reservation, in ms. It also has at least four windows.
    pub const MIN_MS: u64 = 60 * 1000;
    /// The longest reservation, in ms.
    pub const MAX_MS: u64 = 7 * 24 * 60 * 60 * 1000;
    const MIN_WINDOWS: u64 = 4;

    /// Reads the length of a reservation, such as `24h`: a whole number and `s`, `m`, `h` or `d`. Returns ms.
    ///
    /// # Errors
    /// `InvalidStore`.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::lease::Reservation;
    /// assert_eq!(Reservation::parse_ms("24h"), Ok(86_400_000));
    /// assert_eq!(
    ///     Reservation::parse_ms("24 hours").unwrap_err().to_string(),
    ///     "reserve is a number and s, m, h or d, such as 24h: 1m to 7d, and at least four windows"
    /// );
    /// ```
    pub fn parse_ms(text: &str) -> Result<u64, Error> {
        const UNITS: [(char, u64); 4] = [('s', 1000), ('m', 60_000), ('h', 3_600_000), ('d', 86_400_000)];
        let read = || {
            let (digits, unit_ms) = UNITS.iter().find_map(|(unit, ms)| Some((text.strip_suffix(*unit)?, ms)))?;
            let is_plain = digits.bytes().all(|byte| byte.is_ascii_digit());
            digits.parse::<u64>().ok().filter(|_| is_plain)?.checked_mul(*unit_ms)
        };
        read().ok_or(WRONG)
    }

    /// Refuses a length that is too short or too long, in ms.
    ///
    /// # Errors
    /// `InvalidStore`.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::lease::Reservation;
    /// assert!(Reservation::refuse_length(86_400_000, 3000).is_ok());
    /// assert!(Reservation::refuse_length(59_000, 3000).is_err());
    /// assert!(Reservation::refuse_length(86_400_000, 30_000_000).is_err(), "less than four windows");
    /// ```
    pub const fn refuse_length(reserve_ms: u64, window_ms: u64) -> Result<(), Error> {
        if reserve_ms < Self::MIN_MS
            || reserve_ms < window_ms.saturating_mul(Self::MIN_WINDOWS)
            || reserve_ms > Self::MAX_MS
        {
            return Err(WRONG);
        }
        Ok(())
    }

    /// Returns the refusal of a reservation without a store that has records: `InvalidStore`.
    pub const fn no_store() -> Error {
        Error::plain(What::ReserveStore)
    }

    /// Returns the refusal of a reservation where no directory can keep it: `InvalidStore`.
    pub const fn no_directory() -> Error {
        Error::plain(What::ReserveDirectory)
    }

    /// Returns whether the directory may use this reservation: it was written to this file and is not its copy, and the system
    /// has not started anew since, as another machine with a copy of the disk would.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Window;
    /// use snowmint_core::bytes::label;
    /// use snowmint_core::lease::{FileIdentity, Record, Reservation};
    /// let window = Window { start_ms: 0, end_ms: 86_400_000 };
    /// let record = Record { released: false, serial: 1, window, nonce: 0x5eed, label: label("host 7"), layout: 0 };
    /// let identity = FileIdentity { boot: 0xb007, device: 8, inode: 4711, born_ns: 1, name: 2 };
    /// let reservation = Reservation { identity, version: 1, record };
    /// assert!(reservation.is_in(&identity));
    /// assert!(!reservation.is_in(&FileIdentity { inode: 4712, ..identity }));
    /// ```
    pub fn is_in(&self, file: &FileIdentity) -> bool {
        self.identity == *file || mutant::removes("copied")
    }

    /// Returns the reservation to write over this one, once the store has given the node to others: no window lies in
    /// it.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Window;
    /// use snowmint_core::bytes::label;
    /// use snowmint_core::lease::{FileIdentity, Record, Reservation};
    /// let window = Window { start_ms: 0, end_ms: 86_400_000 };
    /// let record = Record { released: false, serial: 1, window, nonce: 0x5eed, label: label("host 7"), layout: 0 };
    /// let identity = FileIdentity { boot: 0xb007, device: 8, inode: 4711, born_ns: 1, name: 2 };
    /// let given_up = Reservation { identity, version: 1, record }.given_up();
    /// assert_eq!(given_up.within(window), None);
    /// assert!(given_up.record.serial > record.serial, "it counts as the later of two");
    /// ```
    #[must_use]
    pub fn given_up(&self) -> Self {
        let Record { serial, window, .. } = self.record;
        let window = Window { end_ms: window.start_ms, ..window };
        Self { record: Record { released: true, serial: serial.saturating_add(1), window, ..self.record }, ..*self }
    }

    /// Returns the part of a slot's window that lies within the reservation; `None` if the window lies outside.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Window;
    /// use snowmint_core::bytes::label;
    /// use snowmint_core::lease::{FileIdentity, Record, Reservation};
    /// let window = Window { start_ms: 0, end_ms: 86_400_000 };
    /// let record = Record { released: false, serial: 1, window, nonce: 0x5eed, label: label("host 7"), layout: 0 };
    /// let identity = FileIdentity { boot: 0xb007, device: 8, inode: 4711, born_ns: 1, name: 2 };
    /// let reservation = Reservation { identity, version: 1, record };
    /// let last = Window { start_ms: 86_399_000, end_ms: 86_402_000 };
    /// assert_eq!(reservation.within(last), Some(Window { end_ms: 86_400_000, ..last }));
    /// assert_eq!(reservation.within(Window { start_ms: 86_400_000, end_ms: 86_403_000 }), None);
    /// ```
    pub fn within(&self, window: Window) -> Option<Window> {
        if mutant::removes("nested") {
            return Some(window);
        }
        let reserved = self.record.window;
        let (start_ms, end_ms) = (window.start_ms.max(reserved.start_ms), window.end_ms.min(reserved.end_ms));
        (start_ms < end_ms).then_some(Window { start_ms, end_ms })
    }

    /// Returns the first window of a slot within the reservation, as [`Window::first`] does; `None` if it does not fit.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Window;
    /// use snowmint_core::bytes::label;
    /// use snowmint_core::layouts::SNOWMINT;
    /// use snowmint_core::lease::{FileIdentity, Record, Reservation};
    /// let (now_ms, identity) = (1_772_323_200_000, FileIdentity { boot: 0xb007, device: 8, inode: 4711, born_ns: 1, name: 2 });
    /// // The holder on another machine had the node for a second more.
    /// let window = Window { start_ms: now_ms + 1000, end_ms: now_ms + 86_400_000 };
    /// let record = Record { released: false, serial: 1, window, nonce: 0x5eed, label: label("host 7"), layout: 0 };
    /// let reservation = Reservation { identity, version: 1, record };
    /// let first = reservation.first(&SNOWMINT, None, now_ms, 3000);
    /// assert_eq!(first, Some(Window { start_ms: now_ms + 1000, end_ms: now_ms + 4000 }));
    /// ```
    pub fn first(&self, layout: &Layout, previous_end_ms: Option<i64>, now_ms: i64, reach_ms: u64) -> Option<Window> {
        let start_ms = self.record.window.start_ms;
        let previous_end_ms = previous_end_ms.map_or(start_ms, |end_ms| end_ms.max(start_ms));
        self.within(Window::first(layout, Some(previous_end_ms), now_ms, reach_ms))
    }

    /// Returns the ms from a renewal to the next one, of a reservation of which `left_ms` are left: 35 to 50 % of it, at half at the
    /// latest; after failures 5 s to a minute, or up to 400 ms if it is over.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::lease::Reservation;
    /// let pause_ms = |left_ms, failures| Reservation::pause_ms(86_400_000, left_ms, failures, 0x5eed);
    /// assert!((30_240_000..=43_200_000).contains(&pause_ms(80_000_000, 0)));
    /// // The clock was set forward.
    /// assert_eq!(pause_ms(40_000_000, 0), 0);
    /// assert!((5000..=60_000).contains(&pause_ms(40_000_000, 1)));
    /// assert!((1..=400).contains(&pause_ms(0, 2)));
    /// ```
    pub const fn pause_ms(reserve_ms: u64, left_ms: u64, failures: u64, nonce: u128) -> u64 {
        match failures {
            0 if left_ms <= reserve_ms / 2 => 0,
            0 => super::renewal_pause_ms(reserve_ms, reserve_ms, 0, nonce),
            _ if left_ms == 0 => super::renewal_pause_ms(reserve_ms, left_ms, failures, nonce),
            // A store that does not answer for hours is not asked each moment.
            _ => RETRY_MIN_MS + bits_of(nonce, failures) % (RETRY_MAX_MS - RETRY_MIN_MS + 1),
        }
    }

    /// Returns the bytes of this reservation.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Window;
    /// use snowmint_core::bytes::label;
    /// use snowmint_core::lease::{FileIdentity, Record, Reservation};
    /// let window = Window { start_ms: 0, end_ms: 86_400_000 };
    /// let record = Record { released: false, serial: 1, window, nonce: 0x5eed, label: label("host 7"), layout: 0 };
    /// let identity = FileIdentity { boot: 0xb007, device: 8, inode: 4711, born_ns: 1, name: 2 };
    /// let reservation = Reservation { identity, version: 1, record };
    /// assert_eq!(Reservation::from_bytes(&reservation.to_bytes())?, reservation);
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub fn to_bytes(&self) -> [u8; RESERVATION_BYTES] {
        FORMAT
            .write()
            .part(self.identity.boot.to_le_bytes())
            .part(self.identity.device.to_le_bytes())
            .part(self.identity.inode.to_le_bytes())
            .part(self.identity.born_ns.to_le_bytes())
            .part(self.identity.name.to_le_bytes())
            .part(self.version.to_le_bytes())
            .part(self.record.to_bytes())
            .finish()
    }

    /// Reads a reservation.
    ///
    /// # Errors
    /// `StoreUnavailable`, if the bytes are not a reservation, or one of a later version.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let mut parts = FORMAT.read::<RESERVATION_BYTES>(bytes)?;
        let (boot, device) = (u128::from_le_bytes(parts.part()?), u64::from_le_bytes(parts.part()?));
        let (inode, born_ns) = (u64::from_le_bytes(parts.part()?), u64::from_le_bytes(parts.part()?));
        let name = u64::from_le_bytes(parts.part()?);
        Ok(Self {
            identity: FileIdentity { boot, device, inode, born_ns, name },
            version: Version::from_le_bytes(parts.part()?),
            record: Record::from_bytes(&parts.part::<{ super::RECORD_BYTES }>()?)?,
        })
    }
}

const WRONG: Error = Error::plain(What::Reserve);

/// The least ms from a failed renewal to the next one, and the most.
const RETRY_MIN_MS: u64 = 5000;
const RETRY_MAX_MS: u64 = 60_000;

#[cfg(test)]
mod tests {
    extern crate std;
    use std::string::ToString;

    use super::*;
    use crate::layout::layouts::SNOWMINT;
    use crate::store::bytes::label;

    const NOW_MS: i64 = 1_772_323_200_123;

    fn reservation(start_ms: i64, end_ms: i64) -> Reservation {
        let window = Window { start_ms, end_ms };
        let record = Record { released: false, serial: 3, window, nonce: 5, label: label("a machine"), layout: 0 };
        Reservation {
            identity: FileIdentity { boot: u128::MAX - 1, device: 2, inode: 3, born_ns: 4, name: 5 },
            version: u64::MAX,
            record,
        }
    }

    #[test]
    fn a_length_is_a_number_and_a_unit() {
        for (text, ms) in [("90s", 90_000), ("1m", 60_000), ("24h", 86_400_000), ("7d", 604_800_000), ("0h", 0)] {
            assert_eq!(Reservation::parse_ms(text), Ok(ms), "{text}");
        }
        for text in ["", "h", "24", "-1h", "+1h", "1.5h", "24H", "24 h", "1h30m", "99999999999999999d", "é"] {
            assert_eq!(Reservation::parse_ms(text), Err(WRONG), "{text}");
        }
        for (reserve_ms, window_ms, is_right) in [
            (60_000, 15_000, true),
            (59_999, 1000, false),
            (60_000, 15_001, false),
            (604_800_000, 3000, true),
            (604_800_001, 3000, false),
            (u64::MAX, u64::MAX, false),
        ] {
            assert_eq!(Reservation::refuse_length(reserve_ms, window_ms).is_ok(), is_right, "{reserve_ms} {window_ms}");
        }
        assert!(WRONG.to_string().ends_with("such as 24h: 1m to 7d, and at least four windows"), "{WRONG}");
    }

    #[test]
    fn a_window_of_a_slot_lies_within_the_reservation() {
        let reserved = reservation(NOW_MS - 1000, NOW_MS + 5000);
        let window = |start, end| Window { start_ms: NOW_MS + start, end_ms: NOW_MS + end };
        let cases = [
            ((0, 3000), Some((0, 3000))),
            ((0, 9000), Some((0, 5000))),
            ((-2000, 1000), Some((-1000, 1000))),
            ((4999, 8000), Some((4999, 5000))),
            ((5000, 8000), None),
            ((-3000, -1000), None),
        ];
        for ((start, end), within) in cases {
            assert_eq!(reserved.within(window(start, end)), within.map(|(start, end)| window(start, end)), "{start}");
        }
    }

    #[test]
    fn the_first_window_begins_after_all_that_was_used_before() {
        let reserved = reservation(NOW_MS - 1000, NOW_MS + 5000);
        let first = |previous_end_ms| reserved.first(&SNOWMINT, previous_end_ms, NOW_MS, 3000);
        assert_eq!(first(None), Some(Window { start_ms: NOW_MS, end_ms: NOW_MS + 3000 }));
        // A process of this machine was killed: its window counts to the end.
        assert_eq!(first(Some(NOW_MS + 2500)), Some(Window { start_ms: NOW_MS + 2500, end_ms: NOW_MS + 5000 }));
        assert_eq!(first(Some(NOW_MS + 5000)), None);
        // The clock was set back behind the reservation, which another machine had before.
        let back = reserved.first(&SNOWMINT, Some(NOW_MS - 9000), NOW_MS - 8000, 3000);
        assert_eq!(back, Some(Window { start_ms: NOW_MS - 1000, end_ms: NOW_MS + 2000 }));
    }

    #[test]
    fn a_copy_and_another_start_of_the_system_are_noticed() {
        let reserved = reservation(0, 1);
        assert!(reserved.is_in(&reserved.identity));
        for other in [
            FileIdentity { boot: 7, ..reserved.identity },
            FileIdentity { device: 7, ..reserved.identity },
            FileIdentity { inode: 7, ..reserved.identity },
            FileIdentity { born_ns: 7, ..reserved.identity },
            FileIdentity { name: 7, ..reserved.identity },
        ] {
            assert!(!reserved.is_in(&other), "{other:?}");
        }
    }

    #[test]
    fn bytes_are_read_back_and_others_refused() {
        let (reserved, mut bytes) = (reservation(-1, i64::MAX), reservation(-1, i64::MAX).to_bytes());
        assert_eq!(Reservation::from_bytes(&bytes), Ok(reserved));
        assert_eq!(Reservation::from_bytes(&bytes[..191]), Err(Error::no_record()));
        assert_eq!(Reservation::from_bytes(&[0; RESERVATION_BYTES]), Err(Error::no_record()));
        bytes[8] = 2;
        assert!(Reservation::from_bytes(&bytes).is_err_and(|error| error.is_later_version()));
    }
}
