//! Versions 3 and 5 of UUIDs: hashes of names.

use alloc::vec::Vec;

use glue::{Single, buffer};
use snowmint_core::Uuid;

use crate::wide::{Wide, bits, put};

/// The name to hash next.
static NAME: Single<Vec<u8>> = Single::new(Vec::new());

/// The address for a name of `len` bytes; 0 if there is no memory for it.
#[unsafe(no_mangle)]
pub extern "C" fn name_address(len: u32) -> u32 {
    let name = NAME.get();
    name.clear();
    // `try_reserve` at least doubles the old size, which limits the loss, since old memory is never freed.
    if name.try_reserve(len as usize).is_err() {
        return 0;
    }
    name.resize(len as usize, 0);
    name.as_ptr() as u32
}

/// Makes the UUID of version 3 or 5 from the name and the namespace in words 0 and 1. Returns the length of its text.
#[unsafe(no_mangle)]
pub extern "C" fn named(version: u32) -> u32 {
    let namespace = Uuid::from_bits(bits(buffer()));
    let name = NAME.get();
    put(Wide::Uuid(if version == 3 { Uuid::v3(namespace, name) } else { Uuid::v5(namespace, name) }))
}
