//! The verbs of the command line, with one file per verb.

mod backup;
mod completions;
mod fence;
mod key;
mod lease;
mod namespace;
mod operate;
mod segment;
mod sequence;
mod serve;
pub mod signals;

pub use self::backup::backup;
pub use self::completions::completions;
pub use self::fence::fence;
pub use self::key::key;
pub use self::lease::lease;
pub use self::namespace::namespace;
pub use self::segment::segment;
pub use self::sequence::sequence;
pub use self::serve::serve;
