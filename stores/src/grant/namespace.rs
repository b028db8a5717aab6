//! Namespaces of leases.

use std::fmt;

#[cfg(feature = "engines")]
use snowmint_core::ErrorKind;
use snowmint_core::Layout;
use snowmint_core::lease::{NamespaceName, NamespaceRecord};

use crate::error::Error;
use crate::store::key::key;

/// A namespace. Leases of one namespace never have the same node at the same time; leases of two may.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Namespace(String);

impl Namespace {
    /// Returns the namespace `name`: 1 to 64 of `a-z A-Z 0-9 . _ -`, not beginning with a dot.
    ///
    /// # Errors
    /// `InvalidNode`.
    pub fn named(name: &str) -> Result<Self, Error> {
        Ok(Self(NamespaceName::new(name)?.to_string()))
    }

    /// Reads what [`fmt::Display`] writes: a name, or `@` and a name for the default namespace of a layout.
    ///
    /// # Errors
    /// `InvalidNode`.
    pub fn parse(text: &str) -> Result<Self, Error> {
        Self::named(text.strip_prefix('@').unwrap_or(text))?;
        Ok(Self(text.to_owned()))
    }

    /// Refuses the default namespace of another layout by `InvalidLayout`.
    #[cfg(feature = "engines")]
    pub(crate) fn refuse_default_of_another(&self, layout: &Layout) -> Result<(), Error> {
        if !self.0.starts_with('@') || *self == Self::of_layout(layout) {
            return Ok(());
        }
        Err(Error::new(ErrorKind::InvalidLayout, format!("namespace {self} is for its own layout, not for {layout}")))
    }

    /// Returns the default namespace of a layout. It depends on the numbers of the layout, not on names of fields.
    pub fn of_layout(layout: &Layout) -> Self {
        Self(NamespaceName::Default(layout.layout_id()).to_string())
    }

    /// Reads the record that a store has for this namespace, for generators of a layout. Returns the layout as the record has it.
    ///
    /// # Errors
    /// `InvalidLayout`, if the namespace is of another layout; `StoreUnavailable`, if the value is not a record.
    pub fn read(&self, store: &str, record: &[u8], layout: &Layout) -> Result<(Layout, NamespaceRecord), Error> {
        NamespaceRecord::read_for(record, layout).map_err(|refusal| {
            let mut message = format!("{store}: ");
            let _ = refusal.write(&mut message, &self.0);
            Error::new(refusal.kind(), message)
        })
    }

    /// Returns the key of the namespace's record in a store.
    pub(crate) fn key(&self) -> Result<String, Error> {
        key("layouts/", &self.0)
    }

    /// Returns the key of the namespace's nodes in a store, up to the number of a node.
    pub(crate) fn nodes_prefix(&self) -> Result<String, Error> {
        Ok(key("leases/", &self.0)? + "/")
    }

    /// Returns the name of the namespace's directory.
    pub fn directory(&self) -> &str {
        &self.0
    }
}

#[cfg(feature = "engines")]
/// Returns whether the record of a namespace says that an operator removed it.
pub(super) fn is_removed(record: &[u8]) -> bool {
    NamespaceRecord::read(record).is_ok_and(|(_, record)| record.removed)
}

impl fmt::Display for Namespace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use snowmint_core::ErrorKind;
    use snowmint_core::layouts::{LEAF, SNOWMINT, TWITTER};

    #[test]
    fn names_stay_within_their_directory() {
        for bad in ["", ".", "..", ".hidden", "a/b", "a\\b", "@layout", "é", "a b", &"x".repeat(65)] {
            assert_eq!(Namespace::named(bad).expect_err(bad).kind(), ErrorKind::InvalidNode);
        }
        assert_eq!(Namespace::named("orders.v2_eu-1").expect("allowed").to_string(), "orders.v2_eu-1");
    }

    #[test]
    fn what_is_shown_of_a_namespace_is_read_again() {
        for namespace in [Namespace::of_layout(&SNOWMINT), Namespace::named("orders").expect("a name")] {
            assert_eq!(Namespace::parse(&namespace.to_string()), Ok(namespace));
        }
        for bad in ["", "@", "@@snowmint", "@a/b", "@.."] {
            assert_eq!(Namespace::parse(bad).expect_err(bad).kind(), ErrorKind::InvalidNode);
        }
    }

    #[test]
    fn the_default_is_one_for_each_layout_whatever_its_names() {
        assert_eq!(Namespace::of_layout(&TWITTER), Namespace::of_layout(&LEAF));
        assert_ne!(Namespace::of_layout(&TWITTER), Namespace::of_layout(&SNOWMINT));
        assert_eq!(Namespace::of_layout(&SNOWMINT).directory(), "@snowmint");
    }
}
