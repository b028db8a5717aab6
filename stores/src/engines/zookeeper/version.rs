//! Versions of znodes and of records.

use crate::store::Version;

/// Returns the version of a record. Its znode begins at version 0, and continues at -2^31 after 2^31 - 1.
pub(super) fn of(node: i32) -> Version {
    Version::from(node.cast_unsigned()) + 1
}

/// Returns the version of a record's znode. `None` for a version that no znode can have.
pub(super) fn to_node(record: Version) -> Option<i32> {
    u32::try_from(record.checked_sub(1)?).ok().map(u32::cast_signed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_increase_up_to_minus_one_and_convert_back() {
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
