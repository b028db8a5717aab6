//! What this system says of a place for files, and core's verdict on it.

use std::fs;
use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};

use snowmint_core::ErrorKind;
use snowmint_core::place::{CONTAINER_FILES, Facts, Variables, Verdict};

use crate::error::Error;

/// Returns what `judge` says of a path, which need not exist yet. `None` also if the system does not say where the path
/// leads.
fn judged<T>(path: &Path, variables: Variables, judge: impl FnOnce(&Facts<'_>) -> Option<T>) -> Option<T> {
    let path = resolved(path).ok()?;
    // Not there on other systems, whose containers are on Linux.
    let mounts = |process| fs::read(format!("/proc/{process}/mountinfo")).unwrap_or_default();
    let (own, first) = (mounts("self"), mounts("1"));
    judge(&Facts {
        path: &path.to_string_lossy(),
        file_system: file_system(&path),
        mounts: &String::from_utf8_lossy(&own),
        first_mounts: &String::from_utf8_lossy(&first),
        container_file: CONTAINER_FILES.into_iter().find(|file| Path::new(file).exists()),
        variables,
        terminal: io::stdin().is_terminal(),
    })
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

/// Refuses the default directory of slots where it is evidently private to a part of the machine. Returns a warning where
/// that is accepted, because one person works there.
///
/// # Errors
/// `InvalidNode`, with the cures.
pub fn refuse_default_slots(path: &Path, variables: Variables) -> Result<Option<String>, Error> {
    let verdict = judged(path, variables, |facts| match facts.default_place() {
        Verdict::Machine => None,
        Verdict::Tolerated(tolerated) => Some(Ok(tolerated.warn_of_slots().to_string())),
        Verdict::Refused(doubt) => Some(Err(doubt.refuse_slots().to_string())),
    });
    verdict.transpose().map_err(|why| Error::new(ErrorKind::InvalidNode, why))
}

/// Refuses the default path of a database where it is evidently private to a part of the machine, or does not last. Returns
/// a warning as [`refuse_default_slots`] does.
///
/// # Errors
/// `UnsafeStore`, with what to name instead.
pub fn refuse_default_database(path: &Path, variables: Variables) -> Result<Option<String>, Error> {
    let verdict = judged(path, variables, |facts| match facts.default_place() {
        Verdict::Machine => facts.lossy().map(|doubt| Err(doubt.refuse_database().to_string())),
        Verdict::Tolerated(tolerated) => Some(Ok(tolerated.warn_of_database().to_string())),
        Verdict::Refused(doubt) => Some(Err(doubt.refuse_database().to_string())),
    });
    verdict.transpose().map_err(|why| Error::new(ErrorKind::UnsafeStore, why))
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
        let judge = |facts: &Facts<'_>| Some(facts.lossy()?.called(name).refuse_named(option).to_string());
        if let Some(why) = judged(path, Variables::default(), judge) {
            return Err(Error::new(ErrorKind::UnsafeStore, format!("{store}: {why}")));
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
