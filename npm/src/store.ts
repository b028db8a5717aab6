/** A record, and which version it is. */
export interface Found {
  /** What was written; up to 1,024 bytes. */
  value: Uint8Array;
  /** Its version, 1 or more; another one after each write, never one that this key had before. */
  version: number;
}

/** A record of a list. */
export interface Listed extends Found {
  /** The part of its key after the prefix. */
  name: string;
}

/**
 * What a store has to do: four verbs, each durable and linearizable before it resolves, and a clock if there is one.
 *
 * Keys are ASCII of `a-z A-Z 0-9 . _ - % @ /`, at most 512 long, such as `leases/orders/5`. Records are never deleted.
 * `toString` tells what sentences call it: no password.
 *
 * A rejection leaves open whether a write was done, and becomes a `STORE_UNAVAILABLE`; a `SnowmintError` of the code
 * `UNSAFE_STORE` comes through as it is. Each call has to end by itself.
 */
export interface Store {
  /** The record of that key; null if there is none. */
  read(key: string): Promise<Found | null>;
  /** Writes the record if it still is of that version (0: it is not there); the new version, or null if it is not. */
  write(key: string, value: Uint8Array, expectedVersion: number): Promise<number | null>;
  /** All records right under `prefix`, a key with a slash at its end, in any order. */
  list(prefix: string): Promise<Listed[]>;
  /**
   * Raises a counter by `delta`, from `start` if it is not there yet; the counter after that. Both, and the counter, are at
   * most 2^63-1; beyond it the counter stays as it is, and the rejection is a `RangeError`.
   */
  add(counter: string, delta: bigint, start: bigint): Promise<bigint>;
  /** The store's clock, Unix ms; null if it has none. */
  clockMs(): Promise<number | null>;
  toString(): string;
}

/** What leases need of a store. */
export type LeaseStore = Omit<Store, "add">;
