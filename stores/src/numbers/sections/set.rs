//! A set of users. The sets of an allocator share its memory and its limits.

use std::sync::Arc;

use snowmint_core::section::Users;
use tokio::sync::OnceCell;

use crate::error::Error;
use crate::store::key::key;

/// The prefix of the pinned sizes.
pub(super) const SIZES_PREFIX: &str = "settings/sections/";

/// A set of users.
#[derive(Debug)]
pub(super) struct Set {
    pub(super) name: String,
    /// The prefix of the set's keys.
    pub(super) prefix: Arc<str>,
    /// The key of the pinned size.
    pub(super) size_key: String,
    /// Set when the pinned size is the allocator's size.
    pub(super) pinned: OnceCell<()>,
}

/// A section of a set, by the set's prefix and the section's number.
pub(super) type SectionOfSet = (Arc<str>, u64);

impl Set {
    pub(super) fn of(name: &str) -> Result<Arc<Self>, Error> {
        let prefix = (key("sections/", name)? + "/").into();
        Ok(Arc::new(Self {
            name: name.to_owned(),
            prefix,
            size_key: key(SIZES_PREFIX, name)?,
            pinned: OnceCell::new(),
        }))
    }

    /// Returns the section of these users.
    pub(super) fn section(&self, users: Users) -> SectionOfSet {
        (Arc::clone(&self.prefix), users.number())
    }
}
