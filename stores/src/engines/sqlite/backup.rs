//! Copies of a database that is in use.

use std::fs::{self, File};
use std::path::Path;

use super::dialect::LiteDialect;
use super::settings;
use crate::engines::sql::Dialect as _;
use crate::engines::sql::query::{Change as _, Value};
use crate::error::Error;
use crate::store::url::Url;

/// Copies the database of a URL into a new file, which is durable afterwards. Other processes may use the database meanwhile:
/// the copy is its state at one moment, with the write-ahead log.
///
/// # Errors
/// `StoreUnavailable` if there is no database, the file exists, or it cannot be written; `UnsafeStore` for a database in memory;
/// `InvalidStore` for a path in a directory that does not exist. No half-written file is left then.
pub(super) async fn back_up(url: &Url, to: &Path) -> Result<(), Error> {
    // A missing database is an error, and not an empty backup.
    let url = Url { create: false, ..url.clone() };
    let dialect = LiteDialect::new(&url, settings::path(&url)?);
    let failed =
        |why: &dyn std::fmt::Display| Error::unavailable(&dialect.name, format_args!("{}: {why}", to.display()));
    if to.exists() {
        return Err(failed(&"the file exists: name a new one"));
    }
    let mut draft = to.as_os_str().to_owned();
    draft.push(".part");
    let draft = Path::new(&draft);
    // Of a backup that was interrupted.
    drop(fs::remove_file(draft));
    let draft_name = draft.to_str().ok_or_else(|| failed(&"the path is not UTF-8"))?;
    let mut connection = dialect.open().await.map_err(|failure| failure.into_error::<LiteDialect>(&dialect.name))?;
    let copied = connection.change("VACUUM INTO ?", &[Value::Text(draft_name.to_owned())]).await;
    let kept = copied.map_err(|error| failed(&error)).and_then(|_| keep(draft, to).map_err(|error| failed(&error)));
    if kept.is_err() {
        drop(fs::remove_file(draft));
    }
    kept
}

/// Syncs a draft, and gives it its name for good.
fn keep(draft: &Path, to: &Path) -> std::io::Result<()> {
    File::open(draft)?.sync_all()?;
    fs::rename(draft, to)?;
    // Only Unix has directories that can be synced.
    #[cfg(unix)]
    File::open(to.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new(".")))?.sync_all()?;
    Ok(())
}
