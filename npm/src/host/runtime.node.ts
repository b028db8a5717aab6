// Waiting in Node, Deno and Bun, and the object that all code of a thread shares.
import timers from "node:timers/promises";
import threads from "node:worker_threads";

/** Whether a call may block the thread. */
export const blocking = true;

/** An object that all contexts of `node:vm` in this thread see: each has its own `globalThis`, and all have the same modules of Node. */
export const ofThread: object = threads;

/** Waits without blocking, by the timer that was there when this module was loaded: tests may replace it by one that never fires. */
export const later: (ms: number, reason: unknown) => Promise<unknown> = timers.setTimeout;

/** Returns `SNOWMINT_LAYOUT`; undefined also where Deno forbids to read it. */
export function layoutOfEnvironment(): string | undefined {
  try {
    return process.env.SNOWMINT_LAYOUT;
  } catch {
    return undefined;
  }
}

const lock = new Int32Array(new SharedArrayBuffer(4));
/** Blocks the thread until the start of a ms, so that a saturated generator does not lose the rest of that ms. */
export function sleep(ms: number): void {
  const intoMs = (performance.timeOrigin + performance.now()) % 1;
  // A clock by which tests replace the real one may have no origin, and NaN would wait for ever. Nobody wakes the thread.
  Atomics.wait(lock, 0, 0, ms - (intoMs || 0));
}
