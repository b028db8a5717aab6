// snowmint/stores/cloudflare: leases in a Durable Object, for Workers of Cloudflare.
import { DurableObject } from "cloudflare:workers";
import { type Owner, read } from "../input.js";
import type { Listed, Store, Versioned } from "../lease/store.js";
import { unavailable, within } from "./shared/failure.js";
import { checkedTimeout } from "./shared/options.js";
import { checkAdd, full, newVersion, raised } from "./shared/values.js";

/** A binding of a Durable Object namespace, such as `env.SNOWMINT`. */
export interface ObjectBinding {
  idFromName(name: string): unknown;
  get(...args: never[]): unknown;
}

/** The options of `DurableObjectStore`. */
export interface DurableObjectStoreOptions {
  /** The name of the object that keeps the records, 1 character or more; `"snowmint"` if missing. */
  name?: string | undefined;
  /** The region where Cloudflare places the object when it is first used, such as `"weur"`. */
  locationHint?: string | undefined;
  /** How long a call may take before the store gives it up, ms, more than 0; 5000 if missing. */
  timeoutMs?: number | undefined;
}

const OPTIONS: Owner = {
  of: "DurableObjectStore",
  names: Object.keys({
    name: 0,
    locationHint: 0,
    timeoutMs: 0,
  } satisfies Record<keyof DurableObjectStoreOptions, 0>),
};

/** The part of a binding that the store uses. */
interface Binding {
  idFromName(name: string): unknown;
  get(id: unknown, options: { locationHint?: string }): Stub;
}
type Stub = Pick<SnowmintObject, "read" | "write" | "list" | "add" | "clockMs">;

/** Precede the keys of records and of counters in the storage of an object. */
const RECORDS = "records/";
const COUNTERS = "counters/";

/**
 * The Durable Object that keeps the records and counters of `DurableObjectStore`. Export it from the Worker, and name it as
 * a class of Durable Objects in the configuration; its storage may be of either kind, SQLite or key-value.
 *
 * @example
 * export { SnowmintObject } from "snowmint/stores/cloudflare";
 */
export class SnowmintObject extends DurableObject {
  /** As `Store.read`. */
  async read(key: string): Promise<Versioned | null> {
    return (await this.ctx.storage.get<Versioned>(RECORDS + key)) ?? null;
  }

  /** As `Store.write`. */
  async write(key: string, value: Uint8Array, expectedVersion: number): Promise<number | null> {
    return this.ctx.storage.transaction(async (storage) => {
      const before = await storage.get<Versioned>(RECORDS + key);
      if ((before?.version ?? 0) !== expectedVersion) return null;
      const version = newVersion();
      // The runtime holds the answer back until the write is on disk.
      await storage.put(RECORDS + key, { value, version });
      return version;
    });
  }

  /** As `Store.list`. */
  async list(prefix: string): Promise<Listed[]> {
    const under = RECORDS + prefix;
    const records = await this.ctx.storage.list<Versioned>({ prefix: under });
    return [...records]
      .filter(([key]) => !key.includes("/", under.length))
      .map(([key, found]) => ({ name: key.slice(under.length), ...found }));
  }

  /** As `Store.add`, but resolves with null if the counter would pass 2^63-1. */
  async add(counter: string, delta: bigint, start: bigint): Promise<bigint | null> {
    return this.ctx.storage.transaction(async (storage) => {
      const count = raised((await storage.get<bigint>(COUNTERS + counter)) ?? start, delta);
      if (count === undefined) return null;
      await storage.put(COUNTERS + counter, count);
      return count;
    });
  }

  /** As `Store.clockMs`. */
  async clockMs(): Promise<number> {
    return Date.now();
  }
}

/**
 * Records and counters in one Durable Object of Cloudflare, for the Workers that have its binding.
 *
 * The Worker that has the object exports the class `SnowmintObject`. Workers call its methods, which needs a compatibility
 * date of 2024-04-03 or later. The clock is the clock of the object's machine.
 *
 * Throws TypeError unless the argument is a binding of a Durable Object namespace.
 *
 * @example
 * export { SnowmintObject } from "snowmint/stores/cloudflare";
 * const store = new DurableObjectStore(env.SNOWMINT);
 * const gen = await Snowflake.lease({ store, namespace: "orders" });
 */
export class DurableObjectStore implements Store {
  readonly #binding: Binding;
  readonly #name: string;
  readonly #locationHint: string | undefined;
  readonly #timeoutMs: number;

  /** Over a binding, such as `env.SNOWMINT`. */
  constructor(binding: ObjectBinding, options: DurableObjectStoreOptions = {}) {
    const { name = "snowmint", locationHint, timeoutMs } = read(options, OPTIONS);
    if (typeof name !== "string" || !name) throw new TypeError("name is a string of 1 character or more");
    if (locationHint !== undefined && typeof locationHint !== "string")
      throw new TypeError('locationHint is a string, such as "weur"');
    const given = Object(binding) as Partial<Record<keyof Binding, unknown>>;
    if (typeof given.idFromName !== "function" || typeof given.get !== "function")
      throw new TypeError("DurableObjectStore needs a binding of a Durable Object namespace, such as env.SNOWMINT");
    this.#binding = given as Binding;
    this.#name = name;
    this.#locationHint = locationHint;
    this.#timeoutMs = checkedTimeout(timeoutMs);
  }

  /** As `Store.read`. */
  async read(key: string): Promise<Versioned | null> {
    return this.#call((object) => object.read(key));
  }

  /** As `Store.write`. */
  async write(key: string, value: Uint8Array, expectedVersion: number): Promise<number | null> {
    // A view would take along all bytes that it is a view of.
    const copy = value.slice();
    return this.#call((object) => object.write(key, copy, expectedVersion));
  }

  /** As `Store.list`. */
  async list(prefix: string): Promise<Listed[]> {
    return this.#call((object) => object.list(prefix));
  }

  /** As `Store.add`. */
  async add(counter: string, delta: bigint, start: bigint): Promise<bigint> {
    checkAdd(this, counter, delta, start);
    const count = await this.#call((object) => object.add(counter, delta, start));
    if (count === null) throw full(this, counter);
    return count;
  }

  /** As `Store.clockMs`. */
  async clockMs(): Promise<number> {
    return this.#call((object) => object.clockMs());
  }

  /** The name of the store in messages. */
  toString(): string {
    return `the Durable Object ${this.#name}`;
  }

  async #call<T>(work: (object: Stub) => Promise<T>): Promise<T> {
    try {
      return await within(this.#timeoutMs, () => work(this.#stub()));
    } catch (error) {
      throw unavailable(this, error);
    }
  }

  /** A stub for one call: a stub belongs to a request, and may be of no use after an error. */
  #stub(): Stub {
    const id = this.#binding.idFromName(this.#name);
    const stub = this.#binding.get(id, this.#locationHint ? { locationHint: this.#locationHint } : {});
    if (typeof stub.read !== "function")
      throw new Error("its methods cannot be called: set a compatibility date of 2024-04-03 or later");
    return stub;
  }
}
