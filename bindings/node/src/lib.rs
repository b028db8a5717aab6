//! The generator for Node. Statics of an addon belong to all threads of the process, so two generators of one node share
//! their state whichever threads they are in.

mod hot;

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, PoisonError};

use napi::bindgen_prelude::{Either, Env, Result, Unknown};
use napi_derive::napi;
use snowmint_core::{Error, Integer, Layout, Numbers, Options, Registry, SequenceStart, Snowflake, SystemHost, Words};

type Generator = Snowflake<&'static Words>;

/// What generators have in common that share one: layout, node, `max_ahead_ms`, and place of the sequence's start.
type Key = (Numbers, u32, u64, usize);

/// What lives as long as the process: one state a node, and one generator a node and set of options.
#[derive(Default)]
struct Process {
    states: Registry,
    generators: HashMap<Key, &'static Generator>,
}

static PROCESS: LazyLock<Mutex<Process>> = LazyLock::new(Mutex::default);

/// The functions of a generator on the system's clock, `[next, fill]`, or why there is none: "CODE ms sentence".
///
/// `start` is a place in `SequenceStart::ALL`. Of several seeds for one generator the first counts.
///
/// # Errors
/// Node-API's own.
#[napi(catch_unwind)]
#[allow(clippy::needless_pass_by_value, reason = "napi gives strings away")]
pub fn open(
    env: &Env,
    layout: String,
    node: u32,
    max_ahead_ms: f64,
    start: u32,
    seed: f64,
) -> Result<Either<Vec<Unknown<'_>>, String>> {
    match generator(&layout, node, max_ahead_ms, start as usize, seed) {
        Ok(generator) => hot::functions(env, generator).map(Either::A),
        Err(error) => Ok(Either::B(refusal(&error))),
    }
}

fn generator(
    layout: &str,
    node: u32,
    max_ahead_ms: f64,
    start: usize,
    seed: f64,
) -> core::result::Result<&'static Generator, Error> {
    let layout = Layout::parse(layout)?;
    let node = layout.node(Integer::from(u64::from(node)))?;
    layout.refuse_if_over(SystemHost::unix_ms())?;
    let options = Options {
        max_ahead_ms: saturated(max_ahead_ms),
        sequence_start: SequenceStart::ALL[start],
        seed: seed.to_bits(),
        ..Options::DEFAULT
    };
    let mut process = PROCESS.lock().unwrap_or_else(PoisonError::into_inner);
    let Process { states, generators } = &mut *process;
    Ok(generators
        .entry((layout.numbers(), node, options.max_ahead_ms, start))
        .or_insert_with(|| Box::leak(Box::new(Generator::with(&layout, node, options, states.words(&layout, node))))))
}

fn refusal(error: &Error) -> String {
    format!("{} {} {error}", error.code(), error.wait_ms().unwrap_or_default())
}

/// A number of ms that JavaScript has checked not to be negative.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "such a cast saturates")]
const fn saturated(ms: f64) -> u64 {
    ms as u64
}
