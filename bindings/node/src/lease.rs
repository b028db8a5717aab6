//! Leased nodes. Code that writes files or waits runs on a thread of libuv's pool, never on JavaScript's thread.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use napi::bindgen_prelude::{
    AsyncTask, Either, Env, Function, Object, Result, Unknown, retain_current_module_for_unload_safety,
};
use napi::threadsafe_function::ThreadsafeFunctionCallMode;
use napi::{Error, Task};
use napi_derive::napi;
use snowmint::LeaseOptions;
use snowmint::host::{Environment, ProcessGenerator, SystemHost};
use snowmint_core::Layout;
use snowmint_core::lease::Reservation;
use snowmint_core::place::Variables;

use crate::store::Records;
use crate::{hot, refusal, saturated};

/// The terms of a lease, with the environment variables of the calling thread, since each worker of Node has its own.
#[napi(object, object_to_js = false)]
#[derive(Debug)]
pub struct Terms {
    /// The text of a layout.
    pub layout: String,
    /// The nodes among which one is leased, as a text of [`Layout::parse_nodes`].
    pub nodes: Option<String>,
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
    /// For how long the store grants a node to the directory of the slots, such as `24h`.
    pub reserve: Option<String>,
    /// `SNOWMINT_RESERVE`.
    pub environment_reserve: Option<String>,
    /// `SNOWMINT_STATE_DIR`.
    pub state_dir: Option<String>,
    /// Those of [`place_variables`] that are set and not empty.
    pub place: Vec<String>,
    /// As in `Options`.
    pub max_ahead_ms: f64,
    /// As in `Options`.
    pub max_wait_ms: f64,
    /// A place in `SequenceStart::ALL`.
    pub start: u32,
    /// The length of a window.
    pub window_ms: Option<f64>,
    /// Nodes that the lease must not get.
    pub exclude: Vec<u32>,
}

/// Returns the names of the environment variables that say where this process runs.
#[napi(catch_unwind)]
pub fn place_variables() -> Vec<String> {
    Variables::NAMES.map(str::to_owned).to_vec()
}

/// Leases a node: a promise of a `Lease`, or of the refusal, "CODE ms message".
///
/// `on_lost` is called with a text of the same form. It does not keep the process alive. `records` is a store of JavaScript
/// instead of a URL, for a reservation.
///
/// # Errors
/// The errors of Node-API.
#[napi(catch_unwind, ts_return_type = "Promise<Lease | string>")]
#[allow(clippy::needless_pass_by_value, reason = "napi gives functions away")]
pub fn lease<'env>(
    env: &'env Env,
    terms: Terms,
    on_lost: Option<Function<'_, String, ()>>,
    records: Option<&Records>,
) -> Result<Object<'env>> {
    // Where the linker has no `-z nodelete`: the renewing thread may outlive the only worker that has loaded the addon.
    retain_current_module_for_unload_safety();
    let on_lost = on_lost.as_ref().map(on_lost_of).transpose()?;
    let mut claiming = Claiming::of(terms, on_lost);
    if let Some(records) = records {
        claiming.options = claiming.options.store(records.store());
    }
    let (claimed, promise) = env.create_deferred()?;
    // Not on a thread of libuv's pool: the client of the store may need one of the few, while the claim waits for the store.
    let claim = move || match guarded(|| claiming.claim()) {
        Ok(generator) => claimed.resolve(move |_| {
            Ok(match generator {
                Ok(generator) => Either::A(Lease { generator: Arc::new(generator) }),
                Err(error) => Either::B(refusal(&error)),
            })
        }),
        Err(panicked) => claimed.reject(panicked),
    };
    thread::Builder::new()
        .name("snowmint-claim".to_owned())
        .spawn(claim)
        .map_err(|error| Error::from_reason(error.to_string()))?;
    Ok(promise)
}

fn on_lost_of(callback: &Function<'_, String, ()>) -> Result<impl Fn(&snowmint::Error) + Send + Sync + use<>> {
    let callback = callback.build_threadsafe_function::<String>().weak::<true>().build()?;
    Ok(move |error: &snowmint::Error| {
        // Has no effect if the JavaScript thread has ended.
        callback.call(refusal(error), ThreadsafeFunctionCallMode::NonBlocking);
    })
}

/// A claim under way.
#[derive(Debug)]
struct Claiming {
    layout: String,
    nodes: Option<String>,
    reserve: Option<String>,
    options: LeaseOptions,
    environment: Environment,
}

impl Claiming {
    fn of(terms: Terms, on_lost: Option<impl Fn(&snowmint::Error) + Send + Sync + 'static>) -> Self {
        let environment = Environment {
            // The caller has read it.
            layout: None,
            node: terms.environment_node,
            store: terms.environment_store,
            namespace: terms.environment_namespace,
            reserve: terms.environment_reserve,
            state_dir: terms.state_dir.map(Into::into),
            place: Variables::read(|name| terms.place.iter().any(|set| set == name)),
        };
        let window_ms = terms.window_ms.map(saturated);
        let options = LeaseOptions::new()
            .exclude(terms.exclude)
            .given(terms.store, LeaseOptions::store)
            .given(terms.namespace, LeaseOptions::namespace)
            .options(crate::options(terms.max_ahead_ms, terms.start))
            .max_wait(Duration::from_millis(saturated(terms.max_wait_ms)))
            .given(window_ms.map(Duration::from_millis), LeaseOptions::window)
            .given(on_lost, LeaseOptions::on_lost);
        Self { layout: terms.layout, nodes: terms.nodes, reserve: terms.reserve, options, environment }
    }

    fn claim(self) -> core::result::Result<ProcessGenerator, snowmint::Error> {
        let layout = Layout::parse(&self.layout)?;
        let nodes = self.nodes.as_ref().map(|nodes| layout.parse_nodes(nodes)).transpose()?;
        let reserve_ms = self.reserve.as_deref().map(Reservation::parse_ms).transpose()?;
        let options = self
            .options
            .layout(layout)
            .given(nodes, LeaseOptions::nodes)
            .given(reserve_ms.map(Duration::from_millis), LeaseOptions::reserve);
        ProcessGenerator::lease(options, &self.environment, &mut SystemHost::new())
    }
}

/// A generator on a lease. Its share of the lease ends when the last object that leads to the generator is gone.
#[napi]
#[derive(Debug)]
pub struct Lease {
    generator: Arc<ProcessGenerator>,
}

#[napi]
impl Lease {
    /// Returns the generator, for the functions that mint.
    ///
    /// # Errors
    /// The errors of Node-API.
    #[napi(catch_unwind)]
    pub fn handle<'env>(&self, env: &'env Env) -> Result<Unknown<'env>> {
        hot::handle(env, &self.generator)
    }

    /// The node in its IDs.
    #[napi(catch_unwind)]
    pub fn node(&self) -> u32 {
        self.generator.node()
    }

    /// The window, `[start, end]`, Unix ms.
    #[napi(catch_unwind)]
    pub fn window(&self) -> Option<Vec<i64>> {
        self.generator.window().map(|window| vec![window.start_ms, window.end_ms])
    }

    /// The reservation within which its windows lie, `[start, end]`, Unix ms.
    #[napi(catch_unwind)]
    pub fn reserved(&self) -> Option<Vec<i64>> {
        self.generator.status().reserved.map(|reserved| vec![reserved.start_ms, reserved.end_ms])
    }

    /// The warning about the place of its slots, once in a process.
    #[napi(catch_unwind)]
    pub fn warning(&self) -> Option<String> {
        self.generator.warning().map(str::to_owned)
    }

    /// The state of the generator and its lease.
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
            disorder_ms: status.disorder_ms.map(|ms| ms as f64),
        }
    }

    /// Ends the generator, and releases the rest of the window if it was the last generator of its lease: a promise.
    #[napi(catch_unwind)]
    pub fn close(&self) -> AsyncTask<Closing> {
        AsyncTask::new(Closing(Arc::clone(&self.generator)))
    }
}

/// The state of a leased generator.
#[napi(object, object_from_js = false, use_nullable = true)]
#[derive(Debug)]
pub struct Status {
    /// The namespace of its lease.
    pub namespace: Option<String>,
    /// Why its lease was lost, if it was.
    pub lost: Option<String>,
    /// Slot files skipped because they hold no valid record.
    pub skipped: Vec<String>,
    /// How many renewals have failed since the last success.
    pub renewal_failures: f64,
    /// Why the last renewal failed, if no renewal has succeeded since.
    pub renewal_error: Option<String>,
    /// How a failover of the store could lose confirmed writes, if it could.
    pub standby_risk: Option<String>,
    /// By how many ms this clock is ahead of the store's clock, if the store has one.
    pub skew_ms: Option<f64>,
    /// How far the times of its IDs can be from the clock that it shares with others, if that is known.
    pub disorder_ms: Option<f64>,
}

/// Releases a lease on a thread of the pool.
#[derive(Debug)]
pub struct Closing(Arc<ProcessGenerator>);

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

/// Runs `work`. A panic becomes an exception, since on a thread of the pool it would end the process.
fn guarded<T>(work: impl FnOnce() -> T) -> Result<T> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|_| Error::from_reason("snowmint panicked"))
}
