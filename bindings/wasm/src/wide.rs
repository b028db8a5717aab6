//! Texts, bytes and parts of UUIDs, ULIDs, `ObjectId`s, KSUIDs and xids.

use alloc::string::String;
use alloc::vec::Vec;

use snowmint_core::{Error, IdText, Integer, Ksuid, ObjectId, Ulid, Uuid, UuidForm, Xid};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::convert::integer;
use crate::error::raise;

/// A kind of ID of more than 64 bits.
#[wasm_bindgen]
#[derive(Clone, Copy)]
pub enum Kind {
    /// A UUID.
    Uuid,
    /// A ULID.
    Ulid,
    /// An `ObjectId`.
    ObjectId,
    /// A KSUID.
    Ksuid,
    /// An xid.
    Xid,
}

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
    fn parse(kind: Kind, text: &str) -> Result<Self, JsValue> {
        match kind {
            Kind::Uuid => text.parse().map(Self::Uuid),
            Kind::Ulid => text.parse().map(Self::Ulid),
            Kind::ObjectId => text.parse().map(Self::ObjectId),
            Kind::Ksuid => text.parse().map(Self::Ksuid),
            Kind::Xid => text.parse().map(Self::Xid),
        }
        .map_err(raise)
    }

    fn of(kind: Kind, bytes: &[u8]) -> Result<Self, JsValue> {
        Ok(match kind {
            Kind::Uuid => Self::Uuid(Uuid::from_bytes(sized(bytes)?)),
            Kind::Ulid => Self::Ulid(Ulid::from_bytes(sized(bytes)?)),
            Kind::ObjectId => Self::ObjectId(ObjectId::from_bytes(sized(bytes)?)),
            Kind::Ksuid => Self::Ksuid(Ksuid::from_bytes(sized(bytes)?)),
            Kind::Xid => Self::Xid(Xid::from_bytes(sized(bytes)?)),
        })
    }

    pub(crate) fn text(&self) -> IdText {
        match self {
            Self::Uuid(id) => id.text(),
            Self::Ulid(id) => id.text(),
            Self::ObjectId(id) => id.text(),
            Self::Ksuid(id) => id.text(),
            Self::Xid(id) => id.text(),
        }
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        match self {
            Self::Uuid(id) => id.to_bytes().into(),
            Self::Ulid(id) => id.to_bytes().into(),
            Self::ObjectId(id) => id.to_bytes().into(),
            Self::Ksuid(id) => id.to_bytes().into(),
            Self::Xid(id) => id.to_bytes().into(),
        }
    }

    fn timestamp_ms(&self) -> Option<i64> {
        match self {
            Self::Uuid(id) => id.timestamp_ms(),
            Self::Ulid(id) => Some(id.timestamp_ms()),
            Self::ObjectId(id) => Some(id.timestamp_ms()),
            Self::Ksuid(id) => Some(id.timestamp_ms()),
            Self::Xid(id) => Some(id.timestamp_ms()),
        }
    }
}

fn sized<const N: usize>(bytes: &[u8]) -> Result<[u8; N], JsValue> {
    bytes.try_into().map_err(|_| raise(Error::id_bytes(N, bytes.len())))
}

fn owned(text: IdText) -> String {
    text.as_str().into()
}

/// Reads a text, and returns the bytes of the ID.
#[wasm_bindgen(js_name = bytesOfId)]
pub fn bytes_of_id(kind: Kind, text: &str) -> Result<Vec<u8>, JsValue> {
    Wide::parse(kind, text).map(|id| id.bytes())
}

/// Returns the text of the ID with these bytes.
#[wasm_bindgen(js_name = textOfId)]
pub fn text_of_id(kind: Kind, bytes: &[u8]) -> Result<String, JsValue> {
    Wide::of(kind, bytes).map(|id| owned(id.text()))
}

/// Returns the time of an ID, Unix ms; undefined for an ID without a time.
#[wasm_bindgen(js_name = timeOfId)]
pub fn time_of_id(kind: Kind, text: &str) -> Result<Option<f64>, JsValue> {
    Wide::parse(kind, text).map(|id| id.timestamp_ms().map(|ms| ms as f64))
}

fn uuid(text: &str) -> Result<Uuid, JsValue> {
    text.parse().map_err(raise)
}

/// Returns the version of a UUID.
#[wasm_bindgen(js_name = uuidVersion)]
pub fn uuid_version(text: &str) -> Result<Option<u8>, JsValue> {
    uuid(text).map(Uuid::version)
}

/// Returns the clock sequence of a UUID.
#[wasm_bindgen(js_name = uuidClockSequence)]
pub fn uuid_clock_sequence(text: &str) -> Result<Option<u16>, JsValue> {
    uuid(text).map(Uuid::clock_sequence)
}

/// Returns the node of a UUID.
#[wasm_bindgen(js_name = uuidNode)]
pub fn uuid_node(text: &str) -> Result<Option<f64>, JsValue> {
    uuid(text).map(|uuid| uuid.node().map(|node| node as f64))
}

/// Returns the domain of a version 2 and the number in it; undefined for other versions.
#[wasm_bindgen(js_name = uuidLocal)]
pub fn uuid_local(text: &str) -> Result<Option<Vec<u32>>, JsValue> {
    uuid(text).map(|uuid| uuid.local().map(|(domain, id)| [domain.into(), id].into()))
}

/// Makes a UUID of version 3 or 5 from a name and a namespace.
#[wasm_bindgen(js_name = namedUuid)]
pub fn named_uuid(version: u32, name: &[u8], namespace: &str) -> Result<String, JsValue> {
    let namespace = uuid(namespace)?;
    Ok(owned(if version == 3 { Uuid::v3(namespace, name) } else { Uuid::v5(namespace, name) }.text()))
}

/// Makes a UUID of version 8 from 16 bytes; the bits of version and variant are overwritten.
#[wasm_bindgen(js_name = customUuid)]
pub fn custom_uuid(bytes: &[u8]) -> Result<String, JsValue> {
    let bits = u128::from_be_bytes(sized(bytes)?);
    Uuid::v8_over(bits, [None; 3]).map(|uuid| owned(uuid.text())).map_err(raise)
}

/// Returns the lowest and the highest version 7 between two instants, Unix ms.
#[wasm_bindgen(js_name = uuid7Range)]
pub fn uuid7_range(from_ms: f64, to_ms: f64) -> Result<Vec<String>, JsValue> {
    let range = Uuid::v7_range(from_ms as i64, to_ms as i64).map_err(raise)?;
    Ok([*range.start(), *range.end()].map(|uuid| owned(uuid.text())).into())
}

/// Returns a UUID in a short form.
#[wasm_bindgen(js_name = shortUuid)]
pub fn short_uuid(text: &str, form: &str) -> Result<String, JsValue> {
    let uuid = uuid(text)?;
    UuidForm::find(form).map(|form| owned(form.encode(uuid))).map_err(raise)
}

/// Reads a UUID in a short form.
#[wasm_bindgen(js_name = uuidOfShort)]
pub fn uuid_of_short(text: &str, form: &str) -> Result<String, JsValue> {
    UuidForm::find(form).and_then(|form| form.decode(text)).map(|uuid| owned(uuid.text())).map_err(raise)
}

/// Returns the bytes of a UUID in the order of `MySQL`.
#[wasm_bindgen(js_name = swappedUuid)]
pub fn swapped_uuid(text: &str) -> Result<Vec<u8>, JsValue> {
    uuid(text).map(|uuid| uuid.swapped().to_bytes().into())
}

/// Reads bytes in the order of `MySQL`.
#[wasm_bindgen(js_name = uuidOfSwapped)]
pub fn uuid_of_swapped(bytes: &[u8]) -> Result<String, JsValue> {
    Ok(owned(Uuid::from_bytes(sized(bytes)?).unswapped().text()))
}

/// Makes the ULID of an instant and 80 random bits: the bits above the low 64, and the low 64.
#[wasm_bindgen(js_name = ulidOf)]
pub fn ulid_of(unix_ms: f64, high: &str, low: &str) -> Result<String, JsValue> {
    let random = match (integer(high), integer(low)) {
        (Integer::Fits(high), Integer::Fits(low)) => u128::from(high) << 64 | u128::from(low),
        // Does not fit either.
        _ => u128::MAX,
    };
    Ulid::from_parts(unix_ms as i64, random).map(|ulid| owned(ulid.text())).map_err(raise)
}

/// Returns the 80 bits of a ULID after the time: those above the low 64, and the low 64.
#[wasm_bindgen(js_name = ulidRandomness)]
pub fn ulid_randomness(text: &str) -> Result<Vec<u64>, JsValue> {
    let ulid: Ulid = text.parse().map_err(raise)?;
    Ok([(ulid.random() >> 64) as u64, ulid.random() as u64].into())
}

/// Makes the `ObjectId` or xid of an instant, 40 random bits and a counter of 24 bits.
#[wasm_bindgen(js_name = objectIdOf)]
pub fn object_id_of(kind: Kind, unix_ms: f64, random: &str, counter: &str) -> Result<String, JsValue> {
    let random = integer(random).or_too_large();
    let counter = integer(counter).count();
    if matches!(kind, Kind::Xid) {
        Xid::from_parts(unix_ms as i64, random, counter).map(|id| owned(id.text()))
    } else {
        ObjectId::from_parts(unix_ms as i64, random, counter).map(|id| owned(id.text()))
    }
    .map_err(raise)
}

/// Makes the KSUID of an instant and 16 bytes.
#[wasm_bindgen(js_name = ksuidOf)]
pub fn ksuid_of(unix_ms: f64, payload: &[u8]) -> Result<String, JsValue> {
    let payload = u128::from_be_bytes(sized(payload)?);
    Ksuid::from_parts(unix_ms as i64, payload).map(|id| owned(id.text())).map_err(raise)
}

/// Returns machine, process and counter of an xid.
#[wasm_bindgen(js_name = xidParts)]
pub fn xid_parts(text: &str) -> Result<Vec<u32>, JsValue> {
    let id: Xid = text.parse().map_err(raise)?;
    Ok([id.machine(), id.process().into(), id.counter()].into())
}
