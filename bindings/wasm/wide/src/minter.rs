//! Mints UUIDs, ULIDs and `ObjectId`s: the states of a realm, and its unused random bits.

use glue::{Single, buffer, failed};
use snowmint_core::object_id::ObjectIdState;
use snowmint_core::ulid::UlidState;
use snowmint_core::uuid::{GregorianState, V7State};
use snowmint_core::{Error, Ulid, Uuid};

use crate::wide::{OBJECT_ID, ULID, Wide, bits, put};

static MINTER: Single<Minter> = Single::new(Minter::new());

/// The size of the pool in numbers of 32 bits, enough for 256 IDs of any kind.
const POOL: usize = 1024;
/// The most numbers that one ID takes.
const AN_ID: usize = 4;
/// The answer of `mint` if the pool has to be filled first.
const DRY: i32 = -2;

/// Random numbers from JavaScript. Each is used once and then set to 0.
struct Pool {
    numbers: [u32; POOL],
    next: usize,
    end: usize,
}

impl Pool {
    fn number(&mut self) -> u32 {
        // Past the last number this traps: an ID must not be made of used numbers.
        let place = &mut self.numbers[..self.end][self.next];
        self.next += 1;
        core::mem::take(place)
    }
}

/// A minting state for each kind of ID.
struct Minter {
    pool: Pool,
    gregorian: GregorianState,
    v7: V7State,
    ulid: UlidState,
    object_id: ObjectIdState,
}

impl Minter {
    const fn new() -> Self {
        Self {
            pool: Pool { numbers: [0; POOL], next: 0, end: 0 },
            gregorian: GregorianState::new(),
            v7: V7State::new(),
            ulid: UlidState::new(),
            object_id: ObjectIdState::new(),
        }
    }

    /// Mints an ID of a kind. `more` is the part of the time below a ms, in steps of 100 ns.
    fn next(&mut self, kind: u32, now_ms: i64, more: u32) -> Result<Wide, Error> {
        let Self { pool, gregorian, v7, ulid, object_id } = self;
        let random = || pool.number();
        let now_100ns = now_ms.saturating_mul(10_000).saturating_add(more.into());
        Ok(match kind {
            1 => Wide::Uuid(gregorian.next(now_100ns, random)?.v1()?),
            6 => Wide::Uuid(gregorian.next(now_100ns, random)?.v6()?),
            7 => Wide::Uuid(v7.next(now_ms, random)?),
            ULID => Wide::Ulid(ulid.next(now_ms, random)?),
            OBJECT_ID => Wide::ObjectId(object_id.next(now_ms, random)?),
            _ => Wide::Uuid(Uuid::v4((0..4).fold(0, |bits, _| bits << 32 | u128::from(pool.number())))),
        })
    }
}

/// The address of the pool: `POOL` random numbers of 32 bits.
#[unsafe(no_mangle)]
pub extern "C" fn pool_address() -> u32 {
    MINTER.get().pool.numbers.as_ptr() as u32
}

/// Says that JavaScript has put `count` new numbers at the start of the pool.
#[unsafe(no_mangle)]
pub extern "C" fn pooled(count: u32) {
    let pool = &mut MINTER.get().pool;
    (pool.next, pool.end) = (0, (count as usize).min(POOL));
}

/// Mints an ID and returns the length of its text, or `DRY`. `kind` is a UUID's version (1, 4, 6, 7), `ULID` or
/// `OBJECT_ID`. `more` is the part of the time below a ms, in steps of 100 ns; only versions 1 and 6 use it.
#[unsafe(no_mangle)]
pub extern "C" fn mint(kind: u32, now_ms: f64, more: u32) -> i32 {
    let minter = MINTER.get();
    if minter.pool.end - minter.pool.next < AN_ID {
        return DRY;
    }
    match minter.next(kind, now_ms as i64, more) {
        Ok(id) => put(id) as i32,
        Err(error) => failed(error),
    }
}

/// Makes the next ID follow the version 7 or ULID in words 0 and 1, for tests.
#[unsafe(no_mangle)]
pub extern "C" fn go_on_from(kind: u32) {
    let minter = MINTER.get();
    let bits = bits(buffer());
    if kind == ULID {
        minter.ulid = UlidState::after(Ulid::from_bits(bits));
    } else if let Some(after) = V7State::after(Uuid::from_bits(bits)) {
        minter.v7 = after;
    }
}
