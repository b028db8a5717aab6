// Checks the IDs of a contender.

/** The number of checked IDs, minted without a pause. */
const CHECKED = 300_000;

/**
 * Mints IDs, and returns whether some repeat, are out of order, or have a time in the future. `unixMs` reads the time
 * of an ID, and `read` converts an ID into a value that compares. With `ordered: false` the IDs may come in any order.
 */
export function check(name, mint, { unixMs, read = (id) => id, ordered = true } = {}) {
  const ids = [];
  let aheadMs = 0;
  for (let i = 0; i < CHECKED; i++) {
    const id = read(mint());
    ids.push(id);
    if (unixMs) aheadMs = Math.max(aheadMs, unixMs(id) - Date.now());
  }
  const found = [];
  const repeated = CHECKED - new Set(ids).size;
  if (repeated) found.push(`${repeated} of ${CHECKED} repeat`);
  const below = ordered ? ids.filter((id, i) => i > 0 && !(id > ids[i - 1])).length : 0;
  if (below) found.push(`${below} of ${CHECKED} out of order`);
  if (aheadMs > 0) found.push(`up to ${aheadMs} ms ahead of the clock`);
  return { checked: name, verdict: found.join(", ") || (ordered ? "unique and increasing" : "unique") };
}
