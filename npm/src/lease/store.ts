/** A record, and which version it is. */
export interface Versioned {
  /** The bytes of the record, at most 1,024. */
  value: Uint8Array;
  /**
   * Its version, 1 to 2^53 - 1; each write makes a new version, which the key never had before, also not before a
   * restored backup. So take a random number, do not count.
   */
  version: number;
}

/** A record of a list. */
export interface Listed extends Versioned {
  /** The part of its key after the prefix. */
  name: string;
}

/** The settings that decide whether a server keeps confirmed writes. */
export interface ServerSettings {
  /** The engine, whose rules judge the values. */
  engine: "postgres" | "mysql" | "redis" | "sqlite" | "dynamodb";
  /** The values by name. */
  values: ReadonlyMap<string, string>;
}

/**
 * A store: four verbs, each durable and linearizable before it resolves, and optionally a clock.
 *
 * Keys are ASCII of `a-z A-Z 0-9 . _ - % @ /`, at most 512 long, such as `leases/orders/5`. Records are never deleted.
 *
 * A rejection leaves open whether a write was done, and becomes a `STORE_UNAVAILABLE`; a `SnowmintError` with the code
 * `UNSAFE_STORE` or `INVALID_STORE` is passed on unchanged. Each call has to end by itself.
 */
export interface Store {
  /** Reads the record of a key; null if the key has no record. */
  read(key: string): Promise<Versioned | null>;
  /** Writes the record if its version is `expectedVersion` (0: it is missing). Resolves with the new version, or null. */
  write(key: string, value: Uint8Array, expectedVersion: number): Promise<number | null>;
  /** All records right under `prefix`, a key with a slash at its end, in any order. */
  list(prefix: string): Promise<Listed[]>;
  /**
   * Raises a counter by `delta`, from `start` if the counter is new. Resolves with the new value. All three are at most 2^63-1;
   * a sum above that changes nothing, and the call rejects with a `RangeError`.
   */
  add(counter: string, delta: bigint, start: bigint): Promise<bigint>;
  /**
   * Lowers a counter from `end` to `start`; false if it is not `end`. The method is optional. A store must omit it if
   * its client sends a request again after a broken connection, as ioredis and the SDK of AWS do: the second copy could
   * lower the counter below numbers that another process took meanwhile.
   */
  lower?(counter: string, end: bigint, start: bigint): Promise<boolean>;
  /** The table that has the tags of segments, instead of records and counters. */
  readonly segments?: SegmentTable;
  /** The store's clock, Unix ms; null if it has none. */
  clockMs(): Promise<number | null>;
  /**
   * Rejects with `UNSAFE_STORE` where a failover could lose a claim that is about to be written. A store that cannot
   * check this risk may omit the method.
   */
  refuseStandby?(): Promise<void>;
  /** Returns the writes that a failover could lose, as a message; null without a known risk. */
  standbyRisk?(): string | null;
  /** Reads the settings by which a server keeps confirmed writes. */
  settings?(): Promise<ServerSettings>;
  /** Its name in messages, such as the engine and where it is, without a password. */
  toString(): string;
}

/** A tag of segments: its next number, and how many numbers a fetch takes at first. */
export interface Tag {
  /** The next number, 0 to 2^63-1. */
  next: bigint;
  /** The step, 1 to 2^31-1. */
  step: bigint;
}

/** Leaf's table of segments, `leaf_alloc`, which Leaf's servers and other languages use at the same time. */
export interface SegmentTable {
  /** Reads the row of a tag; null if the tag has no row. */
  tag(tag: string): Promise<Tag | null>;
  /** Makes the row of a tag; false if the tag has a row. */
  create(tag: string, row: Tag): Promise<boolean>;
  /** Adds to the next number. Resolves with the sum, null if the tag has no row; rejects with a `RangeError` above 2^63-1. */
  fetch(tag: string, amount: bigint): Promise<bigint | null>;
  /** Lowers the next number from `end` to `start`; false if it is not `end`. */
  lower(tag: string, end: bigint, start: bigint): Promise<boolean>;
}

/** The part of a store that leases need. */
export type LeaseStore = Omit<Store, "add">;

/** A node that a service has granted, and the time of its clock then. */
export interface Grant {
  /** The node. */
  node: number;
  /** `[start, end)`, Unix ms: IDs of the node are minted of these times only. */
  window: { start: number; end: number };
  /** The service's clock when it answered, Unix ms. */
  serviceMs: number;
}

/** The terms of a claim on a service. */
export interface LeaseTerms {
  /** 128 random bits as 32 hex digits: the same bits claim the same node again. */
  nonce: string;
  /** The text of the layout. */
  layout: string;
  /** The length of windows, ms; the service's default if missing. */
  windowMs?: number | undefined;
  /** How far IDs may run ahead of the clock, ms. */
  maxAheadMs: number;
  /** The label of the claimer, for people. */
  label: string;
  /** The only node to get; any node if missing. */
  node?: number | undefined;
  /** Instead of `node`: values of some node fields, such as `datacenter=3`, for any node that has them. */
  nodes?: string | undefined;
  /** The node held last: it is preferred. */
  lastNode?: number | undefined;
  /** Nodes not to get. */
  exclude: number[];
}

/**
 * A service that leases nodes and decides on windows itself, by its own clock: `HttpStore`. Namespaces are parts of
 * paths, percent-encoded. Rejections are `SnowmintError`s. If a claim can be repeated later, its rejection has
 * `retryAfterMs`. Each call has to end by itself, and may be made again if it was not answered.
 */
export interface Lessor {
  /** Claims a node, with windows of `windowMs`; rejects with `NODES_EXHAUSTED` if no node is free. */
  claim(namespace: string, terms: LeaseTerms): Promise<Grant & { windowMs: number }>;
  /** Extends the window. `unusedFromMs` is the start of the first unused tick. `WINDOW_CLOSED` if the lease is lost. */
  renew(
    namespace: string,
    node: number,
    terms: { nonce: string; unusedFromMs: number; windowMs: number; maxAheadMs: number },
  ): Promise<Grant>;
  /** Gives the node back, of which nothing is used from `unusedFromMs` on. */
  release(namespace: string, node: number, terms: { nonce: string; unusedFromMs: number }): Promise<void>;
  /** The name of the service in messages, and its identity: its URL, without a password. */
  toString(): string;
}
