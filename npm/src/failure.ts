// Apart from the engine, as the bundle of the stores has no such errors.
import { type Engine, type Exports, words } from "./engine.js";
import { errorOf, type SnowmintError } from "./errors.js";

/** The error that a call left, in the sentence of that place. */
export function failure(
  engine: Engine<Exports & { take_error_(): number }>,
  sentences: (place: number, mark: number) => string,
): SnowmintError | undefined {
  if (!engine.wasm_.take_error_()) return;
  const [place, mark, a, b] = words(engine).subarray(-4);
  return errorOf(sentences(Number(place), Number(mark)), mark, a, b);
}
