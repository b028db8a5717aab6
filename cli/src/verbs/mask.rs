//! `snowmint mask`: masks IDs and UUIDs, or unmasks them.

use std::io::Write as _;

use snowmint::{Mask, MaskKey, Uuid, UuidMask};
use snowmint_stores::Error;

use super::input::{self, number};
use super::output::Output;
use crate::arguments;
use crate::exit::Exit;

/// Prints each ID masked or unmasked. A bad ID is reported, and the others are printed.
pub fn mask(options: &arguments::Mask) -> Result<u8, Exit> {
    let key = MaskKey::parse(options.key.trim()).map_err(Error::from)?;
    let mut ids = Mask::new(key).with_tweak(&options.tweak).map_err(Error::from)?;
    if let Some(digits) = options.digits {
        ids = ids.with_digits(digits).map_err(Error::from)?;
    }
    let uuids = UuidMask::new(key);
    let mut out = Output::new();
    input::each(&options.ids, |value| {
        let turned = turned(value, &ids, uuids, options.decode)?;
        Ok(writeln!(out, "{turned}").map(|()| 0))
    })
}

fn turned(value: &str, ids: &Mask, uuids: UuidMask, decode: bool) -> Result<String, Error> {
    if let Ok(uuid) = value.parse::<Uuid>() {
        let turned = if decode { uuids.decode(uuid) } else { uuids.encode(uuid) };
        return Ok(turned?.to_string());
    }
    let id = number(value)?.id()?;
    let turned = if decode { ids.decode(id) } else { ids.encode(id) };
    Ok(turned?.to_string())
}
