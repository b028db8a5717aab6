//! The terms of a lease, and its claimer.

use snowmint_core::{Layout, Nodes, bytes, lease};

use super::Namespace;
use crate::error::Error;
use crate::process::label::label_with_host;
use crate::process::nonce::nonce;

/// The terms of a lease: the caller's options, resolved against defaults and environment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Terms {
    /// The namespace. Leases of one namespace never have the same node at the same time.
    pub namespace: Namespace,
    /// The layout of the IDs.
    pub layout: Layout,
    /// The nodes that a claim may take.
    pub nodes: Nodes,
    /// Nodes that are not claimed.
    pub exclude: Vec<u32>,
    /// How far IDs may run ahead of the clock, in ms.
    pub max_ahead_ms: u64,
    /// How long a claim goes on where the store does not answer writes, in ms.
    pub max_wait_ms: u64,
    /// The length of a window, in ms; see [`Window::length_ms`](snowmint_core::Window::length_ms).
    pub window_ms: u64,
    /// Whether the holder reads its system's clock. If so, the store's clock checks it.
    pub system_clock: bool,
}

/// The claimer of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claimer {
    /// A random identity, new for each claim. A lessor grants the same node to the same nonce.
    pub nonce: u128,
    /// A name that people can read, such as `gunicorn:4711@web-3`. Records keep its first 60 bytes.
    pub label: String,
    /// The node that this claimer held before. It is preferred.
    pub last_node: Option<u32>,
}

impl Claimer {
    /// Returns this process, with a new nonce.
    ///
    /// # Errors
    /// `StoreUnavailable`: the system gives no random bytes.
    pub fn this_process() -> Result<Self, Error> {
        Ok(Self { nonce: nonce()?, label: label_with_host(), last_node: None })
    }
}

impl Terms {
    /// Returns the terms for core's [`Claim`](lease::Claim).
    pub(super) fn of_claim(&self, claimer: &Claimer) -> lease::Terms<'_> {
        lease::Terms {
            layout: &self.layout,
            nodes: self.nodes,
            max_ahead_ms: self.max_ahead_ms,
            window_ms: self.window_ms,
            last_node: claimer.last_node,
            system_clock: self.system_clock,
            nonce: claimer.nonce,
            label: bytes::label(&claimer.label),
        }
    }
}
