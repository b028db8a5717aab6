//! Masks of IDs.
//!
//! The buffer holds the key (bytes, or hexadecimal digits), then the tweak or the text of a UUID.
#![cfg(target_arch = "wasm32")]
#![no_std]
#![allow(unsafe_code, reason = "an export keeps its name; unsafe blocks are in the glue")]
#![allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap)]

use glue::{Told, answer, buffer};
use snowmint_core::mask::{Mask, MaskKey, UuidMask};
use snowmint_core::{Error, Uuid};

/// What a call does, as in `npm/src/mask.ts`.
const CHECK: u32 = 0;
const ENCODE: u32 = 1;

/// Makes a mask and does one thing with it: nothing more, or masks integer 0, or unmasks it. Word 0: the result. If
/// `has_digits`, integer 2 is the number of digits.
///
/// No mask is kept: the module could not free it, and to make one takes less time than a call.
#[unsafe(no_mangle)]
pub extern "C" fn mask(action: u32, key_len: u32, is_hex: bool, tweak_len: u32, has_digits: bool) -> i32 {
    let given = Told::take(key_len + tweak_len);
    let (key, tweak) = parted(&given, key_len);
    let made = read_key(key, is_hex).and_then(|key| {
        let mask = Mask::new(key).with_tweak(tweak)?;
        if has_digits { mask.with_digits(buffer().integer(2)) } else { Ok(mask) }
    });
    let result = made.and_then(|mask| match action {
        CHECK => Ok(0),
        ENCODE => mask.encode(buffer().integer(0).id()?),
        _ => mask.decode(buffer().integer(0).id()?),
    });
    answer(result, |id| {
        buffer().words[0] = id;
        0
    })
}

/// Makes a mask of UUIDs and does one thing with it, as `mask`. The answer is the length of a UUID's text.
#[unsafe(no_mangle)]
pub extern "C" fn uuid_mask(action: u32, key_len: u32, is_hex: bool, uuid_len: u32) -> i32 {
    let given = Told::take(key_len + uuid_len);
    let (key, uuid) = parted(&given, key_len);
    let result = read_key(key, is_hex).map(UuidMask::new).and_then(|mask| match action {
        CHECK => Ok(Uuid::NIL),
        ENCODE => mask.encode(read_uuid(uuid)?),
        _ => mask.decode(read_uuid(uuid)?),
    });
    answer(result, |uuid| {
        let text = uuid.text();
        buffer().text[..text.as_bytes().len()].copy_from_slice(text.as_bytes());
        text.as_bytes().len() as u32
    })
}

fn read_key(key: &[u8], is_hex: bool) -> Result<MaskKey, Error> {
    if is_hex { MaskKey::parse(key) } else { MaskKey::new(key) }
}

fn read_uuid(text: &[u8]) -> Result<Uuid, Error> {
    core::str::from_utf8(text).unwrap_or_default().parse()
}

fn parted(given: &Told, key_len: u32) -> (&[u8], &[u8]) {
    given.bytes().split_at_checked(key_len as usize).unwrap_or_default()
}
