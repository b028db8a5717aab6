// A store over a client of this package, whose idle connections keep no process alive.
import type { Listed, ServerSettings, Versioned } from "../lease/store.js";
import type { Store } from "../stores/index.js";

/** How long a connection may take, ms. */
export const TIMEOUT_MS = 5000;

/** Keeps the process alive while a call waits for its answer, and connects the client before each call. */
export class AwakeStore implements Store {
  readonly #store: Store;
  readonly #connected: () => unknown;

  /** `connected` returns when the client can take commands. */
  constructor(store: Store, connected: () => unknown = () => {}) {
    this.#store = store;
    this.#connected = connected;
  }

  read(key: string): Promise<Versioned | null> {
    return this.#call(() => this.#store.read(key));
  }

  write(key: string, value: Uint8Array, expectedVersion: number): Promise<number | null> {
    return this.#call(() => this.#store.write(key, value, expectedVersion));
  }

  list(prefix: string): Promise<Listed[]> {
    return this.#call(() => this.#store.list(prefix));
  }

  add(counter: string, delta: bigint, start: bigint): Promise<bigint> {
    return this.#call(() => this.#store.add(counter, delta, start));
  }

  clockMs(): Promise<number | null> {
    return this.#call(() => this.#store.clockMs());
  }

  async refuseStandby(): Promise<void> {
    await this.#call(async () => this.#store.refuseStandby?.());
  }

  standbyRisk(): string | null {
    return this.#store.standbyRisk?.() ?? null;
  }

  settings(): Promise<ServerSettings> {
    return this.#call(() => this.#store.settings!());
  }

  toString(): string {
    return String(this.#store);
  }

  async #call<T>(call: () => Promise<T>): Promise<T> {
    const waiting = setInterval(() => {}, TIMEOUT_MS);
    try {
      await this.#connected();
      return await call();
    } finally {
      clearInterval(waiting);
    }
  }
}
