//! The way of a generator to its lease: the process has it, or this call claims it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use snowmint_core::Options;
use snowmint_core::lease::{check_node, claim_patience_ms};
use snowmint_stores::Error;
use snowmint_stores::host::background::{Background, Pending, Progress, RELEASE_TIMEOUT};
use snowmint_stores::host::{Refusal, Terms};

use super::Lease;
use super::key::LeaseKey;
use super::registry::{ClaimGuard, LeaseRef, Lookup, registry};
use super::wait::Wait;

/// How often a call claims where every node is locked, and the pause between two claims.
const CLAIM_ATTEMPTS: u32 = 4;
const RETRY_PAUSE_MS: u64 = 5;

/// Returns a reference to the lease of `key`. If this process does not have the lease, this call claims it.
pub(crate) async fn acquire<W: Wait>(
    key: &Arc<LeaseKey>,
    options: Options,
    wait: &mut W,
) -> Result<LeaseRef, W::Error> {
    let since = Instant::now();
    let options = key.patient(options);
    let mut attempts = 0;
    loop {
        let guard = match registry().look_up(key) {
            Lookup::Granted(lease_ref) => {
                wait_for_renewal(key, &lease_ref.0, wait).await?;
                return Ok(lease_ref);
            }
            // This error is of an earlier call.
            Lookup::Failed(_) => continue,
            Lookup::Unclaimed(guard) => guard,
            // The claim may need what this thread holds in its host, so this one pauses there.
            Lookup::Pending if since.elapsed() < patience(key, 0) => {
                wait.pause(1).await?;
                continue;
            }
            Lookup::Pending => return Err(no_answer(key, patience(key, 0)).into()),
        };
        wait_for_releases(key, wait).await?;
        let now_ms = wait.now_ms()?;
        // Without an outcome, a signal handler has forked, and this is the child.
        let Some(claimed) = claim(&guard, key, now_ms, wait).await? else { continue };
        let (pause_ms, error) = match claimed.map(Arc::new) {
            Ok(lease) => {
                if let Ok(lease_ref) = guard.publish(&lease) {
                    wait_for_renewal(key, &lease, wait).await?;
                    return Ok(lease_ref);
                }
                continue;
            }
            Err(Refusal::Error(error)) => return Err(error.into()),
            // A claimer that only looks holds its lock for a moment.
            Err(Refusal::Taken(error)) => {
                attempts += 1;
                let pause_ms = options.pause_ms(RETRY_PAUSE_MS, wait.paused_ms());
                (if attempts < CLAIM_ATTEMPTS { pause_ms } else { 0 }, error)
            }
            Err(Refusal::NotYet(wait_ms, error)) => {
                (options.pause_ms(wait_ms, wait.paused_ms()), error.with_retry_after_ms(wait_ms))
            }
        };
        if pause_ms == 0 {
            return Err(error.into());
        }
        // Another thread may claim meanwhile, with its deadline.
        drop(guard);
        wait.pause(pause_ms).await?;
    }
}

/// Waits for releases of generators that were dropped, whose nodes the claim may get.
async fn wait_for_releases<W: Wait>(key: &LeaseKey, wait: &mut W) -> Result<(), W::Error> {
    let since = Instant::now();
    while registry().is_releasing(key) && since.elapsed() < RELEASE_TIMEOUT {
        wait.pause(1).await?;
    }
    Ok(())
}

/// Waits until a lease is renewed if its window is over, as after a slow claim. Otherwise the first ID would be refused.
async fn wait_for_renewal<W: Wait>(key: &LeaseKey, lease: &Lease, wait: &mut W) -> Result<(), W::Error> {
    let since = Instant::now();
    while lease.is_short(wait.now_ms()?) && lease.is_renewing() && since.elapsed() < patience(key, 0) {
        wait.pause(1).await?;
    }
    Ok(())
}

/// Claims the lease of `key` in the background, for calls that never wait. The registry keeps the outcome.
pub(crate) fn acquire_in_background(guard: ClaimGuard, key: &Arc<LeaseKey>, now_ms: i64) {
    // Without a thread the guard is dropped, and the next call tries again.
    let (Ok(background), Ok(own)) = (key.backend.claims_on(), key.backend.background()) else { return };
    let key = Arc::clone(key);
    let begun = background.run(async move {
        let mut guard = guard;
        loop {
            let claimed = lease(&key, now_ms, &AtomicU64::new(0), own.clone()).await;
            match guard.keep(claimed.map(Arc::new).map_err(Refusal::into_error)) {
                Ok(()) => break,
                Err(again) => guard = again,
            }
        }
    });
    drop(begun);
}

/// Claims a node in the background; meanwhile the host hears signals. Returns `None` in a forked child.
async fn claim<W: Wait>(
    guard: &ClaimGuard,
    key: &Arc<LeaseKey>,
    now_ms: i64,
    wait: &mut W,
) -> Result<Option<Result<Lease, Refusal>>, W::Error> {
    if guard.is_of_parent() {
        return Ok(None);
    }
    // How long the slowest answer took so far, in ms.
    let slowest_ms = Arc::new(AtomicU64::new(0));
    let claiming = match begin(key, now_ms, Arc::clone(&slowest_ms)) {
        Ok(claiming) => claiming,
        Err(error) => return Ok(Some(Err(error.into()))),
    };
    let since = Instant::now();
    let patience = || patience(key, slowest_ms.load(Ordering::Relaxed));
    loop {
        let progress = claiming.look();
        // A signal handler may fork at any time. Parent and child then continue the same claim, and both reach its end. So the
        // question comes once the lease has its cell: a fork after that leaves the child a wiped cell.
        if guard.is_of_parent() {
            if let Progress::Done(Ok(lease)) = progress {
                lease.leave_to_parent();
            }
            return Ok(None);
        }
        match progress {
            Progress::Done(claimed) => return Ok(Some(claimed)),
            Progress::BrokenOff => {
                let error = Error::unavailable(&key.backend.name(), "the claim of a node broke off");
                return Ok(Some(Err(error.into())));
            }
            Progress::UnderWay => {
                if since.elapsed() >= patience() {
                    // A lease that is granted later is dropped, which releases it.
                    return Ok(Some(Err(no_answer(key, patience()).into())));
                }
                wait.pause(1).await?;
            }
        }
    }
}

/// Returns how long a caller waits for the backend, by the slowest answer of the claim so far.
fn patience(key: &LeaseKey, slowest_ms: u64) -> Duration {
    Duration::from_millis(claim_patience_ms(key.terms.max_wait_ms, slowest_ms)).max(key.backend.least_patience())
}

fn begin(
    key: &Arc<LeaseKey>,
    now_ms: i64,
    slowest_ms: Arc<AtomicU64>,
) -> Result<Pending<Result<Lease, Refusal>>, Error> {
    let (background, own, claimed) = (key.backend.claims_on()?, key.backend.background()?, Arc::clone(key));
    let begun = background.begin(async move { lease(&claimed, now_ms, &slowest_ms, own).await });
    begun.map_err(|error| {
        let why = format!("the system gives no thread to claim a node on: {error}");
        Error::unavailable(&key.backend.name(), why)
    })
}

/// Claims a node from the backend, and opens a lease on it.
async fn lease(
    key: &Arc<LeaseKey>,
    now_ms: i64,
    slowest_ms: &AtomicU64,
    background: Background,
) -> Result<Lease, Refusal> {
    let since = Instant::now();
    let terms = terms_of_now(key)?;
    if !key.backend.has_clock() {
        terms.layout.refuse_outside(now_ms).map_err(Error::from)?;
    }
    let grant = key.backend.claim(&terms, now_ms, slowest_ms).await?;
    Ok(Lease::new(key, grant, since, background))
}

/// Returns the terms with the nodes excluded that this process uses as vouched ones.
fn terms_of_now(key: &LeaseKey) -> Result<Terms, Error> {
    let mut terms = key.terms.clone();
    let vouched = if key.clock.is_none() { registry().vouched_nodes(&terms.layout) } else { Vec::new() };
    if let Some(node) = terms.nodes.single() {
        check_node(node, terms.exclude.contains(&node), vouched.contains(&node))?;
    }
    terms.exclude.extend(vouched);
    Ok(terms)
}

fn no_answer(key: &LeaseKey, patience: Duration) -> Error {
    Error::unavailable(&key.backend.name(), format!("no answer within {} ms", patience.as_millis()))
}
