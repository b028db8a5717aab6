//! The directory of slots: one that all users of a machine share, or one that the caller names.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use snowmint_core::ErrorKind;
use snowmint_stores::Error;
use snowmint_stores::host::{refuse_default_slots, refuse_lossy_slots};

use crate::environment::Environment;

/// The parent of the default directory. It survives a restart of the machine, and every user may write there.
const SHARED_PARENT: &str = "/var/tmp";
const SHARED_NAME: &str = "snowmint";

/// A directory of slots.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SlotDirectory {
    pub(crate) path: PathBuf,
    /// Whether every user of the machine shares it: the default directory, or a named one of mode 1777.
    pub(crate) shared: bool,
    /// Whether the caller accepts a file system that loses writes, or does not share locks.
    pub(crate) allow_unsafe: bool,
    /// The directory of this machine's slots, if this one is two levels below it.
    pub(crate) above: Option<Box<Self>>,
    /// The warning about the default directory of a container where one person works. Claims begin at a random node there.
    pub(crate) warning: Option<String>,
}

impl SlotDirectory {
    /// Returns the directory of a URL: `file:DIRECTORY` or `file:DIRECTORY?allow_unsafe=true`.
    ///
    /// # Errors
    /// `InvalidStore` for any other URL.
    pub fn of_url(url: &str) -> Result<Self, Error> {
        let unknown = || {
            // No more of it, as it may have a password.
            let scheme = url.split(':').next().unwrap_or_default();
            Error::new(
                ErrorKind::InvalidStore,
                format!("no such store: {scheme:?}. Give file:DIRECTORY, or file:DIRECTORY?allow_unsafe=true"),
            )
        };
        let path = url.strip_prefix("file:").ok_or_else(unknown)?;
        // `file:///srv` and `file:/srv` are the same.
        let path = path.strip_prefix("//").unwrap_or(path);
        let (path, allow_unsafe) = match path.split_once('?') {
            None => (path, false),
            Some((path, "allow_unsafe=true")) => (path, true),
            Some((path, "allow_unsafe=false")) => (path, false),
            Some(_) => return Err(unknown()),
        };
        if path.is_empty() { Err(unknown()) } else { Self::named(Path::new(path), allow_unsafe) }
    }

    /// Returns a directory that the caller names. A relative path counts from the current working directory.
    pub(crate) fn named(path: &Path, allow_unsafe: bool) -> Result<Self, Error> {
        let path = std::path::absolute(path).map_err(|error| cannot("use", path, &error))?;
        let shared = fs::metadata(&path).is_ok_and(|found| is_open_to_all(&found));
        Ok(Self { path, shared, allow_unsafe, above: None, warning: None })
    }

    /// Returns the directory of this name within this one, for the slots of nodes that a store has reserved.
    pub(crate) fn below(&self, parent: &str, name: &str) -> Self {
        Self { path: self.path.join(parent).join(name), above: Some(Box::new(self.clone())), ..self.clone() }
    }

    /// Returns whether this is the directory that snowmint makes for all users. The caller is responsible for any other
    /// directory.
    fn is_default(&self) -> bool {
        self.shared && self.path == Path::new(SHARED_PARENT).join(SHARED_NAME)
    }

    /// Returns the directory that every process of the machine uses.
    ///
    /// # Errors
    /// `InvalidNode`, if the directory is evidently private, as in a container.
    pub(crate) fn of_machine(environment: &Environment) -> Result<Self, Error> {
        if let Some(path) = &environment.state_dir {
            return Self::named(path, false);
        }
        let default = Path::new(SHARED_PARENT).join(SHARED_NAME);
        let warning = refuse_default_slots(&default, environment.place)?;
        if cfg!(not(unix)) {
            // There is one directory of the machine for every user on Windows.
            let data = std::env::var_os("ProgramData").unwrap_or_else(|| "C:\\ProgramData".into());
            return Self::named(&PathBuf::from(data).join(SHARED_NAME), false);
        }
        Ok(Self { path: default, shared: true, allow_unsafe: warning.is_some(), above: None, warning })
    }

    /// Refuses a directory in which this process cannot make slots. Makes nothing.
    ///
    /// # Errors
    /// `StoreUnavailable`.
    pub(crate) fn refuse_unusable(&self) -> Result<(), Error> {
        if !self.path.exists() {
            let parent = self.path.ancestors().find(|above| above.exists()).unwrap_or(&self.path);
            return refuse_unwritable(&self.path, parent);
        }
        if self.is_default() {
            return shared_directory(&self.path);
        }
        refuse_unwritable(&self.path, &self.path)
    }

    /// Makes the directory.
    fn make(&self) -> Result<(), Error> {
        if let Some(above) = &self.above {
            above.make()?;
            if self.shared {
                self.path.parent().map_or(Ok(()), shared_directory)?;
                return shared_directory(&self.path);
            }
        } else if self.is_default() {
            return shared_directory(&self.path);
        }
        fs::create_dir_all(&self.path).map_err(|error| cannot("make", &self.path, &error))
    }

    /// Makes the directory of a namespace, and checks its file system.
    pub(crate) fn prepare(&self, namespace: &str) -> Result<PathBuf, Error> {
        self.make()?;
        if !self.allow_unsafe {
            refuse_lossy_slots(&self.path)?;
        }
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

/// Refuses `path`, if this process may not make files in `directory`, which exists.
fn refuse_unwritable(path: &Path, directory: &Path) -> Result<(), Error> {
    #[cfg(unix)]
    let allowed = rustix::fs::access(directory, rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK);
    #[cfg(not(unix))]
    let allowed = fs::read_dir(directory).map(drop);
    allowed.map_err(|error| cannot("write in", path, &error.into()))
}

pub(crate) fn cannot(what: &str, path: &Path, error: &io::Error) -> Error {
    let right = missing_right(path, error).unwrap_or_default();
    let path = path.display();
    Error::new(
        ErrorKind::StoreUnavailable,
        format!("cannot {what} {path}: {error}{right}. Set SNOWMINT_STATE_DIR to a directory that can be used"),
    )
}

/// Returns the right that this user lacks, and how to give it, as a part of a message.
#[cfg(unix)]
fn missing_right(path: &Path, error: &io::Error) -> Option<String> {
    use rustix::fs::{Access, access};
    use std::os::unix::fs::MetadataExt;

    if error.kind() != io::ErrorKind::PermissionDenied {
        return None;
    }
    let lacks = |place: &&Path| {
        let needed =
            if place.is_dir() { Access::WRITE_OK | Access::EXEC_OK } else { Access::WRITE_OK | Access::READ_OK };
        place.exists() && access(*place, needed).is_err()
    };
    let place = path.ancestors().find(lacks)?;
    let found = fs::metadata(place).ok()?;
    let (me, owner, mode) = (rustix::process::geteuid().as_raw(), found.uid(), found.mode() & 0o7777);
    let place = place.display();
    Some(format!(
        " (user {me} may not write to {place}, which has mode {mode:o} and belongs to user {owner}; a directory of mode 1777 \
         serves all users)"
    ))
}

#[cfg(not(unix))]
fn missing_right(_path: &Path, _error: &io::Error) -> Option<String> {
    None
}

#[cfg(not(unix))]
fn shared_directory(path: &Path) -> Result<(), Error> {
    fs::create_dir_all(path).map_err(|error| cannot("make", path, &error))
}

/// Makes a file with this text, unless the path exists. Other processes see the whole file with its mode, or no file.
///
/// The file gets `mode` whatever the umask, because other users may open it.
pub(crate) fn make_once(path: &Path, text: &str, mode: Option<u32>) -> io::Result<()> {
    let draft = draft_of(path)?;
    let written = write_whole(&draft, text, mode).and_then(|()| match fs::hard_link(&draft, path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    });
    if let Err(error) = fs::remove_file(&draft) {
        // The caller gets the first error: without a draft there is nothing to remove.
        return written.and(Err(error));
    }
    written
}

/// Replaces a file durably. Other processes see the whole old text or the whole new text.
pub(super) fn replace(path: &Path, text: &str, mode: Option<u32>) -> io::Result<()> {
    let draft = draft_of(path)?;
    let written = write_whole(&draft, text, mode).and_then(|()| fs::rename(&draft, path));
    if written.is_err() {
        // The caller gets the first error.
        let _ = fs::remove_file(&draft);
    }
    written?;
    #[cfg(unix)]
    if let Some(directory) = path.parent() {
        File::open(directory)?.sync_all()?;
    }
    Ok(())
}

fn draft_of(path: &Path) -> io::Result<PathBuf> {
    let token = getrandom::u64().map_err(io::Error::other)?;
    Ok(path.with_extension(format!("{token:x}")))
}

fn write_whole(path: &Path, text: &str, mode: Option<u32>) -> io::Result<()> {
    let mut file = File::create_new(path)?;
    file.write_all(text.as_bytes())?;
    #[cfg(unix)]
    if let Some(mode) = mode {
        file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(mode))?;
    }
    #[cfg(not(unix))]
    let _ = mode;
    file.sync_all()
}

/// Every user may make files, and only their owners, the directory's and root may remove them.
#[cfg(unix)]
pub(crate) const SHARED_MODE: u32 = 0o1777;

#[cfg(unix)]
fn is_open_to_all(found: &fs::Metadata) -> bool {
    found.is_dir() && std::os::unix::fs::MetadataExt::mode(found) & 0o7777 == SHARED_MODE
}

#[cfg(not(unix))]
fn is_open_to_all(_found: &fs::Metadata) -> bool {
    false
}

/// Makes a directory for every user of the machine, or checks the existing one.
///
/// The first process makes the directory, so it may belong to any user: every user may write slot files too. A link is
/// refused, and so is a directory in which users could remove each other's slots.
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
        // By descriptor: between a check and a change by name, another user could put a link there.
        std::os::unix::fs::OpenOptionsExt::custom_flags(options.read(true), libc::O_DIRECTORY | libc::O_NOFOLLOW);
        options.open(path)
    };
    let me = rustix::process::geteuid();
    // Another user may have just made the directory and not opened it to all yet.
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
        if is_open_to_all(&found) {
            if me.is_root() && found.uid() != 0 {
                // From then on the user who made it cannot remove the slots of others. Where root may not do that, as in a
                // container without CAP_CHOWN, it stays as another user would find it.
                drop(std::os::unix::fs::fchown(&directory, Some(0), None));
            }
            return Ok(());
        }
        let own = found.uid() == me.as_raw();
        let opened = if own || me.is_root() {
            directory.set_permissions(fs::Permissions::from_mode(SHARED_MODE))
        } else {
            Err(io::ErrorKind::PermissionDenied.into())
        };
        match opened {
            Err(error) if own => return Err(cannot("open to all users", path, &error)),
            // Root without CAP_FOWNER waits for the owner as well.
            Err(_) => std::thread::sleep(std::time::Duration::from_millis(10)),
            Ok(()) => {}
        }
    }
    Err(cannot("use", path, &io::Error::other("its mode is not 1777 (let its owner or root run chmod 1777)")))
}

#[cfg(test)]
mod tests {
    use snowmint_core::place::Variables;

    use super::*;

    #[test]
    fn kubernetes_is_refused_with_what_to_pass_instead() {
        let place = Variables::read(|name| name == "KUBERNETES_SERVICE_HOST");
        let environment = Environment { place, ..Environment::default() };
        let error = SlotDirectory::of_machine(&environment).expect_err("refused");
        assert_eq!(error.kind(), ErrorKind::InvalidNode);
        let message = error.to_string();
        for way_out in ["SNOWMINT_STORE", "SNOWMINT_STATE_DIR"] {
            assert!(message.contains(way_out), "{message}");
        }
        let named = Environment { state_dir: Some("/srv/slots".into()), ..environment };
        assert_eq!(SlotDirectory::of_machine(&named), SlotDirectory::named(Path::new("/srv/slots"), false));
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
        let error =
            SlotDirectory::named(in_memory.path(), false).and_then(|place| place.prepare("orders")).expect_err("tmpfs");
        assert_eq!(error.kind(), ErrorKind::UnsafeStore);
        SlotDirectory::named(in_memory.path(), true).and_then(|place| place.prepare("orders")).expect("allowed");
    }
}
