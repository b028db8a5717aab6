//! The memory of a section: the last number of each of its users.

use super::record::MIN_MEMORY_BYTES;
use crate::error::{Error, What};

/// Refuses a memory of an allocator for its users that is too small to be of use.
///
/// # Errors
/// `InvalidId` below [`MIN_MEMORY_BYTES`].
///
/// # Examples
/// ```
/// use snowmint_core::section::{MEMORY_BYTES, refuse_little_memory};
/// assert!(refuse_little_memory(MEMORY_BYTES).is_ok() && refuse_little_memory(64).is_err());
/// ```
pub const fn refuse_little_memory(bytes: u64) -> Result<(), Error> {
    if bytes < MIN_MEMORY_BYTES {
        return Err(Error::new(What::SectionsMemory, 0, MIN_MEMORY_BYTES, bytes));
    }
    Ok(())
}

/// Memory for the last numbers of the users of a section.
///
/// A slice, such as `Vec<u64>` or `&mut [u64]`, takes eight bytes for each user of the section, used or not. A host with
/// many sections implements this trait for a memory that has only the users that have asked:
///
/// ```
/// use std::collections::HashMap;
/// use snowmint_core::section::Memory;
///
/// /// The distance of each user's last number from the base.
/// #[derive(Debug, Default)]
/// struct Few(u64, HashMap<usize, u32>);
///
/// impl Memory for Few {
///     const REACH: u64 = u32::MAX as u64;
///
///     fn last(&mut self, place: usize) -> Option<u64> {
///         Some(self.1.get(&place).map_or(0, |above| self.0 + u64::from(*above)))
///     }
///
///     fn keep(&mut self, place: usize, number: u64) -> bool {
///         let room = self.1.contains_key(&place) || self.1.len() < 1000;
///         if let (true, Ok(above)) = (room, u32::try_from(number - self.0)) {
///             self.1.insert(place, above);
///         }
///         room
///     }
///
///     fn forget(&mut self, base: u64) {
///         *self = Self(base, HashMap::new());
///     }
/// }
/// ```
pub trait Memory {
    /// The largest distance of a number from the base. Before a number beyond it the section
    /// [forgets](super::Section::forget) its users.
    const REACH: u64;

    /// Returns the last number of the user at a place, or any number up to the base for a user without one. `None`
    /// beyond the last place.
    fn last(&mut self, place: usize) -> Option<u64>;

    /// Keeps a number of the user at a place, more than the base and at most [`REACH`](Self::REACH) more. Returns `false`
    /// without a change, if the memory is full.
    fn keep(&mut self, place: usize, number: u64) -> bool;

    /// Sets the base: the numbers of all users may be forgotten, as each next one is above the base.
    fn forget(&mut self, base: u64);
}

impl<M: AsMut<[u64]>> Memory for M {
    const REACH: u64 = u64::MAX;

    fn last(&mut self, place: usize) -> Option<u64> {
        self.as_mut().get(place).copied()
    }

    fn keep(&mut self, place: usize, number: u64) -> bool {
        self.as_mut().get_mut(place).map(|last| *last = number).is_some()
    }

    fn forget(&mut self, _: u64) {}
}
