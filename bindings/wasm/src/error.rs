//! Core's errors as exceptions of the package.

use alloc::boxed::Box;
use alloc::string::ToString;

use js_sys::Function;
use once_cell::race::OnceBox;
use snowmint_core::Error;
#[cfg(feature = "numbers")]
use snowmint_core::ErrorKind;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

/// Makes a `SnowmintError` of a code, a message, and the ms after which the call can succeed.
static MAKE: OnceBox<Function> = OnceBox::new();

/// Takes the function of the package that makes errors.
#[wasm_bindgen]
pub fn start(make: Function) {
    // A second call changes nothing.
    let _ = MAKE.set(Box::new(make));
}

/// Makes the exception for an error of core.
#[cold]
#[inline(never)]
pub fn raise(error: Error) -> JsValue {
    let ms = error.retry_after_ms().or(error.by_ms()).unwrap_or_default();
    make(error.code(), &error.to_string(), ms)
}

/// Makes the exception of a kind with a message of core.
#[cfg(feature = "numbers")]
#[cold]
#[inline(never)]
pub fn raise_as(kind: ErrorKind, message: &str) -> JsValue {
    make(kind.code(), message, 0)
}

fn make(code: &str, message: &str, ms: u64) -> JsValue {
    let message = message.into();
    let Some(make) = MAKE.get() else { return message };
    make.call3(&JsValue::NULL, &code.into(), &message, &(ms as f64).into()).unwrap_or_else(|error| error)
}
