//! Where files may lie that keep nodes and numbers apart: a place that others of the machine do not see, or that is
//! removed under them, gives the same numbers twice.
//!
//! A host tells what it sees as [`Facts`]. A place that nobody named is refused on the first suspicion
//! ([`Facts::not_the_machines`]), one that the caller names only where its files can be lost ([`Facts::lossy`]).

use core::fmt;

use crate::durability::Refusal;
use crate::mutant;

/// What a host sees around a path. What it cannot know it leaves out.
#[derive(Clone, Copy, Debug, Default)]
pub struct Facts<'a> {
    /// The path, absolute and without links.
    pub path: &'a str,
    /// Its file system: `f_type` of Linux's `statfs(2)`, or 0.
    pub file_system: u32,
    /// The mounts that this process sees: Linux's `/proc/self/mountinfo`.
    pub mounts: &'a str,
    /// The mounts that the machine's first process sees: `/proc/1/mountinfo`.
    pub first_mounts: &'a str,
    /// Whether `KUBERNETES_SERVICE_HOST` is set.
    pub kubernetes: bool,
    /// One of [`CONTAINER_FILES`] that is there.
    pub container_file: Option<&'a str>,
    /// Whether [`CONTAINER_VARIABLE`] is set, and not empty.
    pub container_variable: bool,
}

/// The files that engines of containers put into them.
pub const CONTAINER_FILES: [&str; 2] = ["/.dockerenv", "/run/.containerenv"];
/// The environment variable that engines of containers set.
pub const CONTAINER_VARIABLE: &str = "container";

/// Why files at a path are not to be relied on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Doubt<'a> {
    path: &'a str,
    why: Why<'a>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Why<'a> {
    Kubernetes,
    Container(&'a str),
    Elsewhere,
    FileSystem(FileSystem),
    Volume(&'static str),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FileSystem {
    name: &'static str,
    note: &'static str,
}

const OVERLAY: FileSystem =
    FileSystem { name: "overlayfs", note: ", which each container has for itself and loses with its end" };

impl<'a> Facts<'a> {
    /// Why the files of a path that nobody named are evidently not those of the whole machine.
    pub fn not_the_machines(&self) -> Option<Doubt<'a>> {
        let why = if self.kubernetes {
            Why::Kubernetes
        } else if let Some(file) = self.container_file {
            Why::Container(file)
        } else if self.container_variable {
            Why::Container("the variable container")
        } else if file_system(self.file_system) == Some(OVERLAY) {
            Why::FileSystem(OVERLAY)
        } else if let Some(kind) = self.private_volume() {
            Why::Volume(kind)
        } else if self.is_mounted_for_this_process_alone() {
            Why::Elsewhere
        } else {
            return None;
        };
        self.doubt(why)
    }

    /// Why files at a path that the caller names can be lost, or may be out of reach for others that name it too.
    pub fn lossy(&self) -> Option<Doubt<'a>> {
        let file_system = file_system(self.file_system).map(Why::FileSystem);
        self.doubt(file_system.or_else(|| self.private_volume().map(Why::Volume))?)
    }

    fn doubt(&self, why: Why<'a>) -> Option<Doubt<'a>> {
        let lifted = mutant::removes("place");
        (!lifted).then_some(Doubt { path: self.path, why })
    }

    /// The kind of the volume that the path is on, if one service, user, pod or container alone has it.
    fn private_volume(&self) -> Option<&'static str> {
        let root = Mount::covering(self.mounts, self.path)?.root;
        if root.contains("systemd-private-") {
            Some("a service's own directory (PrivateTmp), which is removed when the service stops")
        } else if root.contains("tmp-inst") {
            Some("a user's own directory (pam_namespace)")
        } else if root.contains("/kubernetes.io~empty-dir") {
            Some("a pod's own volume (emptyDir), which is removed with the pod")
        } else if is_nameless_volume(root) {
            Some("a volume without a name, which each container has for itself")
        } else {
            None
        }
    }

    /// Whether the machine's first process sees another directory there.
    fn is_mounted_for_this_process_alone(&self) -> bool {
        let here = Mount::covering(self.mounts, self.path);
        let first = Mount::covering(self.first_mounts, self.path);
        match (here, first) {
            (Some(here), Some(first)) => !here.shows_same(&first, self.path),
            // The root directory is no mount: that of a chroot.
            (None, Some(_)) => !self.mounts.is_empty(),
            (_, None) => false,
        }
    }
}

/// `/volumes/64 HEX DIGITS/_data`: what an engine of containers calls a volume that it was given no name for.
fn is_nameless_volume(root: &str) -> bool {
    let names = root.split("/volumes/").skip(1);
    names
        .filter_map(|rest| rest.split_once("/_data"))
        .any(|(name, _)| name.len() == 64 && name.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f')))
}

/// A line of `mountinfo`: see `proc_pid_mountinfo(5)`.
#[derive(Debug)]
struct Mount<'a> {
    /// Major and minor number of the device.
    device: &'a str,
    /// Which directory of the device is mounted.
    root: &'a str,
    /// On which directory.
    point: &'a str,
}

impl<'a> Mount<'a> {
    fn read(line: &'a str) -> Option<Self> {
        let mut words = line.split(' ').skip(2);
        Some(Self { device: words.next()?, root: words.next()?, point: words.next()? })
    }

    /// The mount that a path is on: the deepest, and of several at one point the last, which covers the others.
    fn covering(mounts: &'a str, path: &str) -> Option<Self> {
        let covering = mounts.lines().filter_map(Self::read).filter(|mount| mount.below(path).is_some());
        covering.max_by_key(|mount| mount.point.trim_end_matches('/').len())
    }

    /// What of the path comes after the mount's point, with the slash before it, if the path is there or below.
    fn below<'p>(&self, path: &'p str) -> Option<&'p [u8]> {
        let mut rest = path.as_bytes();
        for byte in unescaped(self.point.trim_end_matches('/')) {
            rest = rest.strip_prefix(&[byte])?;
        }
        (rest.is_empty() || rest.starts_with(b"/")).then_some(rest)
    }

    /// Whether a path of both is one directory of one device.
    fn shows_same(&self, other: &Self, path: &str) -> bool {
        let on_device = |mount: &Mount<'a>| {
            let below = mount.below(path).unwrap_or_default();
            unescaped(mount.root.trim_end_matches('/')).chain(below.iter().copied())
        };
        self.device == other.device && on_device(self).eq(on_device(other))
    }
}

/// The bytes of a word of `mountinfo`, in which blanks and the like are written as `\040`.
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

/// What is known of the file system of that number, if writes may be lost there, or locks do not hold everybody off.
fn file_system(number: u32) -> Option<FileSystem> {
    const LOCKS: &str = ", where locks may not hold everybody off";
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

/// What was found, as a clause: `/var/lib/ids is on overlayfs, which ...`.
impl fmt::Display for Doubt<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path;
        match self.why {
            Why::Kubernetes => write!(f, "in Kubernetes {path} is each pod's own"),
            Why::Container(mark) => write!(
                f,
                "in a container (told by {mark}) {path} is the container's own, or of a volume that other containers may \
                 not have"
            ),
            Why::Elsewhere => write!(f, "{path} is mounted for this process alone, or with few others"),
            Why::FileSystem(FileSystem { name, note }) => write!(f, "{path} is on {name}{note}"),
            Why::Volume(kind) => write!(f, "{path} is on {kind}"),
        }
    }
}

impl<'a> Doubt<'a> {
    /// The same, where a sentence calls the path by another name, such as `the file`.
    #[must_use]
    pub const fn called(self, name: &'a str) -> Self {
        Self { path: name, ..self }
    }

    /// The sentence that refuses the default directory of slots.
    pub const fn refuse_slots(&'a self) -> impl fmt::Display + 'a {
        Told {
            doubt: self,
            rest: "so other generators could have the same node: pass a node (or set SNOWMINT_NODE) that no other \
                   generator has, a store (or SNOWMINT_STORE) that all share, or set SNOWMINT_STATE_DIR to a directory of a \
                   named volume that all containers of the machine share",
        }
    }

    /// The sentence that refuses the database that a service makes where none is named.
    pub const fn refuse_database(&'a self) -> impl fmt::Display + 'a {
        Told {
            doubt: self,
            rest: "so another server could give the same numbers, or this one after a restart: name a store that all \
                   servers share, such as --store postgres://HOST/DATABASE, or --store sqlite:PATH on a named volume that \
                   stays and that all containers of the machine share",
        }
    }

    /// The sentence that refuses files that the caller named. `option` is what accepts the place all the same.
    pub const fn refuse_named(&'a self, option: &'a str) -> Refusal<'a, &'a Self> {
        const CURE: &str = "name a path on a local disk or a named volume, which stays and which all who mint share (a test \
                            or a CI job whose IDs nobody keeps may allow it)";
        Refusal { found: self, cure: CURE, option }
    }
}

struct Told<'a> {
    doubt: &'a Doubt<'a>,
    rest: &'static str,
}

impl fmt::Display for Told<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}", self.doubt, self.rest)
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::format;
    use std::string::ToString;

    use super::*;

    const DISK: &str = "27 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n";
    const PATH: &str = "/var/tmp/snowmint";

    fn facts<'a>(mounts: &'a str, first_mounts: &'a str) -> Facts<'a> {
        Facts { path: PATH, file_system: 0xef53, mounts, first_mounts, ..Facts::default() }
    }

    #[test]
    fn a_directory_on_the_machines_disk_is_taken() {
        assert_eq!(facts("", "").not_the_machines(), None);
        assert_eq!(facts(DISK, DISK).not_the_machines(), None);
        assert_eq!(facts(DISK, "").not_the_machines(), None);
        let own_disk = format!("{DISK}36 25 8:3 / /var/tmp rw,relatime shared:12 - ext4 /dev/sda3 rw\n");
        assert_eq!(facts(&own_disk, &own_disk).not_the_machines(), None);
        let subvolume = format!("{DISK}36 25 0:31 /@/var/tmp /var/tmp rw,relatime - btrfs /dev/sda3 rw\n");
        assert_eq!(facts(&subvolume, &subvolume).not_the_machines(), None);
        // A service that sees parts of the disk, each as it is.
        let parts = format!(
            "{DISK}90 27 254:0 /var /var ro - ext4 /dev/vda rw\n91 90 254:0 /var/tmp /var/tmp rw - ext4 x rw\n"
        );
        assert_eq!(facts(&parts, DISK).not_the_machines(), None);
    }

    #[test]
    fn what_the_first_process_sees_elsewhere_is_not_the_machines() {
        let over = |root: &str, point: &str| format!("{DISK}90 27 254:0 {root} {point} rw - ext4 /dev/vda rw\n");
        for mounts in [
            over("/srv/a", "/var/tmp"),
            over("/srv/a", "/var/tmp/snowmint"),
            over("/", "/var/tmp"),
            format!("{DISK}90 27 8:3 / /var/tmp rw - ext4 /dev/sda3 rw\n"),
            // A root directory of its own, which no mount shows.
            "90 27 0:21 / /proc rw - proc proc rw\n".to_string(),
        ] {
            let doubt = facts(&mounts, DISK).not_the_machines();
            assert!(doubt.is_some_and(|doubt| doubt.to_string().contains("this process alone")), "{mounts}");
            assert_eq!(facts(&mounts, DISK).lossy(), None, "a caller who names it knows");
        }
        // Beside it, or the same directory by another way.
        for mounts in [over("/srv/a", "/var/tmp/snow"), over("/srv/a", "/var/tm"), over("/var/tmp", "/var/tmp")] {
            assert_eq!(facts(&mounts, DISK).not_the_machines(), None, "{mounts}");
        }
    }

    #[test]
    fn the_deepest_and_last_mount_counts() {
        let private = "512 36 8:1 /var/tmp/systemd-private-0f-nginx.service-x/tmp /var/tmp rw - ext4 /dev/sda1 rw\n";
        let own_disk = "36 25 8:3 / /var/tmp rw,relatime shared:12 - ext4 /dev/sda3 rw\n";
        for (mounts, refused) in [
            (format!("{own_disk}{private}{DISK}"), true),
            (format!("{private}{own_disk}{DISK}"), false),
            (format!("{private}99 36 8:3 /a /var/tmp/snowmint rw - ext4 /dev/sda3 rw\n"), false),
        ] {
            assert_eq!(facts(&mounts, "").lossy().is_some(), refused, "{mounts}");
            assert_eq!(facts(&mounts, "").not_the_machines().is_some(), refused, "{mounts}");
        }
    }

    #[test]
    fn volumes_that_go_with_their_pod_or_container_are_lossy() {
        let hex = "0123456789abcdef".repeat(4);
        let on = |root: &str| format!("{DISK}90 27 8:1 {root} /data/my\\040ids rw - ext4 /dev/sda1 rw\n");
        for (root, told) in [
            ("/var/lib/kubelet/pods/1-2/volumes/kubernetes.io~empty-dir/data".to_string(), "emptyDir"),
            (format!("/var/lib/docker/volumes/{hex}/_data"), "without a name"),
            (format!("/volumes/{hex}/_data/below"), "without a name"),
            ("/tmp/systemd-private-1-x.service-y/tmp".to_string(), "PrivateTmp"),
            ("/var/tmp/tmp-inst/me".to_string(), "pam_namespace"),
        ] {
            let mounts = on(&root);
            let doubt = Facts { path: "/data/my ids/ids.db", ..facts(&mounts, "") }.lossy();
            assert!(doubt.is_some_and(|doubt| doubt.to_string().contains(told)), "{mounts}");
        }
        let upper = hex.to_uppercase();
        for root in
            ["/", "/var/lib/docker/volumes/ids/_data", &format!("/volumes/{upper}/_data"), &format!("/volumes/{hex}")]
        {
            let mounts = on(root);
            assert_eq!(Facts { path: "/data/my ids/ids.db", ..facts(&mounts, "") }.lossy(), None, "{mounts}");
        }
    }

    #[test]
    fn file_systems_that_lose_writes_or_locks_are_lossy() {
        for (number, name) in
            [(0x794c_7630, "overlayfs"), (0x6969, "NFS"), (0x0102_1994, "tmpfs"), (0x6573_5546, "FUSE")]
        {
            let facts = Facts { file_system: number, ..facts(DISK, DISK) };
            let told = facts.lossy().expect(name).refuse_named("allow_unsafe=true").to_string();
            assert!(told.starts_with(&format!("{PATH} is on {name}, ")), "{told}");
            assert!(told.ends_with(", or pass allow_unsafe=true"), "{told}");
            assert_eq!(facts.not_the_machines().is_some(), name == "overlayfs");
        }
        assert_eq!(facts(DISK, DISK).lossy(), None);
    }

    #[test]
    fn in_kubernetes_and_in_containers_a_path_has_to_be_named() {
        let pod = Facts { kubernetes: true, ..facts(DISK, DISK) };
        let by_file = Facts { container_file: Some("/.dockerenv"), ..facts(DISK, DISK) };
        let by_variable = Facts { container_variable: true, ..facts(DISK, DISK) };
        for (facts, mark) in [(pod, "Kubernetes"), (by_file, "/.dockerenv"), (by_variable, "the variable container")] {
            assert_eq!(facts.lossy(), None);
            let doubt = facts.not_the_machines().expect("refused");
            for sentence in [doubt.refuse_slots().to_string(), doubt.refuse_database().to_string()] {
                assert!(sentence.contains(mark) && sentence.contains(PATH), "{sentence}");
                assert!(sentence.ends_with("all containers of the machine share"), "{sentence}");
            }
        }
    }
}
