//! Numbers that a store keeps: core's machines, for a driver in JavaScript that calls the store. Times are of the monotonic clock.

mod formatted;
mod keys;
mod native;
mod pins;
mod sections;
mod segments;
mod sequences;
mod step;
mod tickets;
