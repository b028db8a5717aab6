//! Where nothing forks, a page is memory and a file is a file.

use std::fs::File;
use std::io;
use std::ptr::NonNull;
use std::sync::atomic::AtomicU64;

#[derive(Debug)]
pub(super) struct Page(Box<[AtomicU64; super::PAGE_BYTES / 8]>);

impl Page {
    pub(super) fn new(_wiped: bool) -> Self {
        Self(Box::new([const { AtomicU64::new(0) }; super::PAGE_BYTES / 8]))
    }

    #[inline]
    pub(super) fn start(&self) -> NonNull<u8> {
        NonNull::from(&*self.0).cast()
    }
}

/// An open file of this process.
#[derive(Debug)]
pub struct OwnFile(File);

impl OwnFile {
    /// Opens a file by `open`.
    ///
    /// # Errors
    /// The error of `open`.
    pub fn open(mut open: impl FnMut() -> io::Result<File>) -> io::Result<Self> {
        open().map(Self)
    }

    /// Lends the file to `work`.
    ///
    /// # Errors
    /// The error of `work`.
    pub fn with<T>(&self, work: impl FnOnce(&File) -> io::Result<T>) -> io::Result<T> {
        work(&self.0)
    }
}
