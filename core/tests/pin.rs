//! Settings that never change.

use std::num::NonZeroU32;

use snowmint_core::ErrorKind;
use snowmint_core::pin::{Pin, RECORD_BYTES};
use snowmint_core::section::SIZE;
use snowmint_core::store::{Ask, Next, Reply};

fn size(users: u32) -> NonZeroU32 {
    NonZeroU32::new(users).expect("not zero")
}

const SECOND: Pin = Pin::Tickets { increment: 3, offset: 2 };

#[test]
fn first_settings_are_written_and_others_refused() {
    let mut there = None;
    let mut begin = |pin: Pin| {
        let mut reply = None;
        loop {
            match pin.next(reply)? {
                Next::Done(()) => return Ok::<_, snowmint_core::Error>(()),
                Next::Ask(Ask::Read) => reply = Some(Reply::Record(there, u64::from(there.is_some()))),
                Next::Ask(Ask::Write(pin, 0)) if there.is_none() => {
                    there = Some(pin);
                    // The reply is lost.
                    reply = Some(Reply::Unknown);
                }
                Next::Ask(_) => reply = Some(Reply::Conflict),
            }
        }
    };
    begin(Pin::Sections(SIZE)).expect("the first one");
    begin(Pin::Sections(SIZE)).expect("the same");
    let error = begin(Pin::Sections(size(1000))).expect_err("another size");
    assert_eq!(error.kind(), ErrorKind::InvalidId);
    let message = error.to_string();
    assert!(message.contains("100000") && message.ends_with(" 1000"), "{message}");
}

#[test]
fn other_numbers_and_orders_of_ticket_stores_are_refused() {
    for (other, values) in
        [(Pin::Tickets { increment: 2, offset: 2 }, ["3", "2"]), (Pin::Tickets { increment: 3, offset: 1 }, ["2", "1"])]
    {
        let message = other.refuse_other(SECOND).expect_err("another").to_string();
        assert!(values.iter().all(|value| message.contains(value)), "{message}");
    }
    assert_eq!(SECOND.refuse_other(Pin::Sections(SIZE)).expect_err("another").kind(), ErrorKind::StoreUnavailable);
}

#[test]
fn a_record_survives_its_bytes_and_other_bytes_are_refused() {
    for pin in [Pin::Sections(SIZE), SECOND, Pin::Sections(size(u32::MAX))] {
        let bytes = pin.to_bytes();
        assert_eq!(Pin::from_bytes(&bytes), Ok(pin));
        assert!(Pin::from_bytes(&bytes[..RECORD_BYTES - 1]).is_err());
        for (place, byte) in [(0, b'x'), (8, 2), (12, 9), (20, 1), (28, 1)] {
            let mut bad = bytes;
            bad[place] = byte;
            assert_eq!(Pin::from_bytes(&bad).expect_err("no record").kind(), ErrorKind::StoreUnavailable, "{place}");
        }
    }
    let mut bad = SECOND.to_bytes();
    bad[24] = 4;
    assert!(Pin::from_bytes(&bad).is_err(), "the fourth of three");
}
