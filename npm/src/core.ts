// The engine: core as a wasm module, with one buffer for texts and rows of numbers. Only this file knows its memory.

import { version, wasmModule } from "#host";
import { errorOf, SnowmintError } from "./errors.js";
import type * as Wasm from "./generated/snowmint_wasm_bg.wasm";

/** The most characters and words the buffer holds: `memory.rs`. */
const TEXT = 1024;
const WORDS = 4096;

/** The engine of this realm. ESM, CommonJS and duplicate installs of one version share it, and so their states. */
export interface Core {
  wasm: typeof Wasm;
  /** Where the buffer begins. */
  buffer: number;
  /** The handles of what is kept, so that the module, which frees nothing, stays small. */
  kept: Map<string, number>;
  /** The numbers of callers' clocks, each a part of keys. */
  clocks: WeakMap<() => number, number>;
  clockCount: number;
  seed: number;
}

const KEY = Symbol.for(`snowmint.core.${version}`);
const realm = globalThis as { [KEY]?: Core };

let current: Core | undefined;

/** The engine, made when first used: importing never throws. */
export function core(): Core {
  return (current ??= realm[KEY] ??= start());
}

function start(): Core {
  let module: WebAssembly.Module;
  try {
    module = wasmModule();
  } catch (error) {
    throw new SnowmintError(
      "WASM_FORBIDDEN",
      `WebAssembly is forbidden here: allow 'wasm-unsafe-eval' in the script-src of the page's CSP (${error})`,
    );
  }
  const wasm = new WebAssembly.Instance(module).exports as unknown as typeof Wasm;
  return {
    wasm,
    buffer: wasm.buffer_address(),
    kept: new Map(),
    clocks: new WeakMap(),
    clockCount: 0,
    seed: Math.random(),
  };
}

/** The words of the buffer; a view that lives until the module's memory next grows. */
export function words(): BigUint64Array {
  const { wasm, buffer } = core();
  return new BigUint64Array(wasm.memory.buffer, buffer + TEXT, WORDS);
}

function bytes(): Uint8Array {
  const { wasm, buffer } = core();
  return new Uint8Array(wasm.memory.buffer, buffer, TEXT);
}

/** The handle kept under a key, or a new one. A handle is an address, so a key begins with the kind of thing it is of. */
export function keep(key: string, make: () => number): number {
  const { kept } = core();
  let handle = kept.get(key);
  if (!handle) kept.set(key, (handle = make()));
  return handle;
}

/** Puts a text into the buffer; answers its length, one beyond the buffer if it does not fit. */
export function putText(text: string): number {
  const string = String(text);
  const { read, written } = new TextEncoder().encodeInto(string, bytes());
  return read < string.length ? TEXT + 1 : written;
}

/** The text in the buffer. */
export function getText(length: number): string {
  return String.fromCharCode(...bytes().subarray(0, length));
}

/** Puts an integer of any size into the buffer: its magnitude, and how it fits 64 bits. */
export function putInteger(at: number, value: bigint): void {
  const magnitude = value < 0n ? -value : value;
  const row = words();
  row[at] = magnitude;
  row[at + 1] = magnitude >> 64n ? 2n : value < 0n ? 1n : 0n;
}

/** The error that a call left. */
export function failure(): SnowmintError | undefined {
  if (!core().wasm.take_error()) return;
  const [what, mark, a, b] = words();
  return errorOf(Number(what), mark, a, b);
}

/** A result that is no failure. */
export function check(result: number): number {
  if (result < 0) throw failure();
  return result;
}
