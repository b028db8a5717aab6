//! Asynchronous stores for callers that are not: one small runtime a process, made when first needed.

use std::sync::{OnceLock, mpsc};
use std::thread;
use std::time::Duration;

use snowmint_core::ErrorKind;
use tokio::runtime::{Builder, Runtime};

use super::fork::PerProcess;
use crate::error::Error;

/// It lives as long as the process; a forked child has another one.
#[derive(Default)]
struct Background(OnceLock<Result<Runtime, String>>);

const THREAD: &str = "snowmint-store";

static BACKGROUND: PerProcess<Background> = PerProcess::new();

fn runtime() -> Result<&'static Runtime, Error> {
    let made = BACKGROUND.get().0.get_or_init(|| {
        let builder = Builder::new_multi_thread().worker_threads(1).thread_name(THREAD).enable_all().build();
        builder.map_err(|error| error.to_string())
    });
    made.as_ref().map_err(|error| {
        Error::told(ErrorKind::StoreUnavailable, format!("the system gives no thread to talk to stores with: {error}"))
    })
}

/// Starts `work` in the background.
pub(crate) fn spawn(work: impl Future<Output = ()> + Send + 'static) -> Result<(), Error> {
    // The handle is dropped: the work goes on.
    drop(runtime()?.spawn(work));
    Ok(())
}

/// Does `work` in the background and waits for at most `patience`. After that the work goes on without a waiter.
///
/// A caller may be inside another runtime, whose thread then waits. The thread of this runtime would wait for itself, so it
/// does not wait.
pub(crate) fn wait<T: Send + 'static>(
    patience: Duration,
    work: impl Future<Output = T> + Send + 'static,
) -> Result<T, Error> {
    let (sender, receiver) = mpsc::sync_channel(1);
    spawn(async move {
        // The waiter may have given up.
        let _ = sender.send(work.await);
    })?;
    let patience = if thread::current().name() == Some(THREAD) { Duration::ZERO } else { patience };
    receiver.recv_timeout(patience).map_err(|_| {
        let ms = patience.as_millis();
        Error::told(ErrorKind::StoreUnavailable, format!("the store gave no answer within {ms} ms"))
    })
}
