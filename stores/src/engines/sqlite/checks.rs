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
use crate::file::kind_of;
use crate::url::Url;

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

/// Turns the write-ahead log on; the journal's mode after that.
pub(super) async fn write_ahead(connection: &mut SqliteConnection) -> Result<String, Failure> {
    let first =
        |rows: Vec<(String,)>| rows.into_iter().next().map(|(mode,)| mode.to_ascii_lowercase()).unwrap_or_default();
    let mode = first(sqlx::query_as("PRAGMA journal_mode").fetch_all(&mut *connection).await?);
    if mode == "wal" {
        return Ok(mode);
    }
    loop {
        match sqlx::query_as("PRAGMA journal_mode = WAL").fetch_all(&mut *connection).await {
            Ok(rows) => return Ok(first(rows)),
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
pub(super) async fn settings(store: &str, connection: &mut SqliteConnection, mode: &str) -> Result<(), Failure> {
    let rows: Vec<(i64,)> = sqlx::query_as("PRAGMA synchronous").fetch_all(connection).await?;
    let level = rows.into_iter().next().map(|(level,)| level.to_string());
    let found = |name: &str| match name {
        "journal_mode" => Some(mode),
        "synchronous" => level.as_deref(),
        // The path was looked at before.
        _ => Some("a file"),
    };
    Ok(Error::refuse_unsafe(store, Engine::Sqlite, found)?)
}

/// Refuses a file system that may lose what was written, or on which locks do not hold everybody off.
pub(super) fn file_system(store: &str, path: &Path) -> Result<(), Failure> {
    // The file may be a link to elsewhere, and may not be there yet.
    let there = if path.exists() { Some(path) } else { path.parent() };
    match there.and_then(kind_of) {
        Some(kind) => {
            let cure = "put the file on a local disk";
            Err(Error::unsafe_store(store, format_args!("the file is on {kind}"), cure).into())
        }
        None => Ok(()),
    }
}
