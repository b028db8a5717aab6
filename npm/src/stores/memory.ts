import type { Listed, Store, Versioned } from "../lease/store.js";
import { checkAdd, full, raised } from "./shared/values.js";

/**
 * Records and counters that end with the realm, for tests; without a clock. Worker threads cannot share one.
 *
 * @example
 * const store = new MemoryStore();
 * await store.write("leases/orders/5", new Uint8Array([1]), 0); // 1
 * await store.write("leases/orders/5", new Uint8Array([2]), 0); // null: it is there already
 */
export class MemoryStore implements Store {
  readonly #records = new Map<string, Versioned>();
  readonly #counters = new Map<string, bigint>();

  /** As `Store.read`. */
  async read(key: string): Promise<Versioned | null> {
    const found = this.#records.get(key);
    return found ? copy(found) : null;
  }

  /** As `Store.write`. */
  async write(key: string, value: Uint8Array, expectedVersion: number): Promise<number | null> {
    const version = this.#records.get(key)?.version ?? 0;
    if (version !== expectedVersion) return null;
    this.#records.set(key, copy({ value, version: version + 1 }));
    return version + 1;
  }

  /** As `Store.list`. */
  async list(prefix: string): Promise<Listed[]> {
    return [...this.#records]
      .filter(([key]) => key.startsWith(prefix) && !key.includes("/", prefix.length))
      .map(([key, found]) => ({ name: key.slice(prefix.length), ...copy(found) }));
  }

  /** As `Store.add`. */
  async add(counter: string, delta: bigint, start: bigint): Promise<bigint> {
    checkAdd(this, counter, delta, start);
    const count = raised(this.#counters.get(counter) ?? start, delta);
    if (count === undefined) throw full(this, counter);
    this.#counters.set(counter, count);
    return count;
  }

  /** As `Store.lower`. */
  async lower(counter: string, end: bigint, start: bigint): Promise<boolean> {
    if (this.#counters.get(counter) !== end) return false;
    this.#counters.set(counter, start);
    return true;
  }

  /** As `Store.clockMs`. */
  async clockMs(): Promise<null> {
    return null;
  }

  /** Its name in messages. */
  toString(): string {
    return "MemoryStore";
  }
}

// The bytes may be a view of memory that the caller overwrites later.
const copy = ({ value, version }: Versioned): Versioned => ({ value: value.slice(), version });
