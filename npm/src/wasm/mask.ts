// The engine of masks.
import module from "#wasm/mask";
import type * as Mask from "../generated/mask.wasm.js";
import { SENTENCES } from "../generated/tables.mask.js";
import { type Engine, start, takeError } from "./engine.js";

let current: Engine<typeof Mask> | undefined;

/** The engine, made when first used. It keeps nothing, so each copy of this package has its own. */
export function masks(): Engine<typeof Mask> {
  return (current ??= start(module));
}

/** Returns a result, or throws the failure. */
export function check(result: number): number {
  if (result < 0) throw takeError(masks(), (place) => SENTENCES[place]!);
  return result;
}
