// What checks.mjs has to see, everywhere.
import assert from "node:assert/strict";

const LEASED = { different: 2000, inside: true, closed: "WINDOW_CLOSED" };

/** In hosts where a call may block, and in those where none can. */
export const BLOCKING = { maxAheadMs: 0, maxWaitMs: 100 };
export const NONBLOCKING = { maxAheadMs: 1000, maxWaitMs: 0 };

/** Asserts what was seen; `lease` is the code with which `lease()` is refused, where there is nothing to lease. */
export function assertSeen(seen, defaults, { lease = LEASED, ...more } = {}) {
  assert.deepEqual(seen, {
    ...defaults,
    ...more,
    minted: 15_000,
    increasing: true,
    node: 5,
    near: true,
    refused: "EXHAUSTED",
    waited: true,
    worker: 26,
    again: true,
    inspected: "twitter",
    text: "LygHa16AHYF",
    back: true,
    scattered: "1234567890123456789",
    json: '{"id":"9223372036854775808"}',
    tooHigh: "INVALID_NODE",
    isError: true,
    lease,
    leaseOver: LEASED,
  });
}
