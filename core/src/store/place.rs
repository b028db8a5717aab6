//! Safe places for the files that keep nodes and numbers apart. If other processes of the machine do not see the files,
//! or if the files can vanish, numbers repeat.
//!
//! A host describes the place as [`Facts`]. A default place is judged by [`Facts::default_place`]; a place that the caller
//! names is refused only if its files can be lost ([`Facts::lossy`]).
//!
//! | the process runs | found by | a default place is |
//! | --- | --- | --- |
//! | under an orchestrator | the variables of Kubernetes, ECS, Cloud Run, Nomad | refused |
//! | in a container | a root on a layered file system; a mark of a container, unless the root is a whole block device; a private mount of the place | refused |
//! | in a container where one person works | the same, and a variable of a dev container or of CI, or a terminal | accepted with a warning, and with a random node |
//! | on a machine | none of these signs | accepted |

mod doubt;
mod file_system;
mod mount;
mod variables;

pub use self::doubt::{Doubt, Tolerated};
pub use self::variables::Variables;

use self::doubt::{Mark, Why};
use self::file_system::{OVERLAY, file_system};
use self::mount::{Mount, is_nameless_volume};
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
    /// The file of [`CONTAINER_FILES`] that exists, if any.
    pub container_file: Option<&'a str>,
    /// The facts that the environment variables show.
    pub variables: Variables,
    /// Whether standard input is a terminal.
    pub terminal: bool,
}

/// The files that container engines put into a container. An image can keep them where it is the disk of a machine.
pub const CONTAINER_FILES: [&str; 2] = ["/.dockerenv", "/run/.containerenv"];
/// The verdict on a default place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict<'a> {
    /// All processes of the machine share the files.
    Machine,
    /// Only a container has the files, and one person works there: they serve, with a warning.
    Tolerated(Tolerated<'a>),
    /// The files may not be shared by the whole machine, or are lost.
    Refused(Doubt<'a>),
}

impl<'a> Facts<'a> {
    /// Judges a default place: whether the whole machine shares its files.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::place::{Facts, Verdict};
    /// assert_eq!(Facts { path: "/var/lib/ids", ..Facts::default() }.default_place(), Verdict::Machine);
    /// let mounts = "27 1 0:30 / / rw - overlay overlay rw,lowerdir=/image";
    /// let facts = Facts { path: "/var/lib/ids", mounts, ..Facts::default() };
    /// assert!(matches!(facts.default_place(), Verdict::Refused(_)));
    /// assert!(matches!(Facts { terminal: true, ..facts }.default_place(), Verdict::Tolerated(_)));
    /// ```
    pub fn default_place(&self) -> Verdict<'a> {
        let Some(why) = self.private().filter(|_| !mutant::removes("place")) else { return Verdict::Machine };
        let doubt = Doubt { path: self.path, why };
        let terminal = if self.terminal { Some("standard input is a terminal") } else { None };
        match (why, self.variables.one_person.or(terminal), file_system(self.file_system)) {
            (Why::Orchestrated(_), ..) | (_, None, _) => Verdict::Refused(doubt),
            (_, Some(sign), None | Some(OVERLAY)) => Verdict::Tolerated(Tolerated { doubt, sign }),
            // Files in memory or on a network are refused for one person too.
            (_, Some(_), Some(other)) => Verdict::Refused(Doubt { why: Why::FileSystem(other), ..doubt }),
        }
    }

    /// Returns why only a part of the machine may see the files, if that is evident.
    fn private(&self) -> Option<Why<'a>> {
        if let Some(orchestrator) = self.variables.orchestrator {
            Some(Why::Orchestrated(orchestrator))
        } else if let Some(mark) = self.container() {
            Some(Why::Container(mark))
        } else if file_system(self.file_system) == Some(OVERLAY) {
            Some(Why::FileSystem(OVERLAY))
        } else if let Some(kind) = self.private_volume() {
            Some(Why::Volume(kind))
        } else {
            self.is_mounted_for_this_process_alone().then_some(Why::Elsewhere)
        }
    }

    /// Returns the sign of a container. A file that an image has left on the disk of a machine does not count.
    fn container(&self) -> Option<Mark<'a>> {
        let root = Mount::covering(self.mounts, "/");
        match (root, self.container_file) {
            (Some(root), _) if root.is_layered() => Some(Mark::Root(root.kind)),
            (Some(root), _) if root.is_whole_device() => None,
            (_, Some(file)) => Some(Mark::File(file)),
            _ => self.variables.container.then_some(Mark::Variable),
        }
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
        let why = file_system.or_else(|| self.private_volume().map(Why::Volume))?;
        (!mutant::removes("place")).then_some(Doubt { path: self.path, why })
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
            // No mount covers the path: the process runs in a chroot.
            (None, Some(_)) => !self.mounts.is_empty(),
            (_, None) => false,
        }
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

    fn refused<'a>(facts: &Facts<'a>) -> Option<Doubt<'a>> {
        match facts.default_place() {
            Verdict::Refused(doubt) => Some(doubt),
            Verdict::Machine => None,
            Verdict::Tolerated(tolerated) => panic!("{tolerated:?}"),
        }
    }

    fn facts<'a>(mounts: &'a str, first_mounts: &'a str) -> Facts<'a> {
        Facts { path: PATH, file_system: 0xef53, mounts, first_mounts, ..Facts::default() }
    }

    #[test]
    fn a_directory_on_the_machines_disk_is_accepted() {
        assert_eq!(facts("", "").default_place(), Verdict::Machine);
        assert_eq!(facts(DISK, DISK).default_place(), Verdict::Machine);
        assert_eq!(facts(DISK, "").default_place(), Verdict::Machine);
        let own_disk = format!("{DISK}36 25 8:3 / /var/tmp rw,relatime shared:12 - ext4 /dev/sda3 rw\n");
        assert_eq!(facts(&own_disk, &own_disk).default_place(), Verdict::Machine);
        let subvolume = format!("{DISK}36 25 0:31 /@/var/tmp /var/tmp rw,relatime - btrfs /dev/sda3 rw\n");
        assert_eq!(facts(&subvolume, &subvolume).default_place(), Verdict::Machine);
        // A service that sees parts of the disk at their usual paths.
        let parts = format!(
            "{DISK}90 27 254:0 /var /var ro - ext4 /dev/vda rw\n91 90 254:0 /var/tmp /var/tmp rw - ext4 x rw\n"
        );
        assert_eq!(facts(&parts, DISK).default_place(), Verdict::Machine);
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
            let doubt = refused(&facts(&mounts, DISK));
            assert!(doubt.is_some_and(|doubt| doubt.to_string().contains("this process alone")), "{mounts}");
            assert_eq!(facts(&mounts, DISK).lossy(), None, "the caller named it");
        }
        // A directory beside the path, or the same directory by another way.
        for mounts in [over("/srv/a", "/var/tmp/snow"), over("/srv/a", "/var/tm"), over("/var/tmp", "/var/tmp")] {
            assert_eq!(facts(&mounts, DISK).default_place(), Verdict::Machine, "{mounts}");
        }
    }

    #[test]
    fn the_deepest_and_last_mount_decides() {
        let private = "512 36 8:1 /var/tmp/systemd-private-0f-nginx.service-x/tmp /var/tmp rw - ext4 /dev/sda1 rw\n";
        let own_disk = "36 25 8:3 / /var/tmp rw,relatime shared:12 - ext4 /dev/sda3 rw\n";
        for (mounts, is_private) in [
            (format!("{own_disk}{private}{DISK}"), true),
            (format!("{private}{own_disk}{DISK}"), false),
            (format!("{private}99 36 8:3 /a /var/tmp/snowmint rw - ext4 /dev/sda3 rw\n"), false),
        ] {
            assert_eq!(facts(&mounts, "").lossy().is_some(), is_private, "{mounts}");
            assert_eq!(refused(&facts(&mounts, "")).is_some(), is_private, "{mounts}");
        }
    }

    #[test]
    fn volumes_of_one_pod_or_container_are_lossy() {
        let hex = "0123456789abcdef".repeat(4);
        let on = |root: &str| format!("{DISK}90 27 8:1 {root} /data/my\\040ids rw - ext4 /dev/sda1 rw\n");
        for (root, expected) in [
            ("/var/lib/kubelet/pods/1-2/volumes/kubernetes.io~empty-dir/data".to_string(), "emptyDir"),
            (format!("/var/lib/docker/volumes/{hex}/_data"), "without a name"),
            (format!("/volumes/{hex}/_data/below"), "without a name"),
            ("/tmp/systemd-private-1-x.service-y/tmp".to_string(), "PrivateTmp"),
            ("/var/tmp/tmp-inst/me".to_string(), "pam_namespace"),
        ] {
            let mounts = on(&root);
            let doubt = Facts { path: "/data/my ids/ids.db", ..facts(&mounts, "") }.lossy();
            assert!(doubt.is_some_and(|doubt| doubt.to_string().contains(expected)), "{mounts}");
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
            let expected = facts.lossy().expect(name).refuse_named("allow_unsafe=true").to_string();
            assert!(expected.starts_with(&format!("{PATH} is on {name}, ")), "{expected}");
            assert!(expected.ends_with(", or pass allow_unsafe=true"), "{expected}");
            assert_eq!(refused(&facts).is_some(), name == "overlayfs");
        }
        assert_eq!(facts(DISK, DISK).lossy(), None);
    }

    fn set(names: &'static [&'static str]) -> Variables {
        Variables::read(|name| names.contains(&name))
    }

    /// The kinds of verdicts by facts: the rule as a table.
    #[test]
    fn facts_lead_to_the_verdict() {
        const LAYERS: &str = "27 1 0:30 / / rw - overlay overlay rw,lowerdir=/image\n";
        const FUSE: &str = "27 1 0:30 / / rw - fuse.fuse-overlayfs fuse-overlayfs rw\n";
        const DIRECTORY: &str = "27 1 254:0 /var/lib/docker/vfs/dir/3a / rw - ext4 /dev/vda rw\n";
        const SUBVOLUME: &str = "27 1 0:31 /@/docker/btrfs/subvolumes/3a / rw - btrfs /dev/vda rw\n";
        const DATASET: &str = "27 1 0:40 / / rw - zfs pool/docker/3a rw\n";
        const SHARED: &str = "27 1 0:40 / / rw - virtiofs kataShared rw\n";
        const MEMORY: &str = "27 1 0:40 / / rw - tmpfs none rw\n";
        const NO_MARK: Option<&str> = None;
        const MARK: Option<&str> = Some("/.dockerenv");
        const OVERLAYFS: u32 = 0x794c_7630;
        const EXT4: u32 = 0xef53;
        let (nothing, ci) = (&[][..], &["CI"][..]);
        let one = "tolerated";
        let table = [
            // A machine: also one whose disk was made of an image, whatever its variables.
            (DISK, NO_MARK, nothing, false, EXT4, "machine"),
            (DISK, MARK, nothing, false, EXT4, "machine"),
            (DISK, MARK, &["container"][..], false, EXT4, "machine"),
            (DISK, MARK, ci, true, EXT4, "machine"),
            (MEMORY, NO_MARK, nothing, false, EXT4, "machine"),
            ("", NO_MARK, nothing, false, EXT4, "machine"),
            // A container.
            (LAYERS, NO_MARK, nothing, false, EXT4, "its root on overlay"),
            (LAYERS, MARK, nothing, false, OVERLAYFS, "its root on overlay"),
            (FUSE, NO_MARK, nothing, false, EXT4, "its root on fuse.fuse-overlayfs"),
            (DIRECTORY, MARK, nothing, false, EXT4, "/.dockerenv"),
            (SUBVOLUME, MARK, nothing, false, EXT4, "/.dockerenv"),
            (DATASET, MARK, nothing, false, EXT4, "/.dockerenv"),
            (SHARED, NO_MARK, &["container"][..], false, EXT4, "the variable container"),
            (MEMORY, MARK, nothing, false, EXT4, "/.dockerenv"),
            ("", MARK, nothing, false, EXT4, "/.dockerenv"),
            (DISK, NO_MARK, nothing, false, OVERLAYFS, "is on overlayfs"),
            // A container where one person works.
            (LAYERS, MARK, ci, false, OVERLAYFS, one),
            (LAYERS, MARK, &["CODESPACES"][..], false, OVERLAYFS, one),
            (LAYERS, MARK, &["REMOTE_CONTAINERS"][..], false, OVERLAYFS, one),
            (LAYERS, MARK, &["DEVCONTAINER"][..], false, OVERLAYFS, one),
            (LAYERS, MARK, &["GITPOD_WORKSPACE_ID"][..], false, OVERLAYFS, one),
            (LAYERS, NO_MARK, nothing, true, OVERLAYFS, one),
            (DIRECTORY, MARK, ci, false, EXT4, one),
            (DISK, NO_MARK, ci, false, OVERLAYFS, one),
            // Files in memory or on a network are refused for one person too.
            (LAYERS, MARK, ci, true, 0x0102_1994, "is on tmpfs"),
            (LAYERS, MARK, ci, true, 0x6969, "is on NFS"),
            // An orchestrator, also at a terminal, and where its containers run CI.
            (DISK, NO_MARK, &["KUBERNETES_SERVICE_HOST"][..], false, EXT4, "in Kubernetes"),
            (LAYERS, MARK, &["KUBERNETES_SERVICE_HOST", "CI"][..], true, OVERLAYFS, "in Kubernetes"),
            (LAYERS, MARK, &["ECS_CONTAINER_METADATA_URI_V4"][..], true, OVERLAYFS, "in ECS"),
            (LAYERS, MARK, &["ECS_CONTAINER_METADATA_URI"][..], false, OVERLAYFS, "in ECS"),
            (DISK, NO_MARK, &["K_SERVICE"][..], false, EXT4, "in Cloud Run"),
            (DISK, NO_MARK, &["CLOUD_RUN_JOB"][..], false, EXT4, "in Cloud Run"),
            (DISK, NO_MARK, &["NOMAD_ALLOC_ID"][..], false, EXT4, "in Nomad"),
        ];
        for (mounts, container_file, names, terminal, file_system, verdict) in table {
            let facts = Facts { container_file, variables: set(names), terminal, file_system, ..facts(mounts, mounts) };
            let found = match facts.default_place() {
                Verdict::Machine => "machine".to_string(),
                Verdict::Tolerated(_) => one.to_string(),
                Verdict::Refused(doubt) => doubt.to_string(),
            };
            assert!(found.contains(verdict), "{mounts} {container_file:?} {names:?} {terminal}: {found}");
        }
    }

    #[test]
    fn a_private_mount_is_accepted_where_one_person_works() {
        let over = format!("{DISK}90 27 254:0 /srv/a /var/tmp rw - ext4 /dev/vda rw\n");
        let facts = facts(&over, DISK);
        assert!(matches!(facts.default_place(), Verdict::Refused(_)));
        assert!(matches!(Facts { terminal: true, ..facts }.default_place(), Verdict::Tolerated(_)));
    }

    #[test]
    fn refusals_have_two_sentences_with_the_store_first() {
        let pod = Facts { variables: set(&["KUBERNETES_SERVICE_HOST"]), ..facts(DISK, DISK) };
        let container = Facts { container_file: Some("/.dockerenv"), ..facts("", "") };
        for facts in [pod, container] {
            assert_eq!(facts.lossy(), None);
            let doubt = refused(&facts).expect("refused");
            for (message, store, shared) in [
                (doubt.refuse_slots().to_string(), "SNOWMINT_STORE", "SNOWMINT_STATE_DIR"),
                (doubt.refuse_database().to_string(), "--store postgres:", "--store sqlite:"),
            ] {
                let (first, second) = message.split_once(". ").expect("two sentences");
                assert!(first.contains(PATH) && first.contains(store) && second.contains(shared), "{message}");
                assert!(second.ends_with("all containers of the machine share"), "{message}");
                assert!(!message.contains("SNOWMINT_NODE"), "{message}");
                assert!(message.split(' ').count() < 48, "{message}");
            }
        }
    }

    #[test]
    fn a_warning_names_the_sign_and_the_store() {
        let layers = "27 1 0:30 / / rw - overlay overlay rw\n";
        let by_variable = Facts { variables: set(&["CI"]), ..facts(layers, layers) };
        let by_terminal = Facts { terminal: true, ..facts(layers, layers) };
        for (facts, sign) in
            [(by_variable, "because CI is set: "), (by_terminal, "because standard input is a terminal: ")]
        {
            let Verdict::Tolerated(tolerated) = facts.default_place() else { panic!("{sign}") };
            for warning in [tolerated.warn_of_slots().to_string(), tolerated.warn_of_database().to_string()] {
                assert!(warning.contains(sign) && warning.contains("SNOWMINT_STORE"), "{warning}");
            }
        }
    }
}
