//! Presets: the layouts of well-known systems, each with its source, and two layouts of snowmint.

use core::fmt;

use crate::error::{Error, What};
use crate::layout::Layout;

/// Makes a preset. A mistake in a preset fails to compile.
const fn preset(fields: &[(&str, u32)], epoch_ms: i64, tick_ms: u64) -> Layout {
    match Layout::new(fields, epoch_ms, tick_ms) {
        Ok(layout) => layout,
        Err(_) => panic!("a preset breaks a rule of layouts"),
    }
}

/// Each row makes a constant, and an entry in the table of names and texts. Names are looked up in texts because a text
/// is a tenth of the size of a layout, which matters in wasm.
macro_rules! presets {
    ($($(#[$doc:meta])+ $constant:ident $name:literal $first:literal:$bits:literal $(,$field:literal:$width:literal)*;
        $epoch_ms:literal; $tick_ms:literal $tick:literal;)+) => {
        $($(#[$doc])+ pub const $constant: Layout =
            preset(&[($first, $bits) $(,($field, $width))*], $epoch_ms, $tick_ms);)+

        static ALL: &[(&str, &str)] = &[$((
            $name,
            concat!($first, ":", $bits $(,",", $field, ":", $width)*, ";epoch=", $epoch_ms, ";tick=", $tick),
        )),+];
    };
}

presets! {
    /// The default of snowmint: 41 bits of ms since 2025, 1,024 nodes, 4,096 IDs per ms; until 2094, never negative.
    SNOWMINT "snowmint" "unused":1, "time":41, "node":10, "sequence":12; 1_735_689_600_000; 1 "1ms";

    /// Twitter's Snowflake of 2010: `twitter-archive/snowflake`, tag `snowflake-2010`, `IdWorker.scala`.
    TWITTER "twitter" "unused":1, "time":41, "datacenter":5, "worker":5, "sequence":12; 1_288_834_974_657; 1 "1ms";

    /// Discord: developer documentation, reference page, section "Snowflakes" (the last field is "increment" there).
    DISCORD "discord" "time":42, "worker":5, "process":5, "sequence":12; 1_420_070_400_000; 1 "1ms";

    /// Instagram: engineering blog, "Sharding & IDs at Instagram". Negative in a signed column from 2046.
    INSTAGRAM "instagram" "time":41, "shard":13, "sequence":10; 1_314_220_021_721; 1 "1ms";

    /// Sonyflake v1: `sony/sonyflake`, `sonyflake.go`. Ticks of 10 ms, the sequence above the machine.
    SONYFLAKE "sonyflake" "unused":1, "time":39, "sequence":8, "machine":16; 1_409_529_600_000; 10 "10ms";

    /// Sonyflake v2 with its default settings: `sony/sonyflake`, `v2/sonyflake.go`.
    SONYFLAKE2 "sonyflake2" "unused":1, "time":39, "sequence":8, "machine":16; 1_735_689_600_000; 10 "10ms";

    /// Leaf's snowflake mode: `Meituan-Dianping/Leaf`, `SnowflakeIDGenImpl.java`. The same numbers as Twitter's.
    LEAF "leaf" "unused":1, "time":41, "worker":10, "sequence":12; 1_288_834_974_657; 1 "1ms";

    /// Baidu's uid-generator with its default settings: `baidu/uid-generator`. Its last tick was on 2024-11-20.
    BAIDU "baidu" "unused":1, "time":28, "worker":22, "sequence":13; 1_463_673_600_000; 1000 "1s";

    /// `CosId`'s millisecond layout: `Ahoo-Wang/CosId`.
    COSID "cosid" "unused":1, "time":41, "machine":10, "sequence":12; 1_577_203_200_000; 1 "1ms";

    /// Mastodon's status IDs: `mastodon/mastodon`, `lib/mastodon/snowflake.rb`. Without a node.
    MASTODON "mastodon" "time":48, "sequence":16; 0; 1 "1ms";

    /// yitter's drift generator with its default settings: `yitter/IdGenerator`, the Go, Java, C, C++, Rust, PHP,
    /// Delphi and Python editions. The TypeScript edition counts from 1577836800000, the C# edition from 1582165202020.
    YITTER "yitter" "unused":1, "time":51, "worker":6, "sequence":6; 1_582_136_402_000; 1 "1ms";

    /// goSnowFlake: `zheng-ji/goSnowFlake`. Negative in a signed column from 2086.
    GOSNOWFLAKE "gosnowflake" "time":42, "worker":10, "sequence":12; 1_474_802_888_000; 1 "1ms";

    /// `CalliCoder`'s `SequenceGenerator`: the article "Distributed Unique ID Generator in Java".
    CALLICODER "callicoder" "unused":1, "time":41, "node":10, "sequence":12; 1_420_070_400_000; 1 "1ms";

    /// A Java class published on `ITeye`: 16 workers, 1,024 IDs per ms.
    ITEYE "iteye" "unused":1, "time":49, "worker":4, "sequence":10; 1_361_753_741_828; 1 "1ms";

    /// snowmint's layout for JavaScript numbers: 53 bits, with the widths of `CosId`'s JS-safe layout.
    SAFE53 "safe53" "time":41, "node":3, "sequence":9; 1_735_689_600_000; 1 "1ms";
}

/// Returns each preset with its name, in the order of the documentation.
///
/// # Examples
/// ```
/// use snowmint_core::layouts;
/// let names: Vec<_> = layouts::all().map(|(name, _)| name).collect();
/// assert_eq!(names[..3], ["snowmint", "twitter", "discord"]);
/// ```
pub fn all() -> impl Iterator<Item = (&'static str, Layout)> {
    ALL.iter().filter_map(|(name, text)| Some((*name, Layout::parse(text).ok()?)))
}

impl Layout {
    /// Returns the preset with this name, such as `"twitter"`.
    ///
    /// # Errors
    /// `InvalidLayout`, if no preset has this name.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::{Layout, layouts};
    /// assert_eq!(Layout::preset("twitter")?, layouts::TWITTER);
    /// assert!(Layout::preset("myspace").is_err());
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub fn preset(name: impl AsRef<[u8]>) -> Result<Self, Error> {
        let preset = ALL.iter().find(|(known, _)| known.as_bytes() == name.as_ref());
        preset.map_or(Err(Error::plain(What::Preset)), |(_, text)| Self::parse(*text))
    }

    /// Returns the preset with this name, or else the layout with this text form.
    ///
    /// # Errors
    /// `InvalidLayout`, if the text is neither.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::{Layout, layouts};
    /// assert_eq!(Layout::find("safe53")?, layouts::SAFE53);
    /// assert_eq!(Layout::find("time:42,worker:10,sequence:12;epoch=0")?.nodes(), 1024);
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub fn find(name_or_text: impl AsRef<[u8]>) -> Result<Self, Error> {
        let text = name_or_text.as_ref();
        if text.contains(&b':') { Self::parse(text) } else { Self::preset(text) }
    }

    /// Returns the name of the preset that equals this layout.
    pub fn name(&self) -> Option<&'static str> {
        let equals = |text: &str| {
            let mut left = Left(text);
            self.write(&mut left).is_ok() && left.0.is_empty()
        };
        ALL.iter().find(|(_, text)| equals(text)).map(|(name, _)| *name)
    }
}

/// The rest of a text. Each write removes its text from the start of the rest, and fails if the rest starts otherwise.
struct Left<'a>(&'a str);

impl fmt::Write for Left<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0 = self.0.strip_prefix(text).ok_or(fmt::Error)?;
        Ok(())
    }
}

/// Writes the names of all presets, `snowmint, twitter, ...`, for an error.
pub(crate) fn write_names(out: &mut impl fmt::Write) -> fmt::Result {
    ALL.iter().enumerate().try_for_each(|(i, (name, _))| {
        out.write_str(if i > 0 { ", " } else { "" })?;
        out.write_str(name)
    })
}
