// The import must not fail in a host without this clock.
const clock = globalThis.performance;

/** Reads the monotonic clock that was there when this module was loaded, ms: tests may replace it by one that stands still. */
export const monotonicMs: () => number = clock?.now.bind(clock);
