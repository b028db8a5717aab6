//! The way of a generator to its lease: the process has it, or this call claims it.

use std::mem::ManuallyDrop;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, TryRecvError};
use std::thread;
use std::time::{Duration, Instant};

use snowmint_core::lease::{check_node, claim_patience_ms};
use snowmint_core::{ErrorKind, Host, Options};
use snowmint_stores::process::background::on_ended_thread;
use snowmint_stores::{Claimer, Error, Refusal, StoreLease, Terms, claim_node};

use super::Lease;
use super::backend::Backend;
use super::granted::GrantedNode;
use super::held::Hold;
use super::key::LeaseKey;
use super::lessor::Loan;
use super::registry::{Duty, Share, Wish, registry};
use crate::slots;

/// How often a claim looks again where every node is locked, and after how long.
const LOOKS: u32 = 4;
const LOOK_AGAIN_MS: u64 = 5;

/// The outcome of a claim. `None` in a forked child, which has to claim a node itself.
type Claimed = Option<Result<Arc<Lease>, Refusal>>;

/// Returns a share of the lease of `key`. If this process does not have the lease, this call claims it.
pub(crate) fn acquire<H>(key: &Arc<LeaseKey>, options: Options, host: &mut H) -> Result<Share, H::Error>
where
    H: Host,
    H::Error: From<Error>,
{
    let mut duty = loop {
        match registry().wish(key) {
            Wish::Granted(share) => return Ok(share),
            // This error is of an earlier call.
            Wish::Failed(_) => {}
            Wish::Yours(duty) => break duty,
            // The claiming thread may need what this thread holds in its host, so this one pauses there.
            Wish::Pending => match options.pause_ms(1, host.paused_ms()) {
                0 => return Err(claimed_elsewhere().into()),
                pause_ms => host.pause(pause_ms)?,
            },
        }
    };
    let mut looks = 0;
    loop {
        let now_ms = host.now_ms()?;
        let Some(outcome) = claim(&duty, key, now_ms, host)? else {
            // A signal handler has forked, and this is the child.
            return acquire(key, options, host);
        };
        match outcome {
            Ok(lease) => match duty.share(&lease) {
                Ok(share) => {
                    // After a slow claim the first ID would find the window over, or nearly so.
                    while lease.is_old() && options.pause_ms(1, host.paused_ms()) > 0 {
                        host.pause(1)?;
                    }
                    return Ok(share);
                }
                Err(again) => duty = again,
            },
            Err(Refusal::Error(error)) => return Err(error.into()),
            // A claimer that only looks holds its lock for a moment.
            Err(Refusal::Taken(error)) => {
                looks += 1;
                match options.pause_ms(LOOK_AGAIN_MS, host.paused_ms()) {
                    pause_ms @ 1.. if looks < LOOKS => host.pause(pause_ms)?,
                    _ => return Err(error.into()),
                }
            }
            Err(Refusal::NotYet(wait_ms, error)) => match options.pause_ms(wait_ms, host.paused_ms()) {
                0 => return Err(error.with_retry_after_ms(wait_ms).into()),
                pause_ms => host.pause(pause_ms)?,
            },
        }
    }
}

/// Claims the lease of `key` in the background, for calls that never wait. The registry keeps the outcome.
pub(crate) fn acquire_in_background(duty: Duty, key: &Arc<LeaseKey>, now_ms: i64) {
    let key = Arc::clone(key);
    let claimer = thread::Builder::new().name("snowmint-claim".to_owned()).spawn(move || {
        let mut duty = duty;
        while let Some(outcome) = claim_here(&duty, &key, now_ms) {
            match duty.keep(outcome.map_err(Refusal::into_error)) {
                Ok(()) => break,
                Err(again) => duty = again,
            }
        }
    });
    // Without a thread the duty is dropped, and the next call tries again.
    drop(claimer);
}

/// Claims a node. The calls of a caller's store run on a separate thread; meanwhile the host hears signals.
fn claim<H: Host>(duty: &Duty, key: &Arc<LeaseKey>, now_ms: i64, host: &mut H) -> Result<Claimed, H::Error> {
    if !key.backend.is_the_callers() {
        return Ok(claim_here(duty, key, now_ms));
    }
    if duty.is_of_parent() {
        return Ok(None);
    }
    let (sender, receiver) = mpsc::sync_channel(1);
    let claimed_key = Arc::clone(key);
    // How long the slowest answer took so far, in ms.
    let slowest_ms = Arc::new(AtomicU64::new(0));
    let measured_ms = Arc::clone(&slowest_ms);
    let unavailable = |why: String| Error::unavailable(&key.backend.name(), why);
    let no_thread = |error| unavailable(format!("the system gives no thread to claim a node on: {error}")).into();
    let claiming = thread::Builder::new().name("snowmint-claim".to_owned()).spawn(move || {
        // If the caller has stopped waiting, the lease is dropped, which releases it.
        drop(sender.send(on_ended_thread(|| lease(&claimed_key, now_ms, &measured_ms))));
    });
    if let Err(error) = claiming {
        return Ok(Some(Err(no_thread(error))));
    }
    // A forked child leaves the channel alone: a thread of the parent may hold its locks.
    let receiver = ManuallyDrop::new(receiver);
    let since = Instant::now();
    let patience =
        || Duration::from_millis(claim_patience_ms(key.terms.max_wait_ms, slowest_ms.load(Ordering::Relaxed)));
    let outcome = loop {
        if duty.is_of_parent() {
            return Ok(None);
        }
        match receiver.try_recv() {
            Ok(claimed) => break Ok(settled(duty, claimed.unwrap_or_else(|error| Err(no_thread(error))))),
            Err(TryRecvError::Disconnected) => {
                break Ok(Some(Err(unavailable("the claim of a node broke off".to_owned()).into())));
            }
            Err(TryRecvError::Empty) if since.elapsed() >= patience() => {
                let ms = patience().as_millis();
                break Ok(Some(Err(unavailable(format!("no answer within {ms} ms")).into())));
            }
            Err(TryRecvError::Empty) => {
                if let Err(interrupt) = host.pause(1) {
                    break Err(interrupt);
                }
            }
        }
    };
    if !duty.is_of_parent() {
        drop(ManuallyDrop::into_inner(receiver));
    }
    outcome
}

/// Claims a node on this thread.
fn claim_here(duty: &Duty, key: &LeaseKey, now_ms: i64) -> Claimed {
    if duty.is_of_parent() { None } else { settled(duty, lease(key, now_ms, &AtomicU64::new(0))) }
}

/// Leaves the lease to the parent in a forked child.
///
/// A signal handler may fork at any time. Parent and child then continue the same claim, and both reach its end. So the
/// question is asked again once the lease has its cell: a fork after that leaves the child a wiped cell.
fn settled(duty: &Duty, claimed: Result<Lease, Refusal>) -> Claimed {
    if duty.is_of_parent() {
        if let Ok(lease) = claimed {
            lease.leave_to_parent();
        }
        return None;
    }
    Some(claimed.map(Arc::new))
}

/// Claims a node from the backend, and opens a lease on it. `slowest_ms` takes how long the slowest answer of a store took.
fn lease(key: &LeaseKey, now_ms: i64, slowest_ms: &AtomicU64) -> Result<Lease, Refusal> {
    let since = Instant::now();
    let terms = terms_of_now(key)?;
    if !key.backend.has_clock() {
        terms.layout.refuse_outside(now_ms).map_err(Error::from)?;
    }
    let granted = match &key.backend {
        Backend::Slots(directory) => {
            let slots::Grant { slot, node, window, skipped } = slots::claim_in_time(directory, &terms, now_ms)?;
            GrantedNode {
                hold: Hold::Slot(slot),
                since,
                node,
                window,
                window_ms: terms.window_ms,
                clock: None,
                skew_ms: None,
                standby_risk: None,
                skipped: skipped.iter().map(|path| path.display().to_string()).collect(),
            }
        }
        Backend::Store(store, _) => {
            let answered = |took: Duration| {
                slowest_ms.fetch_max(u64::try_from(took.as_millis()).unwrap_or(u64::MAX), Ordering::Relaxed);
            };
            let grant = claim_node(&**store, &terms, &Claimer::this_process()?, now_ms, &answered)?;
            GrantedNode {
                since,
                node: grant.node(),
                window: grant.window(),
                window_ms: terms.window_ms,
                clock: None,
                skew_ms: grant.skew_ms,
                standby_risk: store.standby_risk(),
                hold: Hold::Store(Box::new(StoreLease::new(
                    store.for_renewals().unwrap_or_else(|| Arc::clone(store)),
                    &grant,
                ))),
                skipped: grant.skipped,
            }
        }
        Backend::Lessor(lessor, _) => {
            let loan = Loan::claim(Arc::clone(lessor), &terms, Claimer::this_process()?)?;
            GrantedNode {
                since,
                node: loan.node(),
                window: loan.window(),
                window_ms: loan.window_ms(),
                clock: Some(loan.clock()),
                skew_ms: Some(loan.skew_ms()),
                standby_risk: None,
                hold: Hold::Loan(Box::new(loan)),
                skipped: Vec::new(),
            }
        }
    };
    Ok(Lease::new(&terms.layout, granted, key.clock.is_some(), registry().wake()))
}

/// Returns the terms with the nodes excluded that this process uses as vouched ones.
fn terms_of_now(key: &LeaseKey) -> Result<Terms, Error> {
    let mut terms = key.terms.clone();
    let vouched = if key.clock.is_none() { registry().vouched_nodes(&terms.layout) } else { Vec::new() };
    if let Some(node) = terms.node {
        check_node(node, terms.exclude.contains(&node), vouched.contains(&node))?;
    }
    terms.exclude.extend(vouched);
    Ok(terms)
}

fn claimed_elsewhere() -> Error {
    Error::told(ErrorKind::NodesExhausted, "no lease within max_wait_ms: another thread of this process is claiming it")
}
