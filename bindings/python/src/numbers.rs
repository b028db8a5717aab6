//! Durable numbers over stores written in Python: the machines are those of `snowmint-stores`.

mod segments;
mod store;
pub(crate) mod waiting;

pub(crate) use self::segments::Segments;
