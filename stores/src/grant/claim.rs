//! The claim of a node over a store.

use std::collections::BTreeMap;
use std::mem;
use std::time::{Duration, Instant};

use snowmint_core::lease::{Claim, ClaimStep, Floor, NamespaceRecord, Record, Renewal};
use snowmint_core::store::Ask;
use snowmint_core::{Error as CoreError, Window};

use super::{Claimer, Refusal, Terms};
use crate::error::Error;
use crate::process::Owner;
use crate::store::ask::{reply_of, request_of};
use crate::store::blocking::BlockingStore;
use crate::store::execute::{Answer, Request, execute_blocking};
use crate::store::{Found, Version};
#[cfg(feature = "engines")]
use crate::store::{Store, execute::execute};

/// A granted node. Its window is durable.
#[derive(Debug)]
pub struct Grant {
    pub(super) renewal: Renewal,
    /// The key of the node's record.
    pub(super) key: String,
    pub(super) owner: &'static Owner,
    /// How far this machine's clock is ahead of the store's, in ms, if the store has a clock.
    pub skew_ms: Option<i64>,
    /// Keys whose value is not a valid record.
    pub skipped: Vec<String>,
}

impl Grant {
    /// Returns the node.
    pub const fn node(&self) -> u32 {
        self.renewal.node()
    }

    /// Returns the durable window.
    pub const fn window(&self) -> Window {
        self.renewal.window()
    }
}

/// Claims a node over a store whose calls block, at `now_ms` (Unix ms) of the claimer's clock. `answered` is told how long
/// each answer took.
///
/// # Errors
/// The reason why no node is granted.
pub fn claim_node(
    store: &dyn BlockingStore,
    terms: &Terms,
    claimer: &Claimer,
    now_ms: i64,
    answered: &dyn Fn(Duration),
) -> Result<Grant, Refusal> {
    let mut asked = Instant::now();
    let mut answer = || answered(mem::replace(&mut asked, Instant::now()).elapsed());
    store.refuse_standby()?;
    answer();
    let mut session = Session::new(store.name(), terms, claimer, now_ms)?;
    let mut next = session.next(&Claim::FIRST)?;
    loop {
        next = match next {
            Next::Ask(request) => {
                let done = execute_blocking(store, request);
                answer();
                session.advance(done)?
            }
            Next::Granted(grant) => return Ok(*grant),
        };
    }
}

/// Claims a node over an asynchronous store, at `now_ms` (Unix ms).
#[cfg(feature = "engines")]
pub(super) async fn claim_node_async(
    store: &dyn Store,
    terms: &Terms,
    claimer: &Claimer,
    now_ms: i64,
) -> Result<Grant, Refusal> {
    store.refuse_standby().await?;
    let mut session = Session::new(store.name(), terms, claimer, now_ms)?;
    let mut next = session.next(&Claim::FIRST)?;
    loop {
        next = match next {
            Next::Ask(request) => session.advance(execute(store, request).await)?,
            Next::Granted(grant) => return Ok(*grant),
        };
    }
}

/// The next step of a claim.
enum Next {
    Ask(Request),
    Granted(Box<Grant>),
}

/// A claim under way: core's [`Claim`], with its steps as requests to a store.
struct Session<'a> {
    store: &'a str,
    terms: &'a Terms,
    now_ms: i64,
    claim: Claim<'a>,
    /// The step that waits for its answer.
    step: ClaimStep,
    owner: &'static Owner,
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
    fn new(store: &'a str, terms: &'a Terms, claimer: &Claimer, now_ms: i64) -> Result<Self, Error> {
        Ok(Self {
            store,
            terms,
            now_ms,
            claim: Claim::new(terms.of_claim(claimer)),
            step: Claim::FIRST,
            owner: Owner::this(),
            namespace_key: terms.namespace.key()?,
            nodes_prefix: terms.namespace.nodes_prefix()?,
            layout_text: String::new(),
            skipped: Vec::new(),
            no_answer: None,
            since: Instant::now(),
        })
    }

    /// Takes the answer to the last request, and returns the next one or the grant.
    fn advance(&mut self, answer: Result<Answer, Error>) -> Result<Next, Refusal> {
        self.owner.refuse_child()?;
        let next = match (self.step, answer) {
            (ClaimStep::ReadNamespace, Ok(Answer::Found(found))) => {
                let found = found.map(|found| self.namespace(&found)).transpose()?;
                self.claim.namespace(found)
            }
            (ClaimStep::ReadFloor, Ok(Answer::Found(found))) => {
                let floor = found.map(|found| Floor::read(&found.value)).transpose();
                self.layout_text = self.terms.layout.to_string();
                self.claim.floor(floor.map_err(|error| self.error(&error))?)
            }
            (ClaimStep::WriteNamespace(..), answer) => {
                let (reply, error) = reply_of(self.store, &self.namespace_key, answer)?;
                self.no_answer = error;
                self.claim.namespace_reply(reply)
            }
            (ClaimStep::ListNodes, Ok(Answer::Listed(listed))) => self.list(listed)?,
            (ClaimStep::ReadClock, Ok(Answer::Clock(store_ms, own_ms))) => self.claim.clock(store_ms, own_ms),
            (ClaimStep::Ask(node, ask), answer) => {
                let is_write = matches!(ask, Ask::Write(..));
                let (reply, error) = reply_of(self.store, &self.node_key(node), answer)?;
                // An answered read leaves open why the write before it was not done.
                if is_write || error.is_some() {
                    self.no_answer = error;
                }
                self.claim.reply(reply)
            }
            (_, Err(error)) => return Err(error.into()),
            (step, Ok(answer)) => {
                let why = format!("{answer:?} is not an answer to {step:?}");
                return Err(Error::unavailable(self.store, why).into());
            }
        };
        self.next(&next)
    }

    /// Turns a step into a request to the store, or ends the claim.
    fn next(&mut self, next: &ClaimStep) -> Result<Next, Refusal> {
        self.step = *next;
        Ok(Next::Ask(match *next {
            ClaimStep::ReadNamespace => Request::Read(self.namespace_key.clone()),
            ClaimStep::ReadFloor => Request::Read(Floor::KEY.to_owned()),
            ClaimStep::WriteNamespace(record, version) => {
                let value = format!("{}{record}", self.layout_text).into_bytes();
                Request::Write(self.namespace_key.clone(), value, version)
            }
            ClaimStep::ListNodes => {
                let patience = Duration::from_millis(self.terms.max_wait_ms);
                if let Some(error) = self.no_answer.take_if(|_| self.since.elapsed() >= patience) {
                    return Err(error.into());
                }
                Request::List(self.nodes_prefix.clone())
            }
            ClaimStep::ReadClock => Request::ReadClock,
            ClaimStep::Ask(node, ask) => match request_of(&self.node_key(node), &ask) {
                Some(request) => request,
                None => return Err(Error::unavailable(self.store, "a lease has no counter").into()),
            },
            ClaimStep::Granted(renewal, skew_ms) => {
                let key = self.node_key(renewal.node());
                let skipped = mem::take(&mut self.skipped);
                let skipped = skipped.iter().map(|node| format!("{}: {}", self.store, self.node_key(*node))).collect();
                let grant = Grant { renewal, key, owner: self.owner, skew_ms, skipped };
                return Ok(Next::Granted(Box::new(grant)));
            }
            ClaimStep::Wait(wait_ms, error) => return Err(Refusal::NotYet(wait_ms, self.busy(&error))),
            ClaimStep::Taken(error) => return Err(Refusal::Taken(self.error(&error))),
            ClaimStep::Unanswered => {
                let error = self.no_answer.take();
                return Err(error.unwrap_or_else(|| Error::unavailable(self.store, "no answer")).into());
            }
            ClaimStep::Refused(error) => return Err(self.error(&error).into()),
        }))
    }

    /// Reads the record of the namespace, which keeps its first layout.
    fn namespace(&mut self, found: &Found) -> Result<(NamespaceRecord, Version), Error> {
        let (first, record) = self.terms.namespace.read(self.store, &found.value, &self.terms.layout)?;
        self.layout_text = first.to_string();
        Ok((record, found.version))
    }

    /// Shows the nodes to the claim.
    fn list(&mut self, listed: Vec<(String, Found)>) -> Result<ClaimStep, Error> {
        let now_ms = self.now_ms;
        let mut nodes = read_nodes(self.store, listed)?;
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

    fn node_key(&self, node: u32) -> String {
        format!("{}{node}", self.nodes_prefix)
    }

    fn error(&self, error: &CoreError) -> Error {
        Error::told(error.kind(), format!("{}, namespace {}: {error}", self.store, self.terms.namespace))
    }

    /// Adds the label of the holder, if the terms name a node.
    fn busy(&self, error: &CoreError) -> Error {
        let told = self.error(error);
        match self.claim.holder().map(Record::label_text) {
            Some(label) if !label.is_empty() => Error::told(error.kind(), format!("{told} (its holder is {label})")),
            _ => told,
        }
    }
}

/// Returns the records of a namespace by node, with their versions. `None` stands for a value that is not a valid record.
pub(crate) fn read_nodes(
    store: &str,
    listed: Vec<(String, Found)>,
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
