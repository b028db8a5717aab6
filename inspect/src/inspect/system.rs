//! The systems whose 64-bit IDs are recognised: the presets, and systems whose IDs are only read.
//!
//! The spreads of values come from the public IDs in `tests/reference/cases/inspect.py` and, for Discord, from the IDs in
//! `discord/discord-api-docs`.

use super::spread::{BIT, Bits};
use snowmint_core::host::What;
use snowmint_core::{Error, Field, Layout, layouts};

/// A system.
#[derive(Debug)]
pub(super) struct System {
    /// The name of a preset or of a row below.
    pub(super) name: &'static str,
    /// The numbers of its layout; `None` if its IDs have no time.
    pub(super) shape: Option<Shape>,
    /// The first instant, Unix ms, at which it can have minted: the first day of its public source, or else its epoch.
    pub(super) begins_ms: i64,
    /// How rare its IDs are: a cost, as of [`Bits::cost`].
    pub(super) rare: u32,
    spread: &'static [Bits],
    /// The spread of IDs below a number.
    old: Option<(u64, &'static [Bits])>,
}

impl System {
    /// Returns the cost of all bits of an ID except its time.
    pub(super) fn cost(&self, id: u64) -> u32 {
        let spread = match self.old {
            Some((until, spread)) if id < until => spread,
            _ => self.spread,
        };
        self.rare + spread.iter().map(|bits| bits.cost(id)).sum::<u32>()
    }
}

/// The numbers of a layout that decide whether it has an ID, and when it was minted. A layout is ten times as large.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    /// Bits that have the same value in every ID, and these values.
    constant: u64,
    values: u64,
    time: Field,
    tick_us: u64,
    epoch_ms: i64,
}

impl Shape {
    const fn of(layout: &Layout) -> Self {
        Self {
            constant: layout.constant(),
            values: layout.fixed(),
            time: layout.time(),
            tick_us: layout.tick_us(),
            epoch_ms: layout.epoch_ms(),
        }
    }

    /// Returns the time of an ID, Unix ms and the microseconds after it; `None` if the layout cannot have minted the ID.
    pub(super) const fn time(&self, id: u64) -> Option<(i64, u16)> {
        if id & self.constant != self.values {
            return None;
        }
        let tick = self.time.take(id);
        // A tick is whole ms, or its count in microseconds fits an i64.
        let (ms, us) = if self.tick_us.is_multiple_of(1000) {
            (tick.wrapping_mul(self.tick_us / 1000), 0)
        } else {
            (tick.wrapping_mul(self.tick_us) / 1000, tick.wrapping_mul(self.tick_us) % 1000)
        };
        Some((self.epoch_ms.wrapping_add_unsigned(ms), us as u16))
    }

    pub(super) const fn tick_us(&self) -> u64 {
        self.tick_us
    }

    pub(super) const fn epoch_ms(&self) -> i64 {
        self.epoch_ms
    }
}

/// Each row makes the text of a layout that is only read, and its shape.
macro_rules! read_only {
    ($($constant:ident $name:literal $text:literal [$(($field:literal, $bits:literal $(, $fixed:literal)?)),+] $epoch_ms:literal
        $tick:literal $per_ms:literal;)+) => {
        $(const $constant: Shape =
            shape(&[$(($field, $bits, [$($fixed)?].as_slice())),+], $epoch_ms, $tick, $per_ms);)+
        static READ_ONLY: &[(&str, &str)] = &[$(($name, $text)),+];
    };
}

const fn shape(fields: &[(&str, u32, &[u64])], epoch_ms: i64, tick: u64, per_ms: u64) -> Shape {
    let mut layout = Layout::EMPTY;
    let mut at = 0;
    while at < fields.len() {
        let (name, bits, fixed) = fields[at];
        let fixed = if let [value] = fixed { *value + 1 } else { 0 };
        assert!(layout.add(name.as_bytes(), bits, fixed).is_ok(), "a field of a system breaks a rule");
        at += 1;
    }
    assert!(layout.finish(epoch_ms, tick, per_ms).is_ok(), "a layout of a system breaks a rule");
    Shape::of(&layout)
}

// The texts repeat the fields; a test compares them.
read_only! {
    // `obsidianforensics/unfurl`, `parse_tiktok.py`; arXiv 2504.13279. IDs of Douyin and Lark too.
    TIKTOK "tiktok" "time:32,ms:10,opaque:3,sequence:5,reserved:2,type:4,machine:8;epoch=0;tick=1s"
        [("time", 32), ("ms", 10), ("opaque", 3), ("sequence", 5), ("reserved", 2), ("type", 4), ("machine", 8)] 0 1000 1;
    // `obsidianforensics/unfurl`, `parse_linkedin.py`.
    LINKEDIN "linkedin" "time:42,opaque:22;epoch=0;tick=1ms" [("time", 42), ("opaque", 22)] 0 1 1;
    // atproto.com, "Timestamp Identifiers (TIDs)".
    BLUESKY "bluesky" "unused:1,time:53,clock:10;epoch=0;tick=1us" [("unused", 1), ("time", 53), ("clock", 10)] 0 1 1000;
    // `PingCAP`'s documentation, "TimeStamp Oracle (TSO) in TiDB".
    TIDB "tidb" "time:46,logical:18;epoch=0;tick=1ms" [("time", 46), ("logical", 18)] 0 1 1;
    // `cockroachdb/cockroach`, `GenerateUniqueInt`.
    COCKROACHDB "cockroachdb" "unused:1,time:48,node:15;epoch=1420070400000;tick=10us"
        [("unused", 1), ("time", 48), ("node", 15)] 1_420_070_400_000 10 1000;
    // `ClickHouse`'s documentation, `generateSnowflakeID`.
    CLICKHOUSE "clickhouse" "unused:1,time:41,machine:10,sequence:12;epoch=0;tick=1ms"
        [("unused", 1), ("time", 41), ("machine", 10), ("sequence", 12)] 0 1 1;
    // `getsentry/sentry`, `utils/snowflake.py`: organisations and projects.
    SENTRY "sentry" "version:5=16,time:32,region:12,sequence:4;epoch=1659916800000;tick=1s"
        [("version", 5, 16), ("time", 32), ("region", 12), ("sequence", 4)] 1_659_916_800_000 1000 1;
    // `f4b6a3/tsid-creator`, `vladmihalcea/hypersistence-tsid`.
    TSID "tsid" "time:42,node:10,sequence:12;epoch=1577836800000;tick=1ms"
        [("time", 42), ("node", 10), ("sequence", 12)] 1_577_836_800_000 1 1;
    // `apache/incubator-seata`, `IdWorker.java`.
    SEATA "seata" "unused:1,node:10,time:41,sequence:12;epoch=1588435200000;tick=1ms"
        [("unused", 1), ("node", 10), ("time", 41), ("sequence", 12)] 1_588_435_200_000 1 1;
    // `apache/shardingsphere`, `SnowflakeKeyGenerateAlgorithm.java`.
    SHARDINGSPHERE "shardingsphere" "unused:1,time:41,worker:10,sequence:12;epoch=1477929600000;tick=1ms"
        [("unused", 1), ("time", 41), ("worker", 10), ("sequence", 12)] 1_477_929_600_000 1 1;
    // `hazelcast/hazelcast`, `FlakeIdGenerator`.
    HAZELCAST "hazelcast" "unused:1,time:41,sequence:6,node:16;epoch=1514764800000;tick=1ms"
        [("unused", 1), ("time", 41), ("sequence", 6), ("node", 16)] 1_514_764_800_000 1 1;
    // `yitter/IdGenerator`, `BaseTime` of these editions. The preset `yitter` is the epoch of the others.
    YITTER_TYPESCRIPT "yitter_typescript" "unused:1,time:51,worker:6,sequence:6;epoch=1577836800000;tick=1ms"
        [("unused", 1), ("time", 51), ("worker", 6), ("sequence", 6)] 1_577_836_800_000 1 1;
    YITTER_CSHARP "yitter_csharp" "unused:1,time:51,worker:6,sequence:6;epoch=1582165202020;tick=1ms"
        [("unused", 1), ("time", 51), ("worker", 6), ("sequence", 6)] 1_582_165_202_020 1 1;
}

/// Returns the layout of the system with this name.
///
/// # Errors
/// `InvalidLayout`, if no system has this name, or its IDs have no time.
pub(super) fn layout(system: &str) -> Result<Layout, Error> {
    match READ_ONLY.iter().find(|(name, _)| *name == system) {
        Some((_, text)) => Layout::parse(text),
        None if system == "pinterest" => Err(Error::plain(What::NoTime)),
        None => Layout::preset(system),
    }
}

/// The number of bits of the fields of a Pinterest ID: shard, type and object ("Sharding Pinterest").
pub(super) const PINTEREST: [(&str, u32, u32); 3] = [("shard", 46, 16), ("type", 36, 10), ("object", 0, 36)];

/// Returns whether Pinterest can have minted an ID: it has 62 bits, and a type of few (a pin is 1, a board 2).
pub(super) const fn is_of_pinterest(id: u64) -> bool {
    id >> 62 == 0 && matches!((id >> 36) & 1023, 1..=15)
}

/// Above 10 bits a node is a number that a machine is given.
const fn worker_10(shift: u32) -> [Bits; 2] {
    [Bits::number(shift, 10), Bits::counter(0, shift)]
}

const COUNTED_12: &[Bits] = &worker_10(12);

const fn system(name: &'static str, shape: Shape, begins_ms: i64, rare: u32, spread: &'static [Bits]) -> System {
    System { name, shape: Some(shape), begins_ms, rare: rare * BIT, spread, old: None }
}

/// The number of systems.
pub(super) const SYSTEM_COUNT: usize = 29;

/// The systems. Systems with common IDs come first, because for some IDs only the order decides.
pub(super) static SYSTEMS: [System; SYSTEM_COUNT] = [
    System {
        // Data centre 1 until the middle of 2015, then 10, 11 and 13.
        old: Some((
            620_000_000_000_000_000,
            &[
                Bits::ranges(12, 10, &[(32, 39, 4)], 13),
                Bits::ranges(0, 12, &[(0, 0, 0), (1, 1, 3), (2, 3, 6), (4, 15, 9)], 16),
            ],
        )),
        ..system(
            "twitter",
            Shape::of(&layouts::TWITTER),
            1_288_834_974_657,
            0,
            &[Bits::ranges(12, 10, &[(320, 383, 7), (416, 447, 7)], 14), Bits::counter(0, 12)],
        )
    },
    System {
        // The increment goes on from ms to ms, and now and then starts again.
        old: Some((
            510_000_000_000_000_000,
            &[
                Bits::ranges(17, 5, &[(0, 2, 2)], 10),
                Bits::ranges(12, 5, &[(0, 0, 0), (1, 7, 6)], 9),
                Bits::ranges(
                    0,
                    12,
                    &[(0, 0, 1), (1, 1, 2), (2, 15, 6), (16, 63, 8), (64, 255, 10), (256, 1023, 13)],
                    20,
                ),
            ],
        )),
        rare: 3 * BIT / 2,
        ..system(
            "discord",
            Shape::of(&layouts::DISCORD),
            1_420_070_400_000,
            0,
            &[
                Bits::ranges(17, 5, &[(0, 2, 2)], 10),
                Bits::ranges(12, 5, &[(0, 0, 2), (1, 7, 4)], 9),
                Bits::ranges(
                    0,
                    12,
                    &[(0, 0, 2), (1, 3, 4), (4, 15, 6), (16, 63, 8), (64, 255, 9), (256, 1023, 12)],
                    20,
                ),
            ],
        )
    },
    System {
        // Small before 2012: 4 bits more.
        old: Some((100_000_000_000_000_000, &[Bits::even(0, 23), Bits::ranges(0, 1, &[], 4)])),
        ..system("instagram", Shape::of(&layouts::INSTAGRAM), 1_314_220_021_721, 1, &[Bits::even(0, 23)])
    },
    // 2014-01-01: before the first videos of Douyin, whose older siblings have such IDs.
    system(
        "tiktok",
        TIKTOK,
        1_388_534_400_000,
        1,
        &[
            Bits::ranges(22, 10, &[(0, 999, 10)], 20),
            Bits::ranges(19, 3, &[(0, 0, 1), (1, 3, 4)], 8),
            Bits::even(14, 5),
            Bits::ranges(12, 2, &[(0, 0, 0)], 8),
            // A video; a user; a user or a sound; a device; live video.
            Bits::ranges(8, 4, &[(13, 13, 1), (0, 0, 5), (4, 4, 4), (6, 6, 4), (11, 11, 4)], 9),
            Bits::ranges(0, 8, &[(1, 63, 6)], 9),
        ],
    ),
    // 2012-01-01. The opaque bits look like a node below 128 and a sequence.
    system(
        "linkedin",
        LINKEDIN,
        1_325_376_000_000,
        2,
        &[Bits::ranges(12, 10, &[(0, 127, 7)], 13), Bits::counter(0, 12)],
    ),
    // 2017-09-04, `mastodon/mastodon`, pull request 4801.
    system("mastodon", Shape::of(&layouts::MASTODON), 1_504_483_200_000, 2, &[Bits::even(0, 16)]),
    // 2022-11-01.
    system("bluesky", BLUESKY, 1_667_260_800_000, 6, &[Bits::ranges(0, 10, &[(0, 63, 7)], 12)]),
    System {
        name: "pinterest",
        shape: None,
        begins_ms: 0,
        rare: 4 * BIT,
        spread: &[Bits::even(46, 16), Bits::ranges(36, 10, &[(1, 1, 1)], 5), Bits::number(0, 36)],
        old: None,
    },
    // 2026-01-01: no ID of snowmint is older.
    system("snowmint", Shape::of(&layouts::SNOWMINT), 1_767_225_600_000, 8, COUNTED_12),
    system(
        "sentry",
        SENTRY,
        1_659_916_800_000,
        4,
        &[Bits::ranges(4, 12, &[(0, 0, 1), (1, 15, 5)], 13), Bits::counter(0, 4)],
    ),
    // 2015-06-01.
    system(
        "cockroachdb",
        COCKROACHDB,
        1_433_116_800_000,
        4,
        &[Bits::ranges(0, 15, &[(1, 1, 2), (2, 15, 5), (16, 255, 9)], 17)],
    ),
    // 2016-01-01.
    system("tidb", TIDB, 1_451_606_400_000, 5, &[Bits::counter(0, 18)]),
    // 2024-05-01, the month of its documentation's example.
    system("clickhouse", CLICKHOUSE, 1_714_521_600_000, 5, &[Bits::even(12, 10), Bits::counter(0, 12)]),
    system("tsid", TSID, 1_577_836_800_000, 5, &[Bits::even(0, 22)]),
    // 2015-06-01, the first commit.
    system(
        "sonyflake",
        Shape::of(&layouts::SONYFLAKE),
        1_433_116_800_000,
        5,
        &[Bits::counter(16, 8), Bits::even(0, 16)],
    ),
    // 2025-05-05, the first commit of v2.
    system(
        "sonyflake2",
        Shape::of(&layouts::SONYFLAKE2),
        1_746_403_200_000,
        7,
        &[Bits::counter(16, 8), Bits::even(0, 16)],
    ),
    // 2018-12-11, the first commit.
    system("leaf", Shape::of(&layouts::LEAF), 1_544_486_400_000, 8, COUNTED_12),
    system("baidu", Shape::of(&layouts::BAIDU), 1_463_673_600_000, 8, &[Bits::even(13, 22), Bits::counter(0, 13)]),
    // 2021-06-23, the first commit.
    system("cosid", Shape::of(&layouts::COSID), 1_624_406_400_000, 8, COUNTED_12),
    // Its sequence goes on from ms to ms.
    system("seata", SEATA, 1_588_435_200_000, 8, &[Bits::even(53, 10), Bits::even(0, 12)]),
    system("shardingsphere", SHARDINGSPHERE, 1_477_929_600_000, 8, COUNTED_12),
    system("hazelcast", HAZELCAST, 1_514_764_800_000, 8, &[Bits::even(0, 22)]),
    // 2021-03-11, the first commit.
    system("yitter", Shape::of(&layouts::YITTER), 1_615_420_800_000, 6, &[Bits::number(6, 6), Bits::counter(0, 6)]),
    system("yitter_typescript", YITTER_TYPESCRIPT, 1_615_420_800_000, 8, &[Bits::number(6, 6), Bits::counter(0, 6)]),
    system("yitter_csharp", YITTER_CSHARP, 1_615_420_800_000, 8, &[Bits::number(6, 6), Bits::counter(0, 6)]),
    system("gosnowflake", Shape::of(&layouts::GOSNOWFLAKE), 1_474_802_888_000, 9, COUNTED_12),
    // 2018-06-01, the month of the article's example.
    system("callicoder", Shape::of(&layouts::CALLICODER), 1_527_811_200_000, 8, COUNTED_12),
    system("iteye", Shape::of(&layouts::ITEYE), 1_361_753_741_828, 10, &[Bits::number(10, 4), Bits::counter(0, 10)]),
    system("safe53", Shape::of(&layouts::SAFE53), 1_767_225_600_000, 8, &[Bits::number(9, 3), Bits::counter(0, 9)]),
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

    #[test]
    fn every_preset_is_a_system_that_begins_after_its_epoch() {
        for (name, _) in layouts::all() {
            assert!(SYSTEMS.iter().any(|system| system.name == name), "{name}");
        }
        // Presets, other layouts, and Pinterest.
        assert_eq!(layouts::all().count() + READ_ONLY.len() + 1, SYSTEM_COUNT);
        for System { name, begins_ms, shape, .. } in &SYSTEMS {
            let Some(shape) = shape else { continue };
            let layout = layout(name).expect("each has a layout");
            assert!((layout.epoch_ms()..layout.ends_at_ms()).contains(begins_ms), "{name}");
            let of_text = Shape::of(&layout);
            assert_eq!(
                (shape.constant, shape.values, shape.time, shape.tick_us, shape.epoch_ms),
                (of_text.constant, of_text.values, of_text.time, of_text.tick_us, of_text.epoch_ms),
                "{name}"
            );
        }
    }

    #[test]
    fn the_bits_of_a_spread_are_all_bits_below_or_beside_the_time() {
        for system in &SYSTEMS {
            let Some(shape) = system.shape else { continue };
            for spread in [system.spread, system.old.map_or(system.spread, |(_, spread)| spread)] {
                let bits = spread.iter().fold(0, |seen, bits| seen | bits.mask());
                assert_eq!(bits, !(shape.constant | shape.time.mask()), "{}", system.name);
            }
        }
    }
}
