//! Prefixed IDs.

use alloc::string::{String, ToString};

use js_sys::Object;
use snowmint_core::{TypeId, Uuid, prefix};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::convert::{id, set};
use crate::error::raise;

/// Writes a 64-bit ID after a prefix.
#[wasm_bindgen(js_name = prefixedId)]
pub fn prefixed_id(prefix: &str, value: &str) -> Result<String, JsValue> {
    Ok(prefix::encode(prefix, id(value)?).map_err(raise)?.as_str().into())
}

/// Writes a UUID after a prefix.
#[wasm_bindgen(js_name = prefixedUuid)]
pub fn prefixed_uuid(prefix: &str, uuid: &str) -> Result<String, JsValue> {
    let uuid: Uuid = uuid.parse().map_err(raise)?;
    Ok(prefix::encode(prefix, uuid).map_err(raise)?.as_str().into())
}

/// Reads the 64-bit ID of a text with a prefix.
#[wasm_bindgen(js_name = idOfPrefixed)]
pub fn id_of_prefixed(prefix: &str, text: &str) -> Result<u64, JsValue> {
    prefix::decode::<u64>(prefix, text).map_err(raise)
}

/// Reads the UUID of a text with a prefix.
#[wasm_bindgen(js_name = uuidOfPrefixed)]
pub fn uuid_of_prefixed(prefix: &str, text: &str) -> Result<String, JsValue> {
    prefix::decode::<Uuid>(prefix, text).map(|uuid| uuid.text().as_str().into()).map_err(raise)
}

/// Returns whether a text has as many characters after the prefix as a UUID.
#[wasm_bindgen(js_name = isPrefixedUuid)]
pub fn is_prefixed_uuid(text: &str) -> bool {
    prefix::is_uuid(text)
}

/// Reads a `TypeID` with any prefix.
#[wasm_bindgen(js_name = typeIdParts, unchecked_return_type = "{ prefix: string; uuid: string }")]
pub fn type_id_parts(text: &str) -> Result<Object, JsValue> {
    let id: TypeId = text.parse().map_err(raise)?;
    let parts = Object::new();
    set(&parts, "prefix", id.prefix().as_str());
    set(&parts, "uuid", id.uuid().to_string());
    Ok(parts)
}
