//! The runtime of this process for stores that wait asynchronously, made when first needed.

use std::sync::OnceLock;

use snowmint_core::ErrorKind;
use tokio::runtime::{Builder, Handle, Runtime};

use super::fork::PerProcess;
use crate::error::Error;

/// The runtime of one process, until the process ends. A forked child makes another runtime.
#[derive(Default)]
struct OfProcess(OnceLock<Result<OfStores, String>>);

enum OfStores {
    Own(Runtime),
    Adopted(Handle),
}

static OF_PROCESS: PerProcess<OfProcess> = PerProcess::new();

/// Takes the runtime of a program for its stores, before the first store is opened: no other runtime is made then.
pub fn adopt(runtime: Handle) {
    OF_PROCESS.get().0.get_or_init(|| Ok(OfStores::Adopted(runtime)));
}

/// Returns the runtime of this process for stores. One that is made here has one thread.
///
/// # Errors
/// `StoreUnavailable`: the system gives no thread.
pub fn runtime() -> Result<Handle, Error> {
    let made = OF_PROCESS.get().0.get_or_init(|| {
        let builder = Builder::new_multi_thread().worker_threads(1).thread_name("snowmint-store").enable_all().build();
        builder.map(OfStores::Own).map_err(|error| error.to_string())
    });
    match made {
        Ok(OfStores::Own(runtime)) => Ok(runtime.handle().clone()),
        Ok(OfStores::Adopted(runtime)) => Ok(runtime.clone()),
        Err(error) => Err(Error::new(
            ErrorKind::StoreUnavailable,
            format!("the system gives no thread to talk to stores with: {error}"),
        )),
    }
}
