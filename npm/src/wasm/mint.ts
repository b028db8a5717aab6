// The module that mints and reads layouts, and the state that a realm keeps with it.

import { ofThread } from "#runtime";
import module from "#wasm/mint";
import type { SnowmintError } from "../errors.js";
import type * as Mint from "../generated/mint.wasm.js";
import { SENTENCES } from "../generated/tables.js";
import { type Engine, start, takeError } from "./engine.js";

/** The engine of this realm. ESM, CommonJS and duplicate installs of one version share it, and so their states. */
export interface Core extends Engine<typeof Mint> {
  /** The handles of layouts, cells and generators by key. Each is made once, because the module frees no memory. */
  kept: Map<string, number>;
  run: Run;
  /** The numbers of callers' clocks, each a part of keys. */
  clocks: WeakMap<() => number, number>;
  clockCount: number;
  seed: number;
  /** Which leases there are. */
  held?: WeakMap<object, Map<string, unknown>>;
}

/** The last IDs that `next` has taken. All generators of a cell share them, so that their IDs increase. */
interface Run {
  cell: number;
  /** The reading of the clock for which they were taken. */
  ms: number;
  ids: BigUint64Array;
  /** The place of the next ID, and the end of the IDs. */
  at: number;
  end: number;
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
  // In Node not on the global object, whose objects Jest empties after each file.
  ((ofThread as Realm)[REALM] ??= {});

/** Whether the caller may vouch for a node here. */
export const vouch = (key: string): boolean => (realm()[key] ??= VERSION) === VERSION;

/** The engine, made when first used: importing never throws. */
export const core = (): Core =>
  (realm()[VERSION] ??= {
    ...start<typeof Mint>(module),
    kept: new Map(),
    run: { cell: 0, ms: 0, ids: new BigUint64Array(256), at: 0, end: 0 },
    clocks: new WeakMap(),
    clockCount: 0,
    seed: Math.random(),
  }) as Core;

/** The handle kept under a key, or a new one. A handle is an address, so a key begins with the kind of thing it is of. */
export function keep(key: string, make: () => number): number {
  const { kept } = core();
  let handle = kept.get(key);
  if (!handle) kept.set(key, (handle = make()));
  return handle;
}

/** The error that a call left. */
export function failure(): SnowmintError | undefined {
  return takeError(core(), (place) => SENTENCES[place]!);
}

/** Returns a result, or throws the failure. */
export function check(result: number): number {
  if (result < 0) throw failure();
  return result;
}
