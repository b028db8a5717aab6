//! The steps of a Redis store that need several commands, in Lua, for stores in every language.

/// Key: a hash. Arguments: a field, its expected version, and its new value.
pub const WRITE: &str = include_str!("scripts/write.lua");

/// Key: a counter. Arguments: the amount to add, and the sum for a new counter, empty if too large. Returns the sum, or nil if
/// it would be too large.
pub const ADD: &str = include_str!("scripts/add.lua");
