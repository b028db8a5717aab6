//! The service, run as a separate process and used by third-party clients.

mod batches;
mod caches;
mod commands;
mod crowds;
mod encrypted;
mod endings;
mod engines;
mod fleet;
mod garbage;
mod kills;
mod labels;
mod limits;
mod load;
mod memory;
mod names;
mod openings;
mod outage;
mod pace;
mod pages;
mod resources;
mod settings;
mod slow;
mod status;
mod support;
mod texts;
mod wire;
