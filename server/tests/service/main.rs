//! The service as a process of its own, asked by clients of others.

mod batches;
mod caches;
mod commands;
mod encrypted;
mod endings;
mod engines;
mod fleet;
mod garbage;
mod kills;
mod limits;
mod load;
mod names;
mod outage;
mod pace;
mod pages;
mod resources;
mod settings;
mod slow;
mod support;
mod wire;
