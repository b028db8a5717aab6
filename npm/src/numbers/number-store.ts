// The store of numbers: its answers are checked, and it has the definitions of tags and sequences.
import { SnowmintError } from "../errors.js";
import { CheckedStore } from "../lease/checked-store.js";
import type { Store } from "../lease/store.js";
import { numbers } from "../wasm/numbers.js";

const VERBS = ["read", "write", "list", "add"] as const;
const MOST = 2n ** 63n - 1n;

/** A store whose answers are checked, with its counters. */
export class NumberStore extends CheckedStore {
  declare readonly store: Store;

  /** Throws TypeError unless the object has the verbs of a store. */
  constructor(store: unknown, owner: string) {
    const given = Object(store) as Store;
    const missing = VERBS.find((verb) => typeof given[verb] !== "function");
    if (missing)
      throw new TypeError(`${owner} needs a store with the method ${missing}, such as one of snowmint/stores`);
    super(given);
  }

  /** Raises a counter. Resolves with its new value, null if it has no room. */
  async add(counter: string, delta: bigint, start: bigint): Promise<bigint | null> {
    try {
      return await this.ask(
        () => this.store.add(counter, delta, start),
        (sum) => typeof sum === "bigint" && sum >= delta && sum <= MOST,
      );
    } catch (error) {
      if (error instanceof RangeError) return null;
      throw error;
    }
  }

  /** Lowers a counter, if it still is `end`. */
  async lower(counter: string, end: bigint, start: bigint): Promise<boolean> {
    if (typeof this.store.lower !== "function") return false;
    return this.ask(
      async () => this.store.lower!(counter, end, start),
      (lowered) => typeof lowered === "boolean",
    );
  }

  /** Reads the floor, below which no new counter begins. */
  async floor(): Promise<Uint8Array | undefined> {
    return (await this.read(numbers().floorKey()))?.value;
  }

  /** Reads a definition, and writes it before if it is missing. */
  async definition(
    key: string,
    name: string,
    define: (floor?: Uint8Array) => Promise<Uint8Array>,
  ): Promise<Uint8Array> {
    for (;;) {
      const found = await this.read(key);
      if (found) return found.value;
      await this.define(key, name, define);
    }
  }

  /** Writes the definition of a new name. Resolves with false if it has one. */
  async define(key: string, name: string, define: (floor?: Uint8Array) => Promise<Uint8Array>): Promise<boolean> {
    numbers().refuseName(name, name.normalize("NFC") === name);
    return (await this.write(key, await define(await this.floor()), 0)) !== null;
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
