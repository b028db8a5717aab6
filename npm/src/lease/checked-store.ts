// A store whose rejections and answers are checked.
import { SnowmintError } from "../errors.js";
import { lease } from "../wasm/lease.js";
import type { LeaseStore, Listed, Versioned } from "./store.js";

/** A store whose rejections and answers are checked. */
export class CheckedStore {
  constructor(readonly store: LeaseStore) {}

  /** Reads the record of a key. */
  read(key: string): Promise<Versioned | null> {
    return this.ask(
      (store) => store.read(key),
      (record) => record === null || this.#isRecord(record),
    );
  }

  /** Writes a record. Returns its new version; null if the record has another version than expected. */
  write(key: string, value: Uint8Array, expected: number): Promise<number | null> {
    return this.ask(
      (store) => store.write(key, value, expected),
      (version) => version === null || this.#checkVersion(version, expected),
    );
  }

  /** Lists the records under a prefix. */
  list(prefix: string): Promise<Listed[]> {
    return this.ask(
      (store) => store.list(prefix),
      (listed) =>
        Array.isArray(listed) && listed.every((each) => typeof each?.name === "string" && this.#isRecord(each)),
    );
  }

  /** Reads the store's clock; NaN if the store has no clock. */
  async clockMs(): Promise<number> {
    const ms = await this.ask(
      (store) => store.clockMs(),
      (ms) => ms === null || Number.isFinite(ms),
    );
    return ms === null ? NaN : Math.floor(ms);
  }

  /** Lets the store refuse a claim that a failover could lose. */
  async refuseStandby(): Promise<void> {
    await this.ask(
      async (store) => store.refuseStandby?.(),
      () => true,
    );
  }

  /** Returns the writes that a failover could lose, as a message of the store; null without such a risk. */
  standbyRisk(): string | null {
    return this.store.standbyRisk?.() ?? null;
  }

  /** The name of the store in messages. */
  toString(): string {
    return String(this.store);
  }

  /** Returns whether an error is an answer of the store. */
  protected isAnswer(_error: unknown): boolean {
    return false;
  }

  /** Asks the store, and checks its answer. */
  protected async ask<T>(call: (store: LeaseStore) => Promise<T>, isRight: (answer: T) => boolean): Promise<T> {
    let answer: T;
    try {
      answer = await call(this.store);
    } catch (error) {
      if (error instanceof SnowmintError || this.isAnswer(error)) throw error;
      throw this.unavailable(error instanceof Error ? error.message : String(error), error);
    }
    if (!isRight(answer)) throw this.unavailable(`it answered ${String(answer)}, which is no answer to that`);
    return answer;
  }

  #isRecord(record: Versioned): boolean {
    const isValue = record?.value instanceof Uint8Array && record.value.length <= 1024;
    return isValue && this.#checkVersion(record.version, 0);
  }

  #checkVersion(version: number, expected: number): true {
    if (lease().isVersion(version, expected)) return true;
    throw this.unavailable(lease().notAVersion(String(version)));
  }

  /** Makes the error of a store that cannot be used. */
  unavailable(why: string, cause?: unknown): SnowmintError {
    const error = new SnowmintError("STORE_UNAVAILABLE", lease().shown(`${this}: ${why}`));
    if (cause !== undefined) error.cause = cause;
    return error;
  }
}
