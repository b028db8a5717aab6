//! Tickets: numbers taken one at a time from one of several servers that know nothing of each other.
//!
//! Flickr's ticket servers. Of `increment` servers each one counts in steps of `increment` from an offset of its own, so
//! no two ever give the same number, and any of them may be down. Order between servers is not kept.
//!
//! [`Tickets`] is pure: it tells which server to ask for one more, and what the answer makes.
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

use crate::error::{Error, What};
use crate::mutant;
use crate::segment::LAST;
use crate::store::Reply;

/// The most servers.
pub const MAX_SERVERS: usize = 32;
/// The largest increment: that of `auto_increment_increment` in `MySQL` and `MariaDB`.
pub const MAX_INCREMENT: u64 = 65_535;
/// For how long a server that failed once comes last, in ms. It doubles with each further failure.
pub const BACK_OFF_MS: u64 = 1000;
/// The longest such time, in ms.
pub const MAX_BACK_OFF_MS: u64 = 32_000;

/// What a server answers when it is asked for one more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    /// The ticket itself, from 1 to 2^64-1: `LAST_INSERT_ID()` of a table like `Tickets64`, on a server or connection
    /// with this `auto_increment_increment` and `auto_increment_offset`.
    Ticket,
    /// How many it has given, from 1 up: the ticket is `(answer - 1) * increment + offset`, at most 2^63-1.
    Counter,
}

/// What to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// This is the ticket.
    Done(u64),
    /// Ask the server at that place of the list, from 0, for one more: raise its counter by one, or
    /// `REPLACE INTO Tickets64 (stub) VALUES ('a')`.
    Ask(usize),
}

#[derive(Clone, Copy, Debug)]
struct Server {
    offset: u64,
    failures: u32,
    /// Until then it comes last.
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
    /// Who is asked now.
    asked: Option<usize>,
}

impl Take {
    /// A call whose first choice is the server at the place `start`, taken modulo their number: a count of the calls, for
    /// a round robin, or something random.
    pub const fn from(start: u64) -> Self {
        Self { start, tried: 0, asked: None }
    }
}

impl Tickets {
    /// Servers by their offsets. There may be fewer than `increment`, to leave room for more.
    ///
    /// To change the increment, first raise every server above the largest ticket that any of them gave.
    ///
    /// # Errors
    /// `InvalidId`, unless there are 1 to [`MAX_SERVERS`], the increment is at most [`MAX_INCREMENT`], and the offsets
    /// are different numbers from 1 to the increment.
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

    /// How a call goes on. The first time there is no reply, then that of the server which was to be asked.
    ///
    /// Each server is asked once at most, those that failed lately last. A ticket whose answer was lost is left out.
    /// `now_ms` is of a clock that never steps.
    ///
    /// # Errors
    /// `StoreUnavailable`, if no server answers, or one that answers counts in another way than it should, which would
    /// give tickets of another server; `Exhausted`, if a counter leads past 2^63-1.
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

    /// The first from the start on that was not asked yet, and failed least lately.
    fn choose(&self, take: &Take, now_ms: u64) -> Option<usize> {
        // The rest of a division by at most 32.
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
            // 2^5 times the first is the longest already.
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
                ticket.filter(|ticket| *ticket <= LAST).ok_or(Error::plain(What::NumbersOver))
            }
            Form::Ticket if answer > 0 && answer % self.increment == offset % self.increment => Ok(answer),
            Form::Ticket if mutant::removes("offset") => Ok(answer),
            // Increments are below 2^16.
            Form::Ticket => Err(Error::new(What::TicketOffset, self.increment as u32, offset, answer)),
        }
    }
}
