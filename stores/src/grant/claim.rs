//! The claim of a node over a store.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use snowmint_core::lease::{Claim, ClaimStep, Floor, Record};
use snowmint_core::store::Ask;
use snowmint_core::{Error as CoreError, SystemHost};

use super::{Claimer, Refusal, StoreLease, Terms};
use crate::error::Error;
use crate::process::Owner;
use crate::store::ask::{ask, write};
use crate::store::{RecordStore, Version, Versioned};

/// Claims a node over a store, at `now_ms` (Unix ms) of the claimer's clock. `answered` gets the time that each answer took.
///
/// # Errors
/// The reason why no node is granted.
pub async fn claim_node(
    store: Arc<dyn RecordStore>,
    terms: &Terms,
    claimer: &Claimer,
    now_ms: i64,
    answered: &(dyn Fn(Duration) + Sync),
) -> Result<StoreLease, Refusal> {
    let owner = Owner::this();
    let since = Instant::now();
    store.refuse_standby().await?;
    answered(since.elapsed());
    let mut session = Session::new(&*store, terms, claimer, now_ms)?;
    let mut step = Claim::FIRST;
    loop {
        let asked = Instant::now();
        let next = match step {
            ClaimStep::Granted(renewal, skew_ms) => {
                let (key, skipped) = (session.node_key(renewal.node()), session.skipped_keys());
                return Ok(StoreLease { store, renewal, key, owner, skew_ms, skipped });
            }
            ClaimStep::Wait(wait_ms, error) => return Err(Refusal::NotYet(wait_ms, session.busy(&error))),
            ClaimStep::Taken(error) => return Err(Refusal::Taken(session.error(&error))),
            ClaimStep::Refused(error) => return Err(session.error(&error).into()),
            ClaimStep::Unanswered => {
                let error = session.no_answer.take();
                return Err(error.unwrap_or_else(|| Error::unavailable(store.name(), "no answer")).into());
            }
            ref step => session.take(step).await,
        };
        answered(asked.elapsed());
        owner.refuse_child()?;
        step = next?;
    }
}

/// A claim under way: core's [`Claim`], whose steps are calls of a store.
struct Session<'a> {
    store: &'a dyn RecordStore,
    terms: &'a Terms,
    now_ms: i64,
    claim: Claim<'a>,
    namespace_key: String,
    nodes_prefix: String,
    /// The text of the namespace's layout as the store has it or will have it.
    layout_text: String,
    skipped: Vec<u32>,
    /// Why the last write had no answer.
    no_answer: Option<Error>,
    since: Instant,
}

impl<'a> Session<'a> {
    fn new(store: &'a dyn RecordStore, terms: &'a Terms, claimer: &Claimer, now_ms: i64) -> Result<Self, Error> {
        Ok(Self {
            store,
            terms,
            now_ms,
            claim: Claim::new(terms.of_claim(claimer)),
            namespace_key: terms.namespace.key()?,
            nodes_prefix: terms.namespace.nodes_prefix()?,
            layout_text: String::new(),
            skipped: Vec::new(),
            no_answer: None,
            since: Instant::now(),
        })
    }

    /// Sends the request of a step to the store, and returns the next step. Returns a step without a request unchanged.
    async fn take(&mut self, step: &ClaimStep) -> Result<ClaimStep, Error> {
        let (store, terms) = (self.store, self.terms);
        Ok(match *step {
            ClaimStep::ReadNamespace => {
                let found = store.read(&self.namespace_key).await?;
                let read = |found: Versioned| {
                    let (first, record) = terms.namespace.read(store.name(), &found.value, &terms.layout)?;
                    // The namespace keeps its first layout.
                    self.layout_text = first.to_string();
                    Ok::<_, Error>((record, found.version))
                };
                self.claim.namespace(found.map(read).transpose()?)
            }
            ClaimStep::ReadFloor => {
                let found = store.read(Floor::KEY).await?;
                self.layout_text = terms.layout.to_string();
                let floor = found.map(|found| Floor::read(&found.value)).transpose();
                self.claim.floor(floor.map_err(|error| self.error(&error))?)
            }
            ClaimStep::WriteNamespace(record, version) => {
                let value = format!("{}{record}", self.layout_text);
                let (reply, error) = write(store, &self.namespace_key, value.as_bytes(), version).await?;
                self.no_answer = error;
                self.claim.namespace_reply(reply)
            }
            ClaimStep::ListNodes => {
                let patience = Duration::from_millis(terms.max_wait_ms);
                if let Some(error) = self.no_answer.take_if(|_| self.since.elapsed() >= patience) {
                    return Err(error);
                }
                let listed = store.list(&self.nodes_prefix).await?;
                self.list(listed)?
            }
            ClaimStep::ReadClock => {
                let store_ms = store.clock_ms().await?;
                self.claim.clock(store_ms, SystemHost::unix_ms())
            }
            ClaimStep::Ask(node, asked) => {
                let (reply, error) = ask(store, &self.node_key(node), asked).await?;
                // An answered read leaves open why the write before it was not done.
                if matches!(asked, Ask::Write(..)) || error.is_some() {
                    self.no_answer = error;
                }
                self.claim.reply(reply)
            }
            ended => ended,
        })
    }

    /// Shows the nodes to the claim.
    fn list(&mut self, listed: Vec<(String, Versioned)>) -> Result<ClaimStep, Error> {
        let now_ms = self.now_ms;
        let mut nodes = read_nodes(self.store.name(), listed)?;
        let records = nodes.len() as u64;
        self.skipped = nodes.iter().filter(|(_, record)| record.is_none()).map(|(node, _)| *node).collect();
        nodes.extend(self.terms.exclude.iter().map(|node| (*node, None)));
        for (node, record) in &nodes {
            match record {
                Some((record, version)) => self.claim.see(*node, record, *version, now_ms),
                None => self.claim.skip(*node),
            }
        }
        Ok(self.claim.listed(now_ms, records))
    }

    /// Returns the keys whose value is not a valid record.
    fn skipped_keys(&self) -> Vec<String> {
        self.skipped.iter().map(|node| format!("{}: {}", self.store.name(), self.node_key(*node))).collect()
    }

    fn node_key(&self, node: u32) -> String {
        format!("{}{node}", self.nodes_prefix)
    }

    fn error(&self, error: &CoreError) -> Error {
        Error::new(error.kind(), format!("{}, namespace {}: {error}", self.store.name(), self.terms.namespace))
    }

    /// Adds the label of the holder, if the terms name a node.
    fn busy(&self, error: &CoreError) -> Error {
        let message = self.error(error);
        match self.claim.holder().map(Record::label_text) {
            Some(label) if !label.is_empty() => Error::new(error.kind(), format!("{message} (its holder is {label})")),
            _ => message,
        }
    }
}

/// Returns the records of a namespace by node, with their versions. `None` is a value that is not a valid record.
pub(crate) fn read_nodes(
    store: &str,
    listed: Vec<(String, Versioned)>,
) -> Result<BTreeMap<u32, Option<(Record, Version)>>, Error> {
    let mut nodes = BTreeMap::new();
    for (part, found) in listed {
        let Ok(node) = part.parse() else { continue };
        let record = match Record::from_bytes(&found.value) {
            Ok(record) => Some((record, found.version)),
            // A later version of snowmint may have changed the meaning of other records too.
            Err(error) if error.is_later_version() => return Err(Error::unavailable(store, error)),
            Err(_) => None,
        };
        nodes.insert(node, record);
    }
    Ok(nodes)
}
