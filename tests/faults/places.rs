//! Places that only some processes of the machine see, or that do not last: slots and databases there are refused.
//!
//! Each scene is a separate mount namespace, as in a container, and ends with its processes.
#![cfg(target_os = "linux")]

#[path = "support.rs"]
mod support;

use std::collections::HashSet;
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::process::Command;

use support::{Running, Scene, minter, run, run_refused};

/// Makes the root directory of a machine in memory, with all files of this machine, except the files that mark a container.
const PLAIN_ROOT: &str = "mount -t tmpfs none \"$1/root\"";
/// The same on a separate disk.
const DISK_ROOT: &str = "truncate -s 8M \"$1/disk\"; mkfs.ext4 -q \"$1/disk\"; mount -o loop \"$1/disk\" \"$1/root\"";
/// The same in layers, as a container engine does.
const LAYERED_ROOT: &str = "mount -t overlay -o \"lowerdir=$1/one,upperdir=$1/upper,workdir=$1/work\" none \"$1/root\"";

/// Fills the root directory. In layers, `/var/tmp` is in the layers too.
fn filled(root: &str) -> String {
    let skipped = if root == LAYERED_ROOT { "/var" } else { "/lost+found" };
    format!(
        r#"
{root}
for each in /*; do
  if [ -L "$each" ]; then cp -P "$each" "$1/root"
  elif [ "$each" = {skipped} ]; then mkdir -p -m 1777 "$1/root/var/tmp"
  elif [ -d "$each" ]; then mkdir -p "$1/root$each"; mount --rbind "$each" "$1/root$each"; fi
done
mount -t tmpfs none "$1/root/run"
"#
    )
}

/// Makes a command that runs a script in new namespaces: `$1` is the scene's directory, `$2` the minter.
fn apart(scene: &Scene, namespaces: &[&str], script: &str) -> Command {
    let minter = minter("");
    let mut command = Command::new("unshare");
    for (name, _) in minter.get_envs() {
        command.env_remove(name);
    }
    for name in ["root", "one", "other", "upper", "work", "merged"] {
        fs::create_dir_all(scene.path(name)).expect("made");
    }
    // Other users need access to the directory.
    fs::set_permissions(scene.path(""), Permissions::from_mode(0o755)).expect("opened");
    command.arg("--mount").args(namespaces).args(["sh", "-ec", script, "sh"]);
    command.arg(scene.path("")).arg(minter.get_program());
    command
}

/// Mints from the default slots after `script`, on a machine with this root directory.
fn in_root(scene: &Scene, root: &str, script: &str) -> Command {
    apart(scene, &[], &format!("{}{script}\nexec chroot \"$1/root\" \"$2\" mint count=1", filled(root)))
}

/// Mints from the default slots after `script`, on a machine without the marks of a container.
fn on_plain_machine(scene: &Scene, script: &str) -> Command {
    in_root(scene, PLAIN_ROOT, script)
}

/// As `on_plain_machine`, on a machine whose `/var/tmp` is the directory `one`, also for its first process. `user` has
/// the options of `setpriv` for the minter.
fn on_own_machine(scene: &Scene, script: &str, user: &[&str]) -> Command {
    let namespaces = ["--pid", "--fork", "--kill-child", "--mount-proc"];
    let mount = "chmod 1777 \"$1/one\"; mount --bind \"$1/one\" \"$1/root/var/tmp\"; cp \"$2\" \"$1/root/run/minter\"";
    let user = if user.is_empty() { String::new() } else { format!("setpriv {} --", user.join(" ")) };
    let mint = format!("exec chroot \"$1/root\" {user} /run/minter mint pace_us=1000 count=500");
    apart(scene, &namespaces, &format!("{}{mount}\n{script}\n{mint}", filled(PLAIN_ROOT)))
}

#[test]
fn without_anything_mounted_the_default_slots_are_the_machines() {
    let minted = run(&mut on_plain_machine(&Scene::new(), ""));
    assert!(minted.starts_with("node "), "{minted}");
}

#[test]
fn root_and_other_users_share_the_slots_of_the_machine() {
    let scene = Scene::new();
    let users = ["0", "65534", "4711"];
    let mut held =
        users.map(|user| Running::start(&mut on_own_machine(&scene, "", &["--reuid", user, "--clear-groups"])));
    let nodes: HashSet<_> = held.iter_mut().map(Running::node).collect();
    assert_eq!(nodes.len(), users.len(), "each has its own");
    let directory = fs::symlink_metadata(scene.path("one/snowmint")).expect("made");
    assert!(directory.is_dir());
    assert_eq!(directory.mode() & 0o7777, 0o1777);
}

/// As in a rootless container: root should own the directory, but a claim works without that.
#[test]
fn root_without_the_right_to_chown_uses_others_slots() {
    let scene = Scene::new();
    let other = on_own_machine(&scene, "", &["--reuid", "65534", "--clear-groups"]).output().expect("it starts");
    assert!(other.status.success(), "{other:?}");
    let minted = run(&mut on_own_machine(&scene, "", &["--bounding-set", "-chown"]));
    assert!(minted.starts_with("node "), "{minted}");
    assert_eq!(fs::metadata(scene.path("one/snowmint")).expect("there").uid(), 65534);
}

#[test]
fn two_mount_namespaces_with_separate_slots_are_refused() {
    let scene = Scene::new();
    let over = ["/var/tmp/snowmint", "/var/tmp"];
    for over in over {
        for own in ["one", "other"] {
            let mount = format!(
                "chmod 1777 \"$1/{own}\"; mkdir -p \"$1/root{over}\"; mount --bind \"$1/{own}\" \"$1/root{over}\""
            );
            let refused = run_refused(&mut on_plain_machine(&scene, &mount));
            assert!(refused.contains("/var/tmp/snowmint"), "{refused}");
            assert!(refused.contains("mounted for this process alone"), "{refused}");
        }
    }
}

#[test]
fn in_a_container_default_slots_are_refused_with_any_mount() {
    let scene = Scene::new();
    let mounted = "mkdir -p /var/tmp/snowmint; mount --bind \"$1/one\" \"$1/root/var/tmp/snowmint\"";
    let marks = [
        ("/.dockerenv", "touch \"$1/root/.dockerenv\""),
        ("/run/.containerenv", "touch \"$1/root/run/.containerenv\""),
        ("the variable container", "export container=podman"),
    ];
    for (mark, script) in marks {
        for script in [script.to_owned(), format!("{mounted}; {script}")] {
            let refused = run_refused(&mut on_plain_machine(&scene, &script));
            assert!(refused.contains(mark), "{refused}");
            assert!(refused.contains("named volume that all containers of the machine share"), "{refused}");
        }
    }
}

/// A micro-VM whose disk was made of an image: the engine's mark is left, and `container` may be set.
#[test]
fn a_mark_on_the_disk_of_a_machine_refuses_nothing() {
    let scene = Scene::new();
    for script in ["touch \"$1/root/.dockerenv\"", "touch \"$1/root/run/.containerenv\"; export container=oci"] {
        let minted = run(&mut in_root(&scene, DISK_ROOT, script));
        assert!(minted.starts_with("node "), "{minted}");
    }
}

#[test]
fn in_a_layered_root_default_slots_are_refused_with_the_store_first() {
    let refused = run_refused(&mut in_root(&Scene::new(), LAYERED_ROOT, ""));
    assert!(refused.contains("in a container (found by its root on overlay)"), "{refused}");
    let (first, second) = refused.split_once(". ").expect("two sentences");
    assert!(first.contains("SNOWMINT_STORE") && second.contains("SNOWMINT_STATE_DIR"), "{refused}");
    assert!(!refused.contains("SNOWMINT_NODE"), "{refused}");
}

#[test]
fn where_one_person_works_a_layered_root_gives_random_nodes_and_one_warning() {
    let scene = Scene::new();
    let mut nodes = HashSet::new();
    for sign in ["CI", "CODESPACES", "REMOTE_CONTAINERS", "DEVCONTAINER", "GITPOD_WORKSPACE_ID"] {
        let minted = in_root(&scene, LAYERED_ROOT, &format!("export {sign}=true")).output().expect("it starts");
        let message = String::from_utf8(minted.stderr).expect("text");
        assert!(minted.status.success(), "{message}");
        assert_eq!(message.matches("SNOWMINT_STORE").count(), 1, "{message}");
        assert!(message.contains(&format!("accepted because {sign} is set")), "{message}");
        nodes.insert(String::from_utf8(minted.stdout).expect("text").split(' ').nth(1).map(str::to_owned));
    }
    assert!(nodes.len() > 1, "five random nodes of 1024 are not all the same: {nodes:?}");
    let refused = run_refused(&mut in_root(&scene, LAYERED_ROOT, "export CI=true KUBERNETES_SERVICE_HOST=10.0.0.1"));
    assert!(refused.contains("in Kubernetes"), "{refused}");
}

/// `script` gives its command a terminal.
#[test]
fn at_a_terminal_a_layered_root_gives_a_node_with_a_warning() {
    let scene = Scene::new();
    let mint = "exec chroot \"$1/root\" script --quiet --return --command \"$2 mint count=1\" /dev/null";
    let minted = run(&mut apart(&scene, &[], &format!("{}{mint}", filled(LAYERED_ROOT))));
    assert!(minted.contains("accepted because standard input is a terminal"), "{minted}");
    assert!(minted.contains("node "), "{minted}");
}

const OVERLAY: &str = "mount -t overlay -o \"lowerdir=$1/one,upperdir=$1/upper,workdir=$1/work\" none \"$1/merged\"";

#[test]
fn a_named_directory_on_overlayfs_is_refused_unless_allowed() {
    let scene = Scene::new();
    let script = |rest: &str| format!("{OVERLAY}; {rest}");
    let named = script("exec \"$2\" mint \"store=file:$1/merged/slots\" count=1");
    let variable = script("SNOWMINT_STATE_DIR=\"$1/merged/slots\" exec \"$2\" mint count=1");
    for script in [named, variable] {
        let refused = run_refused(&mut apart(&scene, &[], &script));
        assert!(refused.contains("overlayfs"), "{refused}");
        assert!(refused.contains("allow_unsafe=true"), "{refused}");
    }
    let allowed = script("exec \"$2\" mint \"store=file:$1/merged/slots?allow_unsafe=true\" count=1");
    assert!(run(&mut apart(&scene, &[], &allowed)).starts_with("node 0 "));
}

/// A kubelet and a container engine mount such a volume for a single pod or container, and remove it with the pod.
#[test]
fn private_volumes_are_refused_and_named_volumes_accepted() {
    let anonymous = format!("volumes/{}/_data", "0123456789abcdef".repeat(4));
    let private = [("pods/7/volumes/kubernetes.io~empty-dir/data", "emptyDir"), (&anonymous, "volume without a name")];
    let mounted = |volume: &str, options: &str| {
        format!(
            "mkdir -p \"$1/{volume}\"; mount --bind \"$1/{volume}\" \"$1/merged\"; \
             exec \"$2\" mint \"store=file:$1/merged/slots{options}\" count=1"
        )
    };
    let scene = Scene::new();
    for (volume, kind) in private {
        let refused = run_refused(&mut apart(&scene, &[], &mounted(volume, "")));
        assert!(refused.contains(kind), "{refused}");
        assert!(run(&mut apart(&scene, &[], &mounted(volume, "?allow_unsafe=true"))).starts_with("node 0 "));
    }
    for volume in ["volumes/ids/_data", "pods/7/volumes/kubernetes.io~csi/pvc-1/mount"] {
        assert!(run(&mut apart(&scene, &[], &mounted(volume, ""))).starts_with("node 0 "), "{volume}");
    }
}

#[cfg(feature = "engines")]
#[test]
fn a_database_is_refused_where_slots_would_be() {
    let scene = Scene::new();
    let over = |mount: &str, path: &str, options: &str| {
        format!("{mount}; exec \"$2\" mint \"store=sqlite:$1/{path}{options}\" count=1")
    };
    let tmpfs = "mount -t tmpfs none \"$1/merged\"";
    let empty_dir =
        "mkdir -p \"$1/kubernetes.io~empty-dir\"; mount --bind \"$1/kubernetes.io~empty-dir\" \"$1/merged\"";
    // The file lies on a disk, its journal does not.
    let only_file = &format!(
        "{OVERLAY}; touch \"$1/ids.db\" \"$1/merged/ids.db\"; mount --bind \"$1/ids.db\" \"$1/merged/ids.db\""
    );
    for (mount, kind) in [(OVERLAY, "overlayfs"), (tmpfs, "tmpfs"), (empty_dir, "emptyDir"), (only_file, "overlayfs")] {
        let refused = run_refused(&mut apart(&scene, &[], &over(mount, "merged/ids.db", "")));
        assert!(refused.contains(kind), "{refused}");
        assert!(refused.contains("allow_unsafe=true"), "{refused}");
    }
    assert!(run(&mut apart(&scene, &[], &over(OVERLAY, "merged/ids.db", "?allow_unsafe=true"))).starts_with("node "));
    assert!(run(&mut apart(&scene, &[], &over("true", "one/ids.db", ""))).starts_with("node 0 "));
}
