//! `snowmint key`: keys of the Redis protocol, for operators.

use std::io::{Write as _, stdout};

use serde::Serialize;
use snowmint_core::shown::Shown;
use snowmint_stores::Key;

use super::operate::with_store;
use crate::arguments::operate::{self, KeyVerb};
use snowmint_cli::Exit;
use snowmint_cli::json;

#[derive(Serialize)]
struct Name {
    key: String,
}

#[derive(Serialize)]
struct Value {
    id: String,
}

/// Lists keys, or shows, raises, deletes or lowers one.
pub fn key(options: &operate::Key) -> Result<u8, Exit> {
    let as_json = options.place.json;
    with_store(&options.place, async |store| {
        let mut out = stdout().lock();
        let unknown = |key: &str| Exit::Failed(format!("there is no key {key:?}"));
        let shown = match &options.verb {
            KeyVerb::Ls => {
                let mut keys = Key::existing(&*store).await?;
                keys.sort_unstable();
                for key in keys {
                    if as_json {
                        json::write_line(&mut out, &Name { key })?;
                    } else {
                        writeln!(out, "{}", Shown(key))?;
                    }
                }
                None
            }
            KeyVerb::Show { key } => Some(Key::mark(&*store, key).await?.ok_or_else(|| unknown(key))?),
            KeyVerb::Set { key, value } => {
                Key::raise(&*store, key, *value).await?;
                None
            }
            KeyVerb::Rm { key } => {
                if !Key::delete(&*store, key).await? {
                    return Err(unknown(key));
                }
                None
            }
            KeyVerb::Lower { key, value, stopped: _ } => Some(Key::lower(&*store, key, *value).await?),
        };
        match shown {
            Some(number) if as_json => json::write_line(&mut out, &Value { id: number.to_string() })?,
            Some(number) => writeln!(out, "{number}")?,
            None => {}
        }
        Ok(0)
    })
}
