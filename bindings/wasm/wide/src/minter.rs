//! Mints UUIDs, ULIDs, `ObjectId`s, KSUIDs and xids with the states of a realm.

use glue::{Single, buffer, failed};
use snowmint_core::ids::States;
use snowmint_core::ulid::UlidState;
use snowmint_core::uuid::V7State;
use snowmint_core::{Error, Ulid, Uuid};

use crate::wide::{KSUID, OBJECT_ID, ULID, Wide, XID, bits, put};

static STATES: Single<States> = Single::new(States::new());

/// The kind of a version 7 of an instant.
const V7_OF: u32 = 77;

/// The answer of `mint` if the pool has to be filled first.
const DRY: i32 = -2;

/// Mints an ID of a kind. `more` is the part of the time below a ms, in steps of 100 ns.
fn next(kind: u32, now_ms: i64, more: u32) -> Result<Wide, Error> {
    let states = STATES.get();
    let now_100ns = now_ms.saturating_mul(10_000).saturating_add(more.into());
    Ok(match kind {
        1 => Wide::Uuid(states.gregorian(now_100ns)?.v1()?),
        6 => Wide::Uuid(states.gregorian(now_100ns)?.v6()?),
        7 => Wide::Uuid(states.v7(now_ms)?),
        ULID => Wide::Ulid(states.ulid(now_ms)?),
        OBJECT_ID => Wide::ObjectId(states.object_id(now_ms)?),
        KSUID => Wide::Ksuid(states.ksuid(now_ms)?),
        XID => Wide::Xid(states.xid(now_ms)?),
        V7_OF => Wide::Uuid(states.v7_of(now_ms)?),
        _ => Wide::Uuid(states.v4()),
    })
}

/// The address of the pool: `Pool::SIZE` random numbers of 32 bits.
#[unsafe(no_mangle)]
pub extern "C" fn pool_address() -> u32 {
    STATES.get().pool.numbers().as_ptr() as u32
}

/// Says that JavaScript has put `count` new numbers at the start of the pool.
#[unsafe(no_mangle)]
pub extern "C" fn pooled(count: u32) {
    STATES.get().pool.filled(count as usize);
}

/// Mints an ID and returns the length of its text, or `DRY`. `kind` is a UUID's version (1, 4, 6, 7), `V7_OF`,
/// `ULID`, `OBJECT_ID`, `KSUID` or `XID`. `more` is the part of the time below a ms, in steps of 100 ns; only versions 1 and 6 use it.
#[unsafe(no_mangle)]
pub extern "C" fn mint(kind: u32, now_ms: f64, more: u32) -> i32 {
    if STATES.get().pool.is_dry() {
        return DRY;
    }
    match next(kind, now_ms as i64, more) {
        Ok(id) => put(id) as i32,
        Err(error) => failed(error),
    }
}

/// Makes the next ID follow the version 7 or ULID in words 0 and 1, for tests.
#[unsafe(no_mangle)]
pub extern "C" fn go_on_from(kind: u32) {
    let states = STATES.get();
    let bits = bits(buffer());
    if kind == ULID {
        states.ulid = UlidState::after(Ulid::from_bits(bits));
    } else if let Some(after) = V7State::after(Uuid::from_bits(bits)) {
        states.v7 = after;
    }
}
