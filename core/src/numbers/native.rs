//! The sequences of a database, as sources of numbers: the state that a driver reads, and the reasons to refuse a
//! sequence.
//!
//! Other sessions may use such a sequence at the same time. A driver reads its [`State`], asks for as many numbers as
//! [`State::room`] allows, and for [`fewer`] if the sequence has less.

use core::fmt;

use crate::durability::{Accepting, Engine, Refusal};
use crate::error::ErrorKind;
use crate::forms::shown::Shown;

/// The largest number of numbers that one request takes.
pub const MAX_NUMBERS: u64 = 100_000;
/// The rule of [`is_name`].
pub const NAME_RULE: &str =
    "the name of a table or sequence must be 1 to 64 of A-Z a-z 0-9 _ $, without a leading digit or $";
const MAX_NAME_BYTES: usize = 64;

/// Returns whether a name is safe between quotes of any kind. Not each name that databases allow is.
///
/// # Examples
/// ```
/// use snowmint_core::native::is_name;
/// assert!(is_name("invoices_id_seq") && !is_name("a\"b"));
/// ```
pub fn is_name(name: &str) -> bool {
    let letter = |byte: u8| byte.is_ascii_alphabetic() || byte == b'_';
    (1..=MAX_NAME_BYTES).contains(&name.len())
        && name.bytes().next().is_some_and(letter)
        && name.bytes().all(|byte| letter(byte) || byte.is_ascii_digit() || byte == b'$')
}

/// The state of a sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State<'a> {
    /// The last number, or the next one if it is not called. A cache may hold lower ones.
    pub value: i64,
    /// Whether `value` has been taken.
    pub is_called: bool,
    /// The difference of a number to the next.
    pub increment: i64,
    /// The lowest number.
    pub min: i64,
    /// The highest number.
    pub max: i64,
    /// Whether the sequence begins again after its last number.
    pub cycles: bool,
    /// How the database keeps it: `relpersistence` of `PostgreSQL`, the storage engine of `MariaDB`.
    pub kept: &'a str,
}

impl<'a> State<'a> {
    /// Reads a state from the columns of a row, as texts. Booleans are 0 and 1. `None` for other texts.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::native::State;
    /// let state = State::read(["7", "1", "1", "1", "100", "0", "p"]).expect("a row");
    /// assert_eq!((state.value, state.is_called, state.max), (7, true, 100));
    /// ```
    pub fn read([value, is_called, increment, min, max, cycles, kept]: [&'a str; 7]) -> Option<Self> {
        let number = |text: &str| text.parse::<i64>().ok();
        Some(Self {
            value: number(value)?,
            is_called: number(is_called)? != 0,
            increment: number(increment)?,
            min: number(min)?,
            max: number(max)?,
            cycles: number(cycles)? != 0,
            kept,
        })
    }

    /// Limits `count` to the numbers that are left, at least 1. A request that fails midway would lose its first numbers.
    ///
    /// 1 is always worth a try, as caches may hold numbers after the last one of the state.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::native::State;
    /// let state = State::read(["7", "1", "1", "1", "10", "0", "p"]).expect("a row");
    /// assert_eq!((state.room(2), state.room(100)), (2, 3));
    /// ```
    pub fn room(&self, count: u64) -> u64 {
        let (value, increment) = (i128::from(self.value), i128::from(self.increment));
        let next = if self.is_called { value + increment } else { value };
        let room = match increment {
            1.. => (i128::from(self.max) - next).div_euclid(increment) + 1,
            ..0 => (next - i128::from(self.min)).div_euclid(-increment) + 1,
            0 => 1,
        };
        u64::try_from(room.min(count.min(MAX_NUMBERS).into())).unwrap_or(1).max(1)
    }

    /// Returns why the numbers of the sequence could repeat.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::durability::Engine;
    /// use snowmint_core::native::{State, Unfit};
    /// let state = State::read(["7", "1", "1", "1", "100", "1", "p"]).expect("a row");
    /// assert_eq!(state.refuse(Engine::Postgres), Some(Unfit::Cycles));
    /// ```
    pub fn refuse(&self, engine: Engine) -> Option<Unfit<'a>> {
        match engine {
            Engine::Postgres if self.kept != "p" => Some(Unfit::Unlogged(self.kept)),
            Engine::Mysql if !self.kept.eq_ignore_ascii_case("InnoDB") => Some(Unfit::OfEngine(self.kept)),
            _ if self.cycles => Some(Unfit::Cycles),
            _ => None,
        }
    }
}

/// Returns how many numbers to request next, after the sequence had fewer than `count`: 1, as other sessions may have
/// taken some meanwhile. `None` after a request for a single number: the sequence has run out.
///
/// # Examples
/// ```
/// use snowmint_core::native::fewer;
/// assert_eq!((fewer(100), fewer(1)), (Some(1), None));
/// ```
pub const fn fewer(count: u64) -> Option<u64> {
    if count > 1 { Some(1) } else { None }
}

/// Why a sequence serves no numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unfit<'a> {
    /// The database does not support sequences.
    NoSequences,
    /// The name is not safe between quotes.
    NotName,
    /// The database has no sequence with this name.
    Missing,
    /// The object with this name is not a sequence.
    NotSequence,
    /// It begins again after its last number.
    Cycles,
    /// A crash empties it: its `relpersistence` in `PostgreSQL`.
    Unlogged(&'a str),
    /// A crash may undo its last writes: its storage engine in `MariaDB`.
    OfEngine(&'a str),
}

impl Unfit<'_> {
    /// Returns the engine of a store that may have a sequence of this name.
    ///
    /// # Errors
    /// [`Unfit::NoSequences`] for another store, [`Unfit::NotName`] for a name that is not safe between quotes.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::durability::Engine;
    /// use snowmint_core::native::Unfit;
    /// assert_eq!(Unfit::named(Some(Engine::Mysql), "orders"), Ok(Engine::Mysql));
    /// assert_eq!(Unfit::named(Some(Engine::Sqlite), "orders"), Err(Unfit::NoSequences));
    /// ```
    pub fn named(engine: Option<Engine>, name: &str) -> Result<Engine, Self> {
        match engine {
            Some(engine @ (Engine::Postgres | Engine::Mysql)) if is_name(name) => Ok(engine),
            Some(Engine::Postgres | Engine::Mysql) => Err(Self::NotName),
            _ => Err(Self::NoSequences),
        }
    }

    /// Returns why an object of a database is not a sequence, judging by the server's version and the object's type.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::durability::Engine;
    /// use snowmint_core::native::Unfit;
    /// assert_eq!(Unfit::object(Engine::Mysql, "10.11.6-MariaDB", Some("SEQUENCE")), None);
    /// assert_eq!(Unfit::object(Engine::Mysql, "8.0.36", None), Some(Unfit::NoSequences));
    /// ```
    pub fn object(engine: Engine, version: &str, kind: Option<&str>) -> Option<Self> {
        match kind {
            // MySQL has none.
            _ if engine == Engine::Mysql && !version.contains("MariaDB") => Some(Self::NoSequences),
            None => Some(Self::Missing),
            Some("SEQUENCE") => None,
            Some(_) => Some(Self::NotSequence),
        }
    }

    /// Returns the kind of the error.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::ErrorKind;
    /// use snowmint_core::native::Unfit;
    /// assert_eq!(Unfit::Cycles.kind(), ErrorKind::UnsafeStore);
    /// ```
    pub const fn kind(&self) -> ErrorKind {
        match self {
            Self::NoSequences | Self::NotName | Self::Missing | Self::NotSequence => ErrorKind::InvalidStore,
            Self::Cycles | Self::Unlogged(_) | Self::OfEngine(_) => ErrorKind::UnsafeStore,
        }
    }

    /// Returns the message of the error, for a sequence of this name.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::durability::{Accepting, Engine};
    /// use snowmint_core::native::Unfit;
    /// let message = Unfit::Cycles.message(Engine::Postgres, "orders", &Accepting::URL).to_string();
    /// assert!(message.contains("ALTER SEQUENCE \"orders\" NO CYCLE, or pass allow_unsafe=true"));
    /// ```
    pub const fn message<'a>(self, engine: Engine, name: &'a str, accepting: &Accepting) -> impl fmt::Display + 'a
    where
        Self: 'a,
    {
        Message { unfit: self, name: Quoted { engine, name }, option: accepting.lossy }
    }
}

/// A name between the quotes of a database.
#[derive(Clone, Copy)]
struct Quoted<'a> {
    engine: Engine,
    name: &'a str,
}

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let quote = if self.engine == Engine::Mysql { '`' } else { '"' };
        write!(f, "{quote}{}{quote}", self.name)
    }
}

struct Message<'a> {
    unfit: Unfit<'a>,
    name: Quoted<'a>,
    option: &'static str,
}

impl fmt::Display for Message<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { unfit, name, option } = *self;
        let refusal = |found, cure| Refusal::<fmt::Arguments<'_>, fmt::Arguments<'_>> { found, cure, option };
        match unfit {
            Unfit::NoSequences => {
                f.write_str("it has no sequences, only PostgreSQL and MariaDB have: use a counter or tickets")
            }
            Unfit::NotName => write!(f, "{NAME_RULE}, not \"{}\"", Shown(name.name)),
            Unfit::Missing => f.write_str("there is no such sequence: CREATE SEQUENCE makes it"),
            Unfit::NotSequence => f.write_str("it is not a sequence"),
            Unfit::Cycles => {
                write!(f, "it has CYCLE, so its numbers repeat: ALTER SEQUENCE {name} NO CYCLE, or pass {option}")
            }
            Unfit::Unlogged("t") => refusal(
                format_args!("the sequence {name} is temporary"),
                format_args!("drop it and make a permanent sequence"),
            )
            .fmt(f),
            Unfit::Unlogged(_) => refusal(
                format_args!("the sequence {name} is unlogged"),
                format_args!("ALTER SEQUENCE {name} SET LOGGED"),
            )
            .fmt(f),
            Unfit::OfEngine(engine) => refusal(
                format_args!("the sequence {name} has ENGINE={engine}"),
                format_args!("ALTER TABLE {name} ENGINE=InnoDB"),
            )
            .fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn room(count: u64, value: i64, increment: i64, min: i64, max: i64) -> u64 {
        State { value, is_called: false, increment, min, max, cycles: false, kept: "p" }.room(count)
    }

    #[test]
    fn the_room_of_a_sequence_includes_both_ends() {
        assert_eq!(room(10, 1, 1, 1, 3), 3);
        assert_eq!(room(2, 1, 1, 1, 3), 2);
        assert_eq!(room(10, 4, 1, 1, 3), 1, "a cache may hold more");
        assert_eq!(room(10, 1, 5, 1, 11), 3);
        assert_eq!(room(10, -1, -2, -5, -1), 3);
        assert_eq!(room(10, i64::MAX, 1, 1, i64::MAX), 1);
        assert_eq!(room(0, i64::MIN, 1, i64::MIN, i64::MAX), 1);
        assert_eq!(room(u64::MAX, 1, 1, 1, i64::MAX), 100_000);
        assert_eq!(room(10, 1, 0, 1, 100), 1);
    }

    #[test]
    fn the_last_number_leaves_no_room_behind_it() {
        let state =
            State::read(["9223372036854775807", "1", "1", "1", "9223372036854775807", "0", "p"]).expect("a row");
        assert_eq!(state.room(10), 1);
        assert_eq!(State::read(["", "1", "1", "1", "9", "0", "p"]), None);
    }

    #[test]
    fn a_sequence_that_a_crash_empties_is_unfit() {
        let kept = |engine, kept| {
            State { kept, ..State::read(["1", "0", "1", "1", "9", "0", ""]).expect("a row") }.refuse(engine)
        };
        assert_eq!(kept(Engine::Postgres, "u"), Some(Unfit::Unlogged("u")));
        assert_eq!(kept(Engine::Mysql, "MyISAM"), Some(Unfit::OfEngine("MyISAM")));
        assert_eq!((kept(Engine::Postgres, "p"), kept(Engine::Mysql, "innodb")), (None, None));
    }

    #[test]
    fn names_that_could_end_their_quotes_are_refused() {
        for name in ["", "1a", "$a", "a b", "a\"b", "a`b", "a;b", "a.b", "\u{e4}", &["a"; 65].concat()] {
            assert!(!is_name(name), "{name}");
        }
        for name in ["Tickets64", "_", "a$1", &["a"; 64].concat()] {
            assert!(is_name(name), "{name}");
        }
    }
}
