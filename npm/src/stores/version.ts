/**
 * Returns a random version for a write, 1 to 2^52. Versions that count would come back in a restored backup: a holder that was
 * suspended meanwhile would find the version that it knows, and overwrite the record of its successor.
 */
export function newVersion(): number {
  const [high, low] = crypto.getRandomValues(new Uint32Array(2));
  return (high! >>> 12) * 2 ** 32 + low! + 1;
}
