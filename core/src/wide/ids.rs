//! The states of a process that mint UUIDs, ULIDs, `ObjectId`s, KSUIDs and xids, and the random numbers that they use.
//!
//! A host keeps one [`States`] for all kinds of IDs, reads the clock, and fills the [`Pool`] when it is dry.

use crate::error::Error;
use crate::wide::ksuid::Ksuid;
use crate::wide::object_id::{ObjectId, ObjectIdState};
use crate::wide::ulid::{Ulid, UlidState};
use crate::wide::uuid::{GregorianStamp, GregorianState, Uuid, V7State};
use crate::wide::xid::{Xid, XidState};

/// Random numbers of 32 bits for the next IDs. Each is used once and then set to 0.
#[derive(Clone, Debug)]
pub struct Pool {
    numbers: [u32; Self::SIZE],
    next: usize,
    end: usize,
}

impl Pool {
    /// The room for numbers: enough for 256 IDs of any kind.
    pub const SIZE: usize = 1024;
    /// The most numbers that one ID takes.
    const MAX_NUMBERS_PER_ID: usize = 4;

    /// Returns whether the host must fill the pool before the next ID.
    #[inline]
    pub const fn is_dry(&self) -> bool {
        self.end - self.next < Self::MAX_NUMBERS_PER_ID
    }

    /// Returns the room for new numbers.
    pub const fn numbers(&mut self) -> &mut [u32; Self::SIZE] {
        &mut self.numbers
    }

    /// Says that the host has put `count` new numbers at the start of the room.
    pub fn filled(&mut self, count: usize) {
        (self.next, self.end) = (0, count.min(Self::SIZE));
    }

    #[inline]
    fn number(&mut self) -> u32 {
        // Panics past the last number: an ID must not be made of used numbers.
        let place = &mut self.numbers[..self.end][self.next];
        self.next += 1;
        core::mem::take(place)
    }
}

/// A state for each kind of ID, and one pool for all. Minting from a dry pool panics.
///
/// Each state has the errors of its method, such as [`V7State::next`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct States {
    /// Random numbers for all kinds.
    pub pool: Pool,
    /// UUIDs of versions 1 and 6.
    pub gregorian: GregorianState,
    /// UUIDs of version 7.
    pub v7: V7State,
    /// ULIDs.
    pub ulid: UlidState,
    /// `ObjectId`s of `MongoDB`.
    pub object_id: ObjectIdState,
    /// xids.
    pub xid: XidState,
}

impl States {
    /// Makes the states of a process that has minted nothing. The pool is dry.
    pub const fn new() -> Self {
        Self {
            pool: Pool { numbers: [0; Pool::SIZE], next: 0, end: 0 },
            gregorian: GregorianState::new(),
            v7: V7State::new(),
            ulid: UlidState::new(),
            object_id: ObjectIdState::new(),
            xid: XidState::new(),
        }
    }

    /// Returns the content of the next version 1 or 6 at the time `now_100ns` (100 ns since 1970).
    ///
    /// # Errors
    /// As [`GregorianState::next`].
    pub fn gregorian(&mut self, now_100ns: i64) -> Result<GregorianStamp, Error> {
        self.gregorian.next(now_100ns, || self.pool.number())
    }

    /// Returns a version 4.
    pub fn v4(&mut self) -> Uuid {
        Uuid::v4(self.random(4))
    }

    /// Returns the next version 7 at the time `now_ms` (Unix ms).
    ///
    /// # Errors
    /// As [`V7State::next`].
    #[inline]
    pub fn v7(&mut self, now_ms: i64) -> Result<Uuid, Error> {
        self.v7.next(now_ms, || self.pool.number())
    }

    /// Returns a version 7 of an instant (Unix ms), with 74 random bits. It has no place in the order of
    /// [`v7`](Self::v7).
    ///
    /// # Errors
    /// As [`Uuid::v7`].
    pub fn v7_of(&mut self, unix_ms: i64) -> Result<Uuid, Error> {
        Uuid::v7(unix_ms, self.random(3))
    }

    /// Returns a KSUID of the time `now_ms` (Unix ms), with 128 random bits.
    ///
    /// # Errors
    /// As [`Ksuid::from_parts`].
    pub fn ksuid(&mut self, now_ms: i64) -> Result<Ksuid, Error> {
        Ksuid::from_parts(now_ms, self.random(4))
    }

    /// Returns the next xid at the time `now_ms` (Unix ms).
    ///
    /// # Errors
    /// As [`XidState::next`].
    pub fn xid(&mut self, now_ms: i64) -> Result<Xid, Error> {
        self.xid.next(now_ms, || self.pool.number())
    }

    /// Returns random bits, 32 for each of `count` numbers.
    fn random(&mut self, count: u32) -> u128 {
        (0..count).fold(0, |bits, _| bits << 32 | u128::from(self.pool.number()))
    }

    /// Returns the next ULID at the time `now_ms` (Unix ms).
    ///
    /// # Errors
    /// As [`UlidState::next`].
    pub fn ulid(&mut self, now_ms: i64) -> Result<Ulid, Error> {
        self.ulid.next(now_ms, || self.pool.number())
    }

    /// Returns the next `ObjectId` at the time `now_ms` (Unix ms).
    ///
    /// # Errors
    /// As [`ObjectIdState::next`].
    pub fn object_id(&mut self, now_ms: i64) -> Result<ObjectId, Error> {
        self.object_id.next(now_ms, || self.pool.number())
    }
}

impl Default for States {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_number_is_used_once() {
        let mut states = States::new();
        assert!(states.pool.is_dry());
        for (number, place) in states.pool.numbers().iter_mut().zip(1..) {
            *number = place;
        }
        states.pool.filled(7);
        let random = 1 << 96 | 2 << 64 | 3 << 32 | 4;
        assert_eq!(states.v4(), Uuid::v4(random));
        assert_eq!(states.pool.numbers()[..6], [0, 0, 0, 0, 5, 6]);
        assert!(states.pool.is_dry(), "three numbers are too few for another version 4");
    }
}
