//! Grants of nodes over a store: claims and renewals by core's machines.
//!
//! `claim_node` and [`StoreLease`] turn the steps of the machines into calls of a store. `Leases` does so for a service that
//! grants nodes to others.

pub(crate) mod claim;
mod look;
mod namespace;
#[cfg(feature = "engines")]
mod namespace_nodes;
#[cfg(feature = "engines")]
mod namespaces;
mod refusal;
mod renewal;
#[cfg(feature = "engines")]
mod service;
#[cfg(feature = "engines")]
mod share;
mod terms;
#[cfg(feature = "engines")]
mod turns;

pub use self::claim::claim_node;
pub use self::look::{Look, look};
pub use self::namespace::Namespace;
#[cfg(feature = "engines")]
pub use self::namespace_nodes::NamespaceNodes;
pub use self::refusal::Refusal;
pub use self::renewal::{Outcome, StoreLease};
#[cfg(feature = "engines")]
pub use self::service::{Granted, Leases};
#[cfg(feature = "engines")]
pub use self::share::Share;
pub use self::terms::{Claimer, Terms};
