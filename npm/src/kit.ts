// What the part that leases has from the main one, handed over when it is loaded: so neither file contains the other, and
// bundlers cut no third one out of both.
import type { wasmCell as WasmCell } from "./cell.js";
import type { duration as Duration } from "./convert.js";
import type { core as Core } from "./core.js";
import type * as Engine from "./engine.js";
import type * as Errors from "./errors.js";
import type { failure as Failure } from "./failure.js";
import type { SENTENCES } from "./generated/tables.js";
import type { Layout as LayoutClass } from "./layout.js";

/** What is handed over. */
export interface Kit {
  core_: typeof Core;
  wasmCell_: typeof WasmCell;
  duration_: typeof Duration;
  Layout_: typeof LayoutClass;
  errors_: typeof Errors.SnowmintError;
  errorOf_: typeof Errors.errorOf;
  failure_: typeof Failure;
  start_: typeof Engine.start;
  words_: typeof Engine.words;
  bytes_: typeof Engine.bytes;
  sentences_: typeof SENTENCES;
}

export let core: Kit["core_"];
export let wasmCell: Kit["wasmCell_"];
export let duration: Kit["duration_"];
export let Layout: Kit["Layout_"];
export let SnowmintError: Kit["errors_"];
export let errorOf: Kit["errorOf_"];
export let failure: Kit["failure_"];
export let start: Kit["start_"];
export let words: Kit["words_"];
export let bytes: Kit["bytes_"];
export let sentences: Kit["sentences_"];

/** Takes it. */
export function take(kit: Kit): void {
  ({
    core_: core,
    wasmCell_: wasmCell,
    duration_: duration,
    Layout_: Layout,
    errors_: SnowmintError,
    errorOf_: errorOf,
    failure_: failure,
    start_: start,
    words_: words,
    bytes_: bytes,
    sentences_: sentences,
  } = kit);
}
