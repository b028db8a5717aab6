//! Which nodes of a layout a claim may take.

use core::fmt::{self, Write as _};

use super::{Field, Layout};
use crate::error::{Error, What};
use crate::int::Integer;

/// The nodes that a claim may take: all nodes of a layout, all nodes with given values in some fields, or one node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Nodes {
    /// The bits of a node that are given. Bits above the layout's nodes count as given too, unless no bit is given.
    given: u32,
    /// The values of the given bits; 0 in the other bits.
    node: u32,
}

impl Nodes {
    /// All nodes.
    pub const ALL: Self = Self { given: 0, node: 0 };

    /// Returns one node.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Nodes;
    /// let nodes = Nodes::one(5);
    /// assert!(nodes.contains(5) && !nodes.contains(4));
    /// ```
    pub const fn one(node: u32) -> Self {
        Self { given: u32::MAX, node }
    }

    /// Returns the nodes of `layout` that equal `node` in all bits of the mask `given`.
    pub(super) const fn part(layout: &Layout, given: u32, node: u32) -> Self {
        if given == 0 {
            return Self::ALL;
        }
        // There are at most 2^32 nodes.
        Self { given: given | !(layout.nodes() - 1) as u32, node }
    }

    /// Returns the node, if it is only one.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::{Nodes, layouts::TWITTER};
    /// assert_eq!(TWITTER.parse_nodes("datacenter=1,worker=2")?.single(), Some(34));
    /// assert_eq!(TWITTER.parse_nodes("datacenter=1")?.single(), None);
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub const fn single(self) -> Option<u32> {
        if self.given == u32::MAX { Some(self.node) } else { None }
    }

    /// Returns whether `node` is one of these.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::layouts::TWITTER;
    /// let nodes = TWITTER.parse_nodes("datacenter=1")?;
    /// assert!(nodes.contains(32) && nodes.contains(63));
    /// assert!(!nodes.contains(31));
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub const fn contains(self, node: u32) -> bool {
        node & self.given == self.node
    }

    /// Returns how many nodes of `layout` these are.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::{Nodes, layouts::TWITTER};
    /// assert_eq!(Nodes::ALL.count(&TWITTER), 1024);
    /// assert_eq!(TWITTER.parse_nodes("datacenter=1")?.count(&TWITTER), 32);
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub const fn count(self, layout: &Layout) -> u64 {
        let (count, nodes) = (1 << (!self.given).count_ones(), layout.nodes());
        if count < nodes { count } else { nodes }
    }

    /// Returns the least of these that is at least `from`.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::layouts::TWITTER;
    /// let nodes = TWITTER.parse_nodes("worker=5")?;
    /// assert_eq!((nodes.next(5), nodes.next(6)), (Some(5), Some(37)));
    /// assert_eq!(nodes.next(1000), None);
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub fn next(self, from: u64) -> Option<u32> {
        let from = u32::try_from(from).ok()?;
        let wrong = (from ^ self.node) & self.given;
        if wrong == 0 {
            return Some(from);
        }
        // The highest given bit in which `from` differs, and all below it.
        let low = u32::MAX >> wrong.leading_zeros();
        let highest = low - (low >> 1);
        if self.node & highest != 0 {
            return Some(from & !low | self.node & low);
        }
        // The bits above that are not given count on by one.
        let fixed = self.given | low;
        Some((from | fixed).checked_add(1)? & !fixed | self.node)
    }

    /// Returns the node at a place among these, counted from 0.
    pub(crate) const fn at(self, place: u64) -> u32 {
        let (mut node, mut free, mut place) = (self.node, !self.given, place);
        while free != 0 {
            let bit = free & free.wrapping_neg();
            if place & 1 == 1 {
                node |= bit;
            }
            place >>= 1;
            free &= !bit;
        }
        node
    }

    /// Returns the value of a field, if it is given.
    pub(super) fn field(self, layout: &Layout, field: Field) -> Option<u64> {
        let of = |node| field.take(layout.put_node(node));
        (of(self.given) == field.max()).then(|| of(self.node))
    }
}

/// Nodes as a text that [`Layout::parse_nodes`] reads, such as `datacenter=1`, of their layout.
#[derive(Clone, Copy, Debug)]
pub struct ShownNodes<'a>(Nodes, &'a Layout);

impl Layout {
    /// Returns nodes as a text that [`Layout::parse_nodes`] reads: `5`, or `datacenter=1`. All nodes are an empty text.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::{Nodes, layouts::TWITTER};
    /// assert_eq!(TWITTER.show_nodes(TWITTER.parse_nodes("worker=5")?).to_string(), "worker=5");
    /// assert_eq!(TWITTER.show_nodes(Nodes::one(34)).to_string(), "34");
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub const fn show_nodes(&self, nodes: Nodes) -> ShownNodes<'_> {
        ShownNodes(nodes, self)
    }

    /// Returns the one node of `nodes`.
    ///
    /// # Errors
    /// `InvalidNode`, if they are several, or not of this layout.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::{Nodes, layouts::TWITTER};
    /// assert_eq!(TWITTER.only_node(Nodes::one(5)), Ok(5));
    /// let error = TWITTER.only_node(TWITTER.parse_nodes("datacenter=3")?).unwrap_err();
    /// assert_eq!(error.to_string(), "worker is missing: give every node field of this layout, or one number");
    /// assert!(TWITTER.only_node(Nodes::one(1024)).is_err());
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub fn only_node(&self, nodes: Nodes) -> Result<u32, Error> {
        let node = self.node(Integer::from(u64::from(nodes.node)))?;
        match self.node_fields().find(|slot| nodes.field(self, slot.field).is_none()) {
            Some(slot) => Err(slot.name.refused(What::NodeMissing, 0)),
            None => Ok(node),
        }
    }

    /// Returns the value of the node field of that name, if `nodes` have one value of it.
    #[doc(hidden)]
    pub fn node_field(&self, nodes: Nodes, name: &str) -> Option<u32> {
        let slot = self.node_fields().find(|slot| slot.name.as_str() == name)?;
        // A node has 32 bits at most.
        nodes.field(self, slot.field).map(|value| value as u32)
    }

    /// Refuses nodes that this layout does not have.
    ///
    /// # Errors
    /// `InvalidNode`.
    #[doc(hidden)]
    pub fn refuse_nodes(&self, nodes: Nodes) -> Result<(), Error> {
        self.node(Integer::from(u64::from(nodes.node))).map(drop)
    }
}

impl fmt::Display for ShownNodes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(nodes, layout) = *self;
        if let Some(node) = nodes.single() {
            return write!(f, "{node}");
        }
        let mut is_first = true;
        for slot in layout.node_fields() {
            if let Some(value) = nodes.field(layout, slot.field) {
                if !is_first {
                    f.write_char(',')?;
                }
                write!(f, "{}={value}", slot.name)?;
                is_first = false;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::string::ToString as _;
    use std::vec::Vec;

    use super::*;

    #[test]
    fn nodes_of_a_part_are_those_whose_fields_have_the_values() {
        let layout = Layout::parse("time:41,a:2,b:3,c:1,sequence:3;epoch=1735689600000").expect("valid");
        for text in ["a=2", "b=5", "c=1", "a=1,c=0", "a=3,b=7", "b=0,c=0", "a=2,b=1,c=1", "17"] {
            let nodes = layout.parse_nodes(text).expect(text);
            let all: Vec<u32> = (0..64).filter(|node| nodes.contains(*node)).collect();
            assert_eq!(all.len() as u64, nodes.count(&layout), "{text}");
            for from in 0..70 {
                let next = all.iter().copied().find(|node| u64::from(*node) >= from);
                assert_eq!(nodes.next(from), next, "{text} from {from}");
            }
            for (place, node) in all.iter().enumerate() {
                assert_eq!(nodes.at(place as u64), *node, "{text}");
            }
            assert_eq!(layout.parse_nodes(layout.show_nodes(nodes).to_string()), Ok(nodes), "{text}");
        }
        assert_eq!((Nodes::ALL.next(63), Nodes::ALL.at(63), Nodes::ALL.count(&layout)), (Some(63), 63, 64));
    }

    #[test]
    fn a_fixed_value_is_given_by_all_nodes() {
        let layout = Layout::parse("time:41,region:2=3,worker:4,sequence:3;epoch=1735689600000").expect("valid");
        assert_eq!(layout.parse_nodes("region=3"), Ok(Nodes::ALL));
        assert_eq!(layout.parse_nodes("region=3,worker=7"), Ok(Nodes::one(7)));
        assert_eq!(layout.show_nodes(Nodes::ALL).to_string(), "");
        assert!(layout.parse_nodes("region=1").is_err() && layout.parse_nodes("").is_err());
    }

    #[test]
    fn a_layout_of_32_node_bits_has_a_last_node() {
        let layout = Layout::parse("time:20,region:8,worker:24,sequence:4;epoch=1735689600000").expect("valid");
        let nodes = layout.parse_nodes("worker=16777215").expect("valid");
        assert_eq!(nodes.next(u64::from(u32::MAX)), Some(u32::MAX));
        assert_eq!(nodes.next(u64::from(u32::MAX) + 1), None);
        assert_eq!(layout.parse_nodes("worker=1").expect("valid").next(u64::from(u32::MAX)), None);
        assert_eq!(Nodes::ALL.count(&layout), 1 << 32);
    }
}
