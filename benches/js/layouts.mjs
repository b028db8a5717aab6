// The layouts that are measured, and plain generators of them.
import { Plain, Tuned } from "./plain.mjs";

const EPOCH_MS = 1_735_689_600_000;

/** Room for 2^18 IDs a ms, and for batches 2^22, so that the clock never makes a contender wait. */
export const WIDE = "time:41,node:4,sequence:18;epoch=2025-01-01T00:00:00Z";
export const WIDER = "time:40,node:2,sequence:22;epoch=2025-01-01T00:00:00Z";
export const BATCH = 4096;

export const tunedWide = () => new Tuned({ epochMs: EPOCH_MS, nodeBits: 4, sequenceBits: 18, node: 2 });
export const plainWide = () => new Plain({ epochMs: EPOCH_MS, nodeBits: 4, sequenceBits: 18, node: 1 });
export const tunedWider = () => new Tuned({ epochMs: EPOCH_MS, nodeBits: 2, sequenceBits: 22, node: 1 });
export const tunedDefault = () => new Tuned({ epochMs: EPOCH_MS, nodeBits: 10, sequenceBits: 12, node: 1 });

/** 512 IDs of single calls, where the garbage collector has nothing to look through. */
export function each(mint) {
  const ids = new BigUint64Array(512);
  for (let i = 0; i < ids.length; i++) ids[i] = mint();
  return ids;
}
