//! What the crates of this repository share. It may change in any version.

pub use crate::error::What;
pub use crate::prefix::any_prefix;
pub use crate::random::mix;
pub use crate::text::wide;
