//! Texts, bytes and parts of UUIDs, ULIDs, `ObjectId`s, KSUIDs and xids.
//!
//! The buffer holds an ID as its text, and as its bytes in words 0 and 1, and 2 for a KSUID.

use glue::{Buffer, Told, answer, buffer};
use snowmint_core::{Error, IdText, Integer, Ksuid, ObjectId, Ulid, Uuid, UuidForm, Xid};

/// Kinds of IDs; every other number is a UUID.
pub(crate) const ULID: u32 = 9;
pub(crate) const OBJECT_ID: u32 = 10;
pub(crate) const KSUID: u32 = 11;
pub(crate) const XID: u32 = 12;

/// Stands for a missing part; no part has this value.
const NONE: u64 = i64::MIN.cast_unsigned();

/// An ID of more than 64 bits.
#[derive(Clone, Copy)]
pub(crate) enum Wide {
    Uuid(Uuid),
    Ulid(Ulid),
    ObjectId(ObjectId),
    Ksuid(Ksuid),
    Xid(Xid),
}

impl Wide {
    /// Reads an ID of that kind from words 0 and 1.
    fn stored(kind: u32) -> Self {
        let bits = bits(buffer());
        match kind {
            ULID => Self::Ulid(Ulid::from_bits(bits)),
            OBJECT_ID | XID => {
                let [bytes @ .., _, _, _, _] = bits.to_be_bytes();
                if kind == XID {
                    Self::Xid(Xid::from_bytes(bytes))
                } else {
                    Self::ObjectId(ObjectId::from_bytes(bytes))
                }
            }
            KSUID => {
                let mut bytes = [0; 20];
                bytes[..16].copy_from_slice(&bits.to_be_bytes());
                bytes[16..].copy_from_slice(&buffer().words[2].to_le_bytes()[..4]);
                Self::Ksuid(Ksuid::from_bytes(bytes))
            }
            _ => Self::Uuid(Uuid::from_bits(bits)),
        }
    }

    fn parse(kind: u32, text: &str) -> Result<Self, Error> {
        Ok(match kind {
            ULID => Self::Ulid(text.parse()?),
            OBJECT_ID => Self::ObjectId(text.parse()?),
            KSUID => Self::Ksuid(text.parse()?),
            XID => Self::Xid(text.parse()?),
            _ => Self::Uuid(text.parse()?),
        })
    }

    fn text(&self) -> IdText {
        match self {
            Self::Uuid(id) => id.text(),
            Self::Ulid(id) => id.text(),
            Self::ObjectId(id) => id.text(),
            Self::Ksuid(id) => id.text(),
            Self::Xid(id) => id.text(),
        }
    }

    /// The bytes, with zeros after them.
    fn bytes(&self) -> [u8; 20] {
        let mut bytes = [0; 20];
        match self {
            Self::Uuid(id) => bytes[..16].copy_from_slice(&id.to_bytes()),
            Self::Ulid(id) => bytes[..16].copy_from_slice(&id.to_bytes()),
            Self::ObjectId(id) => bytes[..12].copy_from_slice(&id.to_bytes()),
            Self::Ksuid(id) => bytes = id.to_bytes(),
            Self::Xid(id) => bytes[..12].copy_from_slice(&id.to_bytes()),
        }
        bytes
    }
}

/// Reads the bytes in words 0 and 1 as one integer, the first byte highest.
pub(crate) fn bits(buffer: &Buffer) -> u128 {
    u128::from(buffer.words[0].swap_bytes()) << 64 | u128::from(buffer.words[1].swap_bytes())
}

fn put_bits(buffer: &mut Buffer, bits: u128) {
    buffer.words[0] = ((bits >> 64) as u64).swap_bytes();
    buffer.words[1] = (bits as u64).swap_bytes();
}

/// Writes text and bytes of an ID into the buffer, and returns the length of the text.
pub(crate) fn put(id: Wide) -> u32 {
    let (buffer, text) = (buffer(), id.text());
    let text = text.as_bytes();
    buffer.text[..text.len()].copy_from_slice(text);
    for (word, bytes) in buffer.words.iter_mut().zip(id.bytes().chunks(8)) {
        let mut low = [0; 8];
        low[..bytes.len()].copy_from_slice(bytes);
        *word = u64::from_le_bytes(low);
    }
    text.len() as u32
}

/// Reads the ID of a text, writes it, and returns the length of the written text.
#[unsafe(no_mangle)]
pub extern "C" fn read(kind: u32, len: u32) -> i32 {
    // A text that is not UTF-8 becomes empty, which no ID's text is.
    let text = core::str::from_utf8(buffer().text(len)).unwrap_or_default();
    answer(Wide::parse(kind, text), put)
}

/// Writes the text of the ID in words 0 and 1, given with `bytes` bytes, and returns its length.
#[unsafe(no_mangle)]
pub extern "C" fn write(kind: u32, bytes: u32) -> i32 {
    let wanted = match kind {
        OBJECT_ID | XID => 12,
        KSUID => 20,
        _ => 16,
    };
    let given = bytes as usize;
    let id = if given == wanted { Ok(Wide::stored(kind)) } else { Err(Error::id_bytes(wanted, given)) };
    answer(id, put)
}

/// Swaps the bytes in words 0 and 1 into the order of `MySQL`, or back.
#[unsafe(no_mangle)]
pub extern "C" fn swap(back: bool) {
    let buffer = buffer();
    let uuid = Uuid::from_bits(bits(buffer));
    put_bits(buffer, if back { uuid.unswapped() } else { uuid.swapped() }.to_bits());
}

/// Writes the parts of the ID in words 0 and 1 to the words from 2 on, `NONE` for a missing part. The time comes first.
/// For a UUID follow version, clock sequence, node, local domain and number; for a ULID and a KSUID the random bits, high
/// word first; for an xid machine, process and counter.
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
        Wide::Ksuid(id) => {
            [id.timestamp_ms().cast_unsigned(), (id.payload() >> 64) as u64, id.payload() as u64, NONE, NONE, NONE]
        }
        Wide::Xid(id) => [
            id.timestamp_ms().cast_unsigned(),
            id.machine().into(),
            id.process().into(),
            id.counter().into(),
            NONE,
            NONE,
        ],
    };
    buffer().words[2..8].copy_from_slice(&parts);
}

/// Makes the UUID of version 8 from the bytes in words 0 and 1; the bits of version and variant are overwritten.
#[unsafe(no_mangle)]
pub extern "C" fn custom() -> i32 {
    answer(Uuid::v8_over(bits(buffer()), [None; 3]).map(Wide::Uuid), put)
}

/// Makes the ULID of an instant and 80 random bits: integer 0 holds the bits above the low 64, integer 2 the low 64.
#[unsafe(no_mangle)]
pub extern "C" fn ulid_of(unix_ms: f64) -> i32 {
    let buffer = buffer();
    let random = match (buffer.integer(0), buffer.integer(2)) {
        (Integer::Fits(high), Integer::Fits(low)) => u128::from(high) << 64 | u128::from(low),
        _ => u128::MAX,
    };
    answer(Ulid::from_parts(unix_ms as i64, random).map(Wide::Ulid), put)
}

/// Makes the `ObjectId` or xid of an instant, 40 random bits (integer 0) and a counter of 24 bits (integer 2).
#[unsafe(no_mangle)]
pub extern "C" fn object_id_of(kind: u32, unix_ms: f64) -> i32 {
    let buffer = buffer();
    let random = match buffer.integer(0) {
        Integer::Fits(random) => random,
        _ => u64::MAX,
    };
    let counter = buffer.integer(2).count();
    let id = if kind == XID {
        Xid::from_parts(unix_ms as i64, random, counter).map(Wide::Xid)
    } else {
        ObjectId::from_parts(unix_ms as i64, random, counter).map(Wide::ObjectId)
    };
    answer(id, put)
}

/// Makes the KSUID of an instant and the 16 bytes in words 0 and 1, given with `bytes` bytes.
#[unsafe(no_mangle)]
pub extern "C" fn ksuid_of(unix_ms: f64, bytes: u32) -> i32 {
    let payload = if bytes == 16 { Ok(bits(buffer())) } else { Err(Error::id_bytes(16, bytes as usize)) };
    answer(payload.and_then(|payload| Ksuid::from_parts(unix_ms as i64, payload)).map(Wide::Ksuid), put)
}

/// Makes the lowest version 7 between two instants, or the highest.
#[unsafe(no_mangle)]
pub extern "C" fn v7_bound(from_ms: f64, to_ms: f64, highest: bool) -> i32 {
    let range = Uuid::v7_range(from_ms as i64, to_ms as i64);
    answer(range.map(|range| Wide::Uuid(if highest { *range.end() } else { *range.start() })), put)
}

/// Writes the UUID in words 0 and 1 in the form with the name in the buffer, and returns the length of the text.
#[unsafe(no_mangle)]
pub extern "C" fn short(name_len: u32) -> i32 {
    let uuid = Uuid::from_bits(bits(buffer()));
    answer(UuidForm::find(buffer().text(name_len)).map(|form| form.encode(uuid)), |text| {
        buffer().text[..text.as_bytes().len()].copy_from_slice(text.as_bytes());
        text.as_bytes().len() as u32
    })
}

/// Reads a text in a form, whose name stands before the text, and writes the UUID as `read` does.
#[unsafe(no_mangle)]
pub extern "C" fn read_short(name_len: u32, len: u32) -> i32 {
    let given = Told::take(name_len + len);
    let (name, text) = given.bytes().split_at_checked(name_len as usize).unwrap_or_default();
    answer(UuidForm::find(name).and_then(|form| form.decode(text)).map(Wide::Uuid), put)
}
