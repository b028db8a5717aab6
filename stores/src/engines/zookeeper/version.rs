//! Versions of nodes and of records.

use crate::store::Version;

/// The version of a record whose node has this one. A node begins at 0 and goes on below 0 after 2^31 - 1.
pub(super) fn of(node: i32) -> Version {
    Version::from(node.cast_unsigned()) + 1
}

/// The version of the node of a record; nothing if no node can have it.
pub(super) fn to_node(record: Version) -> Option<i32> {
    u32::try_from(record.checked_sub(1)?).ok().map(u32::cast_signed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_nodes_come_back_and_never_repeat_before_minus_one() {
        let mut last = 0;
        for node in [0, 1, i32::MAX - 1, i32::MAX, i32::MIN, i32::MIN + 1, -2, -1] {
            assert!(of(node) > last, "{node}");
            last = of(node);
            assert_eq!(to_node(last), Some(node));
        }
        assert_eq!(last, 1 << 32);
        assert_eq!((to_node(0), to_node(last + 1), to_node(u64::MAX)), (None, None, None));
    }
}
