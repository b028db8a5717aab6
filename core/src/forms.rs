//! Texts: forms of IDs, names, and texts of strangers as messages show them.

#[cfg(feature = "mask")]
pub mod mask;
pub mod name;
pub mod names;
pub mod prefix;
pub mod scatter;
pub mod shown;
pub mod text;

/// The most bytes of a name that users choose, of a sequence and so on.
pub const MAX_NAME_BYTES: usize = 128;
