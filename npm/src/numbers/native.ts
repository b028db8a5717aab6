import { digits, type Integer, type Owner, read } from "../input.js";
import type { MysqlStore } from "../stores/mysql.js";
import type { PgStore } from "../stores/postgres.js";
import type { DatabaseSequence } from "../stores/sql.js";
import { numbers, type WasmNativeSequence } from "../wasm/numbers.js";
import { NumberStore, nameOf, type TagSource } from "./number-store.js";
import { Segments } from "./segments.js";

/** The options of `NativeNumbers`. */
export interface NativeNumbersOptions {
  /** How many numbers the first fetches take, 1 to 2^31-1; 1000 if missing. */
  step?: Integer | undefined;
  /** The longest wait of a call, ms; 1000 if missing. */
  maxWaitMs?: number | undefined;
}

const OPTIONS: Owner = {
  of: "NativeNumbers",
  names: Object.keys({ step: 0, maxWaitMs: 0 } satisfies Record<keyof NativeNumbersOptions, 0>),
};

/**
 * Numbers of a sequence in a PostgreSQL or MariaDB database. The application's pool fetches many in one round trip, and
 * calls get them from memory.
 *
 * Other sessions may use the sequence at the same time by `nextval`, and it has its own increment, so the numbers need not be
 * consecutive. A confirmed number never repeats, also after a crash of the server. Numbers in memory at the end of the process are
 * skipped.
 *
 * | method | waits | rejects or throws |
 * | --- | --- | --- |
 * | `tryNext` | never | `EXHAUSTED`, `STORE_UNAVAILABLE`, `INVALID_STORE`, `UNSAFE_STORE` |
 * | `next` | up to `maxWaitMs` | the same |
 *
 * `INVALID_STORE` means that the sequence does not exist, and `UNSAFE_STORE` that its numbers can repeat: it has CYCLE,
 * or a crash empties it. The constructor throws `INVALID_STORE` for another store, and for a name that is not 1 to 64
 * of `A-Z a-z 0-9 _ $`; and `INVALID_ID` for a wrong step.
 *
 * @example
 * const invoices = new NativeNumbers(new PgStore(pool), "invoices_id_seq");
 * await invoices.next(); // 1n
 */
export class NativeNumbers {
  readonly #source: NativeSource;
  readonly #places: Segments;

  /** Over a store, which stays the caller's. */
  constructor(store: PgStore | MysqlStore, sequence: string, options: NativeNumbersOptions = {}) {
    const { step, maxWaitMs } = read(options, OPTIONS);
    const definition = numbers().tagRecord("0", step === undefined ? step : digits(step));
    this.#source = new NativeSource(
      new NumberStore(store, "NativeNumbers"),
      nameOf(sequence, "a sequence"),
      definition,
    );
    this.#places = new Segments(store, sequence, { maxWaitMs }, this.#source);
  }

  /** The next number. */
  async next(): Promise<bigint> {
    for (;;) {
      const number = this.#source.taken(await this.#places.next());
      if (number !== undefined) return number;
    }
  }

  /** The next number, if one is in memory. Never waits; numbers are fetched meanwhile. */
  tryNext(): bigint {
    for (;;) {
      const number = this.#source.taken(this.#places.tryNext());
      if (number !== undefined) return number;
    }
  }

  /** The sequence and its store, in messages. */
  toString(): string {
    return `NativeNumbers(${this.#source.key})`;
  }
}

/** The numbers of a sequence by their places, which count from 0. */
class NativeSource implements TagSource {
  readonly key: string;
  readonly most: bigint;
  readonly #definition: Uint8Array;
  readonly #sequence: DatabaseSequence;
  readonly #core: WasmNativeSequence;
  readonly #numbers = new Map<bigint, bigint>();
  /** The place after the last fetch. */
  #end = 0n;
  #isFound = false;

  constructor(store: NumberStore, name: string, definition: Uint8Array) {
    this.#definition = definition;
    const opened = (store.store as Partial<PgStore>).sequence?.(name);
    // Core refuses a store without sequences.
    this.#core = new (numbers().NativeSequence)(opened?.engine ?? "", `${store}`, name, opened?.allowsUnsafe ?? false);
    this.#sequence = opened!;
    this.key = this.#core.source;
    this.most = numbers().NativeSequence.most();
  }

  /** Takes the number of a place, once; undefined for a place without one. */
  taken(place: bigint): bigint | undefined {
    const number = this.#numbers.get(place);
    this.#numbers.delete(place);
    return number;
  }

  /** As `TagSource.read`. */
  async read(): Promise<Uint8Array> {
    return this.#definition;
  }

  /** As `TagSource.create`. */
  async create(): Promise<boolean> {
    return false;
  }

  /** Fetches numbers for some places, and resolves with the place after them. A sequence that ends has fewer. */
  async add(amount: bigint): Promise<bigint> {
    if (!this.#isFound) {
      const [version, kind] = await this.#sequence.object();
      this.#core.refuseObject(version!, kind ?? undefined);
    }
    this.#isFound = true;
    let count = this.#core.room((await this.#sequence.state()) ?? [], amount);
    for (;;) {
      const taken = await this.#sequence.take(count, (code) => this.#core.isRunOut(code));
      if (taken) {
        for (const number of taken) this.#numbers.set(this.#end++, number);
        this.#end += amount - BigInt(taken.length);
        return this.#end;
      }
      count = this.#core.fewer(count);
    }
  }

  /** Gives nothing back. */
  async lower(): Promise<boolean> {
    return false;
  }
}
