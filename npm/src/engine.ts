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
  let wasm_: Wasm;
  try {
    // A policy forbids the one in some browsers, and the other in WebKit.
    wasm_ = new WebAssembly.Instance(compile()).exports as unknown as Wasm;
  } catch (error) {
    throw new SnowmintError(
      "WASM_FORBIDDEN",
      `WebAssembly is forbidden: allow 'wasm-unsafe-eval' in the page's CSP (${error})`,
    );
  }
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
  const encoded = utf8(text);
  bytes(engine).set(encoded.subarray(0, TEXT));
  return encoded.length;
}

/** The bytes of a text in UTF-8, where half of a surrogate pair becomes U+FFFD. */
export function utf8(text: string): Uint8Array {
  if (typeof TextEncoder === "function") return new TextEncoder().encode(text);
  // In jest's jsdom there is no TextEncoder. A URL has a percent sign before each byte that is not plain.
  const escaped = encodeURIComponent(String(text).replace(/\p{Surrogate}/gu, "\ufffd"));
  return Uint8Array.from(escaped.match(/%..|./g) ?? [], (byte) =>
    byte.length > 1 ? Number.parseInt(byte.slice(1), 16) : byte.charCodeAt(0),
  );
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
