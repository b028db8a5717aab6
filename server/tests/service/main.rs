//! The service as a process of its own, asked by clients of others.

mod commands;
mod encrypted;
mod engines;
mod fleet;
mod garbage;
mod kills;
mod limits;
mod load;
mod resources;
mod support;
