//! The systems whose 64-bit IDs are recognised: the presets, and layouts that are only read.

use crate::error::Error;
use crate::layout::Layout;

/// The number of systems.
pub(super) const COUNT: usize = 17;

/// Layouts beside the presets, each with a name and a text.
///
/// Source: `yitter/IdGenerator`, `BaseTime` of each edition. The preset `yitter` is the epoch of the Go, Java, C, C++,
/// Rust, PHP, Delphi and Python editions.
static READ_ONLY: [(&str, &str); 2] = [
    ("yitter_typescript", "unused:1,time:51,worker:6,sequence:6;epoch=1577836800000;tick=1ms"),
    ("yitter_csharp", "unused:1,time:51,worker:6,sequence:6;epoch=1582165202020;tick=1ms"),
];

/// Returns the layout of the system with this name.
///
/// # Errors
/// `InvalidLayout`, if no system has this name.
pub(super) fn layout(system: &str) -> Result<Layout, Error> {
    match READ_ONLY.iter().find(|(name, _)| *name == system) {
        Some((_, text)) => Layout::parse(text),
        None => Layout::preset(system),
    }
}

/// The systems, each with the first instant, Unix ms, at which it can have minted: the first day of its public source,
/// or else its epoch. Systems whose IDs people meet most often come first, because for some pairs only the order
/// decides.
pub(super) static SYSTEMS: [(&str, i64); COUNT] = [
    ("twitter", 1_288_834_974_657),
    ("discord", 1_420_070_400_000),
    ("instagram", 1_314_220_021_721),
    // 2017-09-04, `mastodon/mastodon`, pull request 4801.
    ("mastodon", 1_504_483_200_000),
    // 2026-01-01: no ID of snowmint is older.
    ("snowmint", 1_767_225_600_000),
    // 2015-06-01, the first commit.
    ("sonyflake", 1_433_116_800_000),
    // 2025-05-05, the first commit of v2.
    ("sonyflake2", 1_746_403_200_000),
    // 2018-12-11, the first commit.
    ("leaf", 1_544_486_400_000),
    ("baidu", 1_463_673_600_000),
    // 2021-06-23, the first commit.
    ("cosid", 1_624_406_400_000),
    // 2021-03-11, the first commit.
    ("yitter", 1_615_420_800_000),
    ("yitter_typescript", 1_615_420_800_000),
    ("yitter_csharp", 1_615_420_800_000),
    ("gosnowflake", 1_474_802_888_000),
    // 2018-06-01, the month of the article's example.
    ("callicoder", 1_527_811_200_000),
    ("iteye", 1_361_753_741_828),
    ("safe53", 1_767_225_600_000),
];

/// When UUIDs of version 1 came into use: with DCE, about 1990.
pub(super) const UUID_V1: i64 = 631_152_000_000;
/// When UUIDs of versions 6 and 7 came into use: with their first drafts, in 2020.
pub(super) const UUID_V7: i64 = 1_577_836_800_000;
/// When ULIDs were proposed: 2016.
pub(super) const ULID: i64 = 1_451_606_400_000;
/// When the work on `MongoDB` began: 2007.
pub(super) const OBJECT_ID: i64 = 1_167_609_600_000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layouts;

    #[test]
    fn every_preset_is_a_system_that_begins_after_its_epoch() {
        assert_eq!(layouts::all().count() + READ_ONLY.len(), COUNT);
        for (name, _) in layouts::all() {
            assert!(SYSTEMS.iter().any(|(system, _)| *system == name), "{name}");
        }
        for (name, begins_ms) in SYSTEMS {
            let layout = layout(name).expect("each has a layout");
            assert!((layout.epoch_ms()..layout.ends_at_ms()).contains(&begins_ms), "{name}");
        }
    }
}
