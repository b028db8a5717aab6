//! The sentences of errors.

use core::fmt::{self, Write};

use super::{BEYOND, Error, MINUS, What};
use crate::text::TextForm;
use crate::{layouts, time};

/// Returns the sentence of an error. It contains places, which stand for the numbers and the mark of the error:
///
/// | place | shows |
/// | --- | --- |
/// | `{a}` `{b}` | the numbers |
/// | `{t}` `{u}` | the numbers as Unix ms |
/// | `{g}` | the first number with the sign of the mark |
/// | `{m}` | the largest value of a field with the bits of the mark |
/// | `{n}` | the numbers as the 16 characters of a name |
/// | `{f}` | the text form of the mark |
/// | `{k}` | the mark as a number |
/// | `{p}` | the names of all presets |
#[allow(clippy::too_many_lines, reason = "each reason has one line")]
const fn sentence(what: What) -> &'static str {
    match what {
        What::Exhausted => "no ID is free now: retry in {a} ms, or raise max_wait_ms or max_ahead_ms",
        What::BatchExhausted => "the batch is free in {a} ms: ask for fewer IDs, or raise max_wait_ms or max_ahead_ms",
        What::ClockBackwards => "the clock is {a} ms behind the last ID: wait, or raise max_ahead_ms",
        What::Closed => "the generator is closed: make a new one",
        What::WindowOver => "the generator's window has ended and is not renewed yet: try again",
        What::Forked => "this generator belongs to the parent of this forked process: make one here, with another node",
        What::TimeOverflow => "{t} is after the layout's last tick, {u}",
        What::UsedUp => "the layout has no tick after {t}",
        What::BeforeEpoch => "{t} is before the layout's epoch, {u}",
        What::Preset => {
            "no such preset: choose {p}, or write a layout such as time:41,node:10,sequence:12;epoch=1735689600000;tick=1ms"
        }
        What::Grammar => {
            "layout text, character {a}: expected name:bits,name:bits;epoch=Unix ms or RFC 3339;tick=10ms or 1s"
        }
        What::FieldCount => "a layout has at most 16 fields",
        What::FieldName => "a field name has 1 to 23 characters: a-z, then a-z, 0-9 or _",
        What::FieldBits => "a field has at least 1 bit, and a layout at most 64",
        What::SameName => "two fields of the layout have the same name",
        What::UnusedFirst => "only the first field of a layout can be unused",
        What::NoTime => "a layout needs a field named time",
        What::NodeBits => "all node fields together have at most 32 bits",
        What::Epoch => "an epoch lies within 2^53-1 ms of 1970",
        What::Tick => "a tick is 1 to 2^53-1 ms long",
        What::TooLate => "the layout ends after the year 292 million: use fewer time bits",
        What::WindowLength => {
            "window_ms must be at least {a} for this layout, and at most 3600000 with max_ahead_ms added, not {b}"
        }
        What::TimeFirst => "an ID range needs a layout whose first field is time",
        What::Node => "node {g} does not fit this layout: it takes 0 to {m}",
        What::NodeField => "{n} does not fit this layout: it takes 0 to {m}",
        What::NodeMissing => "{n} is missing: give every node field of this layout, or one number",
        What::NodeUnknown => "{n} is not a node field of this layout, or is given twice",
        What::NodeText => "a node is a number such as 5, or fields such as datacenter=0,worker=5",
        What::Id => "an ID is an integer from -2^63 to 2^64-1",
        What::IdBits => "the ID has more than the {a} bits of this layout",
        What::IdUnused => "the ID sets a bit that is unused in this layout",
        What::Sequence => "sequence {g} does not fit this layout: it takes 0 to {m}",
        What::Random => "random {g} does not fit this layout: it takes 0 to {m}",
        What::Batch => "a batch takes 0 to 16777216 IDs, not {g}",
        What::Form => "no such text form: choose decimal, hex, base32, base36, base58 or base62",
        What::Length => "{f} takes {a} characters, not {b}",
        What::Character => "character {a} is not valid in {f}",
        What::Overflow => "the number in {f} is above 2^64-1",
        What::UuidText => {
            "a UUID has 32 hexadecimal digits, with hyphens as in 123e4567-e89b-12d3-a456-426614174000 or without"
        }
        What::UlidText => "a ULID has 26 characters of Crockford's base 32, the first of them 0 to 7",
        What::ObjectIdText => "an ObjectId has 24 hexadecimal digits",
        What::IdBytes => "{a} bytes are needed, not {b}",
        What::IdField => "{n} does not fit: it takes 0 to {m}",
        What::UlidsOver => "the ULIDs of this ms are used up: retry in {a} ms",
        What::SequenceOver => "the sequence has reached its bound, {g}: move the bound, or let the sequence cycle",
        What::SequenceValue => "{g} is outside the bounds of the sequence",
        What::SequenceUnused => "this session has taken no value yet: call nextval first",
        What::SequenceStep => "the increment of a sequence is from -2^63 to 2^63-1, and not 0",
        What::SequenceType => "{g} does not fit the type of the sequence",
        What::SequenceBounds => "the minimum of a sequence must be less than its maximum",
        What::SequenceStart => {
            "start {g} is outside the bounds of the sequence: choose one from its minimum to its maximum"
        }
        What::SequenceCache => "a sequence caches 1 to 2^63-1 numbers",
        What::SequenceCacheReach => "a cache of {g} values at this increment passes 2^63-1: lower the cache",
        What::SequenceArgument => "setval takes a round only in mariadb, and is_called only in pg and mariadb",
        What::SequenceKind => "no such sequence type: choose smallint, integer, bigint or bigint unsigned",
        What::SequenceName => {
            "the name of a range is seq_A_to_B or seq_A_to_B_step_S, with numbers up to 2^64-1 and S above 0"
        }
        What::SequenceDialect => "no such dialect: choose pg, mariadb or tidb",
        What::NumbersDry => "no number is fetched yet: retry in {a} ms",
        What::NumbersOver => "the counter has no room for more numbers: it ends at 2^63-1",
        What::StepSize => "a step is 1 to 2147483647 numbers, not {g}",
        What::NumbersBack => {
            "the counter went back from {a} to {b}, as after a restore: stop all programs that use it, then run snowmint fence"
        }
        What::TicketServers => {
            "tickets need 1 to {a} servers with different offsets from 1 to the increment, and an increment of at most {b}"
        }
        What::TicketsDown => "none of the {a} ticket servers answers",
        What::TicketOffset => {
            "{b} is not a ticket of a server with offset {a} and increment {k}: set both on that server"
        }
        What::User => "user {g} is outside this section",
        What::SectionWindow => "the window of a section must be at least {a} ms, not {b}",
        What::SectionUsers => "the record of this section is for users {a} to {b}: use the same section size as before",
        What::SectionLost => "another allocator has this section: ask it, or take the section over again",
        What::NoRecord => "the value in the store is not a record of snowmint",
        What::LaterRecord => "the record has version {a}, and this snowmint reads up to {b}: update snowmint",
        What::NodeExcluded => "node {a} is both asked for and excluded",
        What::NodeVouched => "a generator of this process uses node {a} without a lease: lease another node",
        What::NamespaceName => {
            "namespace \"{n}\" is not allowed: a namespace is 1 to 64 of a-z A-Z 0-9 . _ -, not beginning with a dot"
        }
        What::NodeHeld => "node {a} is held until {u}: wait, close its holder, or claim another node",
        What::NodeTaken => {
            "node {a} cannot be claimed: another process or tab has it, it is excluded, its record is not valid, or the layout has ended"
        }
        What::NodesTaken => {
            "all {a} nodes are taken or excluded: wait longer, close generators, or use a layout with more node bits"
        }
        What::NodesBusy => {
            "all {a} nodes are taken or excluded (the next is free in {b} ms): wait longer, close generators, or use a layout with more node bits"
        }
        What::NodesFar => {
            "all {a} nodes are taken or excluded, and the next is free only at {u}, because the clock of its holder was ahead: snowmint lease ls lists the nodes, and snowmint lease release resets a node whose holder is stopped"
        }
        What::FarEnd => {
            "the window would end at {t}, more than an hour after the store's clock, {u}, allows: correct this machine's clock; if the clock of the node's last holder was ahead, run snowmint lease release"
        }
        What::LeaseLost => "another holder has the node",
        What::RecordGone => {
            "the node's record has vanished from the store, as when a table is emptied or a backup is restored: stop all holders, then run snowmint fence"
        }
        What::RecordsGone => {
            "{b} nodes had a record, and only {a} have one now: records have vanished from the store, as when a table is emptied or a backup is restored: stop all holders, then run snowmint fence"
        }
        What::LayoutHidden => {
            "the store has a layout for the namespace but does not return it: use the primary, not a replica"
        }
        What::ScatterId => "ID {a} cannot be scattered: it is above 2^63-1",
        What::ScatterDigits => "cannot move more than {b} digits of a {a}-digit ID",
        What::ScatterResult => "the result {a} is above 2^63-1",
        What::ScatterBits => "a shard number has 0 to 63 bits",
        What::SqlName => "an SQL name has 1 to {a} bytes here, without NUL",
        What::SqlDialect => "no such SQL dialect: choose postgres, mariadb or mariadb_signed",
        What::SectionSize => "a section has 1 to {a} users, not {b}",
        What::PinnedSize => "the sections of this store have {a} users each, for good: use that size instead of {b}",
        What::PinnedStores => {
            "the tickets of this name come from {a} stores, for good: use these stores, or another name for tickets from {b} stores"
        }
        What::PinnedPlace => {
            "this store has place {a} among the stores of these tickets, for good: list it there instead of at place {b}"
        }
        What::FarTime => {
            "the time lies outside the range of 64-bit Unix ms, of this operating system, or of the language's dates"
        }
    }
}

/// Returns the code and the sentence of every error, in the order of the first word of `Error::to_words`. For hosts that
/// fill in the sentences themselves.
#[doc(hidden)]
pub fn sentences() -> impl Iterator<Item = (&'static str, &'static str)> {
    What::ALL.iter().map(|what| (what.kind().code(), sentence(*what)))
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_sentence(f, sentence(self.what), self.mark, self.numbers)
    }
}

fn write_sentence(f: &mut fmt::Formatter<'_>, sentence: &str, mark: u32, [a, b]: [u64; 2]) -> fmt::Result {
    let mut parts = sentence.split(['{', '}']);
    while let Some(text) = parts.next() {
        f.write_str(text)?;
        match parts.next() {
            None => break,
            Some("a") => write!(f, "{a}")?,
            Some("b") => write!(f, "{b}")?,
            Some("t") => time::write_rfc3339(f, a.cast_signed())?,
            Some("u") => time::write_rfc3339(f, b.cast_signed())?,
            Some("m") => write!(f, "{}", (1u128 << (mark >> 2)) - 1)?,
            Some("f") => f.write_str(TextForm::ALL[mark as usize].name())?,
            Some("p") => layouts::write_names(f)?,
            Some("k") => write!(f, "{mark}")?,
            Some("n") => {
                let name = u128::from(a) | (u128::from(b) << 64);
                for byte in name.to_le_bytes().into_iter().take_while(|byte| *byte != 0) {
                    f.write_char(char::from(byte))?;
                }
            }
            Some(_) if mark & 3 == BEYOND => f.write_str("beyond 64 bits")?,
            Some(_) => write!(f, "{}{a}", if mark & 3 == MINUS { "-" } else { "" })?,
        }
    }
    Ok(())
}
