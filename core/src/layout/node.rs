//! The node of an ID: one number, or a number for each node field.

use super::reader::Reader;
use super::{FIXED, Field, Layout, NODE, Nodes};
use crate::error::{Error, What};
use crate::forms::name::Name;
use crate::int::Integer;
use crate::mutant;

impl Layout {
    /// Returns `node` as a number, if this layout has such a node.
    ///
    /// # Errors
    /// `InvalidNode` outside 0 to [`Layout::nodes`] - 1.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::{ErrorKind, Integer, layouts::TWITTER};
    /// assert_eq!(TWITTER.node(Integer::from(1023))?, 1023);
    /// assert_eq!(TWITTER.node(Integer::from(1024)).unwrap_err().kind(), ErrorKind::InvalidNode);
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub fn node(&self, node: Integer) -> Result<u32, Error> {
        let width = if mutant::removes("range") { u32::BITS } else { self.node_bits };
        if node.misfits(width) {
            return Err(node.refused(What::Node, width));
        }
        Ok(node.magnitude() as u32)
    }

    /// Returns the node whose fields have these values. Every node field must be given once. A field with a fixed value may be
    /// given with that value.
    ///
    /// # Errors
    /// `InvalidNode`, if a field is missing, unknown, given twice or out of range.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::{Integer, layouts::TWITTER};
    /// let node = TWITTER.node_of([("datacenter", Integer::from(11)), ("worker", Integer::from(26))])?;
    /// assert_eq!(node, 378);
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub fn node_of(&self, values: impl IntoIterator<Item = (impl AsRef<[u8]>, Integer)>) -> Result<u32, Error> {
        self.only_node(self.nodes_of(values)?)
    }

    /// Returns the nodes whose fields have these values. Pass at least one field, and each field at most once. With all
    /// fields the result is one node.
    ///
    /// # Errors
    /// `InvalidNode`, if a field is unknown, given twice or out of range, or none is given.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::{Integer, layouts::TWITTER};
    /// let nodes = TWITTER.nodes_of([("datacenter", Integer::from(11))])?;
    /// assert!(nodes.contains(378) && nodes.count(&TWITTER) == 32);
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub fn nodes_of(&self, values: impl IntoIterator<Item = (impl AsRef<[u8]>, Integer)>) -> Result<Nodes, Error> {
        let mut fields = Fields::of(self);
        values.into_iter().try_for_each(|(name, value)| fields.set(&Name::cut(name.as_ref()), value))?;
        fields.nodes()
    }

    /// Reads a node from a text: `5`, or `datacenter=0,worker=5`.
    ///
    /// # Errors
    /// `InvalidNode`, if the text has neither form or the node does not fit.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::layouts::TWITTER;
    /// assert_eq!(TWITTER.parse_node("378")?, 378);
    /// assert_eq!(TWITTER.parse_node("datacenter=11,worker=26")?, 378);
    /// let error = TWITTER.parse_node("datacenter=11").unwrap_err();
    /// assert_eq!(error.to_string(), "worker is missing: give every node field of this layout, or one number");
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub fn parse_node(&self, text: impl AsRef<[u8]>) -> Result<u32, Error> {
        self.only_node(self.parse_nodes(text)?)
    }

    /// Reads nodes from a text: one as for [`parse_node`](Self::parse_node), or the values of some fields, as in `datacenter=1`.
    ///
    /// # Errors
    /// `InvalidNode`, if the text has no such form, is empty, or a value does not fit.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::layouts::TWITTER;
    /// assert!(TWITTER.parse_nodes("datacenter=11")?.contains(378));
    /// assert_eq!(TWITTER.parse_nodes("378")?.single(), Some(378));
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub fn parse_nodes(&self, text: impl AsRef<[u8]>) -> Result<Nodes, Error> {
        let text = text.as_ref();
        if let Some(number) = Integer::parse(text) {
            return self.node(number).map(Nodes::one);
        }
        let mut fields = Fields::of(self);
        fields.read(text)?;
        fields.nodes()
    }

    /// Returns the bits of `node`, which must fit, at their places in an ID.
    #[doc(hidden)]
    pub fn put_node(&self, node: u32) -> u64 {
        let mut rest = self.node_bits;
        let mut id = 0;
        for slot in self.node_fields() {
            rest -= slot.field.width();
            id |= slot.field.put((u64::from(node) >> rest) & slot.field.max());
        }
        id
    }

    /// Returns the node of an ID: the inverse of [`Layout::put_node`].
    pub(crate) fn take_node(&self, id: u64) -> u32 {
        self.node_fields().fold(0u64, |node, slot| (node << slot.field.width()) | slot.field.take(id)) as u32
    }
}

/// Node fields that are given one after the other.
struct Fields<'a> {
    layout: &'a Layout,
    /// The masks of the fields given so far.
    given: u64,
    /// Their values at their places in an ID.
    node: u64,
}

impl<'a> Fields<'a> {
    const fn of(layout: &'a Layout) -> Self {
        Self { layout, given: 0, node: 0 }
    }

    /// Reads a text such as `datacenter=0,worker=5`.
    fn read(&mut self, text: &[u8]) -> Result<(), Error> {
        let mut reader = Reader::new(text);
        let mut more = !text.is_empty();
        while more {
            let name = reader.take_while(|byte| byte != b'=' && byte != b',');
            reader.skip(b"=");
            let Some(value) = Integer::parse(reader.take_while(|byte| byte != b',')) else {
                return Err(Error::plain(What::NodeText));
            };
            self.set(&Name::cut(name), value)?;
            more = reader.skip(b",");
        }
        Ok(())
    }

    fn set(&mut self, name: &Name, value: Integer) -> Result<(), Error> {
        // A field may be given with the value that is fixed.
        let is_fixed = |field: Field| value == Integer::Fits(field.take(self.layout.fixed));
        let Some(slot) = self.layout.slots.iter().find(|slot| {
            (slot.kind == NODE || slot.kind == FIXED && is_fixed(slot.field))
                && slot.name.is(name)
                && self.given & slot.field.mask() == 0
        }) else {
            return Err(name.refused(What::NodeUnknown, 0));
        };
        match value {
            Integer::Fits(value) if value <= slot.field.max() => self.node |= slot.field.put(value),
            _ => return Err(name.refused(What::NodeField, slot.field.width())),
        }
        self.given |= slot.field.mask();
        Ok(())
    }

    /// Returns the nodes of the given fields.
    fn nodes(self) -> Result<Nodes, Error> {
        let take = |id| self.layout.take_node(id);
        match self.layout.node_fields().next() {
            Some(first) if self.given == 0 => Err(first.name.refused(What::NodeMissing, 0)),
            None => Ok(Nodes::one(0)),
            Some(_) => Ok(Nodes::part(self.layout, take(self.given), take(self.node))),
        }
    }
}
