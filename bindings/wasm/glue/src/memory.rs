//! The memory of a module: an allocator that only grows, state between calls, and the buffer shared with JavaScript.
//!
//! Layouts and the states of generators live as long as the module, so nothing is ever freed. All unsafe code of the
//! modules is here.

use alloc::boxed::Box;
use core::alloc::{GlobalAlloc, Layout as Block};
use core::cell::UnsafeCell;
use core::panic::PanicInfo;

/// The most bytes that a text can have.
pub const TEXT: usize = 1024;
/// The most IDs that one call writes.
const WORDS: usize = 4096;

/// The memory that both sides read and write.
#[repr(C)]
pub struct Buffer {
    /// A text of an argument or a result.
    pub text: [u8; TEXT],
    /// The numbers of arguments or results.
    pub words: [u64; WORDS],
}

/// A value that a module keeps between calls.
pub struct Single<T>(UnsafeCell<T>);

// SAFETY: a module instance belongs to one agent: wasm memory is not shared between threads here.
unsafe impl<T> Sync for Single<T> {}

impl<T> Single<T> {
    /// Makes the value with which a module starts.
    pub const fn new(value: T) -> Self {
        Self(UnsafeCell::new(value))
    }

    /// The value, to be read or changed.
    #[inline]
    #[allow(clippy::mut_from_ref, reason = "the purpose of the type")]
    pub fn get(&self) -> &mut T {
        // SAFETY: one thread, and no module calls back into JavaScript, so a caller drops the reference before the next
        // exported function runs; within one function, no reference of an earlier call is in use.
        unsafe { &mut *self.0.get() }
    }
}

static BUFFER: Single<Buffer> = Single::new(Buffer { text: [0; TEXT], words: [0; WORDS] });

/// The shared buffer of this instance.
#[inline]
pub fn buffer() -> &'static mut Buffer {
    BUFFER.get()
}

/// Moves a value to a place where it lives as long as the module, and returns its address as a handle.
pub fn keep<T>(value: T) -> u32 {
    &raw mut *Box::leak(Box::new(value)) as u32
}

/// The value of a handle.
pub fn kept<T>(handle: u32) -> &'static T {
    // SAFETY: handles come from `keep`, and the only callers, the files of `npm/src/wasm` and their users, pass each handle only to
    // functions of its type.
    unsafe { &*(handle as *const T) }
}

/// The value of a handle, to be changed.
#[allow(clippy::mut_from_ref, reason = "as of `Single`")]
pub fn kept_mut<T>(handle: u32) -> &'static mut T {
    // SAFETY: as in `kept`; and as in `Single::get`, no reference of an earlier call is in use.
    unsafe { &mut *(handle as *mut T) }
}

/// The address of the shared buffer: `TEXT` bytes, then 64-bit words.
#[unsafe(no_mangle)]
pub extern "C" fn buffer_address() -> u32 {
    &raw const *buffer() as u32
}

struct Bump;

const PAGE: usize = 65_536;

// SAFETY: one thread; every block is aligned, lies in memory that this allocator has grown, and is handed out once.
unsafe impl GlobalAlloc for Bump {
    unsafe fn alloc(&self, block: Block) -> *mut u8 {
        static FREE: Single<(usize, usize)> = Single::new((0, 0));
        let (next, end) = FREE.get();
        // Rounds up to the alignment, a power of two.
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

    /// Extends in place a block at the end of the memory, as the IDs of an audit are: they would fill twice the memory.
    unsafe fn realloc(&self, place: *mut u8, block: Block, size: usize) -> *mut u8 {
        let end = core::arch::wasm32::memory_size(0) * PAGE;
        if place as usize + block.size() == end && size > block.size() {
            let pages = (size - block.size()).div_ceil(PAGE);
            let grown = core::arch::wasm32::memory_grow(0, pages);
            return if grown == usize::MAX { core::ptr::null_mut() } else { place };
        }
        // SAFETY: the caller ensures that the new size is valid for the alignment, and that the block has so many bytes.
        unsafe {
            let new = self.alloc(Block::from_size_align_unchecked(size, block.align()));
            if !new.is_null() {
                core::ptr::copy_nonoverlapping(place, new, block.size().min(size));
            }
            new
        }
    }
}

#[global_allocator]
static ALLOCATOR: Bump = Bump;

/// A trap, which JavaScript sees as an exception.
#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    core::arch::wasm32::unreachable()
}
