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
  /**
   * Rejects with `UNSAFE_STORE` where a failover could lose a claim that is about to be written. A store that cannot look at
   * that need not have it.
   */
  refuseStandby?(): Promise<void>;
  /** What a failover could lose, as far as is known; null if nothing. */
  standbyRisk?(): string | null;
  /** What sentences call it, such as the engine and where it is, without a password. */
  toString(): string;
}

/** What leases need of a store. */
export type LeaseStore = Omit<Store, "add">;

/** A node that a service has granted, and what its clock showed then. */
export interface Granted {
  /** The node. */
  node: number;
  /** `[start, end)`, Unix ms: IDs of the node are minted of these times only. */
  window: { start: number; end: number };
  /** The service's clock when it answered, Unix ms. */
  serviceMs: number;
}

/** What a claim wants of a service. */
export interface LeaseTerms {
  /** 128 random bits as 32 hex digits: the same ones claim the same node again. */
  nonce: string;
  /** The text of the layout. */
  layout: string;
  /** The length of windows, ms; the service's own if missing. */
  windowMs?: number;
  /** How far IDs may run ahead of the clock, ms. */
  maxAheadMs: number;
  /** Who this is, for people. */
  label: string;
  /** The only node to get; any one if missing. */
  node?: number;
  /** The node held last: it is preferred. */
  lastNode?: number;
  /** Nodes not to get. */
  exclude: number[];
}

/**
 * A service that leases nodes and decides of windows itself, by its own clock: `HttpStore`. Namespaces are parts of paths,
 * percent-encoded. Rejections are `SnowmintError`s; that of a claim which can be repeated later has a `cause` with
 * `retry_after_ms`. Each call has to end by itself, and may be made again if it was not answered.
 */
export interface Lessor {
  /** Claims a node, with windows of `windowMs`; `NODES_EXHAUSTED` if there is none. */
  claim(namespace: string, terms: LeaseTerms): Promise<Granted & { windowMs: number }>;
  /** Moves the window's end on, for a generator whose first unused tick begins at `unusedFromMs`; `WINDOW_CLOSED` if it is lost. */
  renew(
    namespace: string,
    node: number,
    terms: { nonce: string; unusedFromMs: number; windowMs: number; maxAheadMs: number },
  ): Promise<Granted>;
  /** Gives the node back, of which nothing is used from `unusedFromMs` on. */
  release(namespace: string, node: number, terms: { nonce: string; unusedFromMs: number }): Promise<void>;
  /** What sentences call it, and what tells it from other services: its URL, without a password. */
  toString(): string;
}
