// The engine that mints and knows layouts, and what it keeps.

import { mintModule, ofThread } from "#host";
import { type Engine, start } from "./engine.js";
import type { SnowmintError } from "./errors.js";
import { failure as failureOf } from "./failure.js";
import type * as Mint from "./generated/mint.wasm.js";
import { SENTENCES } from "./generated/tables.js";

/** The engine of this realm. ESM, CommonJS and duplicate installs of one version share it, and so their states. */
export interface Core extends Engine<typeof Mint> {
  /** The handles of what is kept, so that the module, which frees nothing, stays small. */
  kept_: Map<string, number>;
  /** The numbers of callers' clocks, each a part of keys. */
  clocks_: WeakMap<() => number, number>;
  clockCount_: number;
  seed_: number;
  /** Which leases there are. */
  held_?: WeakMap<object, Map<string, unknown>>;
}

/** Of this package; the build puts it here. */
declare const VERSION: string;
const REALM = Symbol.for("snowmint");
type Realm = { [REALM]?: Record<string, unknown> };
/**
 * Returns what all copies of snowmint in this thread share, of whatever version and in whatever context: the engine of each version,
 * and who mints by the system's clock, by the numbers of the layout and the node: a version, whose generators share the state,
 * or a lease.
 */
export const realm = (): Record<string, unknown> =>
  ((ofThread as Realm)[REALM] ??= (globalThis as Realm)[REALM] ??= {});

/** Whether the caller may vouch for a node here. */
export const vouch = (key: string): boolean => (realm()[key] ??= VERSION) === VERSION;

/** The engine, made when first used: importing never throws. */
export const core = (): Core =>
  (realm()[VERSION] ??= {
    ...start<typeof Mint>(mintModule),
    kept_: new Map(),
    clocks_: new WeakMap(),
    clockCount_: 0,
    seed_: Math.random(),
  }) as Core;

/** The handle kept under a key, or a new one. A handle is an address, so a key begins with the kind of thing it is of. */
export function keep(key: string, make: () => number): number {
  const { kept_ } = core();
  let handle = kept_.get(key);
  if (!handle) kept_.set(key, (handle = make()));
  return handle;
}

/** The error that a call left. */
export function failure(): SnowmintError | undefined {
  return failureOf(core(), (place) => SENTENCES[place]!);
}

/** A result that is no failure. */
export function check(result: number): number {
  if (result < 0) throw failure();
  return result;
}
