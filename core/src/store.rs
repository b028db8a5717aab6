//! What the machines of this crate ask of a store, and what it answers.
//!
//! A machine ([`sequence`](crate::sequence), [`segment`](crate::segment), [`section`](crate::section) and so on) is pure:
//! it tells what it wants next, and is told what came of it. Who drives it, in whatever language, knows the store and
//! the key. Whatever a store confirms is durable before it answers.

/// The version of a record. Each write makes another one, greater than 0; 0 is that of a record that is not there.
pub type Version = u64;

/// What a machine wants of its store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ask<R> {
    /// Its record: [`Reply::Record`].
    Read,
    /// This record in the place of the one of that version, if that is still there: [`Reply::Written`] or
    /// [`Reply::Conflict`].
    Write(R, Version),
    /// Its counter raised by so much: [`Reply::Sum`].
    Add(u64),
}

/// What came of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply<R> {
    /// The record and its version; nothing and 0 if there is none.
    Record(Option<R>, Version),
    /// It is written, and durable.
    Written(Version),
    /// Another record is there: nothing was written.
    Conflict,
    /// The counter after it was raised, durable.
    Sum(u64),
    /// The counter has no room for so much more, and stays as it is.
    Full,
    /// There was no answer, so it may have been done or not.
    Unknown,
}

/// How it goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next<T, R> {
    /// This is the answer.
    Done(T),
    /// The store has to be asked first.
    Ask(Ask<R>),
}
