//! `snowmint mask`: masks IDs and UUIDs, or unmasks them.

use std::io::{Write as _, stdout};

use snowmint::{Mask, MaskKey, Uuid, UuidMask};
use snowmint_stores::Error;

use super::input::{integer, lines};
use crate::arguments;
use crate::exit::{Exit, complain};

/// Prints each ID masked or unmasked. A bad ID is reported, and the others are printed.
pub fn mask(options: &arguments::Mask) -> Result<u8, Exit> {
    let key = MaskKey::parse(options.key.trim()).map_err(Error::from)?;
    let mut ids = Mask::new(key).with_tweak(&options.tweak).map_err(Error::from)?;
    if let Some(digits) = options.digits {
        ids = ids.with_digits(digits).map_err(Error::from)?;
    }
    let uuids = UuidMask::new(key);
    let (mut out, mut code) = (stdout().lock(), 0);
    let mut each = |value: String| -> Result<(), Exit> {
        match turned(&value, &ids, uuids, options.decode) {
            Ok(turned) => writeln!(out, "{turned}")?,
            Err(error) => {
                complain(format_args!("{value}: {error}"));
                code = 2;
            }
        }
        Ok(())
    };
    if options.ids.is_empty() {
        for line in lines() {
            each(line?)?;
        }
    } else {
        options.ids.iter().cloned().try_for_each(&mut each)?;
    }
    Ok(code)
}

fn turned(value: &str, ids: &Mask, uuids: UuidMask, decode: bool) -> Result<String, Error> {
    if let Ok(uuid) = value.parse::<Uuid>() {
        let turned = if decode { uuids.decode(uuid) } else { uuids.encode(uuid) };
        return Ok(turned?.to_string());
    }
    let id = integer(value)?.id()?;
    let turned = if decode { ids.decode(id) } else { ids.encode(id) };
    Ok(turned?.to_string())
}
