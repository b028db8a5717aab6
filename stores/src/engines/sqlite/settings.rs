//! Which file it is, and whether what is written there stays.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use snowmint_core::ErrorKind;
use snowmint_core::durability::Engine;
use sqlx::sqlite::SqliteConnection;
use tokio::time::sleep;

use crate::engines::sql::Failure;
use crate::error::Error;
use crate::store::url::Url;

/// The absolute path of the URL: it stays the same file when the working directory changes.
pub(super) fn path(url: &Url) -> Result<PathBuf, Error> {
    // Not `Url::place`, for which an @ would end a password.
    let place = url.rest.split_once(':').map_or("", |(_, path)| path);
    let place = place.strip_prefix("//").unwrap_or(place);
    let unusable = |why: &str| Error::unavailable("SQLite", why);
    if let Some((_, options)) = place.split_once('?') {
        let name = options.split(['=', '&']).next().unwrap_or_default();
        return Err(unusable(&format!("sqlite:PATH has no option {name}")));
    }
    if place.is_empty() || place.starts_with(":memory:") || place.starts_with("file:") {
        return Err(Error::told(
            ErrorKind::UnsafeStore,
            format!(
                "SQLite: {place:?} is no path, and a database in memory has numbers of its own for each connection: give \
                 the path of a file, or use the store memory: for tests"
            ),
        ));
    }
    let path = std::path::absolute(place).map_err(|error| unusable(&format!("{place}: {error}")))?;
    match path.parent() {
        Some(parent) if parent.is_dir() => Ok(path),
        _ => Err(unusable(&format!("{} is in no directory that there is: make the directory first", path.display()))),
    }
}

/// Makes the file for its user alone, if there is none; those beside it get its rights. What cannot be made is for `SQLite`
/// to tell.
pub(super) fn make_own(path: &Path) {
    let mut options = fs::File::options();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    drop(options.write(true).create_new(true).open(path));
}

/// Which file a path leads to.
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
        // An open file cannot be removed there.
        Self(fs::metadata(path).ok().map(|_| (0, 0)))
    }
}

/// Turns the write-ahead log on, where that is possible.
pub(super) async fn write_ahead(connection: &mut SqliteConnection) -> Result<(), Failure> {
    let rows: Vec<(String,)> = sqlx::query_as("PRAGMA journal_mode").fetch_all(&mut *connection).await?;
    if rows.iter().any(|(mode,)| mode.eq_ignore_ascii_case("wal")) {
        return Ok(());
    }
    loop {
        match sqlx::query("PRAGMA journal_mode = WAL").fetch_all(&mut *connection).await {
            Ok(_) => return Ok(()),
            // Another process does the same, which SQLite does not wait for by itself. The caller's time limit ends this.
            Err(sqlx::Error::Database(error)) if is_busy(error.code().as_deref()) => {
                sleep(Duration::from_millis(10)).await;
            }
            Err(error) => return Err(error.into()),
        }
    }
}

/// `SQLITE_BUSY` and its extended codes.
fn is_busy(code: Option<&str>) -> bool {
    code.and_then(|code| code.parse::<u32>().ok()).is_some_and(|code| code & 0xff == 5)
}

/// Refuses settings of the connection, as they are read back, under which a confirmed write can be lost.
pub(super) async fn settings(store: &str, connection: &mut SqliteConnection) -> Result<(), Failure> {
    let query = sqlx::query_as("SELECT j.journal_mode, s.synchronous FROM pragma_journal_mode j, pragma_synchronous s");
    let rows: Vec<(String, i64)> = query.fetch_all(connection).await?;
    let told = rows.into_iter().next().map(|(mode, level)| (mode, level.to_string()));
    let found = |name: &str| match name {
        "journal_mode" => told.as_ref().map(|(mode, _)| mode.as_str()),
        "synchronous" => told.as_ref().map(|(_, level)| level.as_str()),
        // The path was looked at before.
        _ => Some("a file"),
    };
    Ok(Error::refuse_unsafe(store, Engine::Sqlite, found)?)
}
