//! A fleet in one process: core's machines on a simulated store, network and clocks, with faults by a seed.
//!
//! Nothing here reads a clock, starts a thread or calls the system, so the same seed gives the same run everywhere, in
//! WebAssembly too.

pub mod allocator;
pub mod claiming;
pub mod context;
pub mod faults;
pub mod holder;
pub mod keeper;
pub mod machine;
pub mod plan;
pub mod random;
pub mod store;
pub mod tally;
pub mod tenant;
pub mod world;
