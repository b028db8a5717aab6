import { Layout } from "./layout.js";

/** The names of all presets, in the order of the documentation. @internal */
export const presets = [
  "snowmint",
  "twitter",
  "discord",
  "instagram",
  "sonyflake",
  "sonyflake2",
  "leaf",
  "baidu",
  "cosid",
  "mastodon",
  "yitter",
  "gosnowflake",
  "callicoder",
  "iteye",
  "safe53",
] as const;

type Preset = (typeof presets)[number];

/** The presets: `layouts.TWITTER` and so on, and `layouts.all()`, a record of all by name. */
export const layouts = {
  all: (): Record<Preset, Layout> =>
    Object.fromEntries(presets.map((name) => [name, Layout.preset(name)])) as Record<Preset, Layout>,
} as { readonly [Name in Uppercase<Preset>]: Layout } & { all(): Record<Preset, Layout> };

// Made when first used, since making a layout starts the engine, and importing must not.
for (const name of presets) Object.defineProperty(layouts, name.toUpperCase(), { enumerable: true, get: () => Layout.preset(name) });
