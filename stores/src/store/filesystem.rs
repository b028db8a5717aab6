//! What this system says of a place for files, and core's verdict on it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use snowmint_core::ErrorKind;
use snowmint_core::place::{CONTAINER_FILES, Facts};

use crate::error::Error;

/// The surroundings of a path, from which [`Facts`] follow.
struct Surroundings {
    path: String,
    file_system: u32,
    mounts: String,
    first_mounts: String,
}

impl Surroundings {
    /// Reads the surroundings of a path, which need not exist yet.
    fn of(path: &Path) -> io::Result<Self> {
        let path = resolved(path)?;
        // Not there on other systems, whose containers are on Linux.
        let mounts = |process| {
            let bytes = fs::read(format!("/proc/{process}/mountinfo")).unwrap_or_default();
            String::from_utf8_lossy(&bytes).into_owned()
        };
        Ok(Self {
            file_system: file_system(&path),
            path: path.to_string_lossy().into_owned(),
            mounts: mounts("self"),
            first_mounts: mounts("1"),
        })
    }

    fn facts(&self) -> Facts<'_> {
        let Self { path, file_system, mounts, first_mounts } = self;
        Facts { path, file_system: *file_system, mounts, first_mounts, ..Facts::default() }
    }

    /// Adds the facts about Kubernetes and containers. Those of environment variables are `variables`.
    fn facts_in<'a>(&'a self, variables: &Facts<'_>) -> Facts<'a> {
        let Facts { kubernetes, container_variable, .. } = *variables;
        Facts {
            kubernetes,
            container_file: CONTAINER_FILES.into_iter().find(|file| Path::new(file).exists()),
            container_variable,
            ..self.facts()
        }
    }
}

/// Returns the path without links. The part that does not exist yet stays as given.
fn resolved(path: &Path) -> io::Result<PathBuf> {
    let path = std::path::absolute(path)?;
    let there = path.ancestors().find_map(|above| Some((above, above.canonicalize().ok()?)));
    let Some((above, resolved)) = there else { return Ok(path) };
    let rest = path.strip_prefix(above).into_iter().flat_map(Path::components);
    Ok(rest.fold(resolved, |path, part| path.join(part)))
}

/// Returns the number of the file system of a path, or of its nearest existing parent; 0 if the system does not say.
#[cfg(target_os = "linux")]
fn file_system(path: &Path) -> u32 {
    let found = path.ancestors().find_map(|above| rustix::fs::statfs(above).ok());
    // 32 bits, whatever the width of the field.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "statfs(2)")]
    found.map_or(0, |found| found.f_type as u32)
}

#[cfg(not(target_os = "linux"))]
fn file_system(_path: &Path) -> u32 {
    0
}

/// Refuses the default directory of slots where it is evidently private to a part of the machine. `variables` are the facts
/// from environment variables: `kubernetes` and `container_variable`.
///
/// # Errors
/// `InvalidNode`, with the cures.
pub fn refuse_default_slots(path: &Path, variables: &Facts<'_>) -> Result<(), Error> {
    let Ok(around) = Surroundings::of(path) else { return Ok(()) };
    match around.facts_in(variables).not_the_machines() {
        Some(doubt) => Err(Error::told(ErrorKind::InvalidNode, doubt.refuse_slots().to_string())),
        None => Ok(()),
    }
}

/// Refuses the default path of a database where it is evidently private to a part of the machine, or does not last.
/// `variables` are as in [`refuse_default_slots`].
///
/// # Errors
/// `UnsafeStore`, with what to name instead.
pub fn refuse_default_database(path: &Path, variables: &Facts<'_>) -> Result<(), Error> {
    let Ok(around) = Surroundings::of(path) else { return Ok(()) };
    let facts = around.facts_in(variables);
    match facts.not_the_machines().or_else(|| facts.lossy()) {
        Some(doubt) => Err(Error::told(ErrorKind::UnsafeStore, doubt.refuse_database().to_string())),
        None => Ok(()),
    }
}

/// Refuses a path that the caller named, if files there can be lost, or other machines that name it may not reach it. For a
/// file this also checks its directory, which holds a journal. `option` names the option that accepts such a path.
///
/// # Errors
/// `UnsafeStore`, with what to name instead.
pub fn refuse_lossy_place(store: &str, path: &Path, option: &str) -> Result<(), Error> {
    let Ok(resolved) = resolved(path) else { return Ok(()) };
    let places = match resolved.parent() {
        Some(directory) if !resolved.is_dir() => vec![(&*resolved, "the file"), (directory, "its directory")],
        _ => vec![(&*resolved, "the directory")],
    };
    for (path, name) in places {
        let Ok(around) = Surroundings::of(path) else { continue };
        if let Some(doubt) = around.facts().lossy() {
            let refusal = format!("{store}: {}", doubt.called(name).refuse_named(option));
            return Err(Error::told(ErrorKind::UnsafeStore, refusal));
        }
    }
    Ok(())
}

/// Refuses a directory of slots or of a store that the caller named.
///
/// # Errors
/// As of [`refuse_lossy_place`].
pub fn refuse_lossy_slots(path: &Path) -> Result<(), Error> {
    let option = format!("file:{}?allow_unsafe=true as the store", path.display());
    refuse_lossy_place(&format!("files in {}", path.display()), path, &option)
}
