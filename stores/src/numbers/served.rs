//! Numbers that a service takes for its clients. Calls that wait at the same time share a request.

use std::sync::Arc;

use async_trait::async_trait;

use super::source::Source;
use crate::error::Error;
use crate::gather::{Gather, Serving, wanted};
use crate::store::{NumberService, Served, TicketServer};

/// The most numbers of a request.
const MAX_COUNT: usize = 1000;

/// The numbers of a name.
#[derive(Debug)]
pub(super) struct Numbers {
    service: Arc<dyn NumberService>,
    of: Served,
    name: Arc<str>,
    calls: Gather<(), Result<i128, Error>>,
}

impl Numbers {
    pub(super) fn new(service: Arc<dyn NumberService>, of: Served, name: &str) -> Self {
        Self { service, of, name: name.into(), calls: Gather::default() }
    }

    pub(super) async fn next(&self) -> Result<i128, Error> {
        let serve = |serving| serve(serving, Arc::clone(&self.service), self.of, Arc::clone(&self.name));
        let answer = self.calls.ask((), serve).await;
        answer.unwrap_or_else(|| Err(Error::unavailable(self.service.name(), "the call was broken off")))
    }
}

/// Serves callers until none waits.
async fn serve(
    mut serving: Serving<(), Result<i128, Error>>,
    service: Arc<dyn NumberService>,
    of: Served,
    name: Arc<str>,
) {
    loop {
        let mut calls = serving.calls(MAX_COUNT);
        if calls.is_empty() {
            return;
        }
        match wanted(service.take(of, &name, calls.len() as u64), &mut calls).await {
            Some(Ok(numbers)) => calls.into_iter().zip(numbers).for_each(|(call, number)| call.answer(Ok(number))),
            Some(Err(error)) => calls.into_iter().for_each(|call| call.answer(Err(error.clone()))),
            // All callers have given up.
            None => {}
        }
    }
}

#[async_trait]
impl TicketServer for Numbers {
    fn name(&self) -> &str {
        self.service.name()
    }

    async fn take(&self) -> Result<u64, Error> {
        let ticket = self.next().await?;
        let odd = || Error::unavailable(self.service.name(), format_args!("{ticket} is not a ticket"));
        u64::try_from(ticket).map_err(|_| odd())
    }
}

/// A segment tag.
#[derive(Debug)]
pub(super) struct Tag {
    pub(super) service: Arc<dyn NumberService>,
    pub(super) name: String,
}

#[async_trait]
impl Source for Tag {
    async fn fetch(&self, amount: u64) -> Result<u64, Error> {
        self.service.segment(&self.name, amount).await
    }
}
