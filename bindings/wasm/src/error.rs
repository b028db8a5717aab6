//! Core's errors as exceptions of the package.

use alloc::boxed::Box;
use alloc::string::ToString;

use js_sys::Function;
use once_cell::race::OnceBox;
use snowmint_core::Error;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

/// Functions of JavaScript that this module calls.
struct Host {
    /// Makes a `SnowmintError` of a code, a sentence, and the ms after which the call can succeed.
    error: Function,
    /// Returns any value as a text.
    text: Function,
}

static HOST: OnceBox<Host> = OnceBox::new();

/// Takes the functions that this module calls: one makes a `SnowmintError`, the other one is `String`.
#[wasm_bindgen]
pub fn start(error: Function, text: Function) {
    // A second call changes nothing.
    let _ = HOST.set(Box::new(Host { error, text }));
}

/// Makes the exception for an error of core.
#[cold]
#[inline(never)]
pub fn raise(error: Error) -> JsValue {
    let ms = error.retry_after_ms().or(error.by_ms()).unwrap_or_default();
    made(error.code(), &error.to_string(), ms as f64)
}

/// Makes the exception for a value that is not an integer.
#[cold]
#[inline(never)]
pub fn not_an_integer(code: &str, value: &JsValue) -> JsValue {
    let shown = match HOST.get().map(|host| host.text.call1(&JsValue::NULL, value)) {
        Some(Ok(text)) => text.as_string().unwrap_or_default(),
        // A value that no text shows, such as an object without a prototype, is a TypeError of JavaScript.
        Some(Err(error)) => return error,
        None => return JsValue::NULL,
    };
    made(code, &(shown + " is not a safe integer: pass a bigint or a decimal string"), 0.0)
}

fn made(code: &str, sentence: &str, ms: f64) -> JsValue {
    let Some(host) = HOST.get() else { return sentence.into() };
    host.error.call3(&JsValue::NULL, &code.into(), &sentence.into(), &ms.into()).unwrap_or_else(|error| error)
}
