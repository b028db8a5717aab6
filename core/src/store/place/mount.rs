//! The mounts that a process sees.

/// A line of `mountinfo`, see `proc_pid_mountinfo(5)`.
#[derive(Debug)]
pub(super) struct Mount<'a> {
    /// The major and minor number of the device.
    device: &'a str,
    /// The directory of the device that is mounted.
    pub(super) root: &'a str,
    /// The directory where it is mounted.
    point: &'a str,
    /// The kind of the file system.
    pub(super) kind: &'a str,
    /// The device by its path, or another source.
    source: &'a str,
}

/// The kinds of file systems that show the layers of an image as one tree.
const LAYERED: [&str; 6] = ["overlay", "aufs", "unionfs", "fuse.fuse-overlayfs", "fuse-overlayfs", "fuse.unionfs"];

impl<'a> Mount<'a> {
    fn read(line: &'a str) -> Option<Self> {
        let (here, file_system) = line.split_once(" - ")?;
        let (mut words, mut described) = (here.split(' ').skip(2), file_system.split(' '));
        Some(Self {
            device: words.next()?,
            root: words.next()?,
            point: words.next()?,
            kind: described.next()?,
            source: described.next()?,
        })
    }

    pub(super) fn is_layered(&self) -> bool {
        LAYERED.contains(&self.kind)
    }

    /// Returns whether this is the whole file system of a block device, and not a directory or a volume of it.
    pub(super) fn is_whole_device(&self) -> bool {
        self.root == "/" && self.source.starts_with("/dev/")
    }

    /// Returns the mount of a path: the deepest mount, and the last of several mounts at one point, which covers the
    /// others.
    pub(super) fn covering(mounts: &'a str, path: &str) -> Option<Self> {
        let covering = mounts.lines().filter_map(Self::read).filter(|mount| mount.below(path).is_some());
        covering.max_by_key(|mount| mount.point.trim_end_matches('/').len())
    }

    /// Returns the rest of the path after the mount's point, with its leading slash; `None` for a path outside the
    /// mount.
    fn below<'p>(&self, path: &'p str) -> Option<&'p [u8]> {
        let mut rest = path.as_bytes();
        for byte in unescaped(self.point.trim_end_matches('/')) {
            rest = rest.strip_prefix(&[byte])?;
        }
        (rest.is_empty() || rest.starts_with(b"/")).then_some(rest)
    }

    /// Returns whether a path is the same directory of the same device in both mounts.
    pub(super) fn shows_same(&self, other: &Self, path: &str) -> bool {
        let on_device = |mount: &Mount<'a>| {
            let below = mount.below(path).unwrap_or_default();
            unescaped(mount.root.trim_end_matches('/')).chain(below.iter().copied())
        };
        self.device == other.device && on_device(self).eq(on_device(other))
    }
}

/// Returns the bytes of a word of `mountinfo`, which writes a blank as `\040`.
fn unescaped(word: &str) -> impl Iterator<Item = u8> {
    let mut bytes = word.bytes();
    core::iter::from_fn(move || match bytes.next()? {
        b'\\' => {
            let mut digit = || bytes.next().unwrap_or(b'0').wrapping_sub(b'0') & 7;
            Some(digit() << 6 | digit() << 3 | digit())
        }
        byte => Some(byte),
    })
}

/// Returns whether the path contains `/volumes/64 HEX DIGITS/_data`: a volume that a container engine made without a
/// name.
pub(super) fn is_nameless_volume(root: &str) -> bool {
    let names = root.split("/volumes/").skip(1);
    names
        .filter_map(|rest| rest.split_once("/_data"))
        .any(|(name, _)| name.len() == 64 && name.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f')))
}
