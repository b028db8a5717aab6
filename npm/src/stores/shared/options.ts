import { type Owner, read } from "../../input.js";

/** The options that every store over a client has. */
export interface StoreOptions {
  /** Whether an engine that can lose confirmed writes is accepted; false if missing. */
  allowUnsafe?: boolean | undefined;
  /**
   * Whether claims accept a standby or replica that is not waited for, as `snowmint fence` follows every failover; false if
   * missing.
   */
  allowStandby?: boolean | undefined;
  /** How long a call may take before it is given up, ms, more than 0; 5000 if missing. */
  timeoutMs?: number | undefined;
}

const NAMES = Object.keys({ allowUnsafe: 0, allowStandby: 0, timeoutMs: 0 } satisfies Record<keyof StoreOptions, 0>);

/** Returns the owner of a store's options: the common options, and `more`. */
export const ownerOf = (of: string, more: readonly string[] = []): Owner => ({ of, names: [...NAMES, ...more] });

/** Reads the options of a store, and checks the common ones. */
export function settled<Options extends StoreOptions>(options: Options = {} as Options, owner: Owner) {
  const { allowUnsafe = false, allowStandby = false, timeoutMs, ...more } = read(options, owner);
  if (typeof allowUnsafe !== "boolean") throw new TypeError("allowUnsafe is true or false");
  if (typeof allowStandby !== "boolean") throw new TypeError("allowStandby is true or false");
  return { ...more, allowUnsafe, allowStandby, timeoutMs: checkedTimeout(timeoutMs) };
}

/** How long a call may take, ms. */
export function checkedTimeout(timeoutMs: unknown = 5000): number {
  // Beyond 2^31-1 a timer would fire at once.
  if (typeof timeoutMs === "number" && timeoutMs > 0 && timeoutMs < 2 ** 31) return timeoutMs;
  throw new RangeError("timeoutMs is a number of ms, more than 0 and below 2^31");
}
