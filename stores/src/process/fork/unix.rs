//! Pages and files of Unix, and what its at-fork handlers do.

use std::fs::File;
use std::io;
use std::mem::ManuallyDrop;
use std::os::fd::{FromRawFd, IntoRawFd, RawFd};
use std::os::unix::fs::MetadataExt;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread;

use once_cell::race::OnceBox;
use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};
use snowmint_core::mutant;

use super::PAGE_BYTES;

/// A page or a file that the handler in a child treats. Places form a list that only grows, and are used again.
#[derive(Debug)]
struct Place {
    /// 0 if the place is free. `GONE` after a child gave the value up, until the owner there frees the place.
    value: AtomicUsize,
    /// The device and inode of a file: at the time of a fork another file may have its descriptor.
    identity: [AtomicU64; 2],
    next: OnceBox<Self>,
}

impl Place {
    const fn free() -> Self {
        Self { value: AtomicUsize::new(0), identity: [const { AtomicU64::new(0) }; 2], next: OnceBox::new() }
    }

    /// Puts a value, never 0, into a free place after this one.
    fn put(&'static self, value: usize, (device, inode): (u64, u64)) -> &'static Self {
        let mut place = self;
        // Taken first, and the value comes last: a handler that runs meanwhile leaves the place alone.
        while place.value.compare_exchange(0, GONE, Ordering::AcqRel, Ordering::Acquire).is_err() {
            place = place.next.get_or_init(|| Box::new(Self::free()));
        }
        place.identity[0].store(device, Ordering::Relaxed);
        place.identity[1].store(inode, Ordering::Relaxed);
        place.value.store(value, Ordering::Release);
        place
    }

    fn identity(&self) -> (u64, u64) {
        let [device, inode] = &self.identity;
        (device.load(Ordering::Relaxed), inode.load(Ordering::Relaxed))
    }

    /// Frees the place and returns its value.
    fn take(&self) -> Option<usize> {
        Some(self.value.swap(0, Ordering::AcqRel)).filter(|value| ![0, GONE].contains(value))
    }

    fn each(&'static self) -> impl Iterator<Item = &'static Self> {
        std::iter::successors(Some(self), |place| place.next.get())
    }
}

/// Not 0, so that no other value takes a place that an owner will still free.
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
    // SAFETY: the handlers are functions without captures that only touch atomics, pages of this module and descriptors,
    // which is allowed between fork and exec. Two threads that come here at once register the handlers twice, which does
    // no harm: a second call changes nothing.
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
        if ![0, GONE].contains(&address) {
            // SAFETY: a page is on the list while it is mapped, and this is the only thread of the child.
            unsafe { ptr::write_bytes(ptr::with_exposed_provenance_mut::<u8>(address), 0, PAGE_BYTES) };
        }
    }
    // No memory is taken here.
    for file in FILES.each().filter(|_| !mutant::removes("inherit")) {
        let value = file.value.load(Ordering::Acquire);
        if let Some(descriptor) = descriptor(value) {
            file.value.store(GONE, Ordering::Release);
            // Closing, not unlocking: the lock belongs to the open file that the parent has too.
            drop(own_file(descriptor, file.identity()));
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

// SAFETY: a page is memory. The types on it make sure that threads may share them.
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
            PAGES.put(start.as_ptr().expose_provenance(), (0, 0))
        });
        Self { start, listed }
    }

    #[inline]
    pub(super) const fn start(&self) -> NonNull<u8> {
        self.start
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        if let Some(place) = self.listed {
            place.take();
        }
        // SAFETY: `new` mapped the memory with this length, and every reader of it holds the `Page`.
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
/// The descriptor is held raw: a `File` dropped in the child could close another file that has the same descriptor.
#[derive(Debug)]
pub struct OwnFile {
    place: &'static Place,
}

/// Returns the file of a descriptor, if it has this device and inode. A daemon that closes every descriptor closes ours
/// too, and another file may get its number.
fn own_file(descriptor: RawFd, identity: (u64, u64)) -> Option<File> {
    // SAFETY: whatever the descriptor is now, it is let go below if it is not the file that we opened.
    let file = ManuallyDrop::new(unsafe { File::from_raw_fd(descriptor) });
    let found = self::identity(&file).ok()?;
    (found == identity).then(|| ManuallyDrop::into_inner(file))
}

fn identity(file: &File) -> io::Result<(u64, u64)> {
    file.metadata().map(|found| (found.dev(), found.ino()))
}

impl OwnFile {
    /// Opens a file by `open`, which runs again if the process forked before the handler knew of the file. Take a lock only
    /// after this.
    ///
    /// # Errors
    /// The error of `open`, or of a look at the file's identity.
    pub fn open(mut open: impl FnMut() -> io::Result<File>) -> io::Result<Self> {
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
            let file = Self { place: FILES.put(descriptor.unsigned_abs() as usize + 1, identity) };
            if FORKS_BEGUN.load(Ordering::Acquire) == begun {
                return Ok(file);
            }
        }
    }

    /// Lends the file to `work`.
    ///
    /// # Errors
    /// The error of `work`. Also in a forked child, where the file is closed, and if other code has closed the descriptor.
    pub fn with<T>(&self, work: impl FnOnce(&File) -> io::Result<T>) -> io::Result<T> {
        let Some(descriptor) = descriptor(self.place.value.load(Ordering::Acquire)) else {
            return Err(io::Error::other("the file belongs to the process that forked this one"));
        };
        match own_file(descriptor, self.place.identity()) {
            // It stays open.
            Some(file) => work(&ManuallyDrop::new(file)),
            None => Err(io::Error::other("its descriptor was closed by other code of this process")),
        }
    }
}

impl Drop for OwnFile {
    fn drop(&mut self) {
        let identity = self.place.identity();
        if let Some(descriptor) = self.place.take().and_then(descriptor) {
            drop(own_file(descriptor, identity));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_forked_child_leaves_a_strangers_file_open_that_has_the_number_of_ours() {
        let own = OwnFile::open(tempfile::tempfile).expect("a file");
        let descriptor = descriptor(own.place.value.load(Ordering::Acquire)).expect("open");
        let stranger = tempfile::tempfile().expect("another file");
        // As a daemon that closes every descriptor, and opens a file after that.
        // SAFETY: both are open, and no other thread uses the first one.
        assert_eq!(unsafe { libc::dup2(std::os::fd::AsRawFd::as_raw_fd(&stranger), descriptor) }, descriptor);
        // SAFETY: the child asks for a descriptor and ends, without handlers of the test runner's.
        let child = unsafe { libc::fork() };
        if child == 0 {
            // SAFETY: as above.
            unsafe { libc::_exit(i32::from(libc::fcntl(descriptor, libc::F_GETFD) < 0)) };
        }
        let mut status = -1;
        // SAFETY: a child of this process, not waited for yet.
        assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
        assert_eq!(status, 0, "the child has the stranger's file");
        assert!(own.with(|_| Ok(())).is_err(), "it is not ours in the parent either");
        drop(own);
        // SAFETY: it was opened above, and is the stranger's.
        assert_eq!(unsafe { libc::close(descriptor) }, 0, "and stays open there");
    }
}
