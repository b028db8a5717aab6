//! The verbs of the command line, with one file per verb.

mod audit;
mod backup;
mod completions;
mod doctor;
mod fence;
mod generate;
mod input;
mod inspect;
mod key;
mod layouts;
mod lease;
mod mask;
mod namespace;
mod operate;
mod output;
mod segment;
mod sequence;
mod serve;
pub mod signals;

pub use self::audit::audit;
pub use self::backup::backup;
pub use self::completions::completions;
pub use self::doctor::doctor;
pub use self::fence::fence;
pub use self::generate::generate;
pub use self::inspect::inspect;
pub use self::key::key;
pub use self::layouts::layouts;
pub use self::lease::lease;
pub use self::mask::mask;
pub use self::namespace::namespace;
pub use self::segment::segment;
pub use self::sequence::sequence;
pub use self::serve::serve;
