//! Versions 3 and 5 of UUIDs: hashes of names.

use alloc::vec::Vec;

use glue::{Single, buffer};
use snowmint_core::Uuid;

use crate::wide::{Wide, bits, put};

/// The name that is hashed next.
static NAME: Single<Vec<u8>> = Single::new(Vec::new());

/// Where a name of that many bytes is to be put; 0 if there is no memory for it.
#[unsafe(no_mangle)]
pub extern "C" fn name_address(len: u32) -> u32 {
    let name = NAME.get();
    name.clear();
    // Twice what it was, at least: nothing is ever freed.
    if name.try_reserve(len as usize).is_err() {
        return 0;
    }
    name.resize(len as usize, 0);
    name.as_ptr() as u32
}

/// The UUID of that version, 3 or 5, of the name that was put and of the namespace in words 0 and 1: the length of its text.
#[unsafe(no_mangle)]
pub extern "C" fn named(version: u32) -> u32 {
    let namespace = Uuid::from_bits(bits(buffer()));
    let name = NAME.get();
    put(Wide::Uuid(if version == 3 { Uuid::v3(namespace, name) } else { Uuid::v5(namespace, name) }))
}
