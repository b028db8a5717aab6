//! The bytes of a slot file: the record of the holder twice, each with a checksum.
//!
//! A record is written and synced at one place before it is written at the other, so at any moment at least one of them is
//! whole, and once both writes are done the loss of either loses nothing.

use snowmint_core::Error;
use snowmint_core::lease::{self, Record};

/// Length of a record and its checksum in bytes.
pub const RECORD_BYTES: usize = lease::RECORD_BYTES + 4;
/// The places of the two records, in separate blocks: a torn write tears one of them only.
pub const PLACES: [usize; 2] = [0, 4096];

/// Returns the bytes of a record, and behind them their CRC-32, little-endian.
pub fn to_bytes(record: &Record) -> [u8; RECORD_BYTES] {
    let mut bytes = [0; RECORD_BYTES];
    let (content, sum) = bytes.split_at_mut(lease::RECORD_BYTES);
    content.copy_from_slice(&record.to_bytes());
    sum.copy_from_slice(&crc32fast::hash(content).to_le_bytes());
    bytes
}

/// Reads a record from the start of `bytes`.
///
/// # Errors
/// `StoreUnavailable`, if the bytes are torn or something else, or a record of a later version.
pub fn from_bytes(bytes: &[u8]) -> Result<Record, Error> {
    // A later version may have its checksum elsewhere.
    let record = Record::from_bytes(bytes)?;
    let (content, rest) = bytes.split_at(lease::RECORD_BYTES);
    if rest.starts_with(&crc32fast::hash(content).to_le_bytes()) { Ok(record) } else { Err(Error::no_record()) }
}

/// Returns the valid record with the higher serial number of a slot file, or `None` if the file is empty.
///
/// # Errors
/// As [`from_bytes`], if neither place has a valid record.
pub fn latest(file: &[u8]) -> Result<Option<Record>, Error> {
    if file.is_empty() {
        return Ok(None);
    }
    match PLACES.map(|place| from_bytes(file.get(place..).unwrap_or_default())) {
        [Ok(first), Ok(second)] => Ok(Some(if second.serial > first.serial { second } else { first })),
        // The other place is torn. Or a later version was killed between its two writes, so it has used no ID of the window.
        [Ok(whole), Err(_)] | [Err(_), Ok(whole)] => Ok(Some(whole)),
        [Err(_), Err(later)] if later.is_later_version() => Err(later),
        [Err(error), Err(_)] => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use snowmint_core::Window;
    use snowmint_core::bytes::label;

    use super::*;

    fn record(serial: u64, end_ms: i64) -> Record {
        let window = Window { start_ms: -1, end_ms };
        Record { released: false, serial, window, nonce: u128::MAX - 5, label: label("gunicorn:4711"), layout: 0 }
    }

    fn file(first: &[u8], second: &[u8]) -> Vec<u8> {
        let mut bytes = first.to_vec();
        bytes.resize(4096, 0);
        bytes.extend(second);
        bytes
    }

    #[test]
    fn a_record_survives_its_bytes_and_any_changed_bit_is_noticed() {
        let bytes = to_bytes(&record(7, i64::MIN));
        assert_eq!(from_bytes(&bytes), Ok(record(7, i64::MIN)));
        for bit in 0..RECORD_BYTES * 8 {
            let mut torn = bytes;
            torn[bit / 8] ^= 1 << (bit % 8);
            assert!(from_bytes(&torn).is_err(), "bit {bit}");
        }
    }

    #[test]
    fn the_later_whole_record_counts_and_one_may_be_torn() {
        let (old, new) = (to_bytes(&record(7, 100)), to_bytes(&record(8, 200)));
        let latest = |bytes: &[u8]| latest(bytes).map(|record| record.map(|record| record.window.end_ms));
        assert_eq!(latest(&[]), Ok(None));
        assert_eq!(latest(&file(&old, &new)), Ok(Some(200)));
        assert_eq!(latest(&file(&new, &old)), Ok(Some(200)));
        assert_eq!(latest(&file(&new[..60], &old)), Ok(Some(100)));
        assert_eq!(latest(&file(&old, &new[..60])), Ok(Some(100)));
        assert_eq!(latest(&old), Ok(Some(100)));
        assert_eq!(latest(&old[..127]), Err(Error::no_record()));
        assert_eq!(latest(&[0; 8192]), Err(Error::no_record()));
    }

    #[test]
    fn a_flipped_bit_loses_nothing() {
        let whole = file(&to_bytes(&record(7, 100)), &to_bytes(&record(7, 100)));
        let mut flips = 0;
        for bit in PLACES.into_iter().flat_map(|place| place * 8..(place + RECORD_BYTES) * 8) {
            let mut torn = whole.clone();
            torn[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(latest(&torn), Ok(Some(record(7, 100))), "bit {bit}");
            flips += 1;
        }
        assert_eq!(flips, 2048);
    }

    #[test]
    fn a_later_version_is_refused_whatever_its_checksum() {
        let (first, mut later) = (to_bytes(&record(9, 9)), to_bytes(&record(10, 10)));
        later[8] = 2;
        for (first, second) in [(&later[..], &later[..]), (&first[..60], &later), (&later, &first[..60])] {
            let error = latest(&file(first, second)).expect_err("a later version");
            assert_eq!(error.to_string(), "the record has version 2, and this snowmint reads up to 1: update snowmint");
        }
        // Killed between its two writes.
        assert_eq!(latest(&file(&later, &first)), Ok(Some(record(9, 9))));
    }
}
