/** What every store over a client takes. */
export interface StoreOptions {
  /** Whether an engine that can lose confirmed writes is accepted; false if missing. */
  allowUnsafe?: boolean;
  /** How long a call may take before it is given up, ms, more than 0; 5000 if missing. */
  timeoutMs?: number;
}

/** The options, checked. */
export function settled(options: StoreOptions = {}): Required<StoreOptions> {
  const { allowUnsafe = false, timeoutMs = 5000 } = options;
  if (typeof allowUnsafe !== "boolean") throw new TypeError("allowUnsafe is true or false");
  // Beyond 2^31-1 a timer would fire at once.
  if (!(typeof timeoutMs === "number" && timeoutMs > 0 && timeoutMs < 2 ** 31))
    throw new RangeError("timeoutMs is a number of ms, more than 0 and below 2^31");
  return { allowUnsafe, timeoutMs };
}
