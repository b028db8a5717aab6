//! UUIDs, ULIDs and `ObjectId`s: their texts, bytes and parts.
//!
//! In the buffer an ID has its text, and its bytes in words 0 and 1.

use glue::{Buffer, answer, buffer};
use snowmint_core::{Error, IdText, Integer, ObjectId, Ulid, Uuid};

/// Kinds of IDs; what is neither of these is a UUID.
pub(crate) const ULID: u32 = 9;
pub(crate) const OBJECT_ID: u32 = 10;

/// A part that is not there; no part is so far below 0.
const NONE: u64 = i64::MIN.cast_unsigned();

/// An ID of more than 64 bits.
#[derive(Clone, Copy)]
pub(crate) enum Wide {
    Uuid(Uuid),
    Ulid(Ulid),
    ObjectId(ObjectId),
}

impl Wide {
    /// The one of that kind in the buffer's words.
    fn stored(kind: u32) -> Self {
        let bits = bits(buffer());
        match kind {
            ULID => Self::Ulid(Ulid::from_bits(bits)),
            OBJECT_ID => {
                let [bytes @ .., _, _, _, _] = bits.to_be_bytes();
                Self::ObjectId(ObjectId::from_bytes(bytes))
            }
            _ => Self::Uuid(Uuid::from_bits(bits)),
        }
    }

    fn parse(kind: u32, text: &str) -> Result<Self, Error> {
        Ok(match kind {
            ULID => Self::Ulid(text.parse()?),
            OBJECT_ID => Self::ObjectId(text.parse()?),
            _ => Self::Uuid(text.parse()?),
        })
    }

    fn text(&self) -> IdText {
        match self {
            Self::Uuid(id) => id.text(),
            Self::Ulid(id) => id.text(),
            Self::ObjectId(id) => id.text(),
        }
    }

    /// The first byte highest.
    fn bits(&self) -> u128 {
        match self {
            Self::Uuid(id) => id.to_bits(),
            Self::Ulid(id) => id.to_bits(),
            Self::ObjectId(id) => id.to_bits() << 32,
        }
    }
}

/// The bytes in words 0 and 1, the first one highest.
pub(crate) fn bits(buffer: &Buffer) -> u128 {
    u128::from(buffer.words[0].swap_bytes()) << 64 | u128::from(buffer.words[1].swap_bytes())
}

fn put_bits(buffer: &mut Buffer, bits: u128) {
    buffer.words[0] = ((bits >> 64) as u64).swap_bytes();
    buffer.words[1] = (bits as u64).swap_bytes();
}

/// Puts text and bytes into the buffer: the length of the text.
pub(crate) fn put(id: Wide) -> u32 {
    let (buffer, text) = (buffer(), id.text());
    let text = text.as_bytes();
    buffer.text[..text.len()].copy_from_slice(text);
    put_bits(buffer, id.bits());
    text.len() as u32
}

/// Reads a text: the length of the one that is written.
#[unsafe(no_mangle)]
pub extern "C" fn read(kind: u32, len: u32) -> i32 {
    // What is not UTF-8 is no text of an ID either.
    let text = core::str::from_utf8(buffer().text(len)).unwrap_or_default();
    answer(Wide::parse(kind, text), put)
}

/// Writes the ID of so many bytes in words 0 and 1: the length of its text.
#[unsafe(no_mangle)]
pub extern "C" fn write(kind: u32, bytes: u32) -> i32 {
    let wanted = if kind == OBJECT_ID { 12 } else { 16 };
    let given = bytes as usize;
    let id = if given == wanted { Ok(Wide::stored(kind)) } else { Err(Error::id_bytes(wanted, given)) };
    answer(id, put)
}

/// Swaps the bytes in words 0 and 1 as `MySQL` does, or back.
#[unsafe(no_mangle)]
pub extern "C" fn swap(back: bool) {
    let buffer = buffer();
    let uuid = Uuid::from_bits(bits(buffer));
    put_bits(buffer, if back { uuid.unswapped() } else { uuid.swapped() }.to_bits());
}

/// Words from 2 on: the parts of the ID in words 0 and 1, or `NONE`. The time comes first, then of a UUID version, clock
/// sequence, node, local domain and number, of a ULID the high and the low bits of its random ones.
#[unsafe(no_mangle)]
pub extern "C" fn parts(kind: u32) {
    let some = |value: Option<u64>| value.unwrap_or(NONE);
    let parts = match Wide::stored(kind) {
        Wide::Uuid(id) => [
            some(id.timestamp_ms().map(i64::cast_unsigned)),
            some(id.version().map(u64::from)),
            some(id.clock_sequence().map(u64::from)),
            some(id.node()),
            some(id.local().map(|(domain, _)| domain.into())),
            some(id.local().map(|(_, number)| number.into())),
        ],
        Wide::Ulid(id) => {
            [id.timestamp_ms().cast_unsigned(), (id.random() >> 64) as u64, id.random() as u64, NONE, NONE, NONE]
        }
        Wide::ObjectId(id) => [id.timestamp_ms().cast_unsigned(), NONE, NONE, NONE, NONE, NONE],
    };
    buffer().words[2..8].copy_from_slice(&parts);
}

/// The version 8 of the bytes in words 0 and 1, but for the bits of version and variant.
#[unsafe(no_mangle)]
pub extern "C" fn custom() -> i32 {
    let bits = bits(buffer());
    let (a, b, c) = ((bits >> 80) as u64, (bits >> 64) as u16 & 0xfff, bits as u64 & (u64::MAX >> 2));
    answer(Uuid::v8(a, b, c).map(Wide::Uuid), put)
}

/// The ULID of an instant and of 80 bits: integer 0 has what is above 64 of them, 2 the others.
#[unsafe(no_mangle)]
pub extern "C" fn ulid_of(unix_ms: f64) -> i32 {
    let buffer = buffer();
    let random = match (buffer.integer(0), buffer.integer(2)) {
        (Integer::Fits(high), Integer::Fits(low)) => u128::from(high) << 64 | u128::from(low),
        _ => u128::MAX,
    };
    answer(Ulid::from_parts(unix_ms as i64, random).map(Wide::Ulid), put)
}

/// The `ObjectId` of an instant, of integer 0, 40 bits, and of integer 2, 24.
#[unsafe(no_mangle)]
pub extern "C" fn object_id_of(unix_ms: f64) -> i32 {
    let buffer = buffer();
    let random = match buffer.integer(0) {
        Integer::Fits(random) => random,
        _ => u64::MAX,
    };
    let id = ObjectId::from_parts(unix_ms as i64, random, buffer.integer(2).count());
    answer(id.map(Wide::ObjectId), put)
}
