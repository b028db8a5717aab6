//! Tickets: single numbers, each from one of several independent servers.
//!
//! These are Flickr's ticket servers. Each of `increment` servers counts in steps of `increment` from a different
//! offset, so no two servers give the same number, and any of them may be down. Numbers of different servers are not in
//! order.
//!
//! [`Tickets`] is pure: it returns the server to ask for one more ticket, and computes the ticket from the answer.
//!
//! ```
//! use snowmint_core::store::Reply;
//! use snowmint_core::ticket::{Form, Take, Tickets, Turn};
//!
//! let mut tickets = Tickets::new(Form::Counter, 2, &[1, 2])?;
//! let mut counters = [0, 0];
//! let mut take = |start, now_ms| -> Result<u64, snowmint_core::Error> {
//!     let (mut take, mut reply) = (Take::from(start), None);
//!     loop {
//!         match tickets.next(&mut take, reply, now_ms)? {
//!             Turn::Done(number) => return Ok(number),
//!             // The second server is down.
//!             Turn::Ask(1) => reply = Some(Reply::Unknown),
//!             Turn::Ask(server) => {
//!                 counters[server] += 1;
//!                 reply = Some(Reply::Sum(counters[server]));
//!             }
//!         }
//!     }
//! };
//! assert_eq!([take(0, 0)?, take(1, 0)?, take(2, 0)?], [1, 3, 5]);
//! # Ok::<(), snowmint_core::Error>(())
//! ```
//!
//! Source: Flickr's article "Ticket Servers: Distributed Unique Primary Keys on the Cheap" on code.flickr.com, 2010.

use core::convert::Infallible;

use crate::error::{Error, ErrorKind, What};
use crate::mutant;
use crate::numbers::segment::LAST;
use crate::store::Reply;

/// The largest number of servers.
pub const MAX_SERVERS: usize = 32;
/// The largest increment: the limit of `auto_increment_increment` in `MySQL` and `MariaDB`.
pub const MAX_INCREMENT: u64 = 65_535;
/// How long a server is asked last after its first failure, in ms. The time doubles with each further failure.
pub const BACK_OFF_MS: u64 = 1000;
/// The limit of that time, in ms.
pub const MAX_BACK_OFF_MS: u64 = 32_000;

/// Returns how long a server may take for an answer, in ms: an equal part of the time that is left. `failed` of the `servers` have
/// failed in this call.
///
/// # Examples
/// ```
/// use snowmint_core::ticket::part_ms;
/// assert_eq!((part_ms(900, 3, 0), part_ms(600, 3, 2)), (300, 600));
/// ```
pub const fn part_ms(left_ms: u64, servers: u64, failed: u64) -> u64 {
    match servers.saturating_sub(failed) {
        0 => left_ms,
        untried => left_ms / untried,
    }
}

/// Returns whether an error of a server ends the call: the other servers would refuse it too, as the name or the places of the
/// stores are wrong.
///
/// # Examples
/// ```
/// use snowmint_core::ErrorKind;
/// use snowmint_core::ticket::ends_call;
/// assert!(ends_call(ErrorKind::InvalidId) && !ends_call(ErrorKind::StoreUnavailable));
/// ```
pub const fn ends_call(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::InvalidId | ErrorKind::InvalidText)
}

/// Returns the kind of the error of a call that no server served: `Exhausted` if all servers failed with it, otherwise
/// the kind of the call's last error.
///
/// # Examples
/// ```
/// use snowmint_core::ErrorKind::{Exhausted, StoreUnavailable};
/// use snowmint_core::ticket::unserved;
/// assert_eq!(unserved(StoreUnavailable, [Exhausted, Exhausted]), Exhausted);
/// assert_eq!(unserved(StoreUnavailable, [Exhausted, StoreUnavailable]), StoreUnavailable);
/// assert_eq!(unserved(StoreUnavailable, []), StoreUnavailable);
/// ```
pub fn unserved(error: ErrorKind, failures: impl IntoIterator<Item = ErrorKind>) -> ErrorKind {
    let mut failures = failures.into_iter().peekable();
    let is_full = failures.peek().is_some() && failures.all(|kind| kind == ErrorKind::Exhausted);
    if is_full { ErrorKind::Exhausted } else { error }
}

/// The form of a server's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    /// The ticket itself, from 1 to 2^64-1: `LAST_INSERT_ID()` of a table like `Tickets64`, on a server or connection
    /// with this `auto_increment_increment` and `auto_increment_offset`.
    Ticket,
    /// The number of tickets that the server has given, from 1: the ticket is `(answer - 1) * increment + offset`, at
    /// most 2^63-1.
    Counter,
}

/// The next step of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// The call is complete, with this ticket.
    Done(u64),
    /// Ask the server at this place of the list, from 0, for one more ticket: raise its counter by one, or run
    /// `REPLACE INTO Tickets64 (stub) VALUES ('a')`.
    Ask(usize),
}

#[derive(Clone, Copy, Debug)]
struct Server {
    offset: u64,
    failures: u32,
    /// Until this time it is asked last.
    shunned_until_ms: u64,
}

/// The servers of one kind of tickets. See the [module](self).
#[derive(Clone, Debug)]
pub struct Tickets {
    form: Form,
    increment: u64,
    servers: [Server; MAX_SERVERS],
    count: usize,
}

/// One call for a ticket.
#[derive(Clone, Copy, Debug)]
pub struct Take {
    start: u64,
    /// A bit for each server that was asked.
    tried: u32,
    /// The server that was asked last, if its reply is missing.
    asked: Option<usize>,
}

impl Take {
    /// Begins a call whose first choice is the server at the place `start`, modulo the number of servers. For a round
    /// robin `start` counts the calls; it may also be random.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::ticket::{Form, Take, Tickets, Turn};
    /// let mut tickets = Tickets::new(Form::Counter, 2, &[1, 2])?;
    /// // The second call of a round robin starts with the second server.
    /// assert_eq!(tickets.next(&mut Take::from(1), None, 0)?, Turn::Ask(1));
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub const fn from(start: u64) -> Self {
        Self { start, tried: 0, asked: None }
    }
}

impl Tickets {
    /// Makes a list of servers with these offsets. It may have fewer than `increment` servers, to leave room for more.
    ///
    /// Before you change the increment, raise every server above the largest ticket that any server gave.
    ///
    /// # Errors
    /// `InvalidId`, unless the list has 1 to [`MAX_SERVERS`] servers, the increment is at most [`MAX_INCREMENT`], and
    /// the offsets are different numbers from 1 to the increment.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::ticket::{Form, Tickets};
    /// assert!(Tickets::new(Form::Counter, 3, &[1, 2]).is_ok(), "room for a third server");
    /// assert!(Tickets::new(Form::Counter, 2, &[1, 1]).is_err(), "both would give the same tickets");
    /// ```
    pub fn new(form: Form, increment: u64, offsets: &[u64]) -> Result<Self, Error> {
        let fits = |offset: &u64| (1..=increment).contains(offset);
        let repeats = |(i, offset): (usize, &u64)| offsets.iter().take(i).any(|other| other == offset);
        let refused = offsets.is_empty()
            || offsets.len() > MAX_SERVERS
            || increment > MAX_INCREMENT
            || !offsets.iter().all(fits)
            || offsets.iter().enumerate().any(repeats);
        if refused {
            return Err(Error::new(What::TicketServers, 0, MAX_SERVERS as u64, MAX_INCREMENT));
        }
        let mut servers = [Server { offset: 0, failures: 0, shunned_until_ms: 0 }; MAX_SERVERS];
        for (server, offset) in servers.iter_mut().zip(offsets) {
            server.offset = *offset;
        }
        Ok(Self { form, increment, servers, count: offsets.len() })
    }

    /// Advances a call. Pass `None` on the first call, then the reply of the server that was asked.
    ///
    /// Each server is asked once at most, and servers that failed lately come last. A ticket whose answer was lost is
    /// skipped. `now_ms` is the time of a clock that never steps.
    ///
    /// # Errors
    /// `StoreUnavailable`, if no server answers, or a server counts with another increment or offset, which would
    /// repeat tickets of another server; `Exhausted`, if a counter leads past 2^63-1.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::store::Reply;
    /// use snowmint_core::ticket::{Form, Take, Tickets, Turn};
    /// let mut tickets = Tickets::new(Form::Counter, 2, &[1, 2])?;
    /// let mut take = Take::from(0);
    /// assert_eq!(tickets.next(&mut take, None, 0)?, Turn::Ask(0));
    /// // The first server is down, and the second gives its fourth ticket.
    /// assert_eq!(tickets.next(&mut take, Some(Reply::Unknown), 0)?, Turn::Ask(1));
    /// assert_eq!(tickets.next(&mut take, Some(Reply::Sum(4)), 0)?, Turn::Done(8));
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub fn next(&mut self, take: &mut Take, reply: Option<Reply<Infallible>>, now_ms: u64) -> Result<Turn, Error> {
        if let (Some(reply), Some(asked)) = (reply, take.asked.take()) {
            let ticket = match reply {
                Reply::Sum(answer) => self.ticket(asked, answer).map(Some),
                _ => Ok(None),
            };
            self.note(asked, matches!(ticket, Ok(Some(_))), now_ms);
            if let Some(ticket) = ticket? {
                return Ok(Turn::Done(ticket));
            }
        }
        let Some(server) = self.choose(take, now_ms) else {
            return Err(Error::new(What::TicketsDown, 0, self.count as u64, 0));
        };
        take.tried |= 1 << server;
        take.asked = Some(server);
        Ok(Turn::Ask(server))
    }

    /// Returns the next server, counted from the start, that was not asked yet and has the shortest back-off left.
    fn choose(&self, take: &Take, now_ms: u64) -> Option<usize> {
        // The remainder is below 32.
        let start = (take.start % self.count as u64) as usize;
        let places = (start..self.count).chain(0..start).filter(|place| take.tried & (1 << place) == 0);
        places.min_by_key(|place| {
            self.servers.get(*place).map_or(0, |server| server.shunned_until_ms.saturating_sub(now_ms))
        })
    }

    fn note(&mut self, place: usize, fine: bool, now_ms: u64) {
        let Some(server) = self.servers.get_mut(place) else { return };
        if fine {
            (server.failures, server.shunned_until_ms) = (0, 0);
        } else {
            // 2^5 times the first back-off is the limit.
            let back_off_ms = (BACK_OFF_MS << server.failures.min(5)).min(MAX_BACK_OFF_MS);
            server.failures = server.failures.saturating_add(1);
            server.shunned_until_ms = now_ms.saturating_add(back_off_ms);
        }
    }

    fn ticket(&self, place: usize, answer: u64) -> Result<u64, Error> {
        let offset = self.servers.get(place).map_or(0, |server| server.offset);
        match self.form {
            Form::Counter => {
                let ticket = answer.checked_sub(1).ok_or(Error::plain(What::NoRecord))?;
                let ticket = ticket.checked_mul(self.increment).and_then(|ticket| ticket.checked_add(offset));
                ticket.filter(|ticket| *ticket <= LAST).ok_or(Error::new(What::NumbersOver, 0, LAST, 0))
            }
            Form::Ticket if answer > 0 && answer % self.increment == offset % self.increment => Ok(answer),
            Form::Ticket if mutant::removes("offset") => Ok(answer),
            // Increments are below 2^16.
            Form::Ticket => Err(Error::new(What::TicketOffset, self.increment as u32, offset, answer)),
        }
    }
}
