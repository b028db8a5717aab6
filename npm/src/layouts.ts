import { Layout } from "./layout.js";
import { PRESETS } from "./names.js";

type Preset = (typeof PRESETS)[number];

/** The presets: `layouts.TWITTER` and so on, and `layouts.all()`, a record of all by name. */
export const layouts = {
  all: (): Record<Preset, Layout> =>
    Object.fromEntries(PRESETS.map((name) => [name, Layout.preset(name)])) as Record<Preset, Layout>,
} as { readonly [Name in Uppercase<Preset>]: Layout } & { all(): Record<Preset, Layout> };

// Made when first used, since making a layout starts the engine, and importing must not.
for (const name of PRESETS) Object.defineProperty(layouts, name.toUpperCase(), { enumerable: true, get: () => Layout.preset(name) });
