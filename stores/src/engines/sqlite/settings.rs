//! The database file, and the settings that decide whether it keeps confirmed writes.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use snowmint_core::ErrorKind;
use sqlx::sqlite::SqliteConnection;
use tokio::time::sleep;

use crate::engines::sql::Failure;
use crate::error::Error;
use crate::store::url::Url;

/// Returns the absolute path of a URL, which stays right when the working directory changes.
pub(super) fn path(url: &Url) -> Result<PathBuf, Error> {
    // Not `Url::place`, which cuts everything before an @ as a password.
    let place = url.rest.split_once(':').map_or("", |(_, path)| path);
    let place = place.strip_prefix("//").unwrap_or(place);
    let unusable = |why: &str| Error::invalid_store("SQLite", why);
    if place.is_empty() || place.starts_with(":memory:") || place.starts_with("file:") {
        return Err(Error::new(
            ErrorKind::UnsafeStore,
            format!(
                "SQLite: {place:?} is not a path, and a database in memory has separate numbers for each connection: \
                 give the path of a file, or use the store memory: for tests"
            ),
        ));
    }
    let path = std::path::absolute(place).map_err(|error| unusable(&format!("{place}: {error}")))?;
    match path.parent() {
        Some(parent) if parent.is_dir() => Ok(path),
        _ => Err(unusable(&format!(
            "{} is in a directory that does not exist: make the directory first",
            path.display()
        ))),
    }
}

/// Makes a missing file that only its user may read. `SQLite` gives its rights to the files beside it, and reports a path
/// where no file can be made.
pub(super) fn make_private(path: &Path) {
    let mut options = fs::File::options();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    drop(options.write(true).create_new(true).open(path));
}

/// The identity of a file, which a new file at the same path does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Identity(Option<(u64, u64)>);

impl Identity {
    #[cfg(unix)]
    pub(super) fn of(path: &Path) -> Self {
        use std::os::unix::fs::MetadataExt;
        Self(fs::metadata(path).ok().map(|found| (found.dev(), found.ino())))
    }

    #[cfg(not(unix))]
    pub(super) fn of(path: &Path) -> Self {
        // An open file cannot be removed on these systems.
        Self(fs::metadata(path).ok().map(|_| (0, 0)))
    }
}

/// Turns on the write-ahead log, where that is possible.
pub(super) async fn write_ahead(connection: &mut SqliteConnection) -> Result<(), Failure> {
    let rows: Vec<(String,)> = sqlx::query_as("PRAGMA journal_mode").fetch_all(&mut *connection).await?;
    if rows.iter().any(|(mode,)| mode.eq_ignore_ascii_case("wal")) {
        return Ok(());
    }
    loop {
        match sqlx::query("PRAGMA journal_mode = WAL").fetch_all(&mut *connection).await {
            Ok(_) => return Ok(()),
            // Another process does the same. SQLite does not wait for that, and the caller's timeout ends this loop.
            Err(sqlx::Error::Database(error)) if is_busy(error.code().as_deref()) => {
                sleep(Duration::from_millis(10)).await;
            }
            Err(error) => return Err(error.into()),
        }
    }
}

/// Returns whether a code is `SQLITE_BUSY` or one of its extended codes.
fn is_busy(code: Option<&str>) -> bool {
    code.and_then(|code| code.parse::<u32>().ok()).is_some_and(|code| code & 0xff == 5)
}

/// The settings of the connection.
pub(super) const QUERY: &str = "\
    SELECT 'journal_mode', journal_mode FROM pragma_journal_mode \
    UNION ALL SELECT 'synchronous', CAST(synchronous AS text) FROM pragma_synchronous \
    UNION ALL SELECT 'file', coalesce(file, '') FROM pragma_database_list WHERE name = 'main'";
