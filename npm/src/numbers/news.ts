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

  /** Waits for news, at most this time in ms. In the background it keeps no process of Node alive. */
  within(ms: number, { background = false } = {}): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        clearTimeout(timer);
        this.#waiting.delete(wake);
        resolve();
      };
      const timer = setTimeout(wake, ms);
      if (background) (timer as { unref?(): unknown }).unref?.();
      this.#waiting.add(wake);
    });
  }
}

/** The longest wait of a call, ms; core's default if it is missing. */
export const maxWaitOf = (maxWaitMs: unknown): number => duration("maxWaitMs", maxWaitMs ?? numbers().maxWaitMs());
