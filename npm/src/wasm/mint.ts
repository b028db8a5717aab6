// The module that mints and reads layouts, and the state that all copies of this package in a thread share.

import { ofThread } from "#runtime";
import module from "#wasm/mint";
import {
  batch,
  checkMs,
  closed,
  defaults,
  Generator,
  initSync,
  Layout,
  pauseMs,
  readText,
  sequenceStart,
  start,
  vouched,
  windowOver,
  writeText,
} from "../generated/mint.js";
import { startedLater } from "./start.js";

export type { Generator as WasmGenerator, Layout as WasmLayout } from "../generated/mint.js";

/** The functions of the module that mints. */
export const mint = /* @__PURE__ */ startedLater(
  {
    batch,
    checkMs,
    closed,
    defaults,
    Generator,
    Layout,
    pauseMs,
    readText,
    sequenceStart,
    vouched,
    windowOver,
    writeText,
  },
  initSync,
  start,
  module,
);

/** The state of a node: two words, which core's `Words` explains. */
export type State = BigUint64Array;

/** The state that all copies of this version share in a thread: ES modules, CommonJS, installs, contexts of tests. */
export interface Shared {
  /** The states of vouched nodes by clock, numbers of the layout, and node. */
  states: Map<string, State>;
  run: Run;
  /** The numbers of callers' clocks, each a part of keys. */
  clocks: WeakMap<() => number, number>;
  clockCount: number;
  seed: number;
  /** Which leases there are. */
  held?: WeakMap<object, Map<string, unknown>>;
}

/** The last IDs that `next` has taken. All generators of a state share them, so that their IDs increase. */
interface Run {
  state: State | undefined;
  /** The reading of the clock for which they were taken, and its tick, Unix ms; the end is not part of it. */
  ms: number;
  fromMs: number;
  toMs: number;
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
 * Returns the object that all copies of snowmint in this thread share, in any version and context. It has the state of each
 * version. It also has the user of each node that mints by the system's clock, by the numbers of the layout and the node: the
 * user is a version, whose generators share a state, or a lease.
 */
export const realm = (): Record<string, unknown> =>
  // In Node not on the global object, whose objects Jest empties after each file.
  ((ofThread as Realm)[REALM] ??= {});

/** Whether the caller may vouch for a node here. */
export const vouch = (key: string): boolean => (realm()[key] ??= VERSION) === VERSION;

/** Returns the state that all copies of this version share. */
export const shared = (): Shared =>
  (realm()[VERSION] ??= {
    states: new Map(),
    run: { state: undefined, ms: 0, fromMs: 0, toMs: 0, ids: new BigUint64Array(256), at: 0, end: 0 },
    clocks: new WeakMap(),
    clockCount: 0,
    seed: Math.random(),
  }) as Shared;
