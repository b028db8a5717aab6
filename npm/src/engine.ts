// A module of bindings/wasm: an instance with one buffer for texts and rows of numbers. Only this file knows its memory.
// Names that end in _ are ours alone: the bundles have a letter in the place of each.

import { integer } from "./convert.js";
import { SnowmintError } from "./errors.js";
import { TEXT, WORDS } from "./memory.js";

/** What every module exports. */
export interface Exports {
  memory_: WebAssembly.Memory;
  buffer_address_(): number;
}

/** An instance, and where its buffer begins. */
export interface Engine<Wasm extends Exports = Exports> {
  wasm_: Wasm;
  buffer_: number;
}

/** An instance of a module. */
export function start<Wasm extends Exports>(compile: () => WebAssembly.Module): Engine<Wasm> {
  let module: WebAssembly.Module;
  try {
    module = compile();
  } catch (error) {
    throw new SnowmintError(
      "WASM_FORBIDDEN",
      `WebAssembly is forbidden: allow 'wasm-unsafe-eval' in the page's CSP (${error})`,
    );
  }
  const wasm_ = new WebAssembly.Instance(module).exports as unknown as Wasm;
  return { wasm_, buffer_: wasm_.buffer_address_() };
}

/** The words of the buffer; a view that lives until the module's memory next grows. */
export function words({ wasm_, buffer_ }: Engine): BigUint64Array {
  return new BigUint64Array(wasm_.memory_.buffer, buffer_ + TEXT, WORDS);
}

/** The characters of the buffer; a view like that of the words. */
export function bytes({ wasm_, buffer_ }: Engine): Uint8Array {
  return new Uint8Array(wasm_.memory_.buffer, buffer_, TEXT);
}

/** Puts a text into the buffer, as much of it as fits; answers its length. */
export function putText(engine: Engine, text: string): number {
  const encoded = new TextEncoder().encode(text);
  bytes(engine).set(encoded.subarray(0, TEXT));
  return encoded.length;
}

/** The text in the buffer. */
export function getText(engine: Engine, length: number): string {
  return String.fromCharCode(...bytes(engine).subarray(0, length));
}

/** Puts an integer of any size into the buffer: its magnitude, and how it fits 64 bits. Throws `code` if it is none. */
export function putInteger(engine: Engine, at: number, given: unknown, code?: "INVALID_NODE"): void {
  const value = integer(given, code);
  const magnitude = value < 0n ? -value : value;
  words(engine).set([magnitude, magnitude >> 64n ? 2n : value < 0n ? 1n : 0n], at);
}
