// Waiting in browsers, workers and edge runtimes, and the object that all code of a thread shares.

/** Whether a call may block the thread. */
export const blocking = false;

/** An object that all code of this realm sees; in Node, where jsdom stands for a page, one that all realms of the thread see. */
export const ofThread: object =
  (globalThis as { process?: Partial<NodeJS.Process> }).process?.getBuiltinModule?.("worker_threads") ?? globalThis;

const timer = setTimeout;
/**
 * Calls `work` after a time, by the timer that was there when this module was loaded: tests may replace it by one that never
 * fires. In a page that is gone, such as a removed frame, timers never fire either: then it calls `gone`.
 */
export function later(ms: number, work: () => void, gone: () => void): void {
  const page = globalThis as Partial<Pick<Window, "closed" | "addEventListener" | "removeEventListener">>;
  if (page.closed) {
    gone();
    return;
  }
  // A page that is kept for the back button goes on when it is shown again.
  const hidden = ({ persisted }: PageTransitionEvent): void => {
    if (!persisted) gone();
  };
  page.addEventListener?.("pagehide", hidden);
  timer(() => {
    page.removeEventListener?.("pagehide", hidden);
    work();
  }, ms);
}

/** Is never called: no call waits here. */
export function sleep(_ms: number): void {}
