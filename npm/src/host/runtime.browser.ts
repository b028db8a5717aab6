// Waiting in browsers, workers and edge runtimes, and the object that all code of a thread shares.

/** Whether a call may block the thread. */
export const blocking = false;

/** An object that all code of this realm sees. In Node, where jsdom simulates pages, all realms of a thread see it. */
export const ofThread: object =
  (globalThis as { process?: Partial<NodeJS.Process> }).process?.getBuiltinModule?.("worker_threads") ?? globalThis;

/** Browsers have no environment variables. */
export const layoutOfEnvironment = (): string | undefined => undefined;

const timer = setTimeout;
/**
 * Waits by the timer that was there when this module was loaded: tests may replace it by one that never fires. Resolves earlier
 * when the page goes. In a page that is gone, such as a removed frame, no timer fires: there it rejects with `reason`.
 */
export const later = (ms: number, reason: unknown): Promise<unknown> =>
  new Promise((resolve, reject) => {
    timer(resolve, ms);
    if (globalThis.closed) reject(reason);
    globalThis.addEventListener?.("pagehide", resolve, { signal: AbortSignal.timeout(ms) });
  });

/** Is never called: no call waits here. */
export function sleep(_ms: number): void {}
