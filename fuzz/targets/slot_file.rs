//! Reads any bytes as a slot file: reading never panics, and a record survives a round trip through its bytes.
#![no_main]

use libfuzzer_sys::fuzz_target;
use snowmint::host::record::{PLACES, RECORD_BYTES, from_bytes, latest, to_bytes};

/// Returns the same file with valid checksums, so that the fuzzer gets past their check.
fn with_valid_checksums(file: &[u8]) -> Vec<u8> {
    let mut file = file.to_vec();
    for place in PLACES {
        if let Some(bytes) = file.get_mut(place..place + RECORD_BYTES) {
            let sum = crc32(&bytes[..RECORD_BYTES - 4]);
            bytes[RECORD_BYTES - 4..].copy_from_slice(&sum.to_le_bytes());
        }
    }
    file
}

/// Computes the CRC-32 of IEEE 802.3, bit by bit, independently of the code under test.
fn crc32(bytes: &[u8]) -> u32 {
    let shift = |crc: u32| if crc & 1 == 1 { (crc >> 1) ^ 0xedb8_8320 } else { crc >> 1 };
    !bytes.iter().fold(!0u32, |crc, byte| (0..8).fold(crc ^ u32::from(*byte), |crc, _| shift(crc)))
}

fuzz_target!(|bytes: &[u8]| {
    for file in [bytes.to_vec(), with_valid_checksums(bytes)] {
        let found = latest(&file);
        assert_eq!(found == Ok(None), file.is_empty(), "only an empty file has no holder yet");
        if let Ok(Some(record)) = found {
            let _ = record.label_text();
            assert_eq!(from_bytes(&to_bytes(&record)), Ok(record));
            assert_eq!(latest(&to_bytes(&record)), Ok(Some(record)));
            let parts = PLACES.map(|place| from_bytes(file.get(place..).unwrap_or_default()));
            assert!(parts.into_iter().flatten().all(|part| part.serial <= record.serial), "an older record counts");
        }
    }
});
