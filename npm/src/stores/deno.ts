// snowmint/stores/deno: leases in Deno KV.
import { monotonicMs } from "../generator/waiting.js";
import { type Owner, read } from "../input.js";
import type { Listed, Store, Versioned } from "../lease/store.js";
import { messageOf, unavailable, within } from "./shared/failure.js";
import { checkedTimeout } from "./shared/options.js";
import { checkAdd, full, newVersion, raised } from "./shared/values.js";

/** A `Deno.Kv`, or a `Kv` of the package `@deno/kv`. */
export interface DenoKv {
  get(...args: never[]): unknown;
  list(...args: never[]): unknown;
  atomic(): unknown;
}

/** The options of `DenoKvStore`. */
export interface DenoKvStoreOptions {
  /** The first part of all keys; `"snowmint"` if missing. */
  prefix?: string | undefined;
  /** How long a call may take before the store gives it up, ms, more than 0; 5000 if missing. */
  timeoutMs?: number | undefined;
}

const OPTIONS: Owner = {
  of: "DenoKvStore",
  names: Object.keys({ prefix: 0, timeoutMs: 0 } satisfies Record<keyof DenoKvStoreOptions, 0>),
};

/** The pause before the next attempt while another process writes to the database file, ms. */
const PAUSE_MS = 5;

/** The part of `Deno.Kv` that the store uses. Reads are strongly consistent unless a call says otherwise. */
interface Kv {
  get(key: Key): Promise<Entry>;
  list(selector: { prefix: Key }): AsyncIterable<Entry>;
  atomic(): Atomic;
}
interface Atomic {
  check(entry: Entry): Atomic;
  set(key: Key, value: unknown): Atomic;
  commit(): Promise<{ ok: boolean }>;
}
interface Entry {
  key: Key;
  value: unknown;
  versionstamp: string | null;
}
type Key = readonly string[];

/**
 * Records and counters in Deno KV, over a `Deno.Kv` or a `Kv` of the package `@deno/kv`; without a clock.
 *
 * Every write is an atomic operation that checks the version that it replaces. The store cannot see where a `Kv` keeps its
 * data: `":memory:"` loses all records with the process, so that the next process repeats IDs.
 *
 * Throws TypeError unless the argument is a `Kv`.
 *
 * @example
 * const store = new DenoKvStore(await Deno.openKv());
 * await using gen = await Snowflake.lease({ store, namespace: "orders" });
 */
export class DenoKvStore implements Store {
  readonly #kv: Kv;
  readonly #prefix: string;
  readonly #timeoutMs: number;

  /** Over a database, which stays the caller's. */
  constructor(kv: DenoKv, options: DenoKvStoreOptions = {}) {
    const { prefix = "snowmint", timeoutMs } = read(options, OPTIONS);
    if (typeof prefix !== "string") throw new TypeError("prefix is a string");
    const given = Object(kv) as Partial<Record<keyof Kv, unknown>>;
    if (![given.get, given.list, given.atomic].every((method) => typeof method === "function"))
      throw new TypeError("DenoKvStore needs a Deno.Kv, such as await Deno.openKv()");
    this.#kv = given as Kv;
    this.#prefix = prefix;
    this.#timeoutMs = checkedTimeout(timeoutMs);
  }

  /** As `Store.read`. */
  async read(key: string): Promise<Versioned | null> {
    return this.#call(async (kv) => found(await kv.get(this.#record(key))));
  }

  /** As `Store.write`. */
  async write(key: string, value: Uint8Array, expectedVersion: number): Promise<number | null> {
    const record = { value: value.slice(), version: newVersion() };
    return this.#call(async (kv) => {
      const before = await kv.get(this.#record(key));
      if ((found(before)?.version ?? 0) !== expectedVersion) return null;
      const { ok } = await kv.atomic().check(before).set(before.key, record).commit();
      return ok ? record.version : null;
    });
  }

  /** As `Store.list`. */
  async list(prefix: string): Promise<Listed[]> {
    return this.#call(async (kv) => {
      const listed: Listed[] = [];
      for await (const entry of kv.list({ prefix: this.#record(prefix).slice(0, -1) }))
        listed.push({ name: entry.key.at(-1)!, ...found(entry)! });
      return listed;
    });
  }

  /** As `Store.add`. */
  async add(counter: string, delta: bigint, start: bigint): Promise<bigint> {
    checkAdd(this, counter, delta, start);
    const count = await this.#call(async (kv) => {
      // The engine's `sum` would restart at 0 after its last number.
      for (;;) {
        const before = await kv.get([this.#prefix, "counters", counter]);
        const count = raised((before.value ?? start) as bigint, delta);
        if (count === undefined) return count;
        const { ok } = await kv.atomic().check(before).set(before.key, count).commit();
        if (ok) return count;
      }
    });
    if (count === undefined) throw full(this, counter);
    return count;
  }

  /** As `Store.clockMs`. */
  async clockMs(): Promise<null> {
    return null;
  }

  /** The name of the store in messages. */
  toString(): string {
    return "Deno KV";
  }

  async #call<T>(work: (kv: Kv) => Promise<T>): Promise<T> {
    try {
      return await within(this.#timeoutMs, () => this.#attempt(work));
    } catch (error) {
      throw unavailable(this, error);
    }
  }

  /** Runs `work` until no other process has locked the database file. */
  async #attempt<T>(work: (kv: Kv) => Promise<T>): Promise<T> {
    for (const until = monotonicMs() + this.#timeoutMs; ; ) {
      try {
        return await work(this.#kv);
      } catch (error) {
        if (messageOf(error) !== "database is locked" || monotonicMs() > until) throw error;
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      }
    }
  }

  /** The key of a record: its directory is one part, so that a list has the records right under it. */
  #record(key: string): Key {
    const slash = key.lastIndexOf("/");
    return [this.#prefix, "records", key.slice(0, Math.max(slash, 0)), key.slice(slash + 1)];
  }
}

/** Returns the record of an entry; null if the key has no record. */
const found = ({ value }: Entry): Versioned | null => value as Versioned | null;
