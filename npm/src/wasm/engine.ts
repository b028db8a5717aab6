// Instances of the wasm modules of bindings/wasm. Each has a buffer for texts and rows of numbers, and only the files of this
// folder know the modules' memory.

import { errorOf, SnowmintError } from "../errors.js";
import { integer } from "../input.js";

/** The size of the buffer, as in `memory.rs`: this many characters, then this many 64-bit words. */
export const TEXT = 1024;
const WORDS = 4096;

/** What every module exports. */
export interface Exports {
  memory: WebAssembly.Memory;
  buffer_address(): number;
}

/** An instance, and where its buffer begins. */
export interface Engine<Wasm extends Exports = Exports> {
  wasm: Wasm;
  buffer: number;
}

/** Starts a module. Its source is a text; in edge runtimes, which do not compile bytes, it is the module itself. */
export function start<Wasm extends Exports>(source: string | WebAssembly.Module): Engine<Wasm> {
  let wasm: Wasm;
  try {
    // A page's policy forbids the first step in some browsers, and the second one in WebKit.
    const module = typeof source === "string" ? new WebAssembly.Module(bytesOf(source)) : source;
    wasm = new WebAssembly.Instance(module).exports as unknown as Wasm;
  } catch (error) {
    throw new SnowmintError(
      "WASM_FORBIDDEN",
      `WebAssembly is forbidden: allow 'wasm-unsafe-eval' in the page's CSP (${error})`,
    );
  }
  return { wasm, buffer: wasm.buffer_address() };
}

/** Returns the bytes of a text that `textOf` in scripts/build.mjs wrote. */
function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  const bytes: number[] = [];
  let high = 0;
  for (const character of text) {
    const code = character.charCodeAt(0);
    const digit = code - 32 - +(code > 34) - +(code > 92);
    if (digit > 90) high = (digit - 90) * 91;
    else {
      bytes.push(high + digit);
      high = 0;
    }
  }
  return Uint8Array.from(bytes);
}

/** Returns the words of the buffer: a view that lives until the module's memory next grows. */
export function words({ wasm, buffer }: Engine): BigUint64Array {
  return new BigUint64Array(wasm.memory.buffer, buffer + TEXT, WORDS);
}

/** Returns the characters of the buffer: a view that lives as long as the view of the words. */
export function bytes({ wasm, buffer }: Engine): Uint8Array {
  return new Uint8Array(wasm.memory.buffer, buffer, TEXT);
}

/** Puts as many bytes into the buffer as fit, and returns how many there are. */
export function putBytes(engine: Engine, given: Uint8Array): number {
  bytes(engine).set(given.subarray(0, TEXT));
  return given.length;
}

/** Puts a text of ASCII into the buffer, as `putBytes`. Other characters become "?", which core reads nowhere. */
export function putText(engine: Engine, text: string): number {
  const plain = String(text).replace(/\P{ASCII}/gu, "?");
  return putBytes(
    engine,
    Uint8Array.from(plain, (character) => character.charCodeAt(0)),
  );
}

/** Returns the text in the buffer. */
export function getText(engine: Engine, length: number): string {
  return String.fromCharCode(...bytes(engine).subarray(0, length));
}

/** Puts an integer into the buffer: its magnitude, then whether it fits 64 bits. Throws `code` for other values. */
export function putInteger(engine: Engine, at: number, given: unknown, code?: "INVALID_NODE"): void {
  const value = integer(given, code);
  const magnitude = value < 0n ? -value : value;
  words(engine).set([magnitude, magnitude >> 64n ? 2n : value < 0n ? 1n : 0n], at);
}

/** Takes the error that a call left: `sentences` returns the text of a place in the table of core's errors. */
export function takeError(
  engine: Engine<Exports & { take_error(): number }>,
  sentences: (place: number, mark: number) => string,
): SnowmintError | undefined {
  if (!engine.wasm.take_error()) return;
  const [place, mark, a, b] = words(engine).subarray(-4);
  return errorOf(sentences(Number(place), Number(mark)), mark, a, b);
}
