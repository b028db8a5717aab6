// Waiting in browsers, workers and edge runtimes, and the object that all code of a thread shares.

/** Whether a call may block the thread. */
export const blocking = false;

/** An object that all code of this realm sees; in Node, where jsdom stands for a page, one that all realms of the thread see. */
export const ofThread: object =
  (globalThis as { process?: Partial<NodeJS.Process> }).process?.getBuiltinModule?.("worker_threads") ?? globalThis;

const timer = setTimeout;
/** Waits by the timer that was there when this module was loaded: tests may replace it by one that never fires. */
export const later = (ms: number): Promise<unknown> => new Promise((resolve) => timer(resolve, ms));

/** Is never called: no call waits here. */
export function sleep(_ms: number): void {}
