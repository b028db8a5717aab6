//! The memory of a module: an allocator that only grows, state between calls, and the buffer shared with JavaScript.
//!
//! Layouts and the states of generators live as long as the module, so nothing is ever freed. All unsafe code of the
//! modules is here.

use alloc::boxed::Box;
use core::alloc::{GlobalAlloc, Layout as Block};
use core::cell::UnsafeCell;
use core::panic::PanicInfo;

/// The most characters a text can have.
pub const TEXT: usize = 1024;
/// The most IDs one call fills in.
const WORDS: usize = 4096;

/// What both sides read and write.
#[repr(C)]
pub struct Buffer {
    /// A text that goes in or out.
    pub text: [u8; TEXT],
    /// The numbers that go in or out.
    pub words: [u64; WORDS],
}

/// A value that a module keeps between calls.
pub struct Single<T>(UnsafeCell<T>);

// SAFETY: a module instance belongs to one agent: wasm memory is not shared between threads here.
unsafe impl<T> Sync for Single<T> {}

impl<T> Single<T> {
    /// A value as a module starts with it.
    pub const fn new(value: T) -> Self {
        Self(UnsafeCell::new(value))
    }

    /// The value, to be read or changed.
    #[inline]
    #[allow(clippy::mut_from_ref, reason = "that is what the type is for")]
    pub fn get(&self) -> &mut T {
        // SAFETY: one thread, and no module calls back into JavaScript, so a caller is done with the reference before the
        // next exported function runs; within one function, no reference of an earlier call is in use.
        unsafe { &mut *self.0.get() }
    }
}

static BUFFER: Single<Buffer> = Single::new(Buffer { text: [0; TEXT], words: [0; WORDS] });

/// The shared buffer of this instance.
#[inline]
pub fn buffer() -> &'static mut Buffer {
    BUFFER.get()
}

/// Returns a handle: the address of a value that lives from now on.
pub fn keep<T>(value: T) -> u32 {
    &raw mut *Box::leak(Box::new(value)) as u32
}

/// The value of a handle.
pub fn kept<T>(handle: u32) -> &'static T {
    // SAFETY: handles come from `keep`, and the one caller, `npm/src/core.ts` and its users, hands each to
    // functions of its type only.
    unsafe { &*(handle as *const T) }
}

/// The value of a handle, to be changed.
#[allow(clippy::mut_from_ref, reason = "as of `Single`")]
pub fn kept_mut<T>(handle: u32) -> &'static mut T {
    // SAFETY: as in `kept`; and as in `Single::get`, no reference of an earlier call is in use.
    unsafe { &mut *(handle as *mut T) }
}

/// Where the shared buffer begins: `TEXT` bytes, then 64-bit words.
#[unsafe(no_mangle)]
pub extern "C" fn buffer_address() -> u32 {
    &raw const *buffer() as u32
}

struct Bump;

const PAGE: usize = 65_536;

// SAFETY: one thread; every block is aligned, lies in memory just grown or left over from that, and is given once.
unsafe impl GlobalAlloc for Bump {
    unsafe fn alloc(&self, block: Block) -> *mut u8 {
        static FREE: Single<(usize, usize)> = Single::new((0, 0));
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
