//! The reasons for errors: a name, a kind and a message each.

use super::ErrorKind;

macro_rules! reasons {
    (
        $($what:ident $kind:ident $message:literal;)+
        $(#[$gate:meta] { $($more:ident $more_kind:ident $more_message:literal;)+ })+
    ) => {
        /// The reason for an error.
        // As wide as the mark beside it in `Error`: a gap between them would be copied byte by byte.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u32)]
        #[cfg_attr(not(feature = "mask"), allow(dead_code, reason = "some errors belong to a feature"))]
        #[allow(missing_docs, reason = "the message beside the name says what it is")]
        pub enum What {
            $($what,)+
            $($(#[$gate] $more,)+)+
        }

        impl What {
            pub(super) const fn kind(self) -> ErrorKind {
                match self {
                    $(Self::$what => ErrorKind::$kind,)+
                    $($(#[$gate] Self::$more => ErrorKind::$more_kind,)+)+
                }
            }

            /// Returns the message, with places for the numbers and the mark of an error:
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
            /// | `{c}` `{d}` | the numbers as 8 characters each |
            /// | `{{` `}}` | a brace; they come in pairs |
            pub(super) const fn message(self) -> &'static str {
                match self {
                    $(Self::$what => $message,)+
                    $($(#[$gate] Self::$more => $more_message,)+)+
                }
            }
        }
    };
}

reasons! {
    Exhausted Exhausted "no ID is free now: retry in {a} ms, or raise max_wait_ms or max_ahead_ms";
    BatchExhausted Exhausted "the batch is free in {a} ms: ask for fewer IDs, or raise max_wait_ms or max_ahead_ms";
    ClockBackwards ClockBackwards "the clock is {a} ms behind the last ID: wait, or raise max_ahead_ms";
    Closed WindowClosed "the generator is closed: make a new one";
    WindowOver WindowClosed "the generator's window has ended and is not renewed yet: try again";
    Forked Forked "this generator belongs to the parent of this forked process: make one here, with another node";
    TimeOverflow TimeOverflow "{t} is after the layout's last tick, {u}";
    UsedUp TimeOverflow "the layout's last tick is {t}";
    BeforeEpoch BeforeEpoch "{t} is before the layout's epoch, {u}";
    Preset InvalidLayout
        "no such preset: choose {p}, or write a layout such as time:41,node:10,sequence:12;epoch=1735689600000;tick=1ms";
    Grammar InvalidLayout
        "layout text, character {a}: expected name:bits,name:bits=value;epoch=Unix ms or RFC 3339;tick=10ms";
    FieldCount InvalidLayout "a layout has at most 16 fields";
    FieldName InvalidLayout "a field name has 1 to 23 characters: a-z, then a-z, 0-9 or _";
    FieldBits InvalidLayout "a field has at least 1 bit and room for its fixed value, and a layout at most 64 bits";
    SameName InvalidLayout "two fields have the same name";
    UnusedFirst InvalidLayout "only the first field can be unused";
    NoTime InvalidLayout "a layout needs a field named time";
    NodeBits InvalidLayout "the node fields have at most 32 bits";
    Epoch InvalidLayout "an epoch lies within 2^53-1 ms of 1970";
    Tick InvalidLayout "a tick is 1 to 2^53-1 ms";
    TooLate InvalidLayout "the layout ends after the year 292 million";
    WindowLength InvalidLayout
        "window_ms must be at least {a} for this layout, and at most 3600000 with max_ahead_ms added, not {b}";
    Unmintable InvalidLayout "generators take ticks of whole ms and no opaque bits";
    TimeFirst InvalidLayout "an ID range needs a layout whose first field is time";
    Node InvalidNode "node {g} does not fit this layout: it takes 0 to {m}";
    NodeField InvalidNode "{n} does not fit this layout: it takes 0 to {m}";
    NodeMissing InvalidNode "{n} is missing: give every node field of this layout, or one number";
    NodeUnknown InvalidNode "{n} is not a node field of this layout, or is given twice";
    NodeText InvalidNode "a node is a number such as 5, or fields such as datacenter=0,worker=5";
    Id InvalidId "an ID is an integer from -2^63 to 2^64-1";
    IdText InvalidId "an ID is 1 to 20 digits, at most 2^64-1";
    Negative InvalidId
        "IDs of this layout may be above 2^63-1 from {t} on, and a signed 64-bit integer is negative then: use unsigned ones";
    NotMinted InvalidId "{a} does not fit this layout: it sets other bits, or lacks a fixed value";
    RangeReversed InvalidId "the range starts at {t}, after its end, {u}: swap them";
    Sequence InvalidId "sequence {g} does not fit this layout: it takes 0 to {m}";
    Random InvalidId "random {g} does not fit this layout: it takes 0 to {m}";
    TimeMissing InvalidId "an ID needs a time: pass an instant with the other parts";
    PartDiffers InvalidId "a part is given twice, with different values: pass it once";
    Start InvalidText "sequence_start is zero, random or carry";
    OptionMs InvalidId "{n} is a number of ms, 0 to 2^64-1";
    Batch InvalidId "a batch takes 0 to 16777216 IDs, not {g}";
    Form InvalidText "a text form is decimal, hex, base32, base36, base58 or base62";
    Length InvalidText "{f} takes {a} characters, not {b}";
    Character InvalidText "character {a} is not valid in {f}";
    Overflow InvalidText "the number in {f} is above 2^64-1";
    UuidText InvalidText
        "a UUID has 32 hexadecimal digits, with hyphens as in 123e4567-e89b-12d3-a456-426614174000 or without";
    UlidText InvalidText "a ULID has 26 characters of Crockford's base 32, the first of them 0 to 7";
    ObjectIdText InvalidText "an ObjectId has 24 hexadecimal digits";
    IdBytes InvalidId "{a} bytes are needed, not {b}";
    IdField InvalidId "{n} does not fit: it takes 0 to {m}";
    UlidsOver Exhausted "the ULIDs of this ms are used up: retry in {a} ms";
    SequenceOver Exhausted "the sequence has reached its bound, {g}: move the bound, or let the sequence cycle";
    SequenceValue InvalidId "{g} is outside the bounds of the sequence";
    SequenceUnused InvalidId "this session has taken no value yet: call nextval first";
    SequenceStep InvalidId "the increment of a sequence is from -2^63 to 2^63-1, and not 0";
    SequenceType InvalidId "{g} does not fit the type of the sequence";
    SequenceBounds InvalidId "the minimum of a sequence must be less than its maximum";
    SequenceStart InvalidId
        "start {g} is outside the bounds of the sequence: choose one from its minimum to its maximum";
    SequenceCache InvalidId "a sequence caches 1 to 2^63-1 numbers";
    SequenceCacheReach InvalidId "a cache of {g} values at this increment passes 2^63-1: lower the cache";
    SequenceArgument InvalidId "setval takes a round only in mariadb, and is_called only in pg and mariadb";
    SequenceKind InvalidText "no such sequence type: choose smallint, integer, bigint or bigint unsigned";
    SequenceName InvalidText
        "the name of a range is seq_A_to_B or seq_A_to_B_step_S, with numbers up to 2^64-1 and S above 0";
    SequenceDialect InvalidText "no such dialect: choose pg, mariadb or tidb";
    FirstNumber InvalidId "a tag starts at 0 to 2^63-2, not {g}";
    NumbersDry Exhausted "no number is fetched yet: retry in {a} ms";
    NumbersOver Exhausted "the counter has no room for more numbers: the last one is {a}";
    StepSize InvalidId "a step is 1 to 2147483647 numbers, not {g}";
    NumbersBack StoreUnavailable
        "the counter went back from {a} to {b}, as after a restore: stop all programs that use it, then run snowmint fence";
    TicketServers InvalidId
        "tickets need 1 to {a} servers with different offsets from 1 to the increment, and an increment of at most {b}";
    TicketsDown StoreUnavailable "none of the {a} ticket servers answers";
    TicketOffset InvalidStore
        "{b} is not a ticket of a server with offset {a} and increment {k}: set both on that server";
    User InvalidId "user {g} is outside this section";
    SectionWindow InvalidId "the window of a section must be at least {a} ms, not {b}";
    SectionUsers InvalidStore
        "the record of this section is for users {a} to {b}: use the same section size as before";
    SectionLost WindowClosed "another allocator has this section: ask it, or take the section over again";
    NoRecord StoreUnavailable "the value in the store is not a record of snowmint";
    LaterRecord StoreUnavailable "the record has version {a}, and this snowmint reads up to {b}: update snowmint";
    NamespaceName InvalidNode
        "namespace \"{n}\" is not allowed: a namespace is 1 to 64 of a-z A-Z 0-9 . _ -, not beginning with a dot";
    NodeExcluded InvalidNode "node {a} is both asked for and excluded";
    NodeVouched InvalidNode "a generator of this process uses node {a} without a lease: lease another node";
    NodeHeld NodesExhausted "node {a} is held until {u}: wait, close its holder, or claim another node";
    NodeTaken NodesExhausted
        "node {a} cannot be claimed: another process or tab has it, it is excluded, its record is not valid, or the layout has ended";
    NodesTaken NodesExhausted
        "all {a} nodes are taken or excluded: wait longer, close generators, or use a layout with more node bits";
    NodesBusy NodesExhausted
        "all {a} nodes are taken or excluded (the next is free in {b} ms): wait longer, close generators, or use a layout with more node bits";
    NodesFar NodesExhausted
        "all {a} nodes are taken or excluded, and the next is free only at {u}, because the clock of its holder was ahead: snowmint lease ls lists the nodes, and snowmint lease release resets a node whose holder is stopped";
    Fenced NodesExhausted "the store is fenced until {u}, and no node mints before that time: wait";
    Reserve InvalidStore "reserve is a number and s, m, h or d, such as 24h: 1m to 7d, and at least four windows";
    ReserveStore InvalidStore
        "reserve needs a store of records: slots need none, and a service grants nodes by its own clock";
    ReserveDirectory InvalidStore
        "reserve needs a directory on a machine with Linux: leave it out";
    FarEnd StoreUnavailable
        "the window would end at {t}, more than an hour after the store's clock, {u}, allows: correct this machine's clock; if the clock of the node's last holder was ahead, run snowmint lease release";
    LeaseLost WindowClosed "another holder has the node";
    RecordGone WindowClosed
        "the node's record has vanished from the store, as when a table is emptied or a backup is restored: stop all holders, then run snowmint fence";
    RecordsGone StoreUnavailable
        "{b} nodes had a record, and only {a} have one now: records have vanished from the store, as when a table is emptied or a backup is restored: stop all holders, then run snowmint fence";
    OtherLayout InvalidLayout
        "nodes of the namespace have records of another layout: use that layout, or another namespace";
    LayoutHidden InvalidStore
        "the store has a layout for the namespace but does not return it: use the primary, not a replica";
    FenceHeld InvalidNode
        "node {a} may have a live holder, whose window ends at {u}: stop it and repeat this after that time; of a dead holder run snowmint lease release first";
    FenceEarly InvalidId "{t} is too early for a fence, as IDs may be as late as {u}: leave --until out, or take a later time";
    FenceEmpty StoreUnavailable
        "the store has no record: is this the restored one? If it lost all records, add --empty";
    ScatterId InvalidId "ID {a} cannot be scattered: it is above 2^63-1";
    ScatterDigits InvalidId "cannot move more than {b} digits of a {a}-digit ID";
    ScatterResult InvalidId "the result {a} is above 2^63-1";
    ScatterBits InvalidId "a shard number has 0 to 63 bits";
    SqlName InvalidText "an SQL name has 1 to {a} bytes here, without NUL";
    SqlDialect InvalidText
        "no such SQL dialect: choose postgres, mariadb, mariadb_signed, clickhouse, clickhouse_signed, duckdb, duckdb_unsigned, sqlite, cockroach, tidb or tidb_signed";
    SqlTicks InvalidLayout "SQL reads layouts whose ticks are whole ms";
    SqlWide InvalidText "no such kind of 128-bit ID: choose uuid7, ulid or typeid";
    SectionSize InvalidId "a section has 1 to {a} users, not {b}";
    SectionsMemory InvalidId "the memory for users must be at least {a} bytes, not {b}";
    UsersFull Exhausted "there is no memory for another user: retry in {a} ms";
    NoMemory Exhausted "there is no memory for {b} numbers now: ask for fewer at a time, or retry in {a} ms";
    PinnedSize InvalidId "the sections of this store have {a} users each, for good: use that size instead of {b}";
    PinnedStores InvalidId
        "the tickets of this name come from {a} stores, for good: use these stores, or another name for tickets from {b} stores";
    PinnedPlace InvalidId
        "this store has place {a} among the stores of these tickets, for good: list it there instead of at place {b}";
    FarTime TimeOverflow
        "the time lies outside the range of 64-bit Unix ms, of this operating system, or of the language's dates";
    PrefixText InvalidText
        "a prefix has at most 63 characters, a-z and _, and begins and ends with a letter, such as user or order";
    PrefixOther InvalidText "the prefix of the ID is \"{c}\", and \"{d}\" is needed: pass an ID of that kind";
    SuffixLength InvalidText
        "{a} characters are needed after the prefix, not {b}: a 64-bit ID has 13, and a UUID 26";
    SuffixCharacter InvalidText "character {a} after the prefix is not of 0123456789abcdefghjkmnpqrstvwxyz";
    SuffixOverflow InvalidText "the number after the prefix is too large: its first character is at most {c}";
    MaskKey InvalidText
        "a mask key has 16 bytes, not {a}: make one with a random generator such as openssl rand -hex 16";
    MaskKeyText InvalidText "a mask key has 32 hexadecimal digits: make one with openssl rand -hex 16";
    MaskTweak InvalidText "a tweak has at most {a} bytes, not {b}";
    MaskDigits InvalidId "a mask has 6 to 18 decimal digits, not {g}";
    MaskId InvalidId "{a} cannot be masked: it is above {b}";
    MaskIdDigits InvalidId "{a} has more than the {b} digits of this mask";
    MaskUuid InvalidId "a UUID of version {a} is needed: encode takes a version 7, and decode a version 4";
    KsuidText InvalidText "a KSUID has 27 characters 0-9 A-Z a-z, and is at most aWgEPTl1tmebfsQzFP4bxwgy80V";
    UuidForm InvalidText "no such text form of a UUID: choose base32, base58, base62 or base64url";
    UuidShortText InvalidText "{n} of a UUID takes {k} characters of its alphabet, and is at most 2^128-1";
    XidText InvalidText "an xid has 20 characters 0-9 a-v, of which the last is 0 or g";
    LabelCharacter InvalidText
        "character {a} of the label is a control or format character, which a label cannot have: leave it out";
    NameLength InvalidText "a name must be 1 to {a} bytes long, not {b}";
    NameCharacter InvalidText
        "character {a} of the name is a control or format character, which a name cannot have: leave it out";
    NameForm InvalidText
        "the name is not in Unicode's normal form NFC, so that another name can look the same: normalise it to NFC";
    // Not in a page that mints: the messages take 1 kB of it.
    #[cfg(feature = "formatted")] {
        PatternLength InvalidText "a pattern has 1 to {b} bytes, not {a}";
        PatternCharacter InvalidText
            "character {a} of the pattern is a control or format character, which a pattern cannot have: leave it out";
        PatternToken InvalidText
            "character {a} of the pattern begins no token: choose {{yyyy}}, {{yy}}, {{MM}}, {{dd}}, {{HH}}, {{000000}}, {{luhn}} or {{mod97}}, and write a brace twice";
        PatternCounter InvalidText "a pattern has exactly one counter, such as {{000000}}, not {a}";
        PatternWidth InvalidText "the counter of a pattern has 1 to {b} zeros, not {a}";
        PatternTwice InvalidText "{c} is the second token for the same part of a date: leave one of the two out";
        PatternCheck InvalidText "{c} must be the end of the pattern: move it there";
        PatternPeriod InvalidText "a period needs {c} in the pattern, or texts of two periods could be equal: add it";
        Period InvalidText "no such period: choose none, year, month or day";
        Zone InvalidText
            "a zone is Z, UTC or an offset such as +01:00, up to 23:59: a zone with a name would have hours that come twice";
        FormatOverflow InvalidText "no such overflow: choose error or grow";
        FormattedName InvalidText
            "a name with this period must be 1 to {a} bytes long, not {b}, as the period stands in the name of the sequence";
        FormattedNumber InvalidId "a formatted number is 0 to 2^64-1, not {g}";
        FormattedWide Exhausted
            "{g} has more digits than the counter of the pattern: write more zeros, or let the counter grow";
        FormattedYear TimeOverflow "{t} is outside the years 0 to 9999, which {{yyyy}} shows: correct the clock";
        FormattedShortYear TimeOverflow "{t} is outside the years 2000 to 2099, which {{yy}} shows: use {{yyyy}}";
        FormattedCycle InvalidId "a sequence that cycles would repeat texts: use a sequence without a cycle";
        FormattedLength InvalidText "a text of this pattern has {a} bytes, not {k}";
        FormattedLengths InvalidText "a text of this pattern has {a} to {b} bytes, not {k}";
        FormattedLiteral InvalidText "character {a} of the text differs from the pattern, which has the same text in all numbers there";
        FormattedDigit InvalidText "character {a} of the text is not a digit, which the pattern has there";
        FormattedZeros InvalidText
            "the counter has more than {a} digits and begins with 0: leave out the zeros that the pattern does not have";
        FormattedBeyond InvalidText "the counter of the text is above 2^64-1";
        FormattedDate InvalidText "the calendar has no such date as in the text: correct its month, day or hour";
        FormattedCheck InvalidText
            "the check digits at the end do not fit the text: a character is wrong, or the text belongs to another pattern";
        Definition StoreUnavailable "the record is not a definition, or a newer snowmint wrote it: update snowmint";
    }
}
