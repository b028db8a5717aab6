//! A claim over a store that the caller gives, which may never answer.

use std::mem::ManuallyDrop;
use std::sync::Arc;
use std::sync::mpsc::{self, TryRecvError};
use std::thread;
use std::time::{Duration, Instant};

use snowmint_core::{Host, Layout, Options};

use crate::claim::{self, Claimed, claim_node};
use crate::error::Error;
use crate::plan::{Keeper, Terms};
use crate::process::Claim;

/// How long such a claim may take at least, whatever `max_wait_ms` is.
const PATIENCE: Duration = Duration::from_secs(10);

/// Takes a node as [`claim_node`] does. Over a given store that is done on a separate thread, and this one waits
/// `max_wait_ms`, or [`PATIENCE`] if that is longer. Meanwhile the host hears of signals.
///
/// A lease that comes too late is given back.
pub(crate) fn claim_attended<H: Host>(
    claim: &Claim,
    layout: &Layout,
    options: Options,
    terms: &Arc<Terms>,
    now_ms: i64,
    host: &mut H,
) -> Result<Claimed, H::Error> {
    let Keeper::Given(given) = &terms.key.keeper else {
        return Ok(claim_node(claim, layout, options, terms, now_ms));
    };
    if claim.is_of_parent() {
        return Ok(None);
    }
    let (sender, receiver) = mpsc::sync_channel(1);
    let (own_layout, own_terms) = (*layout, Arc::clone(terms));
    let claiming = thread::Builder::new().name("snowmint-claim".to_owned()).spawn(move || {
        // Where nobody waits any more the lease is dropped, which gives it back.
        drop(sender.send(claim::lease(&own_layout, options, &own_terms, now_ms)));
    });
    let unavailable = |what: String| Error::unavailable(given.name(), what);
    if let Err(error) = claiming {
        return Ok(Some(Err(unavailable(format!("the system gives no thread to claim a node on: {error}")).into())));
    }
    // A forked child leaves it alone: its locks may be held by a thread of the parent.
    let receiver = ManuallyDrop::new(receiver);
    let (since, patience) = (Instant::now(), PATIENCE.max(Duration::from_millis(options.max_wait_ms)));
    let outcome = loop {
        if claim.is_of_parent() {
            return Ok(None);
        }
        match receiver.try_recv() {
            Ok(claimed) => break Ok(claim::settled(claim, claimed)),
            Err(TryRecvError::Disconnected) => {
                break Ok(Some(Err(unavailable("the claim of a node broke off".to_owned()).into())));
            }
            Err(TryRecvError::Empty) if since.elapsed() >= patience => {
                let ms = patience.as_millis();
                break Ok(Some(Err(unavailable(format!("no answer within {ms} ms")).into())));
            }
            Err(TryRecvError::Empty) => {
                if let Err(interrupt) = host.pause(1) {
                    break Err(interrupt);
                }
            }
        }
    };
    if !claim.is_of_parent() {
        drop(ManuallyDrop::into_inner(receiver));
    }
    outcome
}
