import { digits, type Integer, type Owner, read } from "../input.js";
import type { Store } from "../lease/store.js";
import type { HttpStore } from "../stores/http.js";
import { numbers } from "../wasm/numbers.js";
import { maxWaitOf } from "./news.js";
import { NumberStore } from "./number-store.js";
import { ServiceSession } from "./service-session.js";
import { keysOf, type Session } from "./session.js";
import { StoreSession } from "./store-session.js";

/** The options of `Sequences`. */
export interface SequencesOptions {
  /** The longest wait of a call, ms; 1000 if missing. */
  maxWaitMs?: number | undefined;
}

/** The definition of a sequence. */
export interface SequenceOptions {
  /** The database whose defaults and `setval` the sequence follows; `"pg"` if missing. */
  dialect?: "pg" | "mariadb" | "tidb" | undefined;
  /** The type of its values; `"bigint"` if missing. */
  kind?: "smallint" | "integer" | "bigint" | "bigint unsigned" | undefined;
  /** The step, also negative; 1 if missing. */
  increment?: Integer | undefined;
  /** The first value. */
  start?: Integer | undefined;
  /** The least value. */
  min?: Integer | undefined;
  /** The greatest value. */
  max?: Integer | undefined;
  /** How many values a session reserves at a time; 1 if missing, in `mariadb` and `tidb` 1000. */
  cache?: Integer | undefined;
  /** Whether it begins again after its last value; false if missing. */
  cycle?: boolean | undefined;
}

const SESSION: Owner = {
  of: "Sequences",
  names: Object.keys({ maxWaitMs: 0 } satisfies Record<keyof SequencesOptions, 0>),
};
const DEFINITION: Owner = {
  of: "Sequences.create",
  names: Object.keys({
    start: 0,
    increment: 0,
    min: 0,
    max: 0,
    cache: 0,
    cycle: 0,
    dialect: 0,
    kind: 0,
  } satisfies Record<keyof SequenceOptions, 0>),
};

/**
 * A session on the sequences of a store: `nextval`, `currval`, `lastval` and `setval` of PostgreSQL, also in the dialects of MariaDB
 * and TiDB.
 *
 * `create` defines a sequence. Without it the first use gives a sequence PostgreSQL's defaults. Values are durable
 * before a call resolves. With a cache of 1 values increase over all sessions, call by call. With a larger cache each
 * session hands out a separate block, and skips the values that it does not use. Calls of one session run one after the
 * other. Calls that wait for the same sequence at the same time share a write.
 *
 * Over an `HttpStore` the service has the sequences. Then `current` and `last` are the values that this object took, `create` and `set`
 * need a token for administrators, and a set is sent once: if its answer is lost, it rejects with `STORE_UNAVAILABLE`.
 *
 * All methods reject with `STORE_UNAVAILABLE` if the store does not answer within `maxWaitMs`, `INVALID_TEXT` for a name that is not
 * 1 to 128 bytes long or that a new sequence cannot have, and TypeError for a name that is not a string.
 *
 * @example
 * const session = new Sequences(store);
 * await session.create("invoices", { start: 1000 });
 * await session.next("invoices"); // 1000n
 */
export class Sequences {
  /** @internal */
  readonly store: NumberStore;
  /** @internal */
  readonly maxWaitMs: number;
  readonly #session: Session;

  /** Over a store, which stays the caller's. */
  constructor(store: Store | HttpStore, options: SequencesOptions = {}) {
    const { maxWaitMs } = read(options, SESSION);
    this.store = new NumberStore(store, "Sequences");
    this.maxWaitMs = maxWaitOf(maxWaitMs);
    const { service } = this.store;
    this.#session = service
      ? new ServiceSession(service, this.store, this.maxWaitMs)
      : new StoreSession(this.store, this.maxWaitMs);
  }

  /** Defines a sequence. Resolves with false if it exists, and leaves it unchanged; rejects with `INVALID_ID` for wrong numbers. */
  async create(name: string, options: SequenceOptions = {}): Promise<boolean> {
    const { dialect, kind, cycle = false, ...given } = read(options, DEFINITION);
    if (typeof cycle !== "boolean") throw new TypeError("cycle is true or false");
    const { increment, min, max, start, cache } = given;
    const text = [increment, min, max, start, cache].map((value) => (value === undefined ? value : digits(value)));
    const names = [dialect, kind].map((value) => (value === undefined ? value : String(value)));
    keysOf(name);
    const record = numbers().sequenceRecord(names[0], names[1], text[0], text[1], text[2], text[3], text[4], cycle);
    return this.#session.create(name, record);
  }

  /** The next value: `nextval`. Rejects with `EXHAUSTED` beyond the last one. */
  async next(name: string): Promise<bigint> {
    return this.#session.next(name);
  }

  /** The last value that this session took or set: `currval`. Without one it rejects with `INVALID_ID`, or resolves with null outside of `pg`. */
  async current(name: string): Promise<bigint | null> {
    return this.#session.current(name);
  }

  /** The last value of the sequence that this session used last: `lastval`. Rejects with `INVALID_ID` without one. */
  async last(): Promise<bigint> {
    return this.#session.last();
  }

  /**
   * Sets a sequence: `setval`. With `called` false the value itself comes next, otherwise the one after it. Resolves with the value,
   * or with null if the dialect ignores the set. `called` is for `pg` and `mariadb`, `round` for `mariadb`.
   */
  async set(name: string, value: Integer, called?: boolean, round?: Integer): Promise<bigint | null> {
    if (called !== undefined && typeof called !== "boolean") throw new TypeError("called is true or false");
    const [to, rounds] = [digits(value), round === undefined ? round : BigInt(digits(round))];
    return this.#session.set(name, to, called, rounds);
  }

  /** Returns the sequence of this name in this session, to pass it on, such as to `Formatted`. */
  sequence(name: string): Sequence {
    keysOf(name);
    return new Sequence(this, name);
  }

  /** The store, in messages. */
  toString(): string {
    return `Sequences(${this.store})`;
  }

  /** @internal As `Session.ready`. */
  ready(name: string, record: Uint8Array, isGiven: boolean): Promise<void> {
    return this.#session.ready(name, record, isGiven);
  }
}

/**
 * A sequence of a session, as `Sequences.sequence` returns it. Its methods call the methods of `Sequences` with its
 * name.
 *
 * @example
 * const invoices = new Sequences(store).sequence("invoices");
 * await invoices.next(); // 1n
 */
export class Sequence {
  /** @internal */
  readonly session: Sequences;
  /** Its name. */
  readonly name: string;

  /** @internal */
  constructor(session: Sequences, name: string) {
    this.session = session;
    this.name = name;
  }

  /** As `Sequences.next`. */
  next(): Promise<bigint> {
    return this.session.next(this.name);
  }

  /** As `Sequences.current`. */
  current(): Promise<bigint | null> {
    return this.session.current(this.name);
  }

  /** As `Sequences.set`. */
  set(value: Integer, called?: boolean, round?: Integer): Promise<bigint | null> {
    return this.session.set(this.name, value, called, round);
  }

  /** The name and the store, in messages. */
  toString(): string {
    return `Sequence(${this.name}, ${this.session.store})`;
  }
}
