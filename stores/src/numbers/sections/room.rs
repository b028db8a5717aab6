//! Room for other sections, and for other users: sections without requests are given back, and users are forgotten.

use std::sync::Arc;

use snowmint_core::ErrorKind;
use snowmint_core::section::{NoRoom, ROOM_AFTER_MS, ROOM_RETRY_MS};

use super::allocator::{Allocator, Places};
use super::memory::Taken;
use super::place::{Phase, Place};
use super::set::SectionOfSet;
use crate::error::Error;
use crate::process::lock;
use crate::process::monotonic::monotonic_ms;
use crate::store::ask::ask;

impl Allocator {
    /// Makes room for one more section, if there are as many as the options allow.
    ///
    /// # Errors
    /// `Exhausted` if all sections had a request less than 1 s ago.
    pub(super) fn make_place(allocator: &Arc<Self>, places: &mut Places) -> Result<(), Error> {
        let most = allocator.options.max_sections;
        if places.len() >= most && Self::give_back_unused(allocator, places, |_, places| places.len() < most) == 0 {
            return Err(no_room(NoRoom::Sections(most as u64)));
        }
        Ok(())
    }

    /// Takes bytes for a section, and makes room for them.
    ///
    /// # Errors
    /// `Exhausted` if sections in use take all memory.
    pub(super) fn take(allocator: &Arc<Self>, places: &mut Places, bytes: u64) -> Result<Taken, Error> {
        loop {
            match allocator.budget.take(bytes) {
                Some(taken) => return Ok(taken),
                None => Self::free(allocator, places)?,
            }
        }
    }

    /// Makes room for users.
    ///
    /// # Errors
    /// `Exhausted` if sections in use take all memory.
    pub(super) fn make_room(allocator: &Arc<Self>) -> Result<(), Error> {
        Self::free(allocator, &mut lock(&allocator.places))
    }

    /// Gives back sections without requests. If all have requests, the section with the most memory forgets its users.
    fn free(allocator: &Arc<Self>, places: &mut Places) -> Result<(), Error> {
        // Some more than needed, because each search reads all sections.
        let wanted = allocator.budget.most() / 16;
        if Self::give_back_unused(allocator, places, |allocator, _| allocator.budget.left() >= wanted) > 0 {
            return Ok(());
        }
        let most = places.values().map(|place| (lock(&place.state).bytes(), place)).max_by_key(|(bytes, _)| *bytes);
        if let Some((1.., place)) = most {
            if let Phase::Held(section) = &mut lock(&place.state).phase {
                section.forget();
            }
            return Ok(());
        }
        // Another caller made room a moment ago.
        if allocator.budget.left() >= wanted {
            return Ok(());
        }
        Err(no_room(NoRoom::Memory(allocator.budget.most())))
    }

    /// Gives back sections without requests, the longest unused first, at least one, until there is room. Returns how many.
    fn give_back_unused(
        allocator: &Arc<Self>,
        places: &mut Places,
        has_room: impl Fn(&Self, &Places) -> bool,
    ) -> usize {
        let now_ms = monotonic_ms();
        let unused = |(section, place): (&SectionOfSet, &Arc<Place>)| {
            let state = lock(&place.state);
            let rests = now_ms.saturating_sub(state.wanted_ms) >= ROOM_AFTER_MS;
            (rests && matches!(state.phase, Phase::Held(_))).then(|| (state.wanted_ms, section.clone()))
        };
        let mut unused: Vec<_> = places.iter().filter_map(unused).collect();
        unused.sort_unstable();
        let mut given_back = 0;
        for (_, section) in unused {
            let Some(place) = places.remove(&section) else { continue };
            Self::give_back(allocator, place);
            given_back += 1;
            if has_room(allocator, places) {
                break;
            }
        }
        given_back
    }

    /// Gives a section back: its memory at once, and its record by a task.
    fn give_back(allocator: &Arc<Self>, place: Arc<Place>) {
        let asked = lock(&place.state).end();
        place.look.notify_one();
        let Some(asked) = asked else { return };
        let releasing = Arc::clone(allocator);
        drop(allocator.runtime.spawn(async move {
            // Without an answer the successor waits for a window.
            drop(ask(&*releasing.store, &place.key, asked).await);
        }));
    }
}

fn no_room(why: NoRoom) -> Error {
    Error::new(ErrorKind::Exhausted, why.to_string()).with_retry_after_ms(ROOM_RETRY_MS)
}
