//! Finds faults in a pile of IDs: what `snowmint audit` reports, the same in every language.
//!
//! The rules that look at one ID, at one node's IDs in the order of the log, and at the finished counts stand here. A host
//! keeps the IDs, sorts them to find duplicates, and holds a [`Trail`] for each node.
//!
//! | finding | evidence | needs the order |
//! | --- | --- | --- |
//! | [`Kind::Duplicates`] | an ID occurs twice | no |
//! | [`Kind::SharedNode`] | times or sequences alternate between two runs, or IDs repeat without another cause | yes |
//! | [`Kind::Forked`] | as above, and the second run continues a state of the first one | yes |
//! | [`Kind::ClockBack`] | the time of a node goes back by more than lines of a log are late | yes |
//! | [`Kind::Wrapped`] | 0 follows the largest sequence in a tick whose IDs repeat, or a tick has more IDs than the sequence | no |
//! | [`Kind::LayoutEnded`] | IDs near the last tick, and IDs near tick 0 or with the bit above the time | no |
//! | [`Kind::Truncated`] | the low bits, or the last digits, are 0 far more often than by chance | no |
//! | [`Kind::Outside`] [`Kind::BeforeBegin`] [`Kind::Future`] | the ID alone | no |

mod finding;
mod plot;
mod rounding;
mod summary;
mod terms;
mod trail;

pub use self::finding::{Finding, Kind};
pub use self::plot::{Plot, Row};
pub use self::rounding::Rounding;
pub use self::summary::{NodeSpan, Summary};
pub use self::terms::{DEFAULT_JITTER_MS, Order, Sight, Spot, Terms};
pub use self::trail::{Event, Excursion, Trail};
