// What hosts have in common that cannot block and have no environment and no addon.

export { blocking } from "./inert.js";

/** Waits by the timer that was there when this module was loaded: tests may replace it by one that never fires. */
const timer = setTimeout;
export const later = (ms: number): Promise<unknown> => new Promise((resolve) => timer(resolve, ms));
// Calls of functions without a statement are left out of bundles, and so these.
export function nodeOfEnvironment(_layout: unknown): undefined {}
export function nativeCell(_spec: unknown): undefined {}
export function sleep(_ms: number): void {}
export function renewalMs(_error: unknown): undefined {}
