//! What errors say.

use core::fmt::{self, Write};

use super::{BEYOND, ErrorKind, MINUS};
use crate::text::TextForm;
use crate::{layouts, time};

/// One name, kind and sentence a row. In a sentence these stand for what an error carries:
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
macro_rules! sentences {
    ($($what:ident $kind:ident $sentence:literal;)+) => {
        // As wide as the mark beside it, so that an error has no gap that would have to be copied byte by byte.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u32)]
        pub(crate) enum What {
            $($what),+
        }

        impl What {
            pub(super) const fn kind(self) -> ErrorKind {
                match self {
                    $(Self::$what => ErrorKind::$kind),+
                }
            }
        }

        const SENTENCES: &[(ErrorKind, &str)] = &[$((ErrorKind::$kind, $sentence)),+];
    };
}

sentences! {
    Exhausted Exhausted "no ID is free now: retry in {a} ms, or raise max_wait_ms or max_ahead_ms";
    BatchExhausted Exhausted "the batch is free in {a} ms: ask for fewer IDs, or raise max_wait_ms or max_ahead_ms";
    ClockBackwards ClockBackwards "the clock is {a} ms behind the last ID: wait, or raise max_ahead_ms";
    Closed WindowClosed "the generator is closed: make a new one";
    WindowOver WindowClosed "the generator's window of time is over, and is not renewed yet";
    Forked Forked "this generator belongs to the process that forked this one: make one here, with a node of its own";
    TimeOverflow TimeOverflow "{t} is past the layout's last tick, {u}";
    UsedUp TimeOverflow "that is past the layout's last tick, {t}";
    BeforeEpoch BeforeEpoch "{t} is before the layout's epoch, {u}";
    Preset InvalidLayout "no such preset: choose {p} or a text such as time:41,node:10,sequence:12;epoch=1735689600000;tick=1ms";
    Grammar InvalidLayout "layout text, character {a}: expected name:bits,name:bits;epoch=Unix ms or RFC 3339;tick=10ms or 1s";
    FieldCount InvalidLayout "a layout has at most 16 fields";
    FieldName InvalidLayout "a field name is a-z, then a-z, 0-9 or _, at most 23 characters";
    FieldBits InvalidLayout "a layout has at most 64 bits, at least 1 a field";
    SameName InvalidLayout "a layout has one field of a name";
    UnusedFirst InvalidLayout "a layout has unused bits only in its first field";
    NoTime InvalidLayout "a layout has a field named time";
    NodeBits InvalidLayout "a layout has at most 32 bits in its node fields";
    Epoch InvalidLayout "a layout has its epoch within 2^53-1 ms of 1970";
    Tick InvalidLayout "a layout has a tick of 1 to 2^53-1 ms";
    TooLate InvalidLayout "a layout ends before the year 292 million: use fewer time bits";
    WindowLength InvalidLayout "window_ms is {a} or more for this layout, and 3600000 or less with max_ahead_ms added, not {b}";
    TimeFirst InvalidLayout "an ID range takes a layout whose first field is time";
    Node InvalidNode "node {g} does not fit this layout: it takes 0 to {m}";
    NodeField InvalidNode "{n} does not fit this layout: it takes 0 to {m}";
    NodeMissing InvalidNode "{n} is missing: give every node field of this layout, or one number";
    NodeUnknown InvalidNode "{n} is no node field of this layout, or given twice";
    NodeText InvalidNode "a node is a number such as 5, or fields such as datacenter=0,worker=5";
    NodeNeeded InvalidNode "pass a node that no other generator of this layout uses, or use await Snowflake.lease()";
    Id InvalidId "an ID is an integer from -2^63 to 2^64-1";
    IdBits InvalidId "the ID has more than {a} bits";
    IdUnused InvalidId "the ID has a bit that is unused in this layout";
    Sequence InvalidId "sequence {g} does not fit this layout: it takes 0 to {m}";
    Random InvalidId "random {g} does not fit this layout: it takes 0 to {m}";
    Batch InvalidId "a batch takes 0 to 16777216 IDs, not {g}";
    Form InvalidText "the text forms are decimal, hex, base32, base36, base58, base62";
    Length InvalidText "{f} takes {a} characters, not {b}";
    Character InvalidText "character {a} is none of {f}";
    Overflow InvalidText "more than 2^64-1 in {f}";
    UuidText InvalidText "a UUID has 32 hexadecimal digits, with hyphens as in 123e4567-e89b-12d3-a456-426614174000 or without";
    UlidText InvalidText "a ULID has 26 characters of Crockford's base 32, the first of them 0 to 7";
    ObjectIdText InvalidText "an ObjectId has 24 hexadecimal digits";
    IdBytes InvalidId "{a} bytes are needed, not {b}";
    IdField InvalidId "{n} does not fit: it takes 0 to {m}";
    UlidsOver Exhausted "the ULIDs of this ms are used up: retry in {a} ms";
    SequenceOver Exhausted "the sequence has run out at its bound, {g}: raise the bound, or let it cycle";
    SequenceValue InvalidId "{g} is outside the bounds of the sequence";
    SequenceUnused InvalidId "no value was taken in this session yet: call nextval first";
    SequenceStep InvalidId "the increment of a sequence is from -2^63 to 2^63-1, and not 0";
    SequenceType InvalidId "{g} does not fit the type of the sequence";
    SequenceBounds InvalidId "the minimum of a sequence is less than its maximum";
    SequenceStart InvalidId "the start of a sequence lies between its minimum and its maximum, unlike {g}";
    SequenceCache InvalidId "a sequence caches 1 to 2^63-1 numbers";
    SequenceCacheReach InvalidId "a cache of {g} values at this increment passes 2^63-1: lower the cache";
    SequenceArgument InvalidId "a set takes a round in mariadb only, and is_called in pg and mariadb only";
    SequenceKind InvalidText "the types of a sequence are smallint, integer, bigint, bigint unsigned";
    SequenceName InvalidText "a range by name is seq_A_to_B or seq_A_to_B_step_S, of numbers up to 2^64-1, S above 0";
    SequenceDialect InvalidText "the dialects are pg, mariadb, tidb";
    NumbersDry Exhausted "no number is fetched yet: retry in {a} ms";
    NumbersOver Exhausted "the counter has no room for more numbers: it ends at 2^63-1";
    StepSize InvalidId "a step is 1 to 2147483647 numbers, not {g}";
    NumbersBack StoreUnavailable "the counter went back from {a} to {b}, as after a restore: stop who uses it, and run snowmint fence";
    TicketServers InvalidId "tickets come from 1 to {a} servers, each with an offset of its own from 1 to the increment, which is at most {b}";
    TicketsDown StoreUnavailable "none of the {a} ticket servers answers";
    TicketOffset StoreUnavailable "{b} is no ticket of a server with offset {a} and increment {k}: set both on that server";
    User InvalidId "user {g} is outside this section";
    SectionWindow InvalidId "the window of a section is {a} ms or more, not {b}";
    SectionUsers StoreUnavailable "this section was kept for users {a} to {b}: keep the size of sections as it was";
    SectionLost WindowClosed "another allocator has this section: ask it, or take the section over again";
    NoRecord StoreUnavailable "what the store has there is no record of snowmint's";
    LaterRecord StoreUnavailable "the record is of version {a}, and this snowmint knows up to {b}: update it here";
    NodeHeld NodesExhausted "node {a} is held until {u}: wait, close its holder, or claim another node";
    NodeTaken NodesExhausted "node {a} cannot be claimed: it is excluded, its record is not valid, or the layout has ended";
    NodesTaken NodesExhausted "all {a} nodes are taken or excluded: wait longer, close generators, or use a layout with more node bits";
    NodesBusy NodesExhausted "all {a} nodes are taken or excluded (the nearest for {b} ms more): wait longer, close generators, or use a layout with more node bits";
    NodesFar NodesExhausted "all {a} nodes are taken or excluded, and the nearest is free at {u} only, as its clock was ahead: snowmint lease ls shows the nodes, and snowmint lease release resets one whose holder is stopped";
    FarEnd StoreUnavailable "a window up to {t} would end more than an hour after the store's clock, {u}, allows: set this machine's clock right; if the node's last window was granted under a clock that was ahead, snowmint lease release resets it";
    LeaseLost WindowClosed "another holder has it";
    RecordGone WindowClosed "its record has vanished from the store, as when a table is emptied or a backup is restored: stop all holders, then run snowmint fence";
    RecordsGone StoreUnavailable "{a} nodes have a record, and {b} had one: records have vanished from the store, as when a table is emptied or a backup is restored: stop all holders, then run snowmint fence";
    LayoutHidden StoreUnavailable "the layout of the namespace is there, and is not shown";
    ScatterId InvalidId "IDs from 0 to 2^63-1 are scattered, not {a}";
    ScatterDigits InvalidId "of an ID of {a} digits 0 to {b} can be moved, as its first stays";
    ScatterResult InvalidId "scattered it would be {a}, and a result is at most 2^63-1";
    ScatterBits InvalidId "a shard number has 0 to 63 bits";
    SqlName InvalidText "an SQL name takes 1 to {a} bytes here, none of them NUL";
    SqlDialect InvalidText "the dialects of SQL are postgres, mariadb, mariadb_signed";
    SectionSize InvalidId "a section has 1 to {a} users, not {b}";
    PinnedSize InvalidId "the sections here have {a} users each, for good: start with that size, not with {b} users";
    PinnedStores InvalidId "the tickets of this name come from {a} stores, for good: start with those, or take another name for tickets from {b}";
    PinnedPlace InvalidId "this store has place {a} among those of the tickets of this name, for good: start with that order, not with place {b}";
}

/// The code and sentence of every error, by the first word of `Error::to_words`; for hosts that make texts themselves.
#[doc(hidden)]
pub fn sentences() -> impl Iterator<Item = (&'static str, &'static str)> {
    SENTENCES.iter().map(|(kind, sentence)| (kind.code(), *sentence))
}

pub(super) fn write(f: &mut fmt::Formatter<'_>, what: What, mark: u32, [a, b]: [u64; 2]) -> fmt::Result {
    let mut parts = SENTENCES[what as usize].1.split(['{', '}']);
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
