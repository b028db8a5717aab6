//! Mutants: the same code with one check taken out, to show that the tests would notice.
//!
//! Only a build with `--cfg snowmint_mutants` has them; there the variable `SNOWMINT_MUTANT` names the check that is
//! missing. In every other build the answer is a constant, and nothing of this remains.

/// The mutants, each with the check that it takes out.
pub const ALL: &[(&str, &str)] = &[
    ("swap", "a state is swapped only if it is still what the step saw"),
    ("increase", "the tick of an ID is not before that of the last one"),
    ("window", "no tick lies at or past the window's end"),
    ("start", "a window starts at or after the end of the node's last one"),
    ("floor", "a node without a record starts at or after the floor that a fence has written"),
    ("vanished", "no node is granted where records of nodes have vanished"),
    ("ahead", "the window's end is in the file before it is used"),
    ("close", "a released cell is closed for good"),
    ("lock", "a slot is locked by one holder"),
    ("place", "files lie where all who mint share them, and stay"),
    ("wipe", "a forked child sees the minting words wiped"),
    ("advice", "the kernel wipes those words; without it a handler does"),
    ("renew", "a forked child has random bits, a node and counters of its own for UUIDs, ULIDs and ObjectIds"),
    ("inherit", "a forked child closes its parent's slot files"),
    ("share", "generators of one node share one state"),
    ("deadline", "a call stops waiting at its deadline"),
    ("range", "a node fits the layout"),
    ("cursor", "a number is taken from a range only if it is still the next one"),
    ("restore", "a counter that went back hands out nothing"),
    ("offset", "a ticket is congruent to its server's offset"),
    ("base", "after a take-over every user of a section goes on above its durable maximum"),
    ("durable", "the maximum of a section is in the store before a number up to it is given"),
    ("fence", "an allocator whose record was overwritten gives nothing more"),
    ("version", "a record is written only in the place of the version that was seen"),
    ("forked", "a forked child hands out no number that its parent has fetched"),
    ("settings", "a live server's settings are looked at with each write and fetch"),
    ("guard", "a native sequence's values are committed together with a row"),
    ("pin", "settings that have to stay are those that were pinned first"),
    ("tenure", "an allocator that may have been succeeded gives nothing more"),
];

/// Whether this process runs without the check of that name.
#[cfg(not(snowmint_mutants))]
#[inline]
pub const fn removes(_check: &str) -> bool {
    false
}

/// Whether this process runs without the check of that name.
#[cfg(snowmint_mutants)]
pub fn removes(check: &str) -> bool {
    extern crate std;
    static REMOVED: std::sync::OnceLock<Option<std::string::String>> = std::sync::OnceLock::new();
    REMOVED.get_or_init(|| std::env::var("SNOWMINT_MUTANT").ok()).as_deref() == Some(check)
}
