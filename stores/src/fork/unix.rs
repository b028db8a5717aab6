//! Pages and files of Unix, and what its at-fork handlers do.

use std::fs::File;
use std::io;
use std::mem::ManuallyDrop;
use std::os::fd::{FromRawFd, IntoRawFd, RawFd};
use std::os::unix::fs::MetadataExt;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use once_cell::race::OnceBox;
use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};
use snowmint_core::mutant;

use super::PAGE_BYTES;

/// What a child's handler has to deal with: a list that only grows, whose places are used again.
#[derive(Debug)]
struct Place {
    /// 0 is free, and what a child gave up stays `GONE` until its owner there frees the place.
    value: AtomicUsize,
    next: OnceBox<Self>,
}

impl Place {
    const fn free() -> Self {
        Self { value: AtomicUsize::new(0), next: OnceBox::new() }
    }

    /// Puts a value, never 0, into a free place after this one.
    fn put(&'static self, value: usize) -> &'static Self {
        let mut place = self;
        while place.value.compare_exchange(0, value, Ordering::AcqRel, Ordering::Acquire).is_err() {
            place = place.next.get_or_init(|| Box::new(Self::free()));
        }
        place
    }

    /// Frees the place; what was in it.
    fn take(&self) -> Option<usize> {
        Some(self.value.swap(0, Ordering::AcqRel)).filter(|value| ![0, GONE].contains(value))
    }

    fn each(&'static self) -> impl Iterator<Item = &'static Self> {
        std::iter::successors(Some(self), |place| place.next.get())
    }
}

/// Not 0, so that nothing else is put where an owner will look.
const GONE: usize = usize::MAX;

/// Descriptors, plus one.
static FILES: Place = Place::free();
/// Addresses of pages that the kernel does not wipe.
static PAGES: Place = Place::free();
static FORKS_BEGUN: AtomicUsize = AtomicUsize::new(0);
static FORKS_DONE: AtomicUsize = AtomicUsize::new(0);

fn watch_forks() {
    static WATCHED: AtomicBool = AtomicBool::new(false);
    if WATCHED.load(Ordering::Acquire) {
        return;
    }
    // SAFETY: the handlers are functions without captures that only touch atomics, memory of ours and descriptors,
    // which is allowed between fork and exec. Two threads that come here at once register them twice, which does no
    // harm: what they do can be done again.
    if unsafe { libc::pthread_atfork(Some(before_fork), Some(after_fork), Some(in_child)) } == 0 {
        WATCHED.store(true, Ordering::Release);
    }
}

extern "C" fn before_fork() {
    FORKS_BEGUN.fetch_add(1, Ordering::AcqRel);
}

extern "C" fn after_fork() {
    FORKS_DONE.fetch_add(1, Ordering::AcqRel);
}

extern "C" fn in_child() {
    FORKS_DONE.store(FORKS_BEGUN.load(Ordering::Acquire), Ordering::Release);
    for page in PAGES.each() {
        let address = page.value.load(Ordering::Acquire);
        if address != 0 {
            // SAFETY: a page is on the list while it is mapped, and this is the only thread of the child.
            unsafe { ptr::write_bytes(ptr::with_exposed_provenance_mut::<u8>(address), 0, PAGE_BYTES) };
        }
    }
    for file in FILES.each().filter(|_| !mutant::removes("inherit")) {
        let value = file.value.load(Ordering::Acquire);
        if let Some(descriptor) = descriptor(value) {
            file.value.store(GONE, Ordering::Release);
            // SAFETY: the descriptor is on the list while it is ours. Closing, not unlocking: the lock belongs to the
            // open file that the parent has too.
            unsafe { libc::close(descriptor) };
        }
    }
}

fn descriptor(value: usize) -> Option<RawFd> {
    RawFd::try_from(value.checked_sub(1)?).ok()
}

/// A page of zeros that a forked child sees wiped.
#[derive(Debug)]
pub(super) struct Page {
    start: NonNull<u8>,
    /// Where the handler finds it, if the kernel does not wipe it.
    listed: Option<&'static Place>,
}

// SAFETY: a page is memory; who puts something there sees to its being shared.
unsafe impl Send for Page {}
// SAFETY: as above.
unsafe impl Sync for Page {}

impl Page {
    pub(super) fn new(wiped: bool) -> Self {
        // SAFETY: a new anonymous mapping overlaps nothing.
        let start = unsafe {
            mmap_anonymous(ptr::null_mut(), PAGE_BYTES, ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE)
        };
        let Some(start) = start.ok().and_then(|start| NonNull::new(start.cast::<u8>())) else {
            std::alloc::handle_alloc_error(std::alloc::Layout::new::<[u8; PAGE_BYTES]>())
        };
        let listed = (wiped && !wipe_on_fork(start)).then(|| {
            watch_forks();
            PAGES.put(start.as_ptr().expose_provenance())
        });
        Self { start, listed }
    }

    pub(super) const fn start(&self) -> NonNull<u8> {
        self.start
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        if let Some(place) = self.listed {
            place.take();
        }
        // SAFETY: it was mapped by `new` with this length, and whoever looks into it holds the page.
        let _ = unsafe { munmap(self.start.as_ptr().cast(), PAGE_BYTES) };
    }
}

#[cfg(target_os = "linux")]
fn wipe_on_fork(start: NonNull<u8>) -> bool {
    use rustix::mm::{Advice, madvise};
    if mutant::removes("advice") {
        return false;
    }
    // SAFETY: the page is ours, and the advice changes nothing in this process.
    unsafe { madvise(start.as_ptr().cast(), PAGE_BYTES, Advice::LinuxWipeOnFork) }.is_ok()
}

#[cfg(not(target_os = "linux"))]
fn wipe_on_fork(_start: NonNull<u8>) -> bool {
    false
}

/// An open file that a forked child closes, so that a lock on it ends with this process.
///
/// The descriptor is held raw: a `File` dropped in the child would close whatever has that number by then.
#[derive(Debug)]
pub(crate) struct OwnFile {
    place: &'static Place,
    /// Device and inode: a daemon that closes every descriptor closes this one too, and its number is used again.
    identity: (u64, u64),
}

fn identity(file: &File) -> io::Result<(u64, u64)> {
    file.metadata().map(|found| (found.dev(), found.ino()))
}

impl OwnFile {
    /// What `open` opens. It is opened again if the process forked before the handler knew of it; a lock is to be taken
    /// only after this.
    pub(crate) fn open(mut open: impl FnMut() -> io::Result<File>) -> io::Result<Self> {
        watch_forks();
        loop {
            let begun = FORKS_BEGUN.load(Ordering::Acquire);
            if FORKS_DONE.load(Ordering::Acquire) != begun {
                thread::yield_now();
                continue;
            }
            let file = open()?;
            let identity = identity(&file)?;
            let descriptor = file.into_raw_fd();
            // A descriptor is not negative, and one more fits.
            let file = Self { place: FILES.put(descriptor.unsigned_abs() as usize + 1), identity };
            if FORKS_BEGUN.load(Ordering::Acquire) == begun {
                return Ok(file);
            }
        }
    }

    /// Lends the file to `work`; an error in a child, where it is closed.
    pub(crate) fn with<T>(&self, work: impl FnOnce(&File) -> io::Result<T>) -> io::Result<T> {
        let Some(descriptor) = descriptor(self.place.value.load(Ordering::Acquire)) else {
            return Err(io::Error::other("the file belongs to the process that forked this one"));
        };
        // SAFETY: the descriptor is open while it stands in the place, unless somebody has closed it behind our back, which
        // the next line notices; `ManuallyDrop` leaves it as it is.
        let file = ManuallyDrop::new(unsafe { File::from_raw_fd(descriptor) });
        if identity(&file)? == self.identity {
            work(&file)
        } else {
            Err(io::Error::other("its descriptor was closed by other code of this process"))
        }
    }
}

impl Drop for OwnFile {
    fn drop(&mut self) {
        let ours = self.with(|_| Ok(())).is_ok();
        if let Some(descriptor) = self.place.take().and_then(descriptor).filter(|_| ours) {
            // SAFETY: it is ours alone to close, as it stood in the place and is the file that we opened.
            drop(unsafe { File::from_raw_fd(descriptor) });
        }
    }
}
