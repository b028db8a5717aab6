import { PRESETS } from "./generated/tables.js";
import { Layout } from "./layout.js";
import type { Preset } from "./names.js";

type Layouts = { readonly [Name in Uppercase<Preset>]: Layout } & { all(): Record<Preset, Layout> };

/** The presets: `layouts.TWITTER` and so on, and `layouts.all()`, a record of all by name. */
export const layouts: Layouts = /* @__PURE__ */ getters();

/** Layouts are made when first used, since that starts the engine, and importing must not. */
function getters(): Layouts {
  const names = Object.keys(PRESETS) as Preset[];
  const layouts = { all: () => Object.fromEntries(names.map((name) => [name, Layout.preset(name)])) };
  for (const name of names)
    Object.defineProperty(layouts, name.toUpperCase(), { enumerable: true, get: () => Layout.preset(name) });
  return layouts as Layouts;
}
