//! File systems that lose writes or locks.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FileSystem {
    pub(super) name: &'static str,
    pub(super) note: &'static str,
}

pub(super) const OVERLAY: FileSystem =
    FileSystem { name: "overlayfs", note: ", which is private to a container and lost when the container ends" };

/// Returns the file system with this number, if writes can be lost there or locks may not work.
pub(super) fn file_system(number: u32) -> Option<FileSystem> {
    const LOCKS: &str = ", where locks may not keep out other machines";
    let (name, note) = match number {
        0x794c_7630 => return Some(OVERLAY),
        0x6969 => ("NFS", LOCKS),
        0x517b | 0xff53_4d42 | 0xfe53_4d42 => ("SMB", LOCKS),
        0x0102_1997 => ("9p", LOCKS),
        0x6573_5546 => ("FUSE", LOCKS),
        0x0102_1994 | 0x8584_58f6 => ("tmpfs", ", which is memory and empty after a restart of the machine"),
        _ => return None,
    };
    Some(FileSystem { name, note })
}
