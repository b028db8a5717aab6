//! Named sequences over a store: `nextval`, `currval`, `lastval` and `setval`, in three [dialects](Dialect).
//!
//! A store keeps one [`State`] for each sequence. A session reserves a block of [`cache`](Rules::cache) values with one
//! write, which replaces the version that the session has seen, and hands the values out from memory once the write is
//! durable. So no value is handed out twice, even if writes or replies are lost, unless a set goes back or the sequence
//! cycles. Values that a session does not use are skipped.
//!
//! | SQL | here | asks the store |
//! | --- | --- | --- |
//! | `nextval(s)`, `NEXT VALUE FOR s` | [`Sequence::next`] | once per block, and again if another session was first |
//! | `currval(s)`; `LASTVAL(s)` of `MariaDB` and `TiDB` | [`Sequence::current`] | never |
//! | `lastval()` | [`lastval`] | never |
//! | `setval(s, ...)` | [`Sequence::set`] | twice; never for a value in the session's block, if the dialect allows it |
//! | `FROM seq_1_to_15_step_3` | [`by_name`] | never |
//!
//! [`Sequence`] is pure. A driver calls a method without a reply, sends the request that it returns to the store, and
//! calls the method again with the reply, until it is done:
//!
//! ```
//! use snowmint_core::sequence::{Options, Rules, Sequence, Set, State};
//! use snowmint_core::store::{Ask, Next, Reply};
//!
//! # struct Store(Option<State>, u64);
//! # impl Store {
//! #     fn answer(&mut self, ask: Ask<State>) -> Reply<State> {
//! #         match ask {
//! #             Ask::Read => Reply::Record(self.0, self.1),
//! #             Ask::Write(state, version) if version == self.1 => {
//! #                 *self = Self(Some(state), version + 1);
//! #                 Reply::Written(version + 1)
//! #             }
//! #             _ => Reply::Conflict,
//! #         }
//! #     }
//! # }
//! # let mut store = Store(None, 0);
//! fn next(sequence: &mut Sequence, store: &mut Store) -> Result<i128, snowmint_core::Error> {
//!     let mut reply = None;
//!     loop {
//!         match sequence.next(reply)? {
//!             Next::Done(value) => return Ok(value),
//!             Next::Ask(ask) => reply = Some(store.answer(ask)),
//!         }
//!     }
//! }
//! let mut sequence = Sequence::new(Rules::new(&Options { start: Some(3), increment: 2, ..Options::DEFAULT })?);
//! assert_eq!(next(&mut sequence, &mut store)?, 3);
//! assert_eq!(next(&mut sequence, &mut store)?, 5);
//! assert_eq!(sequence.current()?, Some(5));
//! # Ok::<(), snowmint_core::Error>(())
//! ```

/// The pause after a request without an answer, in ms.
pub const RETRY_MS: u64 = 50;

mod by_name;
mod definition;
mod dialect;
mod kind;
mod options;
mod queue;
mod session;
mod setval;
mod state;

pub use self::by_name::{Range, by_name};
pub use self::dialect::Dialect;
pub use self::kind::Kind;
pub use self::options::{Options, Rules};
pub use self::queue::Queue;
pub use self::session::{Sequence, lastval};
pub use self::setval::Set;
pub use self::state::{STATE_BYTES, State};
