//! A service in place of a store: it runs the machines of numbers itself.

use std::fmt;

use async_trait::async_trait;
use snowmint_core::sequence::{Options, Set};

use crate::error::Error;

/// The numbers of which a service gives several at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Served {
    /// Values of a sequence.
    Sequence,
    /// Tickets.
    Ticket,
}

/// A service that gives numbers from its stores. A request that ends with `StoreUnavailable` may have taken numbers,
/// which are then skipped.
#[async_trait]
pub trait NumberService: fmt::Debug + Send + Sync {
    /// Returns the address. Never a token.
    fn name(&self) -> &str;
    /// Defines a sequence. Returns `false` if it exists.
    async fn create(&self, name: &str, options: &Options) -> Result<bool, Error>;
    /// Returns whether a sequence cycles. `None` if it does not exist.
    async fn cycles(&self, name: &str) -> Result<Option<bool>, Error>;
    /// Sets the value of a sequence, and never sends the request again. `None` if the sequence stays unchanged.
    async fn set(&self, name: &str, set: &Set) -> Result<Option<i128>, Error>;
    /// Takes 1 to 1000 numbers of a name.
    async fn take(&self, of: Served, name: &str, count: u64) -> Result<Vec<i128>, Error>;
    /// Takes `count` numbers of a segment tag, and returns their end, which is not included.
    async fn segment(&self, tag: &str, count: u64) -> Result<u64, Error>;
    /// Takes the next number of a user of a set.
    async fn next_of_user(&self, set: &str, user: u64) -> Result<u64, Error>;
}
