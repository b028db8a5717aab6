// The import must not fail in a host without this clock.
const origin = globalThis.performance;
const now = origin?.now;

/** Reads the monotonic clock that was there when this module was loaded, ms: tests may replace it by one that stands still. */
export const monotonicMs = (): number => now.call(origin);
