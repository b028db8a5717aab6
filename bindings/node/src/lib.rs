//! The generator and the command line for Node. Statics of an addon belong to all threads of the process, so two generators of one node
//! share their state whichever threads they are in, and so do two leases.

mod command_line;
mod hot;
mod lease;
mod store;

use std::sync::Arc;

use napi::bindgen_prelude::{Either, Env, Result, Unknown};
use napi_derive::napi;
use snowmint::Error;
use snowmint::host::ProcessGenerator;
use snowmint_core::{Integer, Layout, Options, SequenceStart};

/// Makes the functions that mint, `[next, fill]`.
///
/// # Errors
/// The errors of Node-API.
#[napi(catch_unwind)]
pub fn functions(env: &Env) -> Result<Vec<Unknown<'_>>> {
    hot::functions(env)
}

/// Opens a generator on the system's clock and a vouched node. Returns the generator, for the functions, or the refusal,
/// "CODE ms message".
///
/// `start` is a place in `SequenceStart::ALL`.
///
/// # Errors
/// The errors of Node-API.
#[napi(catch_unwind)]
#[allow(clippy::needless_pass_by_value, reason = "napi gives strings away")]
pub fn open(
    env: &Env,
    layout: String,
    node: u32,
    max_ahead_ms: f64,
    start: u32,
) -> Result<Either<Unknown<'_>, String>> {
    match vouched(&layout, node, options(max_ahead_ms, start)) {
        Ok(generator) => hot::handle(env, &Arc::new(generator)).map(Either::A),
        Err(error) => Ok(Either::B(refusal(&error))),
    }
}

fn vouched(layout: &str, node: u32, options: Options) -> core::result::Result<ProcessGenerator, Error> {
    let layout = Layout::parse(layout)?;
    let node = layout.node(Integer::from(u64::from(node)))?;
    ProcessGenerator::vouched(&layout, node, options, None)
}

fn options(max_ahead_ms: f64, start: u32) -> Options {
    let sequence_start = SequenceStart::ALL[start as usize];
    Options { max_ahead_ms: saturated(max_ahead_ms), sequence_start, ..Options::DEFAULT }
}

fn refusal(error: &Error) -> String {
    format!("{} {} {error}", error.code(), error.wait_ms().unwrap_or_default())
}

/// Converts a number of ms, which JavaScript has checked not to be negative.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "such a cast saturates")]
const fn saturated(ms: f64) -> u64 {
    ms as u64
}
