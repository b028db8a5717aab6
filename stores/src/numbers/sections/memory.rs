//! The memory of the users of an allocator, which its sections share.
//!
//! A section keeps only the users that have asked, each by its distance above the base: a hash table takes 10 to 21 bytes
//! for each. Once a table of all users of the section would be smaller, the section has that, four bytes for each user.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use snowmint_core::section::Memory;

/// The bytes of a place in a hash table: a user, the distance, and the table's own byte.
const BUCKET_BYTES: u64 = 9;
/// The bytes of a user in a table of all users.
const USER_BYTES: u64 = 4;

/// The bytes that the sections of an allocator may take.
#[derive(Debug)]
pub(super) struct Budget {
    most: u64,
    used: AtomicU64,
}

impl Budget {
    pub(super) fn new(most: u64) -> Arc<Self> {
        Arc::new(Self { most, used: AtomicU64::new(0) })
    }

    pub(super) const fn most(&self) -> u64 {
        self.most
    }

    pub(super) fn left(&self) -> u64 {
        self.most.saturating_sub(self.used.load(Ordering::Relaxed))
    }

    /// Takes bytes. `None` if too few are left.
    pub(super) fn take(self: &Arc<Self>, bytes: u64) -> Option<Taken> {
        let sum = |used: u64| used.checked_add(bytes).filter(|used| *used <= self.most);
        self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, sum).ok()?;
        Some(Taken { budget: Arc::clone(self), bytes })
    }
}

/// Bytes of a budget, until they are dropped.
#[derive(Debug)]
pub(super) struct Taken {
    budget: Arc<Budget>,
    bytes: u64,
}

impl Drop for Taken {
    fn drop(&mut self) {
        self.budget.used.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// The last numbers of the users of a section that have asked.
#[derive(Debug)]
pub(super) struct Known {
    /// How many users the section has.
    size: u32,
    base: u64,
    above: Above,
    /// The bytes of `above`. `None` for an empty one.
    taken: Option<Taken>,
    budget: Arc<Budget>,
}

/// How far the last number of a user is above the base, by the user's place.
#[derive(Debug)]
enum Above {
    Some(HashMap<u32, u32>),
    /// 0 for a user without a number.
    All(Vec<u32>),
}

impl Known {
    /// Makes the memory of a section of `size` users, without users.
    pub(super) fn new(size: u32, budget: Arc<Budget>) -> Self {
        Self { size, base: 0, above: Above::Some(HashMap::new()), taken: None, budget }
    }

    /// Returns the bytes of the numbers.
    pub(super) fn bytes(&self) -> u64 {
        self.taken.as_ref().map_or(0, |taken| taken.bytes)
    }

    /// Makes room for another user. `false` if the budget or the system has no memory.
    fn grow(&mut self) -> bool {
        let Above::Some(few) = &mut self.above else { return true };
        if few.len() < few.capacity() {
            return true;
        }
        let (table, all) = (bytes_after(few.capacity()), u64::from(self.size) * USER_BYTES);
        // While the numbers move, both tables take memory.
        let Some(taken) = self.budget.take(table.min(all)) else { return false };
        if table < all {
            if few.try_reserve(1).is_err() {
                return false;
            }
        } else {
            let mut every = Vec::new();
            // A size below 2^32 fits.
            let size = self.size as usize;
            if every.try_reserve_exact(size).is_err() {
                return false;
            }
            every.resize(size, 0);
            for (place, above) in few {
                if let Some(there) = every.get_mut(*place as usize) {
                    *there = *above;
                }
            }
            self.above = Above::All(every);
        }
        self.taken = Some(taken);
        true
    }
}

/// Returns the bytes of a full hash table after it has grown: seven of eight places can be filled, and growth doubles
/// the places.
fn bytes_after(capacity: usize) -> u64 {
    let places = match capacity as u64 {
        0 => 4,
        capacity @ ..7 => (capacity + 1) * 2,
        capacity => capacity / 7 * 16,
    };
    places * BUCKET_BYTES
}

impl Memory for Known {
    const REACH: u64 = u32::MAX as u64;

    fn last(&mut self, place: usize) -> Option<u64> {
        let place = u32::try_from(place).ok().filter(|place| *place < self.size)?;
        let above = match &self.above {
            Above::Some(few) => few.get(&place),
            Above::All(every) => every.get(place as usize),
        };
        Some(self.base + u64::from(above.copied().unwrap_or(0)))
    }

    fn keep(&mut self, place: usize, number: u64) -> bool {
        let (Ok(place), Ok(above)) = (u32::try_from(place), u32::try_from(number - self.base)) else { return false };
        if let Above::Some(few) = &mut self.above {
            if let Some(there) = few.get_mut(&place) {
                *there = above;
                return true;
            }
            if !self.grow() {
                return false;
            }
        }
        match &mut self.above {
            Above::Some(few) => {
                few.insert(place, above);
                true
            }
            Above::All(every) => every.get_mut(place as usize).map(|there| *there = above).is_some(),
        }
    }

    fn forget(&mut self, base: u64) {
        *self = Self { base, ..Self::new(self.size, Arc::clone(&self.budget)) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers of places in a mixed order.
    fn mixed(size: u32) -> impl Iterator<Item = usize> {
        (0..size as usize).map(move |place| place * 7919 % size as usize)
    }

    #[test]
    fn every_user_keeps_its_number_while_the_memory_grows() {
        for size in [1, 2, 3, 100, 1013, 100_003] {
            let budget = Budget::new(u64::MAX);
            let mut known = Known::new(size, Arc::clone(&budget));
            known.forget(1 << 40);
            for (many, place) in mixed(size).enumerate() {
                assert_eq!(known.last(place), Some(1 << 40), "a new user");
                let number = (1 << 40) + 1 + place as u64;
                assert!(known.keep(place, number) && known.keep(place, number + 1));
                let most = (many as u64 + 1) * 21 + 40;
                assert!(known.bytes() <= most.min(u64::from(size) * USER_BYTES), "{} users", many + 1);
            }
            for place in mixed(size) {
                assert_eq!(known.last(place), Some((1 << 40) + 2 + place as u64));
            }
            assert_eq!((known.last(size as usize), known.bytes()), (None, u64::from(size) * USER_BYTES));
            assert!(known.keep(0, (1 << 40) + Known::REACH));
            drop(known);
            assert_eq!(budget.used.load(Ordering::Relaxed), 0);
        }
    }

    #[test]
    fn the_counted_bytes_are_those_of_the_table() {
        let mut few = HashMap::<u32, u32>::new();
        let mut places = 0;
        for user in 0..100_000 {
            if few.len() == few.capacity() {
                let bytes = bytes_after(few.capacity());
                assert!(bytes / BUCKET_BYTES > places);
                places = bytes / BUCKET_BYTES;
            }
            few.insert(user, 1);
            assert_eq!(few.capacity() as u64, if places < 8 { places - 1 } else { places / 8 * 7 });
        }
    }

    #[test]
    fn a_budget_refuses_new_users_until_others_are_forgotten() {
        let budget = Budget::new(1000);
        let [mut first, mut second] = [(); 2].map(|()| Known::new(100_000, Arc::clone(&budget)));
        let fill = |known: &mut Known| (0..100_000).take_while(|place| known.keep(*place, 1)).count();
        let users = fill(&mut first);
        assert!((28..=111).contains(&users), "{users}");
        assert!(first.keep(0, 2), "a known user");
        assert_eq!((first.last(0), first.last(users)), (Some(2), Some(0)));
        fill(&mut second);
        assert!(!second.keep(99_999, 1));
        first.forget(5);
        assert_eq!((first.last(0), first.bytes()), (Some(5), 0));
        assert!(second.keep(99_999, 1));
        drop((first, second));
        assert_eq!(budget.used.load(Ordering::Relaxed), 0);
        // The system refuses what no machine has.
        assert!(Budget::new(u64::MAX).take(u64::MAX).is_some_and(|all| all.budget.take(1).is_none()));
    }
}
