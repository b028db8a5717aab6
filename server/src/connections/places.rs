//! The places of a port, and the line of silent clients. When no place is free, the oldest silent client loses its place to
//! the new one: a silent connection costs its owner nothing, so the newest is more likely to send a request.

use std::collections::{BTreeMap, HashMap};
use std::net::{IpAddr, Ipv6Addr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use snowmint_stores::host::lock;
use tokio::task::AbortHandle;
use tokio::time::Instant;

use super::{FIRST_BYTE_TIMEOUT, Place};
use crate::metrics::Counts;

/// How long a client has for its first byte if the process may open no more files.
const LAST_FILE_TIMEOUT: Duration = Duration::from_millis(250);

/// The limits of a port.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// How many connections there may be.
    pub most: usize,
    /// How many of them one address may have.
    pub most_of_address: usize,
}

impl Limits {
    /// Returns the limits of a port. By default an address may have three quarters of the connections, so that no single address
    /// takes all places.
    pub fn of(most: usize, most_of_address: Option<usize>) -> Self {
        Self { most, most_of_address: most_of_address.unwrap_or(most - most / 4) }
    }
}

/// The places of a port.
#[derive(Debug)]
pub struct Places {
    place: Place,
    limits: Limits,
    counts: Counts,
    state: Mutex<State>,
}

/// The silent clients by their turns, which increase with the time.
///
/// A client that has begun a request has no better turn than one without a byte: otherwise a flood of clients that send one byte
/// would displace each new client before its first byte is read.
type Line = BTreeMap<u64, u64>;

#[derive(Debug, Default)]
struct State {
    next: u64,
    held: HashMap<u64, Held>,
    line: Line,
    addresses: HashMap<IpAddr, Crowd>,
}

/// A connection that has a place.
#[derive(Debug)]
struct Held {
    address: IpAddr,
    since: Instant,
    /// Whether a byte has come.
    began: bool,
    turn: Option<u64>,
    task: Option<AbortHandle>,
}

/// The connections of an address.
#[derive(Debug, Default)]
struct Crowd {
    places: usize,
    line: Line,
}

impl Places {
    /// Makes places, all free.
    pub fn new(place: Place, limits: Limits, counts: &Counts) -> Arc<Self> {
        Arc::new(Self { place, limits, counts: counts.clone(), state: Mutex::default() })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    /// Takes a place for a new connection. If the address has its share, its oldest silent client loses its place.
    /// Otherwise, if all places are taken, the oldest silent client of all does. Returns `None` without such a client.
    pub fn take(self: &Arc<Self>, from: IpAddr) -> Option<Seat> {
        let address = owner(from);
        let mut state = self.state();
        let crowd = state.addresses.get(&address);
        let oldest = if crowd.is_some_and(|crowd| crowd.places >= self.limits.most_of_address) {
            Some(crowd.and_then(|crowd| crowd.line.values().next().copied())?)
        } else if state.held.len() >= self.limits.most {
            Some(state.line.values().next().copied()?)
        } else {
            None
        };
        if let Some(oldest) = oldest {
            state.displace(oldest);
            self.counts.displaced.inc();
        }
        let (id, since) = (state.number(), Instant::now());
        state.held.insert(id, Held { address, since, began: false, turn: None, task: None });
        state.addresses.entry(address).or_default().places += 1;
        state.enqueue(id);
        drop(state);
        self.counts.connections.inc();
        Some(Seat { places: Arc::clone(self), id, since, known: AtomicBool::new(false) })
    }

    /// Closes the clients that have sent no byte for two seconds, while more than half of the places are taken.
    pub fn hurry(&self, now: Instant) {
        let mut state = self.state();
        let late = |held: &Held| held.since + FIRST_BYTE_TIMEOUT <= now;
        let old = state.line.values().map(|id| (*id, &state.held[id])).take_while(|(_, held)| late(held));
        let mute: Vec<_> = old.filter(|(_, held)| !held.began).map(|(id, _)| id).collect();
        for id in mute {
            if state.held.len() <= self.limits.most / 2 {
                return;
            }
            state.displace(id);
            self.counts.displaced.inc();
        }
    }

    /// Returns since when the oldest silent client is connected, unless that was a moment ago: its first byte may be on its way.
    fn oldest(&self, now: Instant) -> Option<Instant> {
        let state = self.state();
        let since = state.line.values().next().map(|id| state.held[id].since);
        since.filter(|since| *since + LAST_FILE_TIMEOUT <= now)
    }

    /// Closes the oldest silent client. Returns `false` if no client is silent.
    fn displace_oldest(&self) -> bool {
        let mut state = self.state();
        let Some(oldest) = state.line.values().next().copied() else { return false };
        state.displace(oldest);
        self.counts.displaced.inc();
        true
    }
}

/// The places of all ports, whose connections share the files that the process may open.
#[derive(Clone, Debug, Default)]
pub struct AllPlaces(Arc<Mutex<Vec<Arc<Places>>>>);

impl AllPlaces {
    pub fn add(&self, places: &Arc<Places>) {
        lock(&self.0).push(Arc::clone(places));
    }

    /// Closes the oldest silent client of all ports. Returns `false` if no client is silent long enough.
    pub fn displace_oldest(&self) -> bool {
        let (all, now) = (lock(&self.0), Instant::now());
        let oldest =
            all.iter().filter_map(|places| Some((places.oldest(now)?, places))).min_by_key(|(since, _)| *since);
        oldest.is_some_and(|(_, places)| places.displace_oldest())
    }
}

impl State {
    fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    /// Puts a connection at the end of the line.
    fn enqueue(&mut self, id: u64) {
        let turn = self.number();
        let Some(held) = self.held.get_mut(&id) else { return };
        held.turn = Some(turn);
        self.line.insert(turn, id);
        self.addresses.entry(held.address).or_default().line.insert(turn, id);
    }

    /// Takes a connection out of the line.
    fn leave(&mut self, id: u64) {
        let Some(held) = self.held.get_mut(&id) else { return };
        let Some(turn) = held.turn.take() else { return };
        self.line.remove(&turn);
        if let Some(crowd) = self.addresses.get_mut(&held.address) {
            crowd.line.remove(&turn);
        }
    }

    /// Frees a place. Returns the task of its connection.
    fn free(&mut self, id: u64) -> Option<AbortHandle> {
        self.leave(id);
        let held = self.held.remove(&id)?;
        if let Some(crowd) = self.addresses.get_mut(&held.address) {
            crowd.places -= 1;
            if crowd.places == 0 {
                self.addresses.remove(&held.address);
            }
        }
        held.task
    }

    /// Frees a place and closes its connection.
    fn displace(&mut self, id: u64) {
        if let Some(task) = self.free(id) {
            task.abort();
        }
    }
}

/// A connection's place. Dropping it frees the place.
#[derive(Debug)]
pub struct Seat {
    places: Arc<Places>,
    id: u64,
    since: Instant,
    /// Whether the client has sent an accepted request: then it keeps its place.
    known: AtomicBool,
}

impl Seat {
    /// Returns which limit the connection counts against.
    pub fn place(&self) -> Place {
        self.places.place
    }

    /// Returns when the connection was accepted.
    pub fn since(&self) -> Instant {
        self.since
    }

    /// Names the task that the loss of the place ends.
    pub fn is_served_by(&self, task: AbortHandle) {
        match self.places.state().held.get_mut(&self.id) {
            Some(held) => held.task = Some(task),
            None => task.abort(),
        }
    }

    /// Notes the first byte.
    pub fn began(&self) {
        if let Some(held) = self.places.state().held.get_mut(&self.id) {
            held.began = true;
        }
    }

    /// Notes a complete request: until its answer the connection keeps its place.
    pub fn asked(&self) {
        if !self.known.load(Ordering::Relaxed) {
            self.places.state().leave(self.id);
        }
    }

    /// Notes an answer. A client that may not take numbers then counts as silent again.
    pub fn answered(&self, known: bool) {
        if self.known.load(Ordering::Relaxed) {
            return;
        }
        if known {
            self.known.store(true, Ordering::Relaxed);
        } else {
            self.places.state().enqueue(self.id);
        }
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.places.counts.connections.dec();
        self.places.state().free(self.id);
    }
}

/// Returns the address that a limit counts: an owner of IPv6 has at least a /64.
fn owner(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX))),
        address @ IpAddr::V4(_) => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::Metrics;

    fn places(most: usize, most_of_address: usize) -> Arc<Places> {
        Places::new(Place::Open, Limits { most, most_of_address }, &Metrics::new().http)
    }

    fn has_lost_its_place(seat: &Seat) -> bool {
        !seat.places.state().held.contains_key(&seat.id)
    }

    fn address(text: &str) -> IpAddr {
        text.parse().expect("an address")
    }

    #[test]
    fn the_oldest_silent_client_loses_its_place() {
        let places = places(3, 3);
        let take = || places.take(address("192.0.2.1"));
        let [first, second, third] = [(); 3].map(|()| take().expect("a free place"));
        first.asked();
        second.began();
        let _fourth = take().expect("the place of the second client, which has sent no whole request");
        assert_eq!([&first, &second, &third].map(has_lost_its_place), [false, true, false]);
        first.answered(false);
        let _fifth = take().expect("the place of the third client, which has waited longest");
        assert_eq!([&first, &third].map(has_lost_its_place), [false, true]);
    }

    #[test]
    fn a_client_with_an_accepted_request_keeps_its_place() {
        let places = places(2, 2);
        let take = || places.take(address("192.0.2.1"));
        let [known, stranger] = [(); 2].map(|()| take().expect("a free place"));
        for (seat, is_known) in [(&known, true), (&stranger, false)] {
            seat.asked();
            seat.answered(is_known);
        }
        let last = take().expect("the place of the client whose request was refused");
        assert_eq!([&known, &stranger].map(has_lost_its_place), [false, true]);
        last.asked();
        assert!(take().is_none(), "a request is on its way");
        drop(stranger);
        assert!(take().is_none(), "its place was taken before");
        drop(known);
        assert!(take().is_some());
    }

    #[test]
    fn an_address_loses_only_places_of_its_own() {
        let places = places(4, 2);
        let other = places.take(address("192.0.2.1")).expect("a free place");
        let [first, second] = [(); 2].map(|()| places.take(address("192.0.2.2")).expect("a free place"));
        let third = places.take(address("::ffff:192.0.2.2")).expect("the place of the first");
        assert_eq!([&other, &first, &second, &third].map(has_lost_its_place), [false, true, false, false]);
        second.asked();
        third.asked();
        assert!(places.take(address("192.0.2.2")).is_none(), "the address has its share");
        assert!(places.take(address("192.0.2.3")).is_some());
    }

    #[test]
    fn a_network_of_ipv6_counts_as_one_address() {
        let places = places(4, 1);
        let held = places.take(address("2001:db8::1")).expect("a free place");
        held.asked();
        assert!(places.take(address("2001:db8::2:1")).is_none());
        assert!(places.take(address("2001:db8:0:1::1")).is_some());
    }

    #[test]
    fn a_first_byte_is_due_after_two_seconds_only_in_a_crowd() {
        let places = places(4, 4);
        let take = || places.take(address("192.0.2.1")).expect("a free place");
        let [first, second] = [(); 2].map(|()| take());
        let later = Instant::now() + FIRST_BYTE_TIMEOUT;
        places.hurry(later);
        assert_eq!([&first, &second].map(has_lost_its_place), [false, false], "half of the places are free");
        let third = take();
        places.hurry(first.since());
        assert!(!has_lost_its_place(&first), "its two seconds are not over");
        second.began();
        places.hurry(later);
        assert_eq!([&first, &second, &third].map(has_lost_its_place), [true, false, false]);
    }
}
