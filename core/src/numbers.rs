//! Numbers that a store keeps: ranges of a counter, single numbers, named sequences, and counters of users.

pub mod fields;
pub mod section;
pub mod segment;
pub mod sequence;
pub mod ticket;
