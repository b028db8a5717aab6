// The engine of prefixed IDs.
import module from "#wasm/prefix";
import type * as Prefix from "../generated/prefix.wasm.js";
import { SENTENCES } from "../generated/tables.prefix.js";
import { type Engine, start, takeError, words } from "./engine.js";

let current: Engine<typeof Prefix> | undefined;

/** The engine, made when first used. It keeps nothing, so each copy of this package has its own. */
export function prefixes(): Engine<typeof Prefix> {
  return (current ??= start(module));
}

/** Returns a result, or throws the failure. Its numbers can be the starts of two prefixes. */
export function check(result: number): number {
  if (result < 0) {
    const engine = prefixes();
    const names = Array.from(words(engine).slice(-2), eight);
    throw takeError(engine, (place) => SENTENCES[place]!.replace("{c}", names[0]!).replace("{d}", names[1]!));
  }
  return result;
}

/** The characters in the bytes of a number. */
function eight(number: bigint): string {
  const bytes = new Uint8Array(BigUint64Array.of(number).buffer);
  return String.fromCharCode(...bytes).replace(/\0+$/, "");
}
