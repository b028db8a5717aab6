//! Decides which clients may make a namespace, and how many of its nodes the holders of one token may have.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use snowmint_stores::host::{Claimer, Granted, Leases, Namespace, Share, Terms};

use super::Settings;
use super::failure::Failure;
use crate::auth::{Client, Role};

/// The namespaces of the store, for clients of the service.
#[derive(Debug)]
pub struct Namespaces {
    leases: Leases,
    most: usize,
    node_share: u8,
    claims: Claims,
}

/// The number of claims under way, by namespace and beginning of the labels.
type Claims = Arc<Mutex<HashMap<(String, String), u64>>>;

impl Namespaces {
    pub fn of(leases: Leases, settings: &Settings) -> Self {
        let Settings { max_namespaces: most, node_share, .. } = *settings;
        Self { leases, most, node_share, claims: Claims::default() }
    }

    /// Refuses a request for IDs of a namespace that the store does not have: only a claim or a verb makes a namespace.
    ///
    /// # Errors
    /// `NoNamespace`, and the errors of the store.
    pub async fn refuse_missing(&self, namespace: &Namespace) -> Result<(), Failure> {
        if self.leases.has(namespace).await? {
            return Ok(());
        }
        Err(Failure::NoNamespace(format!(
            "there is no namespace {namespace} yet: make it by {}, or claim a node in it",
            create(namespace)
        )))
    }

    /// Grants a node to a client.
    ///
    /// # Errors
    /// `Forbidden`, if the namespace is new and the client may not make it; the errors of a claim.
    pub async fn claim(&self, client: &Client, terms: &Terms, claimer: &Claimer) -> Result<Granted, Failure> {
        if !self.leases.has(&terms.namespace).await? {
            self.refuse_new(client, &terms.namespace).await?;
        }
        let Some(token) = &client.token else { return Ok(self.leases.claim(terms, claimer, None).await?) };
        // Whoever reads a label knows whose node it is.
        let prefix = format!("{token}/");
        let claimer = Claimer { label: format!("{prefix}{}", claimer.label), ..claimer.clone() };
        if client.role > Role::Mint {
            return Ok(self.leases.claim(terms, &claimer, None).await?);
        }
        let (_under_way, under_way) = UnderWay::begin(&self.claims, terms.namespace.to_string(), prefix.clone());
        let share = Share { prefix: &prefix, percent: self.node_share, under_way };
        Ok(self.leases.claim(terms, &claimer, Some(&share)).await?)
    }

    async fn refuse_new(&self, client: &Client, namespace: &Namespace) -> Result<(), Failure> {
        if client.role < Role::Admin {
            return Err(Failure::Forbidden(format!(
                "the namespace {namespace} is new, and only the role {} makes namespaces: send a token of {}, or run {}",
                Role::Admin.name(),
                Role::Admin.flag(),
                create(namespace)
            )));
        }
        let most = self.most;
        if self.leases.namespaces().await?.len() < most {
            return Ok(());
        }
        Err(Failure::Forbidden(format!(
            "the store has {most} namespaces, as many as --max-namespaces allows: remove one by snowmint namespace rm, or start \
             the server with a higher limit"
        )))
    }
}

/// A claim that is under way.
struct UnderWay {
    claims: Claims,
    key: (String, String),
}

impl UnderWay {
    /// Begins a claim, and returns how many others are under way.
    fn begin(claims: &Claims, namespace: String, prefix: String) -> (Self, u64) {
        let key = (namespace, prefix);
        let mut counts = claims.lock().unwrap_or_else(PoisonError::into_inner);
        let count = counts.entry(key.clone()).or_default();
        let others = *count;
        *count += 1;
        drop(counts);
        (Self { claims: Arc::clone(claims), key }, others)
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        let mut counts = self.claims.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = counts.get_mut(&self.key) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.key);
            }
        }
    }
}

/// The command that makes a namespace in the store of the service.
fn create(namespace: &Namespace) -> String {
    format!("snowmint namespace create {namespace} --layout LAYOUT --store STORE, with the store of the service")
}
