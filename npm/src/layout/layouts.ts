import { Layout } from "./layout.js";
import { PRESETS, type Preset } from "./names.js";

interface Layouts extends Readonly<Record<Uppercase<Preset>, Layout>> {
  /** Ours, the default: 41 bits of ms since 2025, 1,024 nodes, 4,096 IDs a ms; until 2094, never negative. */
  readonly SNOWMINT: Layout;
  /** Twitter's Snowflake of 2010: `twitter-archive/snowflake`, tag `snowflake-2010`, `IdWorker.scala`. */
  readonly TWITTER: Layout;
  /** Discord: developer documentation, reference page, section "Snowflakes" (the last field is "increment" there). */
  readonly DISCORD: Layout;
  /** Instagram: engineering blog, "Sharding & IDs at Instagram". Negative in a signed column from 2046. */
  readonly INSTAGRAM: Layout;
  /** Sonyflake v1: `sony/sonyflake`, `sonyflake.go`. Ticks of 10 ms, the sequence above the machine. */
  readonly SONYFLAKE: Layout;
  /** Sonyflake v2 with its default settings: `sony/sonyflake`, `v2/sonyflake.go`. */
  readonly SONYFLAKE2: Layout;
  /** Leaf's snowflake mode: `Meituan-Dianping/Leaf`, `SnowflakeIDGenImpl.java`. The numbers of Twitter. */
  readonly LEAF: Layout;
  /** Baidu's uid-generator with its default settings: `baidu/uid-generator`. Over since 2024-11-20. */
  readonly BAIDU: Layout;
  /** `CosId`'s millisecond layout: `Ahoo-Wang/CosId`. */
  readonly COSID: Layout;
  /** Mastodon's status IDs: `mastodon/mastodon`, `lib/mastodon/snowflake.rb`. Without a node. */
  readonly MASTODON: Layout;
  /**
   * yitter's drift generator with its default settings: `yitter/IdGenerator`, the Go, Java, C, C++, Rust, PHP, Delphi and
   * Python editions. The TypeScript edition counts from 1577836800000, the C# edition from 1582165202020.
   */
  readonly YITTER: Layout;
  /** goSnowFlake: `zheng-ji/goSnowFlake`. Negative in a signed column from 2086. */
  readonly GOSNOWFLAKE: Layout;
  /** `CalliCoder`'s `SequenceGenerator`: the article "Distributed Unique ID Generator in Java". */
  readonly CALLICODER: Layout;
  /** A Java class published on `ITeye`: 16 workers, 1,024 IDs a ms. */
  readonly ITEYE: Layout;
  /** Ours for JavaScript numbers: 53 bits; the widths of `CosId`'s JS-safe layout. */
  readonly SAFE53: Layout;
  /** All of them by name, such as `twitter`. */
  all(): Record<Preset, Layout>;
}

/** The presets: `layouts.TWITTER` and so on, and `layouts.all()`, a record of all by name. */
export const layouts: Layouts = /* @__PURE__ */ getters();

/** Layouts are made when first used, since that starts the engine, and importing must not; each of them once. */
function getters(): Layouts {
  const layouts = { all: () => Object.fromEntries(PRESETS.map((name) => [name, Layout.preset(name)])) };
  for (const name of PRESETS) {
    let made: Layout | undefined;
    const get = () => (made ??= Layout.preset(name));
    Object.defineProperty(layouts, name.toUpperCase(), { enumerable: true, get });
  }
  return layouts as Layouts;
}
