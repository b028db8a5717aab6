//! The records that version 0.1 wrote. Every later version reads them: a line here never changes.

use snowmint_core::bytes::label;
use snowmint_core::pin::Pin;
use snowmint_core::sequence::State;
use snowmint_core::{Integer, Window, lease, section};

/// Returns the bytes of hexadecimal digits, filled up with zeros.
fn bytes<const N: usize>(hex: &str) -> [u8; N] {
    let mut bytes = [0; N];
    for (byte, digits) in bytes.iter_mut().zip(hex.as_bytes().chunks(2)) {
        *byte = u8::from_str_radix(str::from_utf8(digits).expect("ASCII"), 16).expect("hexadecimal digits");
    }
    bytes
}

#[test]
fn a_lease_of_version_0_1_is_read() {
    let window = Window { start_ms: 1_772_323_200_000, end_ms: 1_772_323_203_000 };
    let record = lease::Record { released: true, serial: 7, window, nonce: 0x5eed, label: label("host 7"), layout: 0 };
    let written: [u8; lease::RECORD_BYTES] = bytes(concat!(
        "736e6f776d696e7401000000",
        "01000000070000000000000000dcb1a69c010000b8e7b1a69c010000",
        "ed5e0000000000000000000000000000686f73742037",
    ));
    assert_eq!(lease::Record::from_bytes(&written), Ok(record));
    assert_eq!(record.to_bytes(), written);
}

#[test]
fn a_section_of_version_0_1_is_read() {
    let record = section::Record {
        released: false,
        token: 0x5eed,
        max_seq: 10_000,
        renewals: 1,
        window_ms: 10_000,
        users: section::Users::of(Integer::from(142_000), section::SIZE).expect("a section"),
        label: label("allocator 1"),
    };
    let written: [u8; section::RECORD_BYTES] = bytes(concat!(
        "73656374696f6e7301000000",
        "00000000ed5e0000000000000000000000000000102700000000000001000000000000001027000000000000",
        "a086010000000000a0860100616c6c6f6361746f722031",
    ));
    assert_eq!(section::Record::from_bytes(&written), Ok(record));
    assert_eq!(record.to_bytes(), written);
}

#[test]
fn a_setting_of_version_0_1_is_read() {
    let written = bytes("73657474696e6773010000000200000002000000000000000100000000000000");
    assert_eq!(Pin::from_bytes(&written), Ok(Pin::Tickets { increment: 2, offset: 1 }));
    assert_eq!(Pin::Tickets { increment: 2, offset: 1 }.to_bytes(), written);
}

#[test]
fn a_sequence_of_version_0_1_is_read() {
    let state = State { last: -5, is_called: true, round: 3, sets: 4 };
    let written = bytes("73657175656e63650100000001000000fbffffffffffffffffffffffffffffff030000000000000004");
    assert_eq!(State::from_bytes(&written), Ok(state));
    assert_eq!(state.to_bytes(), written);
}
