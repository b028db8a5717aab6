// A session on the sequences of a store: core's machine, and the requests that it sends.
import { type Next, numbers, type WasmSequence } from "../wasm/numbers.js";
import { ask, Call, Turns } from "./calls.js";
import type { NumberStore } from "./number-store.js";
import { keysOf, type Session } from "./session.js";

/** A session on the sequences of a store. */
export class StoreSession implements Session {
  readonly #turns = new Turns();
  readonly #sequences = new Map<string, WasmSequence>();
  /** How many calls wait for a value of each sequence. */
  readonly #waiting = new Map<string, number>();
  #begun = 0;
  #last: WasmSequence | undefined;

  constructor(
    readonly store: NumberStore,
    readonly maxWaitMs: number,
  ) {}

  async create(name: string, record: Uint8Array): Promise<boolean> {
    const [key] = keysOf(name);
    return Call.within(this.store, this.maxWaitMs, () =>
      this.store.define(this.store.record(key), name, (floor) => this.#begin(name, record, floor)),
    );
  }

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

  async current(name: string): Promise<bigint | null> {
    return this.#call(name, async (sequence) => sequence.current());
  }

  async last(): Promise<bigint> {
    return this.#turns.take(async () => {
      if (!this.#last) throw numbers().sequenceUnused();
      return this.#last.last();
    });
  }

  async set(name: string, to: string, called: boolean | undefined, round: bigint | undefined): Promise<bigint | null> {
    return this.#call(name, (sequence, call) =>
      this.#drive(name, sequence, call, () => sequence.set(to, called, round)),
    );
  }

  async ready(name: string, record: Uint8Array): Promise<void> {
    const found = await this.#definition(name, record);
    try {
      numbers().refuseCycle(numbers().cycles(found));
    } catch (error) {
      throw this.store.explained(error, keysOf(name)[0]);
    }
  }

  /** Writes the record of a new sequence that skips values. Resolves with the definition. */
  async #begin(name: string, definition: Uint8Array, floor?: Uint8Array): Promise<Uint8Array> {
    const state = numbers().sequenceState(definition, floor);
    if (state) await this.store.write(keysOf(name)[1], state, 0);
    return definition;
  }

  /** Reads the definition of a sequence. Without one it writes this record first. */
  #definition(name: string, record: Uint8Array): Promise<Uint8Array> {
    const [key] = keysOf(name);
    return this.store.definition(this.store.record(key), name, (floor) => this.#begin(name, record, floor));
  }

  /** Runs `work` when the calls before it are over. */
  async #call<T>(name: string, work: (sequence: WasmSequence, call: Call) => Promise<T>): Promise<T> {
    keysOf(name);
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
    const [key] = keysOf(name);
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
    const [, key] = keysOf(name);
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
