// The time that a machine sleeps. Its monotonic clock may stop meanwhile.
import { monotonicMs } from "../generator/waiting.js";

/** Steps of the wall clock up to this count as its drift, ms. */
const DRIFT_MS = 100;

/** Adds up the ms that the wall clock gains over the monotonic clock. Its steps forward count as sleep too. */
export class WakingClock {
  #leadMs = lead();
  #sleptMs = 0;

  /** Returns how long the machine has slept, ms. It never decreases. */
  sleptMs(): number {
    const leadMs = lead();
    const gainedMs = leadMs - this.#leadMs;
    if (Math.abs(gainedMs) > DRIFT_MS) {
      this.#sleptMs += Math.max(0, gainedMs);
      this.#leadMs = leadMs;
    }
    return this.#sleptMs;
  }
}

const lead = (): number => Date.now() - monotonicMs();
