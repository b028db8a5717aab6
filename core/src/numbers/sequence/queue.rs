//! A sequence that several calls of one session share. It takes one step at a time.

use super::session::Sequence;
use super::state::State;
use crate::error::Error;
use crate::store::{Ask, Next, Reply};

/// A sequence with the calls that wait for its values. One write serves all calls that have begun before it.
///
/// # Examples
/// ```
/// use snowmint_core::sequence::{Options, Queue, Rules, Sequence};
/// use snowmint_core::store::{Ask, Next, Reply};
/// let mut queue = Queue::new(Sequence::new(Rules::new(&Options::DEFAULT)?));
/// // The calls 0 and 1 have begun, and both wait.
/// assert_eq!(queue.next(0, 2, 2, None)?, Next::Ask(Ask::Read));
/// assert!(matches!(queue.next(0, 2, 2, Some(Reply::Record(None, 0)))?, Next::Ask(Ask::Write(state, 0)) if state.last == 2));
/// assert_eq!(queue.next(0, 2, 2, Some(Reply::Written(1)))?, Next::Done(1));
/// assert_eq!(queue.next(1, 2, 1, None)?, Next::Done(2));
/// # Ok::<(), snowmint_core::Error>(())
/// ```
#[derive(Debug)]
pub struct Queue {
    sequence: Sequence,
    /// The present block is for calls with lower numbers.
    block_for: u64,
}

impl Queue {
    /// Makes the queue of a sequence.
    pub const fn new(sequence: Sequence) -> Self {
        Self { sequence, block_for: 0 }
    }

    /// Returns the sequence.
    pub const fn sequence(&self) -> &Sequence {
        &self.sequence
    }

    /// Returns the sequence.
    pub const fn sequence_mut(&mut self) -> &mut Sequence {
        &mut self.sequence
    }

    /// Advances the call with the number `call`, as [`Sequence::next_of`]. `begun` calls have begun in the session, and `waiting`
    /// of them wait for this sequence, with this one.
    ///
    /// # Errors
    /// As [`Sequence::next`].
    pub fn next(
        &mut self,
        call: u64,
        begun: u64,
        waiting: u64,
        reply: Option<Reply<State>>,
    ) -> Result<Next<i128, State>, Error> {
        // A value that a call has given up must not go to a later call: values without a cache come in the order of calls.
        if call >= self.block_for && self.sequence.rules().cache() == 1 {
            self.sequence.skip_block();
        }
        let next = self.sequence.next_of(waiting, reply)?;
        if let Next::Ask(Ask::Write(..)) = next {
            self.block_for = begun;
        }
        Ok(next)
    }
}
