//! The hot path: two Node-API functions for all generators, whose first argument is the generator. So a call costs the same
//! whatever generators a program has: V8 calls a function faster where it is the only one. A method of a napi class takes
//! 200 ns more, since it looks up and checks its `this` on each call.
#![allow(unsafe_code, reason = "Node-API is a C interface")]

use std::ffi::{CStr, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::Arc;

use napi::bindgen_prelude::{Either, Env, FromNapiValue, Result, ToNapiValue, Unknown};
use napi::sys::{self, napi_callback_info, napi_env, napi_value};
use napi::{Error, JsError, check_status};
use snowmint::host::ProcessGenerator;
use snowmint_core::SystemHost;

use crate::{refusal, saturated};

type Callback = unsafe extern "C" fn(napi_env, napi_callback_info) -> napi_value;

/// Makes the functions that mint, `[next, fill]`:
/// - `next(generator): bigint | string`, and
/// - `fill(generator, ids: BigUint64Array, patienceMs: number): number | string`, which writes IDs to the start of `ids` and
///   returns their count: all, or some if the rest will be free within `patienceMs`.
///
/// A string is a refusal: "CODE ms message". Neither function waits; if a later call can succeed, ms is the time to
/// wait, otherwise 0.
pub(crate) fn functions(env: &Env) -> Result<Vec<Unknown<'_>>> {
    Ok(vec![function(env, c"next", next)?, function(env, c"fill", fill)?])
}

fn function<'env>(env: &'env Env, name: &CStr, body: Callback) -> Result<Unknown<'env>> {
    let mut value = ptr::null_mut();
    // SAFETY: `env` is alive, and a length of -1 says that the name ends with NUL.
    check_status!(unsafe {
        sys::napi_create_function(env.raw(), name.as_ptr(), -1, Some(body), ptr::null_mut(), &raw mut value)
    })?;
    // SAFETY: the value was just made in this environment.
    unsafe { Unknown::from_napi_value(env.raw(), value) }
}

/// Returns a generator as the functions take it. JavaScript cannot look into it.
pub(crate) fn handle<'env>(env: &'env Env, generator: &Arc<ProcessGenerator>) -> Result<Unknown<'env>> {
    let data = Arc::into_raw(Arc::clone(generator)).cast_mut().cast::<c_void>();
    let mut value = ptr::null_mut();
    // SAFETY: `env` is alive. The functions only read `data`, which is a `ProcessGenerator`; that type is Sync, so functions in many
    // threads may share it.
    let status = unsafe { sys::napi_create_external(env.raw(), data, Some(finalize), ptr::null_mut(), &raw mut value) };
    if let Err(error) = check_status!(status) {
        // SAFETY: neither a finalizer nor a value that JavaScript can reach owns `data`.
        drop(unsafe { Arc::from_raw(data.cast::<ProcessGenerator>()) });
        return Err(error);
    }
    // SAFETY: the value was just made in this environment.
    unsafe { Unknown::from_napi_value(env.raw(), value) }
}

/// Drops a handle's share of its generator. The last share of a lease also releases the lease, if it is still open.
///
/// # Safety
/// Only as the finalizer of a [`handle`], called by Node once, after the last call with the handle.
unsafe extern "C" fn finalize(_env: napi_env, data: *mut c_void, _hint: *mut c_void) {
    // SAFETY: `handle` passed the pointer of an `Arc` that belongs to this function alone.
    let generator = unsafe { Arc::from_raw(data.cast::<ProcessGenerator>()) };
    // A panic has no caller to report to.
    drop(catch_unwind(AssertUnwindSafe(|| drop(generator))));
}

/// # Safety
/// Only as the body of a [`function`], called by Node with a [`handle`].
unsafe extern "C" fn next(env: napi_env, info: napi_callback_info) -> napi_value {
    // SAFETY: Node calls the body of a function; the closure uses the `env` and `info` of this call.
    unsafe {
        answer(env, || {
            let (generator, [_]) = call(env, info)?;
            let id = generator.free_id().map_or_else(|| generator.try_next_id(SystemHost::unix_ms()), Ok);
            Ok(id.map_err(|error| refusal(&error)))
        })
    }
}

/// # Safety
/// Only as the body of a [`function`], called by Node with a [`handle`], and with an array whose memory no other thread shares.
#[allow(clippy::cast_precision_loss, reason = "an array has fewer than 2^53 elements")]
unsafe extern "C" fn fill(env: napi_env, info: napi_callback_info) -> napi_value {
    // SAFETY: Node calls the body of a function; the closure uses the `env` and `info` of this call. No JavaScript runs
    // before it returns and, by the caller's promise, no other thread shares the memory, so nothing else uses the
    // slice.
    unsafe {
        answer(env, || {
            let (generator, [_, array, patience]) = call(env, info)?;
            let ids = <&mut [u64]>::from_napi_value(env, array)?;
            let patience_ms = saturated(f64::from_napi_value(env, patience)?);
            if ids.is_empty() {
                return Ok(Ok(0.0));
            }
            let run = generator.try_run(SystemHost::unix_ms(), ids.len() as u64, patience_ms);
            Ok(run.map_err(|error| refusal(&error)).map(|mut run| run.write(ids) as f64))
        })
    }
}

/// Returns the generator and all arguments of a call, of which it is the first; missing arguments are `undefined`.
///
/// # Safety
/// `info` belongs to a call of a [`function`] in `env` whose first argument is a [`handle`]. The call lasts until the last use of
/// the generator.
#[inline]
unsafe fn call<'call, const N: usize>(
    env: napi_env,
    info: napi_callback_info,
) -> Result<(&'call ProcessGenerator, [napi_value; N])> {
    let mut count = N;
    let mut arguments = [ptr::null_mut(); N];
    let mut data = ptr::null_mut();
    // SAFETY: the caller's promise; `arguments` has room for `count`, and null skips `this` and the function's data.
    check_status!(unsafe {
        sys::napi_get_cb_info(env, info, &raw mut count, arguments.as_mut_ptr(), ptr::null_mut(), ptr::null_mut())
    })?;
    // SAFETY: the argument is a value of this call. A value of another kind is refused.
    check_status!(unsafe { sys::napi_get_value_external(env, arguments[0], &raw mut data) })?;
    // SAFETY: by the caller's promise `data` is the pointer from `handle`. Its generator lives as long as the handle, so at
    // least until the call ends, and is never written.
    Ok((unsafe { &*data.cast::<ProcessGenerator>() }, arguments))
}

/// Returns the answer of a body to JavaScript: a value, or a refusal as a string. Misuse and panics become exceptions.
///
/// # Safety
/// Only during a call in `env`.
#[inline]
unsafe fn answer<T: ToNapiValue>(
    env: napi_env,
    body: impl FnOnce() -> Result<core::result::Result<T, String>>,
) -> napi_value {
    // A panic leaves no half-changed state: the state is one word that is swapped whole.
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
