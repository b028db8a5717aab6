//! Finds faults in a list of IDs: what `snowmint audit` reports, the same in every language.
//!
//! A host adds IDs to an [`Audit`], and gets a [`Report`]. This is the only module that needs an allocator.
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

mod analysis;
mod finding;
mod lines;
mod list;
mod repeats;
mod report;
mod rounding;
mod rows;
mod terms;
mod trail;

pub use self::finding::{Finding, Kind};
pub use self::list::{Audit, AuditOptions};
pub use self::report::{NodeSpan, Report};
pub use self::terms::{DEFAULT_JITTER_MS, Order};
