// A session on the sequences of a service, which has the machine: here are the values that the session took.
import type { HttpStore } from "../stores/http.js";
import { numbers } from "../wasm/numbers.js";
import { Call, Together, Turns } from "./calls.js";
import type { NumberStore } from "./number-store.js";
import { createSequence, cycles, MAX_TAKEN, setSequence, takeSeveral } from "./service.js";
import { keysOf, type Session } from "./session.js";

/** A session on the sequences of a service. */
export class ServiceSession implements Session {
  /** Requests run one after the other. */
  readonly #turns = new Turns();
  /** The calls that wait for a value of each sequence. */
  readonly #waiting = new Map<string, Together>();
  /** The last value of each sequence. */
  readonly #taken = new Map<string, bigint>();
  #last: bigint | undefined;

  constructor(
    readonly service: HttpStore,
    readonly store: NumberStore,
    readonly maxWaitMs: number,
  ) {}

  async create(name: string, record: Uint8Array): Promise<boolean> {
    const [, path] = keysOf(name);
    return this.#within(() => this.#turns.take(() => createSequence(this.service, path, record)));
  }

  async next(name: string): Promise<bigint> {
    const [, path] = keysOf(name);
    const take = (count: number) => this.#turns.take(() => takeSeveral(this.service, "POST", `${path}/next`, count));
    const together = this.#waiting.get(name) ?? new Together(take, MAX_TAKEN);
    this.#waiting.set(name, together);
    const value = await this.#within((call) => together.next(call));
    this.#taken.set(name, value);
    this.#last = value;
    return value;
  }

  async current(name: string): Promise<bigint> {
    keysOf(name);
    return this.#used(this.#taken.get(name));
  }

  async last(): Promise<bigint> {
    return this.#used(this.#last);
  }

  async set(
    name: string,
    value: string,
    called: boolean | undefined,
    round: bigint | undefined,
  ): Promise<bigint | null> {
    const [, path] = keysOf(name);
    const setting = { value, called, round: round === undefined ? round : Number(round) };
    return this.#within(() => this.#turns.take(() => setSequence(this.service, `${path}/set`, setting)));
  }

  /** As `Session.ready`. A sequence with the default numbers is made by its first `next`, which needs no token for administrators. */
  async ready(name: string, record: Uint8Array, isGiven: boolean): Promise<void> {
    const [, path] = keysOf(name);
    for (;;) {
      const cycle = await cycles(this.service, path);
      if (cycle !== undefined) return numbers().refuseCycle(cycle);
      if (!isGiven) return;
      await createSequence(this.service, path, record);
    }
  }

  #within<T>(work: (call: Call) => Promise<T>): Promise<T> {
    return Call.within(this.store, this.maxWaitMs, work);
  }

  #used(value: bigint | undefined): bigint {
    if (value === undefined) throw numbers().sequenceUnused();
    return value;
  }
}
