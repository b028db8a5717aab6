//! One session on one sequence: `nextval`, `currval`, `lastval` and `setval`.

use super::dialect::Dialect;
use super::kind;
use super::options::Rules;
use super::setval::Set;
use super::state::State;
use crate::error::{Error, ErrorKind, What};
use crate::int::Integer;
use crate::store::{Ask, Next, Reply, Version};

/// Values that only this session has.
#[derive(Clone, Copy, Debug)]
struct Block {
    /// The position of the session.
    at: State,
    /// The end, not included.
    end: i128,
    /// The version of the record that reserved the block.
    version: Version,
}

/// The last write, if its reply is not known.
#[derive(Clone, Copy, Debug)]
enum Asked {
    /// A block that begins with this value.
    Block(i128, State),
    Set(State),
}

/// One session on one sequence. See the [module](super).
///
/// It serves one call at a time. If a reply never comes, begin the call again, or begin another call. A session cannot
/// be copied: both copies would hand out the same values.
#[derive(Debug)]
pub struct Sequence {
    rules: Rules,
    block: Option<Block>,
    /// The record that was seen last. The store may have a newer record.
    seen: Option<(State, Version)>,
    asked: Option<Asked>,
    /// The number of sets before the present set was first written without a reply.
    doubt: Option<u64>,
    current: Option<i128>,
}

impl Sequence {
    /// Makes a new session. Its first write creates the sequence.
    pub const fn new(rules: Rules) -> Self {
        Self { rules, block: None, seen: None, asked: None, doubt: None, current: None }
    }

    /// Returns the definition of the sequence.
    pub const fn rules(&self) -> &Rules {
        &self.rules
    }

    /// Runs `nextval`: returns the next value, from the session's block or from a new block.
    ///
    /// Pass `None` on the first call, then the store's reply to the last request. If a reply is lost, or another
    /// session was first, it reads the record again. The values of a write without a reply are never handed out, since
    /// another session may have written the same record. The caller decides when to give up.
    ///
    /// # Errors
    /// `Exhausted` without a time to retry, if the sequence has reached its bound and does not cycle; `InvalidId`, if
    /// the record lies outside the bounds because another definition wrote it; `StoreUnavailable`, if its value is
    /// impossible. A refused call changes nothing.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::sequence::{Options, Rules, Sequence};
    /// use snowmint_core::store::{Ask, Next, Reply};
    /// let mut sequence = Sequence::new(Rules::new(&Options { cache: Some(2), ..Options::DEFAULT })?);
    /// assert_eq!(sequence.next(None)?, Next::Ask(Ask::Read));
    /// let Next::Ask(Ask::Write(state, 0)) = sequence.next(Some(Reply::Record(None, 0)))? else { panic!("a write") };
    /// assert_eq!(state.last, 2, "a block of two values");
    /// assert_eq!(sequence.next(Some(Reply::Written(1)))?, Next::Done(1));
    /// assert_eq!(sequence.next(None)?, Next::Done(2), "from memory");
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub fn next(&mut self, reply: Option<Reply<State>>) -> Result<Next<i128, State>, Error> {
        self.next_of(1, reply)
    }

    /// Runs `nextval` as [`Sequence::next`] does, for one of `calls` calls that wait at the same time: a new block has a value for
    /// each of them, so that they share one write.
    ///
    /// # Errors
    /// As [`Sequence::next`].
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::sequence::{Options, Rules, Sequence};
    /// use snowmint_core::store::{Ask, Next, Reply};
    /// let mut sequence = Sequence::new(Rules::new(&Options::DEFAULT)?);
    /// let Next::Ask(Ask::Write(state, 0)) = sequence.next_of(3, Some(Reply::Record(None, 0)))? else { panic!("a write") };
    /// assert_eq!(state.last, 3, "the cache is one value");
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub fn next_of(&mut self, calls: u64, reply: Option<Reply<State>>) -> Result<Next<i128, State>, Error> {
        match (reply, self.asked.take()) {
            (None, _) => {
                if let Some(value) = self.take() {
                    return Ok(Next::Done(value));
                }
                // A record seen earlier saves a read, but an error needs a new read.
                let written = self.seen.and_then(|(state, version)| self.reserve(&state, version, calls).ok());
                Ok(written.unwrap_or(Next::Ask(Ask::Read)))
            }
            (Some(Reply::Record(state, version)), _) => {
                let state = self.record(state)?;
                self.reserve(&state, version, calls).inspect_err(|error| {
                    // After a NEXTVAL past the bound, MariaDB's LASTVAL is NULL.
                    if self.rules.dialect() == Dialect::Mariadb && error.kind() == ErrorKind::Exhausted {
                        self.current = None;
                    }
                })
            }
            (Some(Reply::Written(version)), Some(Asked::Block(first, state))) => {
                let at = State { last: first, is_called: false, ..state };
                self.block = Some(Block { at, end: self.rules.next_at(&state), version });
                self.seen = Some((state, version));
                Ok(self.take().map_or(Next::Ask(Ask::Read), Next::Done))
            }
            (Some(_), _) => Ok(self.read_again()),
        }
    }

    /// Runs `currval` (`pg`) or `LASTVAL` (`mariadb`, `tidb`): returns the last value that this session took.
    ///
    /// In `pg` a set of this session counts too, unless its `is_called` is false.
    ///
    /// # Errors
    /// `InvalidId` in `pg`, if the session has taken no value. The other dialects return `None` then.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::sequence::{Dialect, Options, Rules, Sequence};
    /// let pg = Sequence::new(Rules::new(&Options::DEFAULT)?);
    /// assert!(pg.current().is_err(), "the session has taken no value");
    /// let mariadb = Sequence::new(Rules::new(&Options { dialect: Dialect::Mariadb, ..Options::DEFAULT })?);
    /// assert_eq!(mariadb.current()?, None);
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub fn current(&self) -> Result<Option<i128>, Error> {
        match (self.rules.dialect(), self.current) {
            (Dialect::Pg, None) => Err(Error::plain(What::SequenceUnused)),
            (_, current) => Ok(current),
        }
    }

    /// Runs `setval`: sets the position of the sequence by the rules of the [dialect](Dialect). Returns the value, or
    /// `None` if nothing was changed.
    ///
    /// Pass replies as to [`Sequence::next`]. Other sessions see the set when their blocks are used up. In `mariadb`
    /// and `tidb` every later value of this session is past the set value until the sequence cycles, even if the set
    /// changed nothing.
    ///
    /// If the reply to the write was lost, a read finds out whether it was done. In `pg` the set takes effect once; if
    /// another session's set came in between, that set counts as the later one. The other dialects write again, which
    /// cannot lower the sequence.
    ///
    /// # Errors
    /// `InvalidId` for a value outside the bounds (`pg`) or the type (all), and for arguments that the dialect does not
    /// have; `Exhausted` for a later round of a sequence that does not cycle (`mariadb`).
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::sequence::{Options, Rules, Sequence, Set};
    /// use snowmint_core::store::{Ask, Next, Reply};
    /// let mut sequence = Sequence::new(Rules::new(&Options::DEFAULT)?);
    /// let set = Set::to(20);
    /// assert_eq!(sequence.set(&set, None)?, Next::Ask(Ask::Read));
    /// let write = sequence.set(&set, Some(Reply::Record(None, 0)))?;
    /// assert!(matches!(write, Next::Ask(Ask::Write(state, 0)) if state.last == 20 && state.is_called));
    /// assert_eq!(sequence.set(&set, Some(Reply::Written(1)))?, Next::Done(Some(20)));
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub fn set(&mut self, set: &Set, reply: Option<Reply<State>>) -> Result<Next<Option<i128>, State>, Error> {
        self.rules.check(set)?;
        let Some(value) = set.value else { return Ok(Next::Done(None)) };
        match (reply, self.asked.take()) {
            (None, _) => self.begin(value, set),
            (Some(Reply::Record(state, version)), _) => {
                let state = self.record(state)?;
                self.decide(value, set, &state, version)
            }
            (Some(Reply::Written(version)), Some(Asked::Set(state))) => {
                self.seen = Some((state, version));
                Ok(self.done(value, set))
            }
            (Some(Reply::Unknown), Some(Asked::Set(state))) => {
                self.doubt = self.doubt.or(state.sets.checked_sub(1));
                Ok(self.read_again())
            }
            (Some(_), _) => Ok(self.read_again()),
        }
    }

    /// Runs `DISCARD SEQUENCES`: forgets the session's block and its last value. The rest of the block is skipped.
    ///
    /// A driver calls it in a forked child, which would repeat its parent's values otherwise.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::sequence::{Options, Rules, Sequence};
    /// use snowmint_core::store::{Ask, Next, Reply};
    /// let mut sequence = Sequence::new(Rules::new(&Options { cache: Some(2), ..Options::DEFAULT })?);
    /// sequence.next(Some(Reply::Record(None, 0)))?;
    /// assert_eq!(sequence.next(Some(Reply::Written(1)))?, Next::Done(1));
    /// sequence.discard();
    /// // The value 2 is skipped.
    /// assert_eq!(sequence.next(None)?, Next::Ask(Ask::Read));
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub const fn discard(&mut self) {
        *self = Self::new(self.rules);
    }

    /// Skips the rest of the block. A sequence without a cache hands out values in the order of all calls, also the
    /// calls of other sessions. So if callers give up a call, a later call must not get the value that is left.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::sequence::{Options, Rules, Sequence};
    /// use snowmint_core::store::{Ask, Next, Reply};
    /// let mut sequence = Sequence::new(Rules::new(&Options::DEFAULT)?);
    /// sequence.next_of(3, Some(Reply::Record(None, 0)))?;
    /// assert_eq!(sequence.next(Some(Reply::Written(1)))?, Next::Done(1));
    /// sequence.skip_block();
    /// assert!(matches!(sequence.next(None)?, Next::Ask(Ask::Write(state, 1)) if state.last == 4));
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub fn skip_block(&mut self) {
        self.block = self.block.map(|block| Block { end: self.rules.next_at(&block.at), ..block });
    }

    /// Notes a value that a service gave to this session: the service runs the machine, and [`Sequence::current`] and [`lastval`]
    /// answer here.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::sequence::{Options, Rules, Sequence, lastval};
    /// let mut sequence = Sequence::new(Rules::new(&Options::DEFAULT)?);
    /// assert!(sequence.current().is_err(), "no value yet");
    /// sequence.note(42);
    /// assert_eq!((sequence.current()?, lastval(Some(&sequence))?), (Some(42), 42));
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub const fn note(&mut self, value: i128) {
        self.current = Some(value);
    }

    /// Returns the first and the last value of the block that the request under way reserves. `None` for another request.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::sequence::{Options, Rules, Sequence};
    /// use snowmint_core::store::{Ask, Next, Reply};
    ///
    /// let mut sequence = Sequence::new(Rules::new(&Options { cache: Some(5), ..Options::DEFAULT })?);
    /// assert_eq!(sequence.next(None)?, Next::Ask(Ask::Read));
    /// assert_eq!(sequence.reserving(), None);
    /// let Next::Ask(Ask::Write(..)) = sequence.next(Some(Reply::Record(None, 0)))? else { panic!("a block") };
    /// assert_eq!(sequence.reserving(), Some((1, 5)));
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub const fn reserving(&self) -> Option<(i128, i128)> {
        match self.asked {
            Some(Asked::Block(first, state)) => Some((first, state.last)),
            _ => None,
        }
    }

    /// Takes the next value of the block.
    fn take(&mut self) -> Option<i128> {
        let block = self.block.as_mut()?;
        let value = self.rules.next_at(&block.at);
        if !self.rules.is_past(block.end, value) {
            return None;
        }
        block.at = State { last: value, is_called: true, ..block.at };
        self.current = Some(value);
        Some(value)
    }

    fn record(&self, found: Option<State>) -> Result<State, Error> {
        let state = found.unwrap_or(self.rules.initial());
        if kind::possible(state.last) { Ok(state) } else { Err(Error::plain(What::NoRecord)) }
    }

    /// Returns the position of the sequence, if its record is `state`.
    fn position(&self, state: &State, version: Version) -> State {
        match self.block {
            // A set within the block may have led past the record; it counts if no other session has written since.
            Some(Block { at, version: reserved, .. })
                if reserved == version && self.rules.is_past(self.rules.next_at(&at), self.rules.next_at(state)) =>
            {
                State { sets: state.sets, ..at }
            }
            _ => *state,
        }
    }

    fn reserve(&mut self, state: &State, version: Version, calls: u64) -> Result<Next<i128, State>, Error> {
        let rules = &self.rules;
        let mut at = self.position(state, version);
        let mut first = rules.next_at(&at);
        if rules.is_past(first, rules.bound()) {
            if !rules.cycle() {
                return Err(rules.over());
            }
            first = rules.first();
            at.round = at.round.saturating_add(1);
        }
        if rules.is_past(rules.first(), first) {
            return Err(Integer::from(first).refused(What::SequenceValue, 0));
        }
        // A block ends at the bound: it never has values of two rounds.
        let room = (rules.bound() - first) / rules.increment();
        let last = first + room.min(rules.cache().max(calls.into()) - 1) * rules.increment();
        let state = State { last, is_called: true, ..at };
        self.asked = Some(Asked::Block(first, state));
        Ok(Next::Ask(Ask::Write(state, version)))
    }

    fn begin(&mut self, value: i128, set: &Set) -> Result<Next<Option<i128>, State>, Error> {
        self.doubt = None;
        let Some(block) = self.block.filter(|_| self.rules.dialect() != Dialect::Pg) else {
            self.block = None;
            return Ok(Next::Ask(Ask::Read));
        };
        let Some(moved) = self.rules.set(&block.at, value, set)? else { return Ok(Next::Done(None)) };
        let left = self.rules.is_past(block.end, self.rules.next_at(&block.at));
        if left && moved.round == block.at.round && !self.rules.is_past(self.rules.next_at(&moved), block.end) {
            self.block = Some(Block { at: moved, ..block });
            return Ok(Next::Done(Some(value)));
        }
        // The rest of the block is not past the value.
        self.skip_block();
        Ok(Next::Ask(Ask::Read))
    }

    fn decide(
        &mut self,
        value: i128,
        set: &Set,
        state: &State,
        version: Version,
    ) -> Result<Next<Option<i128>, State>, Error> {
        self.seen = Some((*state, version));
        let at = self.position(state, version);
        // If a set was done since, it was this set, or another session's set, which counts as the later one.
        let done = self.doubt.is_some_and(|sets| state.sets > sets);
        let moved = match self.rules.set(&at, value, set) {
            Ok(_) if done && self.rules.dialect() == Dialect::Pg => return Ok(self.done(value, set)),
            Ok(None) if done => return Ok(self.done(value, set)),
            Ok(None) => return Ok(Next::Done(None)),
            Ok(Some(moved)) if moved == at && self.rules.dialect() != Dialect::Pg => return Ok(self.done(value, set)),
            Ok(Some(moved)) => moved,
            Err(error) => return Err(error),
        };
        let moved = State { sets: state.sets.saturating_add(1), ..moved };
        self.asked = Some(Asked::Set(moved));
        Ok(Next::Ask(Ask::Write(moved, version)))
    }

    fn done(&mut self, value: i128, set: &Set) -> Next<Option<i128>, State> {
        if self.rules.dialect() == Dialect::Pg && set.is_called.unwrap_or(true) {
            self.current = Some(value);
        }
        Next::Done(Some(value))
    }

    fn read_again<T>(&mut self) -> Next<T, State> {
        self.seen = None;
        Next::Ask(Ask::Read)
    }
}

/// Runs `lastval()`: returns the last value of the sequence that a session used last.
///
/// The driver defines a session: a connection, a thread, an object. It remembers the sequence whose [`Sequence::next`]
/// returned a value last, and passes it here. As in `PostgreSQL` the result follows a later set of that sequence, but
/// of no other sequence.
///
/// # Errors
/// `InvalidId`, if the session has taken no value.
///
/// # Examples
/// ```
/// use snowmint_core::{ErrorKind, sequence::lastval};
/// assert_eq!(lastval(None).unwrap_err().kind(), ErrorKind::InvalidId);
/// ```
pub fn lastval(last_used: Option<&Sequence>) -> Result<i128, Error> {
    last_used.and_then(|sequence| sequence.current).ok_or(Error::plain(What::SequenceUnused))
}
