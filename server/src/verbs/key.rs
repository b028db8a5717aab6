//! `snowmint key`: keys of the Redis protocol, for operators.

use serde_json::json;
use snowmint_core::shown::Shown;
use snowmint_stores::Key;

use super::operate::with_store;
use crate::arguments::operate::{self, KeyVerb};
use snowmint_cli::Exit;

/// Lists keys, or shows, raises, deletes or lowers one.
pub fn key(options: &operate::Key) -> Result<u8, Exit> {
    let place = &options.place;
    with_store(place, async |store| {
        let unknown = |key: &str| Exit::Failed(format!("there is no key {key:?}"));
        match &options.verb {
            KeyVerb::Ls => {
                let mut keys = Key::existing(&*store).await?;
                keys.sort_unstable();
                keys.iter().try_for_each(|key| place.print(Shown(key), &json!({ "key": key })))?;
            }
            KeyVerb::Show { key } => place.print_number(Key::mark(&*store, key).await?.ok_or_else(|| unknown(key))?)?,
            KeyVerb::Set { key, value } => Key::raise(&*store, key, *value).await.map(drop)?,
            KeyVerb::Rm { key } => {
                if !Key::delete(&*store, key).await? {
                    return Err(unknown(key));
                }
            }
            KeyVerb::Lower { key, value, stopped: _ } => place.print_number(Key::lower(&*store, key, *value).await?)?,
        }
        Ok(0)
    })
}
