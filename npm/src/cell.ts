// Generators that never wait, in the module that mints.
import { handleOf, numbersOf } from "./layout.js";
import type { Cell, CellSpec } from "./options.js";
import { words } from "./wasm/engine.js";
import { check, core, failure, keep } from "./wasm/mint.js";

/** Makes a cell in the wasm module. All generators of a node and a clock in this realm share its state, or all of a lease. */
export function wasmCell({ layout, node, maxAheadMs, start, clock }: CellSpec, leased?: number): Cell {
  const engine = core();
  const { wasm, clocks } = engine;
  if (clock && !clocks.has(clock)) clocks.set(clock, ++engine.clockCount);
  const state = leased ?? `${clock ? clocks.get(clock) : 0},${numbersOf(layout)},${node}`;
  const cell = leased ?? keep(`words ${state}`, wasm.words);
  // An ended layout is refused, but a caller's clock is not read before its time.
  const now = clock ? -Infinity : Date.now();
  const handle = keep(`generator ${state},${maxAheadMs},${start}`, () =>
    check(wasm.open(handleOf(layout), cell, node, maxAheadMs, start, engine.seed, now)),
  );
  // Looked up at each call, as tests replace it for a while.
  const nowMs = clock ? () => reading(clock()) : () => Date.now();
  const { next: mint, take, drain } = wasm;
  return {
    next() {
      const id = mint(handle, nowMs());
      return id < 0n ? unsigned(id) : id;
    },
    fill(ids, patienceMs) {
      const count = check(take(handle, nowMs(), ids.length, patienceMs));
      for (let done = 0; done < count; ) {
        const part = drain();
        ids.set(words(engine).subarray(0, part), done);
        done += part;
      }
      return count;
    },
  };
}

/** Returns the ID of a negative answer, an ID with bit 63, or throws the failure. */
function unsigned(id: bigint): bigint {
  const error = failure();
  if (error) throw error;
  return BigInt.asUintN(64, id);
}

function reading(ms: number): number {
  if (!Number.isFinite(ms)) throw new TypeError(`a clock gives Unix ms, not ${String(ms)}`);
  return Math.floor(ms);
}
