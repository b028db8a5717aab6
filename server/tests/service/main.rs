//! The service as a process of its own, asked by clients of others.

mod commands;
mod encrypted;
mod fleet;
mod garbage;
mod kills;
mod limits;
mod resources;
mod support;
