//! The steps of a Redis store that are more than one command, in Lua, for drivers in any language.

/// Key: a hash. Arguments: a field, the version that is expected, and what to put there.
pub const WRITE: &str = include_str!("scripts/write.lua");

/// Key: a counter. Arguments: what to add, and what it is afterwards if it is new, or nothing. Nil if it would be too much.
pub const ADD: &str = include_str!("scripts/add.lua");
