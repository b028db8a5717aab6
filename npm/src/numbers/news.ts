// Calls that wait until something has changed.
import { duration } from "../input.js";
import { numbers } from "../wasm/numbers.js";

/** Wakes the calls that wait. */
export class News {
  readonly #waiting = new Set<() => void>();

  /** Wakes all calls. */
  tell(): void {
    for (const wake of [...this.#waiting]) wake();
  }

  /** Waits for news, at most this time in ms. */
  within(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        clearTimeout(timer);
        this.#waiting.delete(wake);
        resolve();
      };
      const timer = setTimeout(wake, ms);
      this.#waiting.add(wake);
    });
  }
}

/** The longest wait of a call, ms; core's default if it is missing. */
export const maxWaitOf = (maxWaitMs: unknown): number => duration("maxWaitMs", maxWaitMs ?? numbers().maxWaitMs());
