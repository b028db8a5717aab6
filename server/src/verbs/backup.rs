//! `snowmint backup`: copies a store in a `SQLite` file, while it is in use.

use serde_json::json;
use snowmint_stores::Url;
use snowmint_stores::sqlite::Sqlite;

use super::operate::with_url;
use crate::arguments::operate;
use snowmint_cli::{Exit, working};

/// Copies the store into a new file.
pub fn backup(options: &operate::Backup) -> Result<u8, Exit> {
    with_url(&options.place, async |url| {
        let url = Url::parse(url)?;
        if url.scheme != "sqlite" {
            return Err(Exit::Wrong(format!(
                "backup copies a store sqlite:PATH, not {}: take the backup of its server (docs/backups.md)",
                url.scheme
            )));
        }
        let line = working("copying the store");
        Sqlite::back_up(&url, &options.file).await?;
        drop(line);
        let file = options.file.display();
        let text = format!("{file}\nafter it is restored, run snowmint fence --stopped --skip N");
        options.place.print(text, &json!({ "file": file.to_string() }))?;
        Ok(0)
    })
}
