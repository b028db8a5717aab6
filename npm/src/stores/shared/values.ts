// The numbers that a store keeps: counters, and the versions of records.

/** The most a counter can be. */
export const MAX_COUNT = 2n ** 63n - 1n;

/** A counter raised by `delta`; undefined beyond the end. */
export const raised = (count: bigint, delta: bigint): bigint | undefined =>
  count + delta > MAX_COUNT ? undefined : count + delta;

/** Makes the error of `add` for a sum beyond the end. */
export const full = (store: unknown, counter: string): RangeError =>
  new RangeError(`${store}: ${counter} has no more numbers up to 2^63-1`);

/** Refuses a `delta` or a `start` that no counter can have. */
export function checkAdd(store: unknown, counter: string, delta: bigint, start: bigint): void {
  if (delta < 0n || start < 0n) throw new RangeError(`${store}: a counter has numbers from 0 up`);
  if (delta > MAX_COUNT || start > MAX_COUNT) throw full(store, counter);
}

/**
 * Returns a random version for a write, 1 to 2^52. Versions that count would come back in a restored backup: a holder that was
 * suspended meanwhile would find the version that it knows, and overwrite the record of its successor.
 */
export function newVersion(): number {
  const [high, low] = crypto.getRandomValues(new Uint32Array(2));
  return (high! >>> 12) * 2 ** 32 + low! + 1;
}
