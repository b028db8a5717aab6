//! Every way to fail, as one small value: a kind, a code that is the same in every language, and a sentence.

use core::fmt;

use crate::integer::Integer;
use crate::layout::Field;
use crate::text::TextForm;
use crate::{layouts, print, time};

/// What went wrong, without the particulars.
///
/// [`ErrorKind::code`] is the same upper-case word in Rust, Python, JavaScript, HTTP and on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The IDs that the clock allows so far are used up; [`Error::retry_after_ms`] tells when there are more.
    Exhausted,
    /// The clock reads earlier than the last ID by more than `max_ahead_ms`; [`Error::by_ms`] tells how much.
    ClockBackwards,
    /// The generator was closed, or its window of time is over.
    WindowClosed,
    /// The layout cannot represent a time that late.
    TimeOverflow,
    /// The layout cannot represent a time that early.
    BeforeEpoch,
    /// A layout text or a combination of fields that breaks a rule, or an unknown preset.
    InvalidLayout,
    /// A node number or node field that the layout does not have room for.
    InvalidNode,
    /// An ID, or a part of one, that the layout cannot have minted.
    InvalidId,
    /// The text form of an ID is malformed.
    InvalidText,
    /// Every node of the namespace is taken.
    NodesExhausted,
    /// The store cannot be reached or used.
    StoreUnavailable,
    /// The store's settings would let acknowledged writes vanish.
    UnsafeStore,
    /// The process was forked, and this generator belongs to the parent.
    Forked,
}

impl ErrorKind {
    /// Every kind, in the order of the documentation.
    pub const ALL: [Self; 13] = [
        Self::Exhausted,
        Self::ClockBackwards,
        Self::WindowClosed,
        Self::TimeOverflow,
        Self::BeforeEpoch,
        Self::InvalidLayout,
        Self::InvalidNode,
        Self::InvalidId,
        Self::InvalidText,
        Self::NodesExhausted,
        Self::StoreUnavailable,
        Self::UnsafeStore,
        Self::Forked,
    ];

    /// The code of this kind in every language, such as `"CLOCK_BACKWARDS"`.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Exhausted => "EXHAUSTED",
            Self::ClockBackwards => "CLOCK_BACKWARDS",
            Self::WindowClosed => "WINDOW_CLOSED",
            Self::TimeOverflow => "TIME_OVERFLOW",
            Self::BeforeEpoch => "BEFORE_EPOCH",
            Self::InvalidLayout => "INVALID_LAYOUT",
            Self::InvalidNode => "INVALID_NODE",
            Self::InvalidId => "INVALID_ID",
            Self::InvalidText => "INVALID_TEXT",
            Self::NodesExhausted => "NODES_EXHAUSTED",
            Self::StoreUnavailable => "STORE_UNAVAILABLE",
            Self::UnsafeStore => "UNSAFE_STORE",
            Self::Forked => "FORKED",
        }
    }
}

/// Why a call was refused: a [kind](ErrorKind), its numbers, and a sentence that says what would be right.
///
/// # Examples
/// ```
/// use snowmint_core::{ErrorKind, Integer, layouts::TWITTER};
/// let error = TWITTER.node(Integer::from(1024)).unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::InvalidNode);
/// assert_eq!(error.to_string(), "node 1024 does not fit this layout: it takes 0 to 1023");
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Error {
    what: &'static What,
    /// A text form, or how many bits a field has and which sign the number given for it.
    mark: u32,
    numbers: [u64; 2],
}

/// A kind with its sentence, in which these stand for what an error carries:
///
/// | place | shows |
/// | --- | --- |
/// | `{a}` `{b}` | the numbers |
/// | `{t}` `{u}` | the numbers as Unix ms |
/// | `{g}` | the first number with the sign of the mark |
/// | `{m}` | the largest value of a field with the bits of the mark |
/// | `{n}` | the numbers as the 16 characters of a name |
/// | `{f}` | the text form of the mark |
/// | `{p}` | the names of all presets |
///
/// An error is that small because in wasm every function that passes one on copies it word by word.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct What(pub(crate) ErrorKind, pub(crate) &'static str);

const PLUS: u32 = 0;
const MINUS: u32 = 1;
const BEYOND: u32 = 2;

const EXHAUSTED: What = What(
    ErrorKind::Exhausted,
    "all IDs up to now are used up: try again in {a} ms, or raise max_wait_ms or max_ahead_ms",
);
const CLOCK_BACKWARDS: What = What(
    ErrorKind::ClockBackwards,
    "the clock is {a} ms behind the last ID, more than max_ahead_ms: wait until it has caught up",
);
const BEFORE_EPOCH: What = What(ErrorKind::BeforeEpoch, "{t} is before the layout's epoch, {u}");
const TIME_OVERFLOW: What =
    What(ErrorKind::TimeOverflow, "{t} is past the layout's last tick, {u}: choose a layout with a later end");
const USED_UP: What = What(
    ErrorKind::TimeOverflow,
    "this is more than the layout has room for until its last tick, {t}: choose a layout with a later end",
);
const CLOSED: What = What(ErrorKind::WindowClosed, "this generator is closed: make a new one");
const NODE_NEEDED: What = What(
    ErrorKind::InvalidNode,
    "no node: pass node, a number that no other generator of this layout uses, or set SNOWMINT_NODE",
);

impl Error {
    // Kept out of line: a call is a fifth of the size of what it does, and there are dozens.
    #[cold]
    #[inline(never)]
    pub(crate) const fn new(what: &'static What, mark: u32, numbers: [u64; 2]) -> Self {
        Self { what, mark, numbers }
    }

    pub(crate) const fn plain(what: &'static What) -> Self {
        Self::new(what, 0, [0; 2])
    }

    /// About a field, of which at most 16 characters are shown.
    pub(crate) fn named(what: &'static What, name: &[u8], width: u32) -> Self {
        let mut bytes = [0; 16];
        bytes.iter_mut().zip(name).for_each(|(place, byte)| *place = *byte);
        let numbers = u128::from_le_bytes(bytes);
        Self::new(what, width << 2, [numbers as u64, (numbers >> 64) as u64])
    }

    /// `given` does not fit a field of `width` bits.
    #[cold]
    #[inline(never)]
    pub(crate) const fn misfit(what: &'static What, given: Integer, width: u32) -> Self {
        let (sign, magnitude) = match given {
            Integer::Fits(value) => (PLUS, value),
            Integer::Negative(magnitude) => (MINUS, magnitude),
            Integer::Beyond => (BEYOND, 0),
        };
        Self::new(what, (width << 2) | sign, [magnitude, 0])
    }

    pub(crate) const fn exhausted(retry_after_ms: u64) -> Self {
        Self::new(&EXHAUSTED, 0, [retry_after_ms, 0])
    }

    pub(crate) const fn clock_backwards(by_ms: u64) -> Self {
        Self::new(&CLOCK_BACKWARDS, 0, [by_ms, 0])
    }

    pub(crate) const fn before_epoch(at_ms: i64, epoch_ms: i64) -> Self {
        Self::new(&BEFORE_EPOCH, 0, [at_ms.cast_unsigned(), epoch_ms.cast_unsigned()])
    }

    pub(crate) const fn time_overflow(at_ms: i64, ends_at_ms: i64) -> Self {
        Self::new(&TIME_OVERFLOW, 0, [at_ms.cast_unsigned(), ends_at_ms.cast_unsigned()])
    }

    pub(crate) const fn used_up(ends_at_ms: i64) -> Self {
        Self::new(&USED_UP, 0, [ends_at_ms.cast_unsigned(), 0])
    }

    /// The use of a generator after it was closed.
    pub const fn closed() -> Self {
        Self::plain(&CLOSED)
    }

    /// No node was given and none could be found.
    pub const fn node_needed() -> Self {
        Self::plain(&NODE_NEEDED)
    }

    /// What kind of failure this is.
    pub const fn kind(&self) -> ErrorKind {
        self.what.0
    }

    /// The code of the kind, such as `"CLOCK_BACKWARDS"`.
    pub const fn code(&self) -> &'static str {
        self.kind().code()
    }

    /// For [`ErrorKind::Exhausted`]: in how many ms the same call has a chance, 1 or more.
    pub fn retry_after_ms(&self) -> Option<u64> {
        self.wait_ms().filter(|_| self.kind() == ErrorKind::Exhausted)
    }

    /// For [`ErrorKind::ClockBackwards`]: how many ms the clock lies behind the last ID.
    pub fn by_ms(&self) -> Option<u64> {
        self.wait_ms().filter(|_| self.kind() == ErrorKind::ClockBackwards)
    }

    /// How long it would take in ms for the same call to have a chance; `None` if waiting does not help.
    pub const fn wait_ms(&self) -> Option<u64> {
        match self.kind() {
            ErrorKind::Exhausted | ErrorKind::ClockBackwards => Some(self.numbers[0]),
            _ => None,
        }
    }

    /// The sentence, character by character, for hosts without `core::fmt`.
    pub fn write_message(&self, mut put: impl FnMut(char)) {
        let put = &mut put;
        let [a, b] = self.numbers;
        let mut bytes = self.what.1.bytes();
        while let Some(byte) = bytes.next() {
            if byte != b'{' {
                put(char::from(byte));
                continue;
            }
            let place = bytes.next();
            bytes.next();
            match place {
                Some(b'a') => print::unsigned(put, a),
                Some(b'b') => print::unsigned(put, b),
                Some(b't') => time::write_rfc3339(put, a.cast_signed()),
                Some(b'u') => time::write_rfc3339(put, b.cast_signed()),
                Some(b'm') => print::unsigned(put, Field::new(0, self.mark >> 2).max()),
                Some(b'f') => print::text(put, TextForm::ALL[self.mark as usize].name()),
                Some(b'p') => layouts::write_names(put),
                Some(b'n') => {
                    let name = u128::from(a) | (u128::from(b) << 64);
                    let shown = name.to_le_bytes().into_iter().take_while(|byte| *byte != 0);
                    shown.for_each(|byte| put(if byte.is_ascii_graphic() { char::from(byte) } else { '?' }));
                }
                _ if self.mark & 3 == BEYOND => print::text(put, "beyond 64 bits"),
                _ => {
                    print::text(put, if self.mark & 3 == MINUS { "-" } else { "" });
                    print::unsigned(put, a);
                }
            }
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        print::display(f, |put| self.write_message(put))
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Error({}: {self})", self.code())
    }
}

impl core::error::Error for Error {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_a_code_of_its_own() {
        for (i, kind) in ErrorKind::ALL.iter().enumerate() {
            assert!(ErrorKind::ALL[..i].iter().all(|other| other.code() != kind.code()));
        }
    }
}
