// The store of numbers: its answers are checked, and it has the definitions of tags and sequences.
import { SnowmintError } from "../errors.js";
import { CheckedStore } from "../lease/checked-store.js";
import type { Store } from "../lease/store.js";
import type { HttpStore } from "../stores/http.js";
import { numbers } from "../wasm/numbers.js";
import { isService, segmentsOf } from "./service.js";

const VERBS = ["read", "write", "list", "add"] as const;
const MOST = 2n ** 63n - 1n;

/** Where a definition is. */
interface Place {
  /** Reads the definition; undefined if it is missing. */
  read(): Promise<Uint8Array | undefined>;
  /** Writes the definition; false if there is one. */
  create(definition: Uint8Array): Promise<boolean>;
}

/** Makes a definition, above the floor of the store. */
type Define = (floor?: Uint8Array) => Uint8Array | Promise<Uint8Array>;

/** Where the numbers of a tag are. */
export interface TagSource extends Place {
  /** The key of its record, in messages. */
  key: string;
  /** The largest amount to add; any if missing. */
  most?: bigint;
  /** Raises the counter, from `start` if it is new. Resolves with its new value, null if it has no room. */
  add(amount: bigint, start: bigint): Promise<bigint | null>;
  /** Lowers the counter, if it still is `end`. */
  lower(end: bigint, start: bigint): Promise<boolean>;
}

const isBoolean = (answer: unknown): boolean => typeof answer === "boolean";
const isRow = (row: unknown): boolean => {
  const { next, step } = Object(row) as { next?: unknown; step?: unknown };
  return row === null || (typeof next === "bigint" && typeof step === "bigint");
};

/** A store whose answers are checked, with its counters. */
export class NumberStore extends CheckedStore {
  declare readonly store: Store;
  /** The service, if the numbers are there. */
  readonly service: HttpStore | undefined;

  /** Throws TypeError unless the object has the verbs of a store, or is a service. */
  constructor(store: unknown, owner: string) {
    const service = isService(store) ? store : undefined;
    const given = (service ? segmentsOf(service) : Object(store)) as Store;
    const missing = VERBS.find((verb) => typeof given[verb] !== "function");
    if (missing)
      throw new TypeError(`${owner} needs a store with the method ${missing}, such as one of snowmint/stores`);
    super(given);
    this.service = service;
  }

  /** Raises a counter. Resolves with its new value, null if it has no room. */
  add(counter: string, delta: bigint, start: bigint): Promise<bigint | null> {
    return this.#added(() => this.store.add(counter, delta, start), delta);
  }

  async #added(add: () => Promise<bigint>, delta: bigint): Promise<bigint | null> {
    try {
      return await this.ask(add, (sum) => typeof sum === "bigint" && sum >= delta && sum <= MOST);
    } catch (error) {
      if (error instanceof RangeError) return null;
      throw error;
    }
  }

  /** Lowers a counter, if it still is `end`. */
  async lower(counter: string, end: bigint, start: bigint): Promise<boolean> {
    if (typeof this.store.lower !== "function") return false;
    return this.ask(async () => this.store.lower!(counter, end, start), isBoolean);
  }

  /** Returns where the numbers of a tag are: in a record and a counter, or in Leaf's table. */
  tag(tag: string): TagSource {
    const key = numbers().keyOf("segments/", tag);
    const table = this.store.segments;
    if (!table)
      return {
        key,
        ...this.record(key),
        add: (amount, start) => this.add(key, amount, start),
        lower: (end, start) => this.lower(key, end, start),
      };
    const add = async (amount: bigint) => {
      const sum = await table.fetch(tag, amount);
      if (sum === null) throw new Error(`leaf_alloc has no row for ${tag} any more`);
      return sum;
    };
    return {
      key,
      read: async () => {
        const row = await this.ask(() => table.tag(tag), isRow);
        return row ? numbers().tagRecord(String(row.next), String(row.step)) : undefined;
      },
      create: (definition) => {
        const [next, step] = numbers().tagParts(definition) as unknown as [bigint, bigint];
        return this.ask(() => table.create(tag, { next, step }), isBoolean);
      },
      add: (amount) => this.#added(() => add(amount), amount),
      lower: (end, start) => this.ask(() => table.lower(tag, end, start), isBoolean),
    };
  }

  /** Reads the floor, below which no new counter begins. */
  async floor(): Promise<Uint8Array | undefined> {
    return (await this.read(numbers().floorKey()))?.value;
  }

  /** Returns the record of a key as the place of a definition. */
  record(key: string): Place {
    return {
      read: async () => (await this.read(key))?.value,
      create: async (definition) => (await this.write(key, definition, 0)) !== null,
    };
  }

  /** Reads a definition, and writes it before if it is missing. */
  async definition(place: Place, name: string, define: Define): Promise<Uint8Array> {
    for (;;) {
      const found = await place.read();
      if (found) return found;
      await this.define(place, name, define);
    }
  }

  /** Writes the definition of a new name. Resolves with false if it has one. */
  async define({ create }: Place, name: string, define: Define): Promise<boolean> {
    numbers().refuseName(name, name.normalize("NFC") === name);
    return create(await define(await this.floor()));
  }

  /** Adds the store, and a key, to an error of core. */
  explained(error: unknown, key: string): unknown {
    if (!(error instanceof SnowmintError)) return error;
    const isOfCore = !error.message.startsWith(`${this}: `);
    return isOfCore ? new SnowmintError(error.code, `${this}: ${key}: ${error.message}`) : error;
  }

  protected override isAnswer(error: unknown): boolean {
    return error instanceof RangeError;
  }
}

/** Returns whether an error means that the store did not answer, so that the request may have been carried out. */
export const isUnanswered = (error: unknown): boolean =>
  error instanceof SnowmintError && error.code === "STORE_UNAVAILABLE";

/** A name, checked. */
export function nameOf(name: unknown, what: string): string {
  if (typeof name === "string") return name;
  throw new TypeError(`${what} is a string, not ${String(name)}`);
}
