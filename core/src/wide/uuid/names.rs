//! Versions 3 and 5: the hash of a name, which the crate `uuid` computes; and conversions from and to that crate.

use super::Uuid;

impl Uuid {
    /// The namespace of domain names (RFC 9562, section 6.6).
    pub const NAMESPACE_DNS: Self = Self(uuid::Uuid::NAMESPACE_DNS.as_u128());
    /// The namespace of ISO object identifiers.
    pub const NAMESPACE_OID: Self = Self(uuid::Uuid::NAMESPACE_OID.as_u128());
    /// The namespace of URLs.
    pub const NAMESPACE_URL: Self = Self(uuid::Uuid::NAMESPACE_URL.as_u128());
    /// The namespace of X.500 distinguished names.
    pub const NAMESPACE_X500: Self = Self(uuid::Uuid::NAMESPACE_X500.as_u128());

    /// Makes a version 3 (RFC 9562, section 5.3): the MD5 of a name in a namespace. New programs should use version 5.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Uuid;
    /// // Appendix A.2 of RFC 9562.
    /// let uuid = Uuid::v3(Uuid::NAMESPACE_DNS, "www.example.com");
    /// assert_eq!(uuid.to_string(), "5df41881-3aed-3515-88a7-2f4a814cf09e");
    /// ```
    pub fn v3(namespace: Self, name: impl AsRef<[u8]>) -> Self {
        uuid::Uuid::new_v3(&namespace.into(), name.as_ref()).into()
    }

    /// Makes a version 5 (section 5.5): the SHA-1 of a name in a namespace.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Uuid;
    /// // Appendix A.4 of RFC 9562.
    /// let uuid = Uuid::v5(Uuid::NAMESPACE_DNS, "www.example.com");
    /// assert_eq!(uuid.to_string(), "2ed6657d-e927-568b-95e1-2665a8aea6a2");
    /// ```
    pub fn v5(namespace: Self, name: impl AsRef<[u8]>) -> Self {
        uuid::Uuid::new_v5(&namespace.into(), name.as_ref()).into()
    }
}

impl From<uuid::Uuid> for Uuid {
    fn from(uuid: uuid::Uuid) -> Self {
        Self(uuid.as_u128())
    }
}

impl From<Uuid> for uuid::Uuid {
    fn from(uuid: Uuid) -> Self {
        Self::from_u128(uuid.0)
    }
}
