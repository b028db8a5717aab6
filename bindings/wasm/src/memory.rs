//! The memory of the module: an allocator that only grows, the state, and the buffer shared with JavaScript.
//!
//! Layouts and generator states live as long as the process, so nothing is ever freed. The one unsafe place.
#![allow(unsafe_code)]

#[cfg(any(feature = "mint", feature = "lease"))]
use alloc::boxed::Box;
#[cfg(feature = "wide")]
use alloc::vec::Vec;
use core::alloc::{GlobalAlloc, Layout as Block};
use core::cell::UnsafeCell;
use core::panic::PanicInfo;

#[cfg(feature = "mint")]
use snowmint_core::Run;
#[cfg(feature = "inspect")]
use snowmint_core::inspect::Candidates;
use wasm_bindgen::prelude::wasm_bindgen;

#[cfg(feature = "wide")]
use crate::minter::Minter;

/// The most characters a text can have, and the most IDs one call fills in.
pub(crate) const TEXT: usize = 1024;
const WORDS: usize = 4096;

/// What both sides read and write.
#[repr(C)]
pub(crate) struct Buffer {
    pub(crate) text: [u8; TEXT],
    pub(crate) words: [u64; WORDS],
}

/// What is left between calls.
#[cfg(any(feature = "mint", feature = "forms", feature = "inspect", feature = "lease", feature = "wide"))]
pub(crate) struct State {
    #[cfg(any(feature = "mint", feature = "forms", feature = "lease", feature = "wide"))]
    /// Whether a call has failed, and nobody asked why yet.
    pub(crate) failed: bool,
    /// IDs taken and not yet drained.
    #[cfg(feature = "mint")]
    pub(crate) run: Option<Run<'static>>,
    /// What `inspect` has found.
    #[cfg(feature = "inspect")]
    pub(crate) candidates: Option<Candidates>,
    /// What is minted next.
    #[cfg(feature = "wide")]
    pub(crate) minter: Minter,
    /// The name that is hashed next.
    #[cfg(feature = "wide")]
    pub(crate) name: Vec<u8>,
}

struct Single<T>(UnsafeCell<T>);

// SAFETY: a module instance belongs to one agent: wasm memory is not shared between threads here.
unsafe impl<T> Sync for Single<T> {}

impl<T> Single<T> {
    #[allow(clippy::mut_from_ref, reason = "that is what the type is for")]
    fn get(&self) -> &mut T {
        // SAFETY: one thread, and nothing here calls back into JavaScript, so a caller is done with what it was given
        // before the next exported function runs; within one, nobody holds on to what an earlier call gave.
        unsafe { &mut *self.0.get() }
    }
}

static BUFFER: Single<Buffer> = Single(UnsafeCell::new(Buffer { text: [0; TEXT], words: [0; WORDS] }));

#[cfg(any(feature = "mint", feature = "forms", feature = "inspect", feature = "lease", feature = "wide"))]
static STATE: Single<State> = Single(UnsafeCell::new(State {
    #[cfg(any(feature = "mint", feature = "forms", feature = "lease", feature = "wide"))]
    failed: false,
    #[cfg(feature = "mint")]
    run: None,
    #[cfg(feature = "inspect")]
    candidates: None,
    #[cfg(feature = "wide")]
    minter: Minter::new(),
    #[cfg(feature = "wide")]
    name: Vec::new(),
}));

/// The shared buffer of this instance.
pub(crate) fn buffer() -> &'static mut Buffer {
    BUFFER.get()
}

/// The state of this instance.
#[cfg(any(feature = "mint", feature = "forms", feature = "inspect", feature = "lease", feature = "wide"))]
#[inline]
pub(crate) fn state() -> &'static mut State {
    STATE.get()
}

/// A handle: the address of a value that lives from now on.
#[cfg(any(feature = "mint", feature = "lease"))]
pub(crate) fn keep<T>(value: T) -> u32 {
    &raw mut *Box::leak(Box::new(value)) as u32
}

/// The value of a handle.
#[cfg(any(feature = "mint", feature = "lease"))]
pub(crate) fn kept<T>(handle: u32) -> &'static T {
    // SAFETY: handles come from `keep`, and the one caller, `npm/src/core.ts` and its users, hands each to
    // functions of its type only.
    unsafe { &*(handle as *const T) }
}

/// The value of a handle, to be changed.
#[cfg(feature = "lease")]
#[allow(clippy::mut_from_ref, reason = "as of `Single`")]
pub(crate) fn kept_mut<T>(handle: u32) -> &'static mut T {
    // SAFETY: as in `kept`; and as in `Single::get`, nobody holds on to what an earlier call gave.
    unsafe { &mut *(handle as *mut T) }
}

/// Where the shared buffer begins: `TEXT` bytes, then 64-bit words.
#[wasm_bindgen]
pub fn buffer_address() -> u32 {
    &raw const *buffer() as u32
}

struct Bump;

const PAGE: usize = 65_536;

// SAFETY: one thread; every block is aligned, lies in memory just grown or left over from that, and is given once.
unsafe impl GlobalAlloc for Bump {
    unsafe fn alloc(&self, block: Block) -> *mut u8 {
        static FREE: Single<(usize, usize)> = Single(UnsafeCell::new((0, 0)));
        let (next, end) = FREE.get();
        // The next multiple of a power of two.
        let mut start = (*next + block.align() - 1) & block.align().wrapping_neg();
        if start + block.size() > *end {
            let pages = block.size().div_ceil(PAGE);
            let grown = core::arch::wasm32::memory_grow(0, pages);
            if grown == usize::MAX {
                return core::ptr::null_mut();
            }
            start = grown * PAGE;
            *end = start + pages * PAGE;
        }
        *next = start + block.size();
        start as *mut u8
    }

    unsafe fn dealloc(&self, _: *mut u8, _: Block) {}
}

#[global_allocator]
static ALLOCATOR: Bump = Bump;

/// A trap, which JavaScript sees as an exception.
#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    core::arch::wasm32::unreachable()
}
