//! Leased nodes. What writes files or waits runs on a thread of libuv's pool, never on that of JavaScript.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use napi::bindgen_prelude::{
    AsyncTask, Either, Env, Function, Result, Unknown, retain_current_module_for_unload_safety,
};
use napi::threadsafe_function::ThreadsafeFunctionCallMode;
use napi::{Error, Task};
use napi_derive::napi;
use snowmint_core::{Integer, Layout, Options};
use snowmint_stores::{Environment, Generator, LeaseOptions, OnLost, SystemHost};

use crate::{hot, refusal, saturated};

/// What to lease. The environment is that of the calling thread, as a worker of Node has its own.
#[napi(object, object_to_js = false)]
#[derive(Debug)]
pub struct Terms {
    /// The text of a layout.
    pub layout: String,
    /// The only node to lease.
    pub node: Option<u32>,
    /// `SNOWMINT_NODE`.
    pub environment_node: Option<String>,
    /// The URL of a store.
    pub store: Option<String>,
    /// The namespace there.
    pub namespace: Option<String>,
    /// `SNOWMINT_STORE`.
    pub environment_store: Option<String>,
    /// `SNOWMINT_NAMESPACE`.
    pub environment_namespace: Option<String>,
    /// `SNOWMINT_STATE_DIR`.
    pub state_dir: Option<String>,
    /// Whether there is `KUBERNETES_SERVICE_HOST`.
    pub kubernetes: bool,
    /// Whether there is `container`, and it is not empty.
    pub container: bool,
    /// As in `Options`.
    pub max_ahead_ms: f64,
    /// As in `Options`.
    pub max_wait_ms: f64,
    /// A place in `SequenceStart::ALL`.
    pub start: u32,
    /// The length of a window.
    pub window_ms: Option<f64>,
    /// Nodes not to get.
    pub exclude: Vec<u32>,
}

/// Leases a node: a promise of a `Lease`, or of why there is none: "CODE ms sentence".
///
/// `on_lost` is called with such a text. It does not keep the process alive.
///
/// # Errors
/// Node-API's own.
#[napi(catch_unwind)]
#[allow(clippy::needless_pass_by_value, reason = "napi gives functions away")]
pub fn lease(terms: Terms, on_lost: Option<Function<'_, String, ()>>) -> Result<AsyncTask<Claiming>> {
    // Where the linker has not seen to it: the renewing thread may outlive the worker that alone has loaded the addon.
    retain_current_module_for_unload_safety();
    let on_lost = on_lost.as_ref().map(on_lost_of).transpose()?;
    let environment = Environment {
        node: terms.environment_node,
        store: terms.environment_store,
        namespace: terms.environment_namespace,
        state_dir: terms.state_dir.map(Into::into),
        kubernetes: terms.kubernetes,
        container: terms.container,
    };
    let options = LeaseOptions {
        store: terms.store.map(Into::into),
        namespace: terms.namespace,
        options: Options {
            max_wait_ms: saturated(terms.max_wait_ms),
            ..crate::options(terms.max_ahead_ms, terms.start)
        },
        window_ms: terms.window_ms.map(saturated),
        exclude: terms.exclude,
        on_lost,
        ..LeaseOptions::default()
    };
    Ok(AsyncTask::new(Claiming { layout: terms.layout, node: terms.node, options, environment }))
}

fn on_lost_of(callback: &Function<'_, String, ()>) -> Result<OnLost> {
    let callback = callback.build_threadsafe_function::<String>().weak::<true>().build()?;
    Ok(OnLost::new(move |error| {
        // A thread of JavaScript that has ended is not told.
        callback.call(refusal(error), ThreadsafeFunctionCallMode::NonBlocking);
    }))
}

/// Claims a node on a thread of the pool.
#[derive(Debug)]
pub struct Claiming {
    layout: String,
    node: Option<u32>,
    options: LeaseOptions,
    environment: Environment,
}

impl Claiming {
    fn claim(&mut self) -> core::result::Result<Generator, snowmint_stores::Error> {
        let layout = Layout::parse(&self.layout)?;
        let node = self.node.map(|node| layout.node(Integer::from(u64::from(node)))).transpose()?;
        let options = LeaseOptions { layout, node, ..std::mem::take(&mut self.options) };
        Generator::lease(options, &self.environment, &mut SystemHost::new())
    }
}

impl Task for Claiming {
    type Output = core::result::Result<Generator, snowmint_stores::Error>;
    type JsValue = Either<Lease, String>;

    fn compute(&mut self) -> Result<Self::Output> {
        guarded(|| self.claim())
    }

    fn resolve(&mut self, _env: Env, output: Self::Output) -> Result<Self::JsValue> {
        Ok(match output {
            Ok(generator) => Either::A(Lease { generator: Arc::new(generator) }),
            Err(error) => Either::B(refusal(&error)),
        })
    }
}

/// A generator on a lease. When the last object that leads to it is gone, so is its share of the lease.
#[napi]
#[derive(Debug)]
pub struct Lease {
    generator: Arc<Generator>,
}

#[napi]
impl Lease {
    /// Its functions, `[next, fill]`.
    ///
    /// # Errors
    /// Node-API's own.
    #[napi(catch_unwind)]
    pub fn functions<'env>(&self, env: &'env Env) -> Result<Vec<Unknown<'env>>> {
        hot::functions(env, &self.generator)
    }

    /// The node in its IDs.
    #[napi(catch_unwind)]
    pub fn node(&self) -> u32 {
        self.generator.node()
    }

    /// Its window, `[start, end]`, Unix ms.
    #[napi(catch_unwind)]
    pub fn window(&self) -> Option<Vec<i64>> {
        self.generator.window().map(|window| vec![window.start_ms, window.end_ms])
    }

    /// What it is doing.
    #[napi(catch_unwind)]
    #[allow(clippy::cast_precision_loss, reason = "counts and differences of clocks are below 2^53")]
    pub fn status(&self) -> Status {
        let status = self.generator.status();
        Status {
            namespace: status.namespace,
            lost: status.lost.map(|error| error.to_string()),
            skipped: status.skipped,
            renewal_failures: status.renewal_failures as f64,
            renewal_error: status.renewal_error.map(|error| error.to_string()),
            standby_risk: status.standby_risk.map(|risk| risk.to_string()),
            skew_ms: status.skew_ms.map(|ms| ms as f64),
        }
    }

    /// Ends it, and gives the rest of the window back if it was the last of its lease: a promise.
    #[napi(catch_unwind)]
    pub fn close(&self) -> AsyncTask<Closing> {
        AsyncTask::new(Closing(Arc::clone(&self.generator)))
    }
}

/// What a leased generator is doing.
#[napi(object, object_from_js = false, use_nullable = true)]
#[derive(Debug)]
pub struct Status {
    /// The namespace of its lease.
    pub namespace: Option<String>,
    /// Why its lease was lost, if it was.
    pub lost: Option<String>,
    /// Slot files passed over because they hold no valid record.
    pub skipped: Vec<String>,
    /// How many renewals have failed since the last one that did not.
    pub renewal_failures: f64,
    /// Why the last renewal failed, if none has succeeded since.
    pub renewal_error: Option<String>,
    /// What a failover of the store could lose.
    pub standby_risk: Option<String>,
    /// By how many ms this clock is ahead of the store's, if that has one.
    pub skew_ms: Option<f64>,
}

/// Gives a lease back on a thread of the pool.
#[derive(Debug)]
pub struct Closing(Arc<Generator>);

impl Task for Closing {
    type Output = ();
    type JsValue = ();

    fn compute(&mut self) -> Result<()> {
        guarded(|| self.0.close())
    }

    fn resolve(&mut self, _env: Env, (): ()) -> Result<()> {
        Ok(())
    }
}

/// What `work` gives; a panic becomes an exception, for on a thread of the pool it would end the process.
fn guarded<T>(work: impl FnOnce() -> T) -> Result<T> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|_| Error::from_reason("snowmint panicked"))
}
