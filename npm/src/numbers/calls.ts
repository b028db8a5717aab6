// Calls that end after a time, and the requests of core's machines.
import { monotonicMs } from "../generator/waiting.js";
import { messageOf } from "../stores/shared/failure.js";
import type { Next } from "../wasm/numbers.js";
import { isUnanswered, type NumberStore } from "./number-store.js";

/** The most that a timer takes, ms. */
const MOST_MS = 2 ** 31 - 1;

/** A call, which may be given up while it waits for an answer. */
export class Call {
  /** Rejects when the time is over. */
  end!: Promise<never>;
  readonly #endMs: number;
  #over = false;

  private constructor(maxWaitMs: number) {
    this.#endMs = monotonicMs() + maxWaitMs;
  }

  /** Runs `work`, or rejects with a `STORE_UNAVAILABLE` after this time. Then `work` does nothing after its present request. */
  static async within<T>(store: NumberStore, maxWaitMs: number, work: (call: Call) => Promise<T>): Promise<T> {
    const call = new Call(maxWaitMs);
    let timer: ReturnType<typeof setTimeout> | undefined;
    call.end = new Promise((_, reject) => {
      const refuse = (): void => {
        call.#over = true;
        reject(store.unavailable(`no answer within ${maxWaitMs} ms`));
      };
      timer = setTimeout(refuse, Math.min(maxWaitMs, MOST_MS));
    });
    try {
      return await Promise.race([call.end, work(call)]);
    } finally {
      call.#over = true;
      clearTimeout(timer);
    }
  }

  /** The time that is left, ms. */
  leftMs(): number {
    return Math.max(0, this.#endMs - monotonicMs());
  }

  /** Whether the call was given up, or has ended. */
  get isOver(): boolean {
    return this.#over;
  }

  /** Ends the work of a call that was given up. */
  check(): void {
    if (this.#over) throw new Error("the call was given up");
  }
}

/** A machine with a record. */
export interface Machine {
  found(record: Uint8Array | undefined, version: number): void;
  answered(outcome: number | null | undefined): void;
}

/** Sends the request of a machine. Resolves with the error of a store that did not answer. */
export async function ask(
  store: NumberStore,
  key: string,
  machine: Machine,
  next: Exclude<Next<unknown>, { kind: "done" }>,
  check: () => void = () => {},
): Promise<unknown> {
  let answer: Awaited<ReturnType<NumberStore["read"]>> | number;
  try {
    answer = await (next.kind === "read" ? store.read(key) : store.write(key, next.record, next.version));
  } catch (error) {
    if (!isUnanswered(error)) throw error;
    check();
    machine.answered(undefined);
    return error;
  }
  check();
  if (typeof answer === "number" || next.kind === "write") machine.answered(answer as number | null);
  else {
    try {
      machine.found(answer?.value, answer?.version ?? 0);
    } catch (error) {
      throw store.explained(error, key);
    }
  }
}

/** Calls that run one after the other. */
export class Turns {
  #last: Promise<void> = Promise.resolve();

  /** Runs `work` after all calls before it. */
  async take<T>(work: () => Promise<T>): Promise<T> {
    const before = this.#last;
    let end = (): void => {};
    this.#last = new Promise((resolve) => {
      end = resolve;
    });
    await before;
    try {
      return await work();
    } finally {
      end();
    }
  }
}

/** A call that waits for a number. */
interface Waiting {
  call: Call | undefined;
  resolve: (number: bigint) => void;
  reject: (error: unknown) => void;
}

/** Calls for numbers. One request serves all calls that wait; calls that come during a request wait for the next. */
export class Together {
  #waiting: Waiting[] = [];
  #isServing = false;

  /** `take` takes a number for each of some calls, at most `most`, in their order: at least one number. */
  constructor(
    readonly take: (count: number) => Promise<bigint[]>,
    readonly most = Number.POSITIVE_INFINITY,
  ) {}

  /** Takes a number, unless the call is given up before its request begins. */
  next(call?: Call): Promise<bigint> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ call, resolve, reject });
      if (!this.#isServing) void this.#serve();
    });
  }

  async #serve(): Promise<void> {
    this.#isServing = true;
    while (this.#waiting.length) {
      this.#waiting = this.#waiting.filter(({ call }) => !call?.isOver);
      const calls = this.#waiting.splice(0, this.most);
      if (!calls.length) continue;
      try {
        const taken = await this.take(calls.length);
        // Calls without a number come first in the next request, which reports why numbers are missing.
        this.#waiting.unshift(...calls.slice(taken.length));
        for (const [place, number] of taken.entries()) calls[place]!.resolve(number);
      } catch (error) {
        for (const { reject } of calls) reject(error);
      }
    }
    this.#isServing = false;
  }
}

/** The reasons of several errors. */
export const reasons = (errors: unknown[]): string => errors.map(messageOf).join("; ");
