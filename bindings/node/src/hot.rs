//! The hot path: Node-API functions whose data pointer is the generator itself. A method of a napi class would look up
//! and check its `this` on each call, for 240 ns where these take 45, most of it reading the clock.
#![allow(unsafe_code, reason = "Node-API is a C interface")]

use std::ffi::{CStr, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

use napi::bindgen_prelude::{Either, Env, FromNapiValue, Result, ToNapiValue, Unknown};
use napi::sys::{self, napi_callback_info, napi_env, napi_value};
use napi::{Error, JsError, check_status};
use snowmint_core::SystemHost;

use crate::{Generator, refusal, saturated};

type Callback = unsafe extern "C" fn(napi_env, napi_callback_info) -> napi_value;

/// The functions of a generator, `[next, fill]`:
/// - `next(): bigint | string`, and
/// - `fill(ids: BigUint64Array, patienceMs: number): number | string`, which tells how many IDs it has put into `ids`,
///   from the start: all, or some if the rest will be free within the patience.
///
/// The string is a refusal: "CODE ms sentence".
pub(crate) fn functions<'env>(env: &'env Env, generator: &'static Generator) -> Result<Vec<Unknown<'env>>> {
    Ok(vec![function(env, c"next", next, generator)?, function(env, c"fill", fill, generator)?])
}

fn function<'env>(env: &'env Env, name: &CStr, body: Callback, generator: &'static Generator) -> Result<Unknown<'env>> {
    let data = ptr::from_ref(generator).cast_mut().cast::<c_void>();
    let mut value = ptr::null_mut();
    // SAFETY: `env` is alive, and a length of -1 says that the name ends with NUL. The bodies only read `data`, as the
    // `&'static Generator` that it is, and a generator is Sync, so functions in many threads may have the same.
    check_status!(unsafe {
        sys::napi_create_function(env.raw(), name.as_ptr(), -1, Some(body), data, &raw mut value)
    })?;
    // SAFETY: the value was just made in this environment.
    unsafe { Unknown::from_napi_value(env.raw(), value) }
}

/// # Safety
/// Only as the body of a [`function`], called by Node.
unsafe extern "C" fn next(env: napi_env, info: napi_callback_info) -> napi_value {
    // SAFETY: Node calls the body of a function; the closure takes what belongs to this call.
    unsafe {
        answer(env, || {
            let (generator, []) = call(env, info)?;
            Ok(generator.try_next_id(SystemHost::unix_ms()).map_err(|error| refusal(&error)))
        })
    }
}

/// # Safety
/// Only as the body of a [`function`], called by Node with an array whose memory no other thread shares.
#[allow(clippy::cast_precision_loss, reason = "an array has fewer than 2^53 elements")]
unsafe extern "C" fn fill(env: napi_env, info: napi_callback_info) -> napi_value {
    // SAFETY: Node calls the body of a function; the closure takes what belongs to this call. No JavaScript runs before
    // it returns, so with the caller's promise the slice, which is the view's part of its buffer, is ours alone.
    unsafe {
        answer(env, || {
            let (generator, [array, patience]) = call(env, info)?;
            let ids = <&mut [u64]>::from_napi_value(env, array)?;
            let patience_ms = saturated(f64::from_napi_value(env, patience)?);
            if ids.is_empty() {
                return Ok(Ok(0.0));
            }
            let run = generator.try_run(SystemHost::unix_ms(), ids.len() as u64, patience_ms);
            Ok(run.map_err(|error| refusal(&error)).map(|run| {
                let count = run.len();
                run.write(&mut ids[..count]);
                count as f64
            }))
        })
    }
}

/// The generator and the arguments of a call; missing arguments are `undefined`.
///
/// # Safety
/// `info` is that of a call, under way in `env`, of a [`function`].
#[inline]
unsafe fn call<const N: usize>(
    env: napi_env,
    info: napi_callback_info,
) -> Result<(&'static Generator, [napi_value; N])> {
    let mut count = N;
    let mut arguments = [ptr::null_mut(); N];
    let mut data = ptr::null_mut();
    // SAFETY: the caller's promise; `arguments` has room for `count`, and `this` is not asked for.
    check_status!(unsafe {
        sys::napi_get_cb_info(env, info, &raw mut count, arguments.as_mut_ptr(), ptr::null_mut(), &raw mut data)
    })?;
    // SAFETY: by the caller's promise `data` is what `function` gave: a generator that lives for ever and never changes.
    Ok((unsafe { &*data.cast::<Generator>() }, arguments))
}

/// Gives JavaScript what a body answers: a value, or a refusal as a string. Misuse and panics become exceptions.
///
/// # Safety
/// A call is under way in `env`.
#[inline]
unsafe fn answer<T: ToNapiValue>(
    env: napi_env,
    body: impl FnOnce() -> Result<core::result::Result<T, String>>,
) -> napi_value {
    // A panic leaves nothing half changed: the state is one word that is swapped whole.
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        let answer = body()?.map_or_else(Either::B, Either::A);
        // SAFETY: the caller's promise.
        unsafe { ToNapiValue::to_napi_value(env, answer) }
    }));
    outcome.unwrap_or_else(|_| Err(Error::from_reason("snowmint panicked"))).unwrap_or_else(|error| {
        // SAFETY: the caller's promise.
        unsafe { JsError::from(error).throw_into(env) };
        ptr::null_mut()
    })
}
