//! Numbers that a store keeps: ranges of a counter, single numbers, named sequences, counters of users, and texts of
//! numbers.

pub mod fields;
#[cfg(feature = "formatted")]
pub mod formatted;
pub mod native;
pub mod section;
pub mod segment;
pub mod sequence;
pub mod ticket;
