//! Prefixed IDs.
//!
//! The buffer holds the prefix, then the text of a UUID or of a prefixed ID.
#![cfg(target_arch = "wasm32")]
#![no_std]
#![allow(unsafe_code, reason = "an export keeps its name; unsafe blocks are in the glue")]
#![allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap)]

use glue::{Told, answer, buffer};
use snowmint_core::prefix::{self, PrefixedText};
use snowmint_core::{Error, TypeId, Uuid};

/// Writes a value after a prefix, and returns the length of the text: integer 0, or the UUID of a text if it has a length.
#[unsafe(no_mangle)]
pub extern "C" fn encode(prefix_len: u32, uuid_len: u32) -> i32 {
    let given = Told::take(prefix_len + uuid_len);
    let (prefix, uuid) = parted(&given, prefix_len);
    let text = if uuid_len == 0 {
        buffer().integer(0).id().and_then(|id| prefix::encode(prefix, id))
    } else {
        read_uuid(uuid).and_then(|uuid| prefix::encode(prefix, uuid))
    };
    answer(text, |text: PrefixedText| put(text.as_bytes()))
}

/// Reads a text with a prefix. The answer of a UUID is the length of its text; that of an ID is 0, and the ID is word 0.
#[unsafe(no_mangle)]
pub extern "C" fn decode(prefix_len: u32, len: u32, uuid: bool) -> i32 {
    let given = Told::take(prefix_len + len);
    let (prefix, text) = parted(&given, prefix_len);
    if uuid {
        return answer(prefix::decode::<Uuid>(prefix, text), |uuid| put(uuid.text().as_bytes()));
    }
    answer(prefix::decode::<u64>(prefix, text), |id| {
        buffer().words[0] = id;
        0
    })
}

/// Whether a text has as many characters after the prefix as a UUID.
#[unsafe(no_mangle)]
pub extern "C" fn is_uuid(len: u32) -> bool {
    prefix::is_uuid(buffer().text(len))
}

/// Reads a `TypeID` with any prefix: the length of the prefix, behind which the text of the UUID stands in the buffer.
#[unsafe(no_mangle)]
pub extern "C" fn type_id(len: u32) -> i32 {
    let given = Told::take(len);
    answer(given.text().parse::<TypeId>(), |id| {
        let prefix = id.prefix().as_str().as_bytes();
        let uuid = id.uuid().text();
        buffer().text[..prefix.len()].copy_from_slice(prefix);
        buffer().text[prefix.len()..][..uuid.as_bytes().len()].copy_from_slice(uuid.as_bytes());
        prefix.len() as u32
    })
}

fn parted(given: &Told, prefix_len: u32) -> (&[u8], &[u8]) {
    given.bytes().split_at_checked(prefix_len as usize).unwrap_or_default()
}

fn read_uuid(text: &[u8]) -> Result<Uuid, Error> {
    core::str::from_utf8(text).unwrap_or_default().parse()
}

fn put(text: &[u8]) -> u32 {
    buffer().text[..text.len()].copy_from_slice(text);
    text.len() as u32
}
