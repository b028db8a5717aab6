//! Where slots may lie: the directory that all users of a machine share, or one that the caller names.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use snowmint_core::ErrorKind;
#[cfg(target_os = "linux")]
use snowmint_core::durability::unsafe_file_system;

use crate::Environment;
use crate::error::Error;

/// The parent of the default directory: kept over a restart of the machine, and writable by every user.
const SHARED_PARENT: &str = "/var/tmp";
const SHARED_NAME: &str = "snowmint";

/// A directory for slots.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Place {
    pub(crate) path: PathBuf,
    /// Whether every user of the machine shares it.
    pub(crate) shared: bool,
    /// Whether a file system that loses or does not share locks and writes is taken all the same.
    pub(crate) allow_unsafe: bool,
}

impl Place {
    /// A directory that the caller names. A relative path is of the working directory of now, whatever that is later.
    pub(crate) fn named(path: &Path, allow_unsafe: bool) -> Result<Self, Error> {
        let path = std::path::absolute(path).map_err(|error| cannot("use", path, &error))?;
        Ok(Self { path, shared: false, allow_unsafe })
    }

    /// The directory that every process of the machine uses, unless it is evidently not the machine's.
    pub(crate) fn of_machine(environment: &Environment) -> Result<Self, Error> {
        if let Some(path) = &environment.state_dir {
            return Self::named(path, false);
        }
        if let Some(why) = private(environment) {
            return Err(Error::told(
                ErrorKind::InvalidNode,
                format!(
                    "{why}, so other generators could have the same node: pass a node (or set SNOWMINT_NODE) that no other \
                     generator has, a store (or SNOWMINT_STORE) that all share, or set SNOWMINT_STATE_DIR to a directory \
                     on one machine's disk that all share"
                ),
            ));
        }
        if cfg!(not(unix)) {
            // There is one directory of the machine for every user on Windows.
            let data = std::env::var_os("ProgramData").unwrap_or_else(|| "C:\\ProgramData".into());
            return Self::named(&PathBuf::from(data).join(SHARED_NAME), false);
        }
        Ok(Self { path: Path::new(SHARED_PARENT).join(SHARED_NAME), shared: true, allow_unsafe: false })
    }

    /// Makes the directory of a namespace, and checks what it lies on.
    pub(crate) fn prepare(&self, namespace: &str) -> Result<PathBuf, Error> {
        if self.shared {
            shared_directory(&self.path)?;
        } else {
            fs::create_dir_all(&self.path).map_err(|error| cannot("make", &self.path, &error))?;
        }
        refuse_unsafe_filesystem(&self.path, self.allow_unsafe)?;
        let path = self.path.join(namespace);
        if self.shared {
            shared_directory(&path)?;
        } else if let Err(error) = fs::create_dir(&path)
            && !path.is_dir()
        {
            return Err(cannot("make", &path, &error));
        }
        Ok(path)
    }
}

/// Refuses a path on a file system that loses or does not share locks and writes, unless that is allowed.
pub(crate) fn refuse_unsafe_filesystem(path: &Path, allow_unsafe: bool) -> Result<(), Error> {
    let Some(kind) = kind_of(path).filter(|_| !allow_unsafe) else { return Ok(()) };
    let path = path.display();
    Err(Error::told(
        ErrorKind::UnsafeStore,
        format!(
            "{path} is on {kind}, which may lose what was written or locked: name a directory on a local disk, or \
             file:{path}?allow_unsafe=true as the store to take it all the same"
        ),
    ))
}

/// Why the default directory is evidently not shared by the machine.
fn private(environment: &Environment) -> Option<String> {
    if environment.kubernetes {
        return Some(format!("in Kubernetes {SHARED_PARENT} is each pod's own"));
    }
    if kind_of(Path::new(SHARED_PARENT)) == Some(OVERLAY) {
        return Some(format!("{SHARED_PARENT} is on overlayfs, a container's own"));
    }
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    private_mount(&mounts).then(|| format!("{SHARED_PARENT} is this service's own (PrivateTmp)"))
}

/// Whether a directory of one service or user is mounted in the place of the shared one, as systemd and `pam_namespace` do.
fn private_mount(mountinfo: &str) -> bool {
    // proc(5): the fourth word is the root of the mount in its file system, the fifth where it is mounted.
    let mut mounts = mountinfo.lines().filter_map(|line| {
        let mut words = line.split(' ').skip(3);
        Some((words.next()?, words.next()?))
    });
    // The last mount covers those before.
    let covering = mounts.rfind(|(_, point)| *point == SHARED_PARENT);
    covering.is_some_and(|(root, _)| root.contains("systemd-private-") || root.contains("tmp-inst"))
}

pub(crate) fn cannot(what: &str, path: &Path, error: &io::Error) -> Error {
    Error::told(
        ErrorKind::StoreUnavailable,
        format!("cannot {what} {}: {error}. Set SNOWMINT_STATE_DIR to a directory that can be used", path.display()),
    )
}

const OVERLAY: &str = "overlayfs";

/// The name of the file system of a path, if writes may be lost there, or locks do not hold everybody off.
#[cfg(target_os = "linux")]
pub fn kind_of(path: &Path) -> Option<&'static str> {
    // 32 bits, whatever the width of the field.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "statfs(2)")]
    let number = rustix::fs::statfs(path).ok()?.f_type as u32;
    if number == 0x794c_7630 && path == Path::new(SHARED_PARENT) {
        return Some(OVERLAY);
    }
    unsafe_file_system(number)
}

/// The name of the file system of a path, if writes may be lost there: not known on this system.
#[cfg(not(target_os = "linux"))]
pub fn kind_of(_path: &Path) -> Option<&'static str> {
    None
}

#[cfg(not(unix))]
fn shared_directory(path: &Path) -> Result<(), Error> {
    fs::create_dir_all(path).map_err(|error| cannot("make", path, &error))
}

/// Puts a whole file in place unless there is one: others see all of it, with its mode, or nothing.
///
/// With a mode it is that whatever the umask, as the next one to open it may be another user.
pub(crate) fn make_once(path: &Path, text: &str, mode: Option<u32>) -> io::Result<()> {
    let token = getrandom::u64().map_err(io::Error::other)?;
    let draft = path.with_extension(format!("{token:x}"));
    let mut file = File::create_new(&draft)?;
    let written = (|| {
        file.write_all(text.as_bytes())?;
        #[cfg(unix)]
        if let Some(mode) = mode {
            file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(mode))?;
        }
        #[cfg(not(unix))]
        let _ = mode;
        file.sync_all()?;
        match fs::hard_link(&draft, path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
            _ => Ok(()),
        }
    })();
    fs::remove_file(&draft)?;
    written
}

/// Every user may make files, and only their owners, the directory's and root may remove them.
#[cfg(unix)]
pub(crate) const SHARED_MODE: u32 = 0o1777;

/// Makes a directory for every user of the machine, or checks that this is what is there.
///
/// Whoever comes first makes it, so it may be anybody's: slot files are writable by every user too. What is refused is a
/// link to elsewhere, and a directory in which users could remove each other's slots.
#[cfg(unix)]
fn shared_directory(path: &Path) -> Result<(), Error> {
    use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};

    let made = fs::DirBuilder::new().mode(0o700).create(path);
    match made {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(cannot("make", path, &error)),
    }
    let open = || {
        let mut options = File::options();
        // Not by its name: what has that name could be changed for a link between the look and the change.
        std::os::unix::fs::OpenOptionsExt::custom_flags(options.read(true), libc::O_DIRECTORY | libc::O_NOFOLLOW);
        options.open(path)
    };
    let me = rustix::process::geteuid();
    // Another user's may be just made and not yet opened to all.
    for _ in 0..50 {
        let directory = match open() {
            Ok(directory) => directory,
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                std::thread::sleep(std::time::Duration::from_millis(10));
                continue;
            }
            Err(error) => return Err(cannot("use", path, &error)),
        };
        let found = directory.metadata().map_err(|error| cannot("look at", path, &error))?;
        if found.mode() & 0o7777 == SHARED_MODE {
            if me.is_root() && found.uid() != 0 {
                // From then on the user who made it cannot remove the slots of others.
                std::os::unix::fs::fchown(&directory, Some(0), None).map_err(|error| cannot("own", path, &error))?;
            }
            return Ok(());
        }
        if found.uid() == me.as_raw() || me.is_root() {
            directory
                .set_permissions(fs::Permissions::from_mode(SHARED_MODE))
                .map_err(|error| cannot("open to all users", path, &error))?;
        } else {
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
    }
    Err(cannot("use", path, &io::Error::other("its mode is not 1777 (let its owner or root run chmod 1777)")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_private_tmp_is_told_from_a_disk_of_its_own() {
        let own_disk = "36 25 8:3 / /var/tmp rw,relatime shared:12 - ext4 /dev/sda3 rw\n";
        let subvolume = "36 25 0:31 /@/var/tmp /var/tmp rw,relatime shared:12 - btrfs /dev/sda3 rw\n";
        let private = "512 36 8:1 /var/tmp/systemd-private-0f-nginx.service-x/tmp /var/tmp rw - ext4 /dev/sda1 rw\n";
        assert!(!private_mount(""));
        assert!(!private_mount(own_disk));
        assert!(!private_mount(subvolume));
        assert!(private_mount(&format!("{own_disk}{private}")));
        assert!(!private_mount(&format!("{private}{own_disk}")));
    }

    #[test]
    fn kubernetes_is_refused_with_what_to_pass_instead() {
        let environment = Environment { kubernetes: true, ..Environment::default() };
        let error = Place::of_machine(&environment).expect_err("refused");
        assert_eq!(error.kind(), ErrorKind::InvalidNode);
        let sentence = error.to_string();
        for way_out in ["SNOWMINT_NODE", "SNOWMINT_STORE", "SNOWMINT_STATE_DIR"] {
            assert!(sentence.contains(way_out), "{sentence}");
        }
        let named = Environment { state_dir: Some("/srv/slots".into()), ..environment };
        assert_eq!(Place::of_machine(&named), Place::named(Path::new("/srv/slots"), false));
    }

    #[test]
    #[cfg(unix)]
    fn a_shared_directory_is_open_to_all_and_never_a_link() {
        use std::os::unix::fs::{MetadataExt, symlink};
        let temporary = tempfile::tempdir().expect("a directory");
        let path = temporary.path().join("snowmint");
        shared_directory(&path).expect("made");
        shared_directory(&path).expect("found");
        assert_eq!(fs::metadata(&path).expect("there").mode() & 0o7777, SHARED_MODE);
        let link = temporary.path().join("link");
        symlink(&path, &link).expect("a link");
        assert_eq!(shared_directory(&link).expect_err("a link").kind(), ErrorKind::StoreUnavailable);
        let file = temporary.path().join("file");
        fs::write(&file, "").expect("a file");
        assert_eq!(shared_directory(&file).expect_err("a file").kind(), ErrorKind::StoreUnavailable);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_directory_in_memory_is_unsafe_unless_allowed() {
        let in_memory = tempfile::tempdir_in("/dev/shm").expect("a directory in memory");
        let error = Place::named(in_memory.path(), false).and_then(|place| place.prepare("orders")).expect_err("tmpfs");
        assert_eq!(error.kind(), ErrorKind::UnsafeStore);
        Place::named(in_memory.path(), true).and_then(|place| place.prepare("orders")).expect("allowed");
    }
}
