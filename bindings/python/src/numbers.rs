//! Durable numbers over stores written in Python: the logic is in `snowmint-stores`.

pub(crate) mod formatted;
pub(crate) mod native;
pub(crate) mod segments;
pub(crate) mod sequences;
mod store;
pub(crate) mod tickets;
pub(crate) mod users;
pub(crate) mod waiting;
