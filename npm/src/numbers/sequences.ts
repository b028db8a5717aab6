import { digits, type Integer, type Owner, read } from "../input.js";
import type { Store } from "../lease/store.js";
import { type Next, numbers, type WasmSequence } from "../wasm/numbers.js";
import { ask, Call, Turns } from "./calls.js";
import { maxWaitOf } from "./news.js";
import { NumberStore, nameOf } from "./number-store.js";

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
 * `create` defines a sequence. Without it the first use gives a sequence PostgreSQL's defaults. Values are durable before a call
 * resolves. With a cache of 1 they increase over all sessions, in the order of calls; with a larger one each session hands out a
 * block of its own, and skips what it does not use. Calls of one session run one after the other. Those that wait for the same
 * sequence at the same time share a write.
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
  readonly #turns = new Turns();
  readonly #sequences = new Map<string, WasmSequence>();
  /** How many calls wait for a value of each sequence. */
  readonly #waiting = new Map<string, number>();
  #begun = 0;
  #last: WasmSequence | undefined;

  /** Over a store, which stays the caller's. */
  constructor(store: Store, options: SequencesOptions = {}) {
    const { maxWaitMs } = read(options, SESSION);
    this.store = new NumberStore(store, "Sequences");
    this.maxWaitMs = maxWaitOf(maxWaitMs);
  }

  /** Defines a sequence. Resolves with false if it exists, and leaves it unchanged; rejects with `INVALID_ID` for wrong numbers. */
  async create(name: string, options: SequenceOptions = {}): Promise<boolean> {
    const { dialect, kind, cycle = false, ...given } = read(options, DEFINITION);
    if (typeof cycle !== "boolean") throw new TypeError("cycle is true or false");
    const { increment, min, max, start, cache } = given;
    const text = [increment, min, max, start, cache].map((value) => (value === undefined ? value : digits(value)));
    const names = [dialect, kind].map((value) => (value === undefined ? value : String(value)));
    const [key] = this.#keys(name);
    const record = numbers().sequenceRecord(names[0], names[1], text[0], text[1], text[2], text[3], text[4], cycle);
    return Call.within(this.store, this.maxWaitMs, () =>
      this.store.define(this.store.record(key), name, (floor) => this.#begin(name, record, floor)),
    );
  }

  /** The next value: `nextval`. Rejects with `EXHAUSTED` beyond the last one. */
  async next(name: string): Promise<bigint> {
    const number = this.#begun++;
    const add = (count: number): void => {
      this.#waiting.set(name, (this.#waiting.get(name) ?? 0) + count);
      if (!this.#waiting.get(name)) this.#waiting.delete(name);
    };
    add(1);
    try {
      return await this.#call(name, async (sequence, call) => {
        const value = await this.#drive(name, sequence, call, () =>
          sequence.next(number, this.#begun, this.#waiting.get(name) ?? 1),
        );
        this.#last = sequence;
        return value;
      });
    } finally {
      add(-1);
    }
  }

  /** The last value that this session took or set: `currval`. Without one it rejects with `INVALID_ID`, or resolves with null outside of `pg`. */
  async current(name: string): Promise<bigint | null> {
    return this.#call(name, async (sequence) => sequence.current());
  }

  /** The last value of the sequence that this session used last: `lastval`. Rejects with `INVALID_ID` without one. */
  async last(): Promise<bigint> {
    return this.#turns.take(async () => {
      if (!this.#last) throw numbers().sequenceUnused();
      return this.#last.last();
    });
  }

  /**
   * Sets a sequence: `setval`. With `called` false the value itself comes next, otherwise the one after it. Resolves with the value,
   * or with null if the dialect ignores the set. `called` is for `pg` and `mariadb`, `round` for `mariadb`.
   */
  async set(name: string, value: Integer, called?: boolean, round?: Integer): Promise<bigint | null> {
    if (called !== undefined && typeof called !== "boolean") throw new TypeError("called is true or false");
    const [to, rounds] = [digits(value), round === undefined ? round : BigInt(digits(round))];
    return this.#call(name, (sequence, call) =>
      this.#drive(name, sequence, call, () => sequence.set(to, called, rounds)),
    );
  }

  /** Returns the sequence of this name in this session, to pass it on, such as to `Formatted`. */
  sequence(name: string): Sequence {
    this.#keys(name);
    return new Sequence(this, name);
  }

  /** The store, in messages. */
  toString(): string {
    return `Sequences(${this.store})`;
  }

  /** @internal Makes a sequence with this definition, unless it exists. Rejects with `INVALID_ID` if it cycles. */
  async ready(name: string, record: Uint8Array): Promise<void> {
    const found = await this.#definition(name, record);
    try {
      numbers().refuseCycle(found);
    } catch (error) {
      throw this.store.explained(error, this.#keys(name)[0]);
    }
  }

  /** Returns the keys of definition and record. */
  #keys(name: string): [string, string] {
    nameOf(name, "the name of a sequence");
    return [numbers().keyOf("definitions/", name), numbers().keyOf("sequences/", name)];
  }

  /** Writes the record of a new sequence that skips values. Resolves with the definition. */
  async #begin(name: string, definition: Uint8Array, floor?: Uint8Array): Promise<Uint8Array> {
    const state = numbers().sequenceState(definition, floor);
    if (state) await this.store.write(this.#keys(name)[1], state, 0);
    return definition;
  }

  /** Reads the definition of a sequence. Without one it writes this record first. */
  #definition(name: string, record: Uint8Array): Promise<Uint8Array> {
    const [key] = this.#keys(name);
    return this.store.definition(this.store.record(key), name, (floor) => this.#begin(name, record, floor));
  }

  /** Runs `work` when the calls before it are over. */
  async #call<T>(name: string, work: (sequence: WasmSequence, call: Call) => Promise<T>): Promise<T> {
    this.#keys(name);
    return Call.within(this.store, this.maxWaitMs, (call) =>
      this.#turns.take(async () => {
        call.check();
        return Promise.race([call.end, this.#open(name, call).then((sequence) => work(sequence, call))]);
      }),
    );
  }

  async #open(name: string, call: Call): Promise<WasmSequence> {
    const opened = this.#sequences.get(name);
    if (opened) return opened;
    const [key] = this.#keys(name);
    const record = numbers().sequenceRecord(
      undefined,
      undefined,
      undefined,
      undefined,
      undefined,
      undefined,
      undefined,
      false,
    );
    const found = await this.#definition(name, record);
    call.check();
    try {
      const sequence = new (numbers().Sequence)(found);
      this.#sequences.set(name, sequence);
      return sequence;
    } catch (error) {
      throw this.store.explained(error, key);
    }
  }

  /** Sends the requests of a call until it is done. */
  async #drive<T>(name: string, sequence: WasmSequence, call: Call, step: () => Next<T>): Promise<T> {
    const [, key] = this.#keys(name);
    sequence.begin();
    for (let failed: unknown; ; ) {
      const next = step();
      if (next.kind === "done") return next.value;
      if (failed) {
        const pauseMs = numbers().sequenceRetryMs();
        if (pauseMs >= call.leftMs()) throw failed;
        await new Promise((resolve) => setTimeout(resolve, pauseMs));
        call.check();
      }
      failed = await ask(this.store, key, sequence, next, () => call.check());
    }
  }
}

/**
 * A sequence of a session, as `Sequences.sequence` returns it. Its methods are those of `Sequences` for its name.
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
