//! The bytes of a file.

use std::path::Path;

use crate::store::{Version, Versioned};

const MAGIC: &[u8; 8] = b"snowmint";
const FORMAT: u32 = 1;
const HEADER_BYTES: usize = 28;

/// A record or a counter in its file. Numbers are little-endian.
///
/// | bytes | content |
/// | --- | --- |
/// | 0 to 7 | `snowmint` |
/// | 8 to 11 | version of this format |
/// | 12 to 15 | CRC-32 of all bytes from 16 on |
/// | 16 to 23 | version of the record; 1 for a counter |
/// | 24 to 27 | length of the key |
/// | 28 and on | key, then value; a counter in decimal digits |
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) version: Version,
    pub(super) key: String,
    pub(super) value: Vec<u8>,
}

impl Entry {
    pub(super) fn of_number(key: String, number: u64) -> Self {
        Self { version: 1, key, value: number.to_string().into_bytes() }
    }

    pub(super) fn number(&self, path: &Path) -> Result<u64, String> {
        let digits = std::str::from_utf8(&self.value).ok().and_then(|digits| digits.parse().ok());
        digits.ok_or_else(|| format!("{} is damaged: it does not contain a number", path.display()))
    }

    pub(super) fn into_versioned(self) -> Versioned {
        Versioned { value: self.value, version: self.version }
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        // A key has at most 512 bytes.
        let key_bytes = u32::try_from(self.key.len()).unwrap_or(u32::MAX);
        let mut bytes = Vec::with_capacity(HEADER_BYTES + self.key.len() + self.value.len());
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&FORMAT.to_le_bytes());
        bytes.extend_from_slice(&[0; 4]);
        bytes.extend_from_slice(&self.version.to_le_bytes());
        bytes.extend_from_slice(&key_bytes.to_le_bytes());
        bytes.extend_from_slice(self.key.as_bytes());
        bytes.extend_from_slice(&self.value);
        let sum = crc32fast::hash(&bytes[16..]);
        bytes[12..16].copy_from_slice(&sum.to_le_bytes());
        bytes
    }

    /// Decodes an entry.
    ///
    /// # Errors
    /// A message that names the damage.
    pub(super) fn from_bytes(bytes: &[u8]) -> Result<Self, &'static str> {
        let (header, rest) = bytes.split_at_checked(HEADER_BYTES).ok_or("it is too short")?;
        if !header.starts_with(MAGIC) {
            return Err("it is not a file of snowmint");
        }
        match number::<4>(header, 8).map(u32::from_le_bytes) {
            Some(FORMAT) => {}
            Some(newer) if newer > FORMAT => return Err("it was written by a newer version of snowmint"),
            _ => return Err("its format is unknown"),
        }
        if number(header, 12).map(u32::from_le_bytes) != Some(crc32fast::hash(&bytes[16..])) {
            return Err("its checksum is wrong");
        }
        let version = number(header, 16).map(Version::from_le_bytes).filter(|version| *version > 0);
        let key_bytes = number(header, 24).map(u32::from_le_bytes).and_then(|length| usize::try_from(length).ok());
        let (key, value) = key_bytes.and_then(|length| rest.split_at_checked(length)).ok_or("its key is too long")?;
        let key = String::from_utf8(key.to_vec()).map_err(|_| "its key is not UTF-8")?;
        Ok(Self { version: version.ok_or("it has no version")?, key, value: value.to_vec() })
    }
}

fn number<const N: usize>(bytes: &[u8], from: usize) -> Option<[u8; N]> {
    bytes.get(from..from + N)?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_changed_bit_or_cut_of_an_entry_is_noticed() {
        let entry = Entry { version: u64::MAX, key: "leases/a/5".to_owned(), value: (0..=255).collect() };
        let bytes = entry.to_bytes();
        assert_eq!(Entry::from_bytes(&bytes).as_ref(), Ok(&entry));
        for bit in 0..bytes.len() * 8 {
            let mut torn = bytes.clone();
            torn[bit / 8] ^= 1 << (bit % 8);
            assert!(Entry::from_bytes(&torn).is_err(), "bit {bit}");
        }
        for length in 0..bytes.len() {
            assert!(Entry::from_bytes(&bytes[..length]).is_err(), "{length}");
            assert!(
                Entry::from_bytes(&[&bytes[..length], &vec![0; bytes.len() - length]].concat()).is_err(),
                "{length}"
            );
        }
    }
}
