//! Safe places for the files that keep nodes and numbers apart. If other processes of the machine do not see the files,
//! or if the files can vanish, numbers repeat.
//!
//! A host describes the place as [`Facts`]. A default place is refused if it may be private to some processes
//! ([`Facts::not_the_machines`]); a place that the caller names, only if its files can be lost ([`Facts::lossy`]).

use core::fmt;

use crate::durability::Refusal;
use crate::mutant;

/// The surroundings of a path, as far as the host knows them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Facts<'a> {
    /// The path, absolute and without links.
    pub path: &'a str,
    /// The file system: `f_type` of Linux's `statfs(2)`, or 0.
    pub file_system: u32,
    /// The mounts that this process sees: Linux's `/proc/self/mountinfo`.
    pub mounts: &'a str,
    /// The mounts that the machine's first process sees: `/proc/1/mountinfo`.
    pub first_mounts: &'a str,
    /// Whether `KUBERNETES_SERVICE_HOST` is set.
    pub kubernetes: bool,
    /// The file of [`CONTAINER_FILES`] that exists, if any.
    pub container_file: Option<&'a str>,
    /// Whether [`CONTAINER_VARIABLE`] is set and not empty.
    pub container_variable: bool,
}

/// The files that container engines put into a container.
pub const CONTAINER_FILES: [&str; 2] = ["/.dockerenv", "/run/.containerenv"];
/// The environment variable that container engines set.
pub const CONTAINER_VARIABLE: &str = "container";

/// The reason why files at a path are not safe.
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
    FileSystem { name: "overlayfs", note: ", which is private to a container and lost when the container ends" };

impl<'a> Facts<'a> {
    /// Returns why the files at a default path are not shared by the whole machine, if that is evident.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::place::Facts;
    /// let facts = Facts { path: "/var/lib/ids", kubernetes: true, ..Facts::default() };
    /// let doubt = facts.not_the_machines().expect("a pod");
    /// assert_eq!(doubt.to_string(), "in Kubernetes /var/lib/ids is private to each pod");
    /// assert_eq!(Facts { path: "/var/lib/ids", ..Facts::default() }.not_the_machines(), None);
    /// ```
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

    /// Returns why files at a path that the caller names can be lost, or other processes may not see them.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::place::Facts;
    /// let facts = Facts { path: "/tmp/ids", file_system: 0x0102_1994, ..Facts::default() };
    /// let doubt = facts.lossy().expect("memory");
    /// assert!(doubt.to_string().starts_with("/tmp/ids is on tmpfs, "));
    /// ```
    pub fn lossy(&self) -> Option<Doubt<'a>> {
        let file_system = file_system(self.file_system).map(Why::FileSystem);
        self.doubt(file_system.or_else(|| self.private_volume().map(Why::Volume))?)
    }

    fn doubt(&self, why: Why<'a>) -> Option<Doubt<'a>> {
        let lifted = mutant::removes("place");
        (!lifted).then_some(Doubt { path: self.path, why })
    }

    /// Returns the kind of the path's volume, if it is private to a service, user, pod or container.
    fn private_volume(&self) -> Option<&'static str> {
        let root = Mount::covering(self.mounts, self.path)?.root;
        if root.contains("systemd-private-") {
            Some("a private directory of a service (PrivateTmp), which is removed when the service stops")
        } else if root.contains("tmp-inst") {
            Some("a private directory of a user (pam_namespace)")
        } else if root.contains("/kubernetes.io~empty-dir") {
            Some("a private volume of a pod (emptyDir), which is removed with the pod")
        } else if is_nameless_volume(root) {
            Some("a volume without a name, which is private to a container")
        } else {
            None
        }
    }

    /// Returns whether the machine's first process sees another directory at this path.
    fn is_mounted_for_this_process_alone(&self) -> bool {
        let here = Mount::covering(self.mounts, self.path);
        let first = Mount::covering(self.first_mounts, self.path);
        match (here, first) {
            (Some(here), Some(first)) => !here.shows_same(&first, self.path),
            // No mount covers the path: the root directory is that of a chroot.
            (None, Some(_)) => !self.mounts.is_empty(),
            (_, None) => false,
        }
    }
}

/// Returns whether the path contains `/volumes/64 HEX DIGITS/_data`: a volume that a container engine made without a
/// name.
fn is_nameless_volume(root: &str) -> bool {
    let names = root.split("/volumes/").skip(1);
    names
        .filter_map(|rest| rest.split_once("/_data"))
        .any(|(name, _)| name.len() == 64 && name.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f')))
}

/// A line of `mountinfo`, see `proc_pid_mountinfo(5)`.
#[derive(Debug)]
struct Mount<'a> {
    /// The major and minor number of the device.
    device: &'a str,
    /// The directory of the device that is mounted.
    root: &'a str,
    /// The directory where it is mounted.
    point: &'a str,
}

impl<'a> Mount<'a> {
    fn read(line: &'a str) -> Option<Self> {
        let mut words = line.split(' ').skip(2);
        Some(Self { device: words.next()?, root: words.next()?, point: words.next()? })
    }

    /// Returns the mount of a path: the deepest mount, and the last of several mounts at one point, which covers the
    /// others.
    fn covering(mounts: &'a str, path: &str) -> Option<Self> {
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
    fn shows_same(&self, other: &Self, path: &str) -> bool {
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

/// Returns the file system with this number, if writes can be lost there or locks may not work.
fn file_system(number: u32) -> Option<FileSystem> {
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

/// Writes the reason as a clause: `/var/lib/ids is on overlayfs, which ...`.
impl fmt::Display for Doubt<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path;
        match self.why {
            Why::Kubernetes => write!(f, "in Kubernetes {path} is private to each pod"),
            Why::Container(mark) => write!(
                f,
                "in a container (found by {mark}) {path} is private to the container, or on a volume that other containers \
                 may not have"
            ),
            Why::Elsewhere => write!(f, "{path} is mounted for this process alone, or for this and few others"),
            Why::FileSystem(FileSystem { name, note }) => write!(f, "{path} is on {name}{note}"),
            Why::Volume(kind) => write!(f, "{path} is on {kind}"),
        }
    }
}

impl<'a> Doubt<'a> {
    /// Returns the same doubt with another name for the path, such as `the file`.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::place::Facts;
    /// let facts = Facts { path: "/tmp/ids", file_system: 0x0102_1994, ..Facts::default() };
    /// let doubt = facts.lossy().expect("memory").called("the file");
    /// assert!(doubt.to_string().starts_with("the file is on tmpfs, "));
    /// ```
    #[must_use]
    pub const fn called(self, name: &'a str) -> Self {
        Self { path: name, ..self }
    }

    /// Returns the sentence that refuses the default directory of slots.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::place::Facts;
    /// let facts = Facts { path: "/var/lib/ids", kubernetes: true, ..Facts::default() };
    /// let doubt = facts.not_the_machines().expect("a pod");
    /// assert!(doubt.refuse_slots().to_string().contains("pass a node (or set SNOWMINT_NODE)"));
    /// ```
    pub const fn refuse_slots(&'a self) -> impl fmt::Display + 'a {
        Told {
            doubt: self,
            rest: "so other generators could have the same node: pass a node (or set SNOWMINT_NODE) that no other \
                   generator has, pass a store (or set SNOWMINT_STORE) that all generators share, or set \
                   SNOWMINT_STATE_DIR to a directory of a named volume that all containers of the machine share",
        }
    }

    /// Returns the sentence that refuses the default database of a service.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::place::Facts;
    /// let facts = Facts { path: "/var/lib/ids", kubernetes: true, ..Facts::default() };
    /// let doubt = facts.not_the_machines().expect("a pod");
    /// assert!(doubt.refuse_database().to_string().contains("name a store that all servers share"));
    /// ```
    pub const fn refuse_database(&'a self) -> impl fmt::Display + 'a {
        Told {
            doubt: self,
            rest: "so another server could give the same numbers, or this one after a restart: name a store that all \
                   servers share, such as --store postgres://HOST/DATABASE, or --store sqlite:PATH on a named volume that \
                   stays and that all containers of the machine share",
        }
    }

    /// Returns the sentence that refuses files that the caller named. `option` is the option that accepts the place.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::place::Facts;
    /// let facts = Facts { path: "/tmp/ids", file_system: 0x0102_1994, ..Facts::default() };
    /// let doubt = facts.lossy().expect("memory");
    /// assert!(doubt.refuse_named("allow_unsafe=true").to_string().ends_with("or pass allow_unsafe=true"));
    /// ```
    pub const fn refuse_named(&'a self, option: &'a str) -> Refusal<'a, &'a Self> {
        const CURE: &str = "name a path on a local disk or a named volume that stays and that all generators share (a test \
                            or CI job whose IDs are thrown away may allow it)";
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
    fn a_directory_on_the_machines_disk_is_accepted() {
        assert_eq!(facts("", "").not_the_machines(), None);
        assert_eq!(facts(DISK, DISK).not_the_machines(), None);
        assert_eq!(facts(DISK, "").not_the_machines(), None);
        let own_disk = format!("{DISK}36 25 8:3 / /var/tmp rw,relatime shared:12 - ext4 /dev/sda3 rw\n");
        assert_eq!(facts(&own_disk, &own_disk).not_the_machines(), None);
        let subvolume = format!("{DISK}36 25 0:31 /@/var/tmp /var/tmp rw,relatime - btrfs /dev/sda3 rw\n");
        assert_eq!(facts(&subvolume, &subvolume).not_the_machines(), None);
        // A service that sees parts of the disk at their usual paths.
        let parts = format!(
            "{DISK}90 27 254:0 /var /var ro - ext4 /dev/vda rw\n91 90 254:0 /var/tmp /var/tmp rw - ext4 x rw\n"
        );
        assert_eq!(facts(&parts, DISK).not_the_machines(), None);
    }

    #[test]
    fn a_path_that_differs_for_the_first_process_is_refused() {
        let over = |root: &str, point: &str| format!("{DISK}90 27 254:0 {root} {point} rw - ext4 /dev/vda rw\n");
        for mounts in [
            over("/srv/a", "/var/tmp"),
            over("/srv/a", "/var/tmp/snowmint"),
            over("/", "/var/tmp"),
            format!("{DISK}90 27 8:3 / /var/tmp rw - ext4 /dev/sda3 rw\n"),
            // A private root directory, which no mount shows.
            "90 27 0:21 / /proc rw - proc proc rw\n".to_string(),
        ] {
            let doubt = facts(&mounts, DISK).not_the_machines();
            assert!(doubt.is_some_and(|doubt| doubt.to_string().contains("this process alone")), "{mounts}");
            assert_eq!(facts(&mounts, DISK).lossy(), None, "the caller named it");
        }
        // A directory beside the path, or the same directory by another way.
        for mounts in [over("/srv/a", "/var/tmp/snow"), over("/srv/a", "/var/tm"), over("/var/tmp", "/var/tmp")] {
            assert_eq!(facts(&mounts, DISK).not_the_machines(), None, "{mounts}");
        }
    }

    #[test]
    fn the_deepest_and_last_mount_decides() {
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
    fn volumes_of_one_pod_or_container_are_lossy() {
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
    fn containers_and_kubernetes_need_a_named_path() {
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
