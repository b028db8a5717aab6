// Waiting by the monotonic clock.
import { mint } from "../wasm/mint.js";

// The import must not fail in a host without this clock.
const clock = globalThis.performance;

/** Reads the monotonic clock, ms, as it was when this module was loaded: tests may replace it by a stopped clock. */
export const monotonicMs: () => number = clock?.now.bind(clock);

/** How long a call has waited: by the monotonic clock, or by the sum of its pauses if a test has stopped that clock. */
export class Patience {
  readonly #sinceMs = monotonicMs();
  #pausedMs = 0;

  /** Returns how long to sleep now, ms, and counts it; 0 if it is time to give up. */
  pauseMs(maxWaitMs: number, wantedMs: number): number {
    const waitedMs = Math.max(monotonicMs() - this.#sinceMs, this.#pausedMs);
    const pauseMs = mint().pauseMs(maxWaitMs, wantedMs, waitedMs);
    this.#pausedMs += pauseMs;
    return pauseMs;
  }
}
