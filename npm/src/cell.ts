// Generators that never wait, in the module that mints.
import { check, core, failure, keep } from "./core.js";
import { words } from "./engine.js";
import type { Cell, CellSpec } from "./snowflake.js";

/** A cell in the wasm module: its state is this realm's, and that of the clock, or of a lease. */
export function wasmCell({ layout, node, maxAheadMs, start, clock }: CellSpec, leased?: number): Cell {
  const engine = core();
  const { wasm_, clocks_ } = engine;
  if (clock && !clocks_.has(clock)) clocks_.set(clock, ++engine.clockCount_);
  const state = leased ?? `${clock ? clocks_.get(clock) : 0},${layout.numbers_},${node}`;
  const words_ = leased ?? keep(`words ${state}`, wasm_.words_);
  // An ended layout is refused, but a caller's clock is not read before its time.
  const now = clock ? -Infinity : Date.now();
  const handle = keep(`generator ${state},${maxAheadMs},${start}`, () =>
    check(wasm_.open_(layout.handle_, words_, node, maxAheadMs, start, engine.seed_, now)),
  );
  // Looked up at each call, as tests replace it for a while.
  const nowMs = clock ? () => reading(clock()) : () => Date.now();
  const { next_, take_, drain_ } = wasm_;
  return {
    next() {
      const id = next_(handle, nowMs());
      return id < 0n ? unsigned(id) : id;
    },
    fill(ids, patienceMs) {
      const count = check(take_(handle, nowMs(), ids.length, patienceMs));
      for (let done = 0; done < count; ) {
        const part = drain_();
        ids.set(words(engine).subarray(0, part), done);
        done += part;
      }
      return count;
    },
  };
}

/** What a negative answer stands for: an ID of bit 63, or a failure. */
function unsigned(id: bigint): bigint {
  const error = failure();
  if (error) throw error;
  return BigInt.asUintN(64, id);
}

function reading(ms: number): number {
  if (!Number.isFinite(ms)) throw new TypeError(`a clock gives Unix ms, not ${String(ms)}`);
  return Math.floor(ms);
}
