//! Memory and files that a forked child must not share with its parent: the words that mint, the locks of slots, and the
//! registry of the process.
//!
//! On Linux the pages are marked `MADV_WIPEONFORK`, which also holds after a raw `clone`, where no at-fork handler runs.
//! Elsewhere, and where the kernel knows no such mark, a handler of `pthread_atfork` zeroes them. Nothing here takes a
//! lock, so a child never waits for one that a thread of its parent held.
#![allow(unsafe_code, reason = "pages, descriptors and at-fork handlers are C interfaces")]

use std::marker::PhantomData;
use std::ptr::{self, NonNull};
use std::sync::Arc;
#[cfg(feature = "numbers")]
use std::sync::atomic::AtomicU32;
use std::sync::atomic::{AtomicPtr, Ordering};

use once_cell::race::OnceBox;
#[cfg(feature = "numbers")]
use snowmint_core::segment::Range;
use snowmint_core::{Words, mutant};

#[cfg(unix)]
#[path = "fork/unix.rs"]
mod system;
#[cfg(not(unix))]
#[path = "fork/elsewhere.rs"]
mod system;

pub use self::system::OwnFile;
use self::system::Page;

/// The size of a page, which holds two words. The kernel rounds up to whole pages.
const PAGE_BYTES: usize = 4096;

/// A cell on a separate page, which a forked child sees wiped. Clones share the cell.
#[derive(Debug)]
pub struct Cell<T = Words> {
    // Beside the owner of the page, so that minting follows one pointer.
    words: NonNull<T>,
    page: Arc<Page>,
}

/// A value that a cell can hold.
///
/// # Safety
/// The type has four properties: all bytes zero are a valid value, it fits in a page, it needs no drop, and all
/// access is atomic.
unsafe trait Zeroed: Sync {}

// SAFETY: two atomic words.
unsafe impl Zeroed for Words {}

/// The numbers of a segment, and whether this is the process that fetched them.
#[cfg(feature = "numbers")]
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Fetched {
    pub(crate) range: Range,
    mark: AtomicU32,
}

// SAFETY: four atomic words.
#[cfg(feature = "numbers")]
unsafe impl Zeroed for Fetched {}

#[cfg(feature = "numbers")]
impl Fetched {
    /// Marks this process as the owner of the numbers.
    pub(crate) fn of_this_process(cell: &Cell<Self>) {
        cell.get().mark.store(1, Ordering::Release);
    }

    /// Returns whether this is a forked child of the process that has the numbers.
    #[inline]
    pub(crate) fn is_of_parent(&self) -> bool {
        self.mark.load(Ordering::Relaxed) == 0 && !mutant::removes("forked")
    }
}

impl<T> Clone for Cell<T> {
    fn clone(&self) -> Self {
        Self { words: self.words, page: Arc::clone(&self.page) }
    }
}

// SAFETY: `words` points into the page, which lives as long as any clone, and is of a type that threads may share.
unsafe impl<T: Sync> Send for Cell<T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for Cell<T> {}

#[allow(private_bounds, reason = "nobody else makes cells")]
impl<T: Zeroed> Cell<T> {
    /// Returns a new cell: all its words are zero.
    pub fn new() -> Self {
        let page = Page::new(!mutant::removes("wipe"));
        Self { words: page.start().cast(), page: Arc::new(page) }
    }

    #[inline]
    pub(crate) fn get(&self) -> &T {
        // SAFETY: the page is mapped while `self` is alive, aligned to more than words need, and zero is a valid value of
        // the type, both at first and after a wipe. All access is atomic.
        unsafe { self.words.as_ref() }
    }
}

#[allow(private_bounds, reason = "nobody else makes cells")]
impl<T: Zeroed> Default for Cell<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl std::borrow::Borrow<Words> for Cell {
    #[inline]
    fn borrow(&self) -> &Words {
        self.get()
    }
}

/// A value that each process has once. A forked child starts with a new one.
#[derive(Debug)]
pub struct PerProcess<T> {
    page: OnceBox<Page>,
    value: PhantomData<T>,
}

impl<T: Default + Send + Sync + 'static> PerProcess<T> {
    /// Returns a place without a value.
    pub const fn new() -> Self {
        Self { page: OnceBox::new(), value: PhantomData }
    }

    /// Returns the value of this process, and makes it on the first call. It lives as long as the process.
    #[inline]
    pub fn get(&self) -> &'static T {
        self.existing().unwrap_or_else(|| {
            let made = Box::into_raw(Box::<T>::default());
            match self.place().compare_exchange(ptr::null_mut(), made, Ordering::AcqRel, Ordering::Acquire) {
                // SAFETY: it came from a box, and is never freed.
                Ok(_) => unsafe { &*made },
                Err(first) => {
                    // SAFETY: no other thread has seen it.
                    drop(unsafe { Box::from_raw(made) });
                    // SAFETY: it came from the box of another thread of this process, and is never freed.
                    unsafe { &*first }
                }
            }
        })
    }

    /// Returns the value, if this process has made it.
    #[inline]
    pub fn existing(&self) -> Option<&'static T> {
        // SAFETY: this process put the pointer there, from a box that is never freed.
        unsafe { self.place().load(Ordering::Acquire).as_ref() }
    }

    fn place(&self) -> &AtomicPtr<T> {
        let page = self.page.get_or_init(|| Box::new(Page::new(true)));
        // SAFETY: the page lives as long as `self`, and zero is a null pointer.
        unsafe { page.start().cast().as_ref() }
    }
}

impl<T: Default + Send + Sync + 'static> Default for PerProcess<T> {
    fn default() -> Self {
        Self::new()
    }
}

/// Runs `handler` when the process ends by `exit`, in a forked child too. Outside Unix it never runs.
pub fn at_exit(handler: extern "C" fn()) {
    #[cfg(unix)]
    // SAFETY: the handler is a function without captures. It fails only without memory; then nothing is given back early.
    unsafe {
        libc::atexit(handler);
    }
    #[cfg(not(unix))]
    let _ = handler;
}
