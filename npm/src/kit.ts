// What the part that leases has from the main one, handed over when it is loaded: so neither file contains the other, and
// bundlers cut no third one out of both.
import type { wasmCell as WasmCell } from "./cell.js";
import type { duration as Duration } from "./convert.js";
import type { core as Core, realm as Realm } from "./core.js";
import type * as Engine from "./engine.js";
import type * as Errors from "./errors.js";
import type { failure as Failure } from "./failure.js";
import type { SENTENCES } from "./generated/tables.js";
import type { Layout as LayoutClass } from "./layout.js";
import type { monotonicMs as MonotonicMs } from "./monotonic.js";
import type { Patience as PatienceClass } from "./patience.js";

export let core: typeof Core;
export let realm: typeof Realm;
export let wasmCell: typeof WasmCell;
export let duration: typeof Duration;
export let Layout: typeof LayoutClass;
export let SnowmintError: typeof Errors.SnowmintError;
export let errorOf: typeof Errors.errorOf;
export let failure: typeof Failure;
export let start: typeof Engine.start;
export let words: typeof Engine.words;
export let utf8: typeof Engine.utf8;
export let Patience: typeof PatienceClass;
export let monotonicMs: typeof MonotonicMs;
export let bytes: typeof Engine.bytes;
export let sentences: typeof SENTENCES;

/** What is handed over: a list, as names would make the bundle larger. */
export type Kit = [
  core: typeof Core,
  realm: typeof Realm,
  wasmCell: typeof WasmCell,
  duration: typeof Duration,
  Layout: typeof LayoutClass,
  SnowmintError: typeof Errors.SnowmintError,
  errorOf: typeof Errors.errorOf,
  failure: typeof Failure,
  start: typeof Engine.start,
  words: typeof Engine.words,
  bytes: typeof Engine.bytes,
  sentences: typeof SENTENCES,
  utf8: typeof Engine.utf8,
  Patience: typeof PatienceClass,
  monotonicMs: typeof MonotonicMs,
];

/** Takes it. */
export function take(kit: Kit): void {
  [
    core,
    realm,
    wasmCell,
    duration,
    Layout,
    SnowmintError,
    errorOf,
    failure,
    start,
    words,
    bytes,
    sentences,
    utf8,
    Patience,
    monotonicMs,
  ] = kit;
}
