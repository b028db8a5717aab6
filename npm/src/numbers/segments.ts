import type { SnowmintError } from "../errors.js";
import { monotonicMs, Patience } from "../generator/waiting.js";
import { digits, type Integer, type Owner, read } from "../input.js";
import type { Store } from "../lease/store.js";
import type { HttpStore } from "../stores/http.js";
import { numbers, type WasmSegments } from "../wasm/numbers.js";
import { maxWaitOf, News } from "./news.js";
import { isUnanswered, NumberStore, nameOf, type TagSource } from "./number-store.js";

/** The options of `Segments`. */
export interface SegmentsOptions {
  /** The first number of a new tag, 0 to 2^63-2; 1 if missing. */
  start?: Integer | undefined;
  /** How many numbers the first fetches of a new tag take, 1 to 2^31-1; 1000 if missing. */
  step?: Integer | undefined;
  /** The longest wait of a call, ms; 1000 if missing. */
  maxWaitMs?: number | undefined;
}

/** Consecutive numbers from `start`; `end` is not included. */
export interface NumberBlock {
  /** The first number. */
  start: bigint;
  /** The number after the last one. */
  end: bigint;
}

const OPTIONS: Owner = {
  of: "Segments",
  names: Object.keys({ start: 0, step: 0, maxWaitMs: 0 } satisfies Record<keyof SegmentsOptions, 0>),
};

/** A run of numbers, or how long to wait for numbers. */
type Taken = NumberBlock | { start?: undefined; waitMs: number };

/** Takes numbers of the machine: the first one, the number after the last one, and how many numbers to fetch now. */
type Take = (machine: WasmSegments, left: bigint, nowMs: number) => BigUint64Array;

/** A request to the store that has no answer yet. */
interface Asking {
  sinceMs: number;
}

/**
 * Numbers of a tag, such as 1, 2, 3, fetched ahead from a counter in a store and handed out from memory.
 *
 * No two calls get the same number, in any process and any language, also after crashes. Each process hands out ranges:
 * the numbers of one object increase, while the ranges of several processes are mixed. Numbers that a crashed process
 * had fetched are skipped.
 *
 * The first use opens the tag, and makes it if it is missing; an existing tag keeps its own start and step. While a range is in use
 * the next one is fetched, and the step adapts to the load, so that few calls wait for the store.
 *
 * Over an `HttpStore` the tag must exist in the service (`INVALID_TEXT`), and a close gives nothing back.
 *
 * | method | waits | rejects or throws |
 * | --- | --- | --- |
 * | `tryNext` | never | `EXHAUSTED`, `STORE_UNAVAILABLE`, `WINDOW_CLOSED` |
 * | `next`, `nextBlock`, `fill` | up to `maxWaitMs` | the same; `INVALID_TEXT` for a new tag whose name is not allowed |
 *
 * The constructor throws `INVALID_TEXT` for a tag that is not 1 to 128 bytes long, `INVALID_ID` for a start or step that no tag has,
 * and TypeError for a store without the method `add`.
 *
 * @example
 * const orders = new Segments(store, "orders");
 * await orders.next(); // 1n
 */
export class Segments {
  readonly #store: NumberStore;
  readonly #tag: string;
  readonly #source: TagSource;
  readonly #maxWaitMs: number;
  readonly #record: (floor?: Uint8Array) => Uint8Array;
  readonly #news = new News();
  /** The next number of the run, and how many the run has left. A small integer is compared in less time than a bigint. */
  #at = 0n;
  #left = 0;
  /** Core's machine, once the tag is open. */
  #machine: WasmSegments | undefined;
  #asking: Asking | undefined;
  /** Why the last request failed. */
  #failure: unknown;
  /** No request to open the tag begins before this time. */
  #openAtMs = 0;
  #closed = false;

  /** Over a store, which stays the caller's. */
  constructor(store: Store | HttpStore, tag: string, options?: SegmentsOptions);
  /** @internal */
  constructor(store: Store | HttpStore, tag: string, options: SegmentsOptions, source: TagSource);
  constructor(store: Store | HttpStore, tag: string, options: SegmentsOptions = {}, source?: TagSource) {
    const { start, step, maxWaitMs } = read(options, OPTIONS);
    this.#store = new NumberStore(store, "Segments");
    this.#tag = nameOf(tag, "a tag");
    this.#source = source ?? this.#store.tag(tag);
    this.#maxWaitMs = maxWaitOf(maxWaitMs);
    const [first, size] = [start, step].map((value) => (value === undefined ? value : digits(value)));
    this.#record = (floor) => numbers().tagRecord(first, size, floor);
    // Refuses wrong values now.
    this.#record();
  }

  /** The next number. */
  async next(): Promise<bigint> {
    if (!this.#left) return this.#nextRun();
    this.#left--;
    return this.#at++;
  }

  /** The next number, if one is in memory. Never waits; numbers are fetched meanwhile. */
  tryNext(): bigint {
    if (!this.#left) this.#keep(this.#attempt((machine, left, now) => machine.run(left, now), true));
    return this.#one();
  }

  /** Consecutive numbers, as many as `count`; those in front of a gap are skipped. */
  async nextBlock(count: Integer): Promise<NumberBlock> {
    const size = numbers().blockSize(digits(count));
    return this.#take(size, size);
  }

  /** Fills an array with numbers in ascending order, and resolves with it. */
  async fill(array: BigUint64Array): Promise<BigUint64Array> {
    if (!(array instanceof BigUint64Array)) throw new TypeError("fill takes a BigUint64Array");
    for (let done = 0; done < array.length; ) {
      const { start, end } = await this.#take(BigInt(array.length - done), 1n);
      for (let number = start; number < end; number++) array[done++] = number;
    }
    return array;
  }

  /** Ends the numbers for good. Resolves with how many fetched numbers went back to the store; the others are skipped. */
  async close(): Promise<bigint> {
    this.#closed = true;
    const patience = new Patience();
    for (;;) {
      try {
        const rest = this.#machine?.close(this.#unused());
        if (!rest) return 0n;
        const [end, start] = rest as unknown as [bigint, bigint];
        return (await this.#source.lower(end, start)) ? end - start : 0n;
      } catch (error) {
        // While a fetch is under way its numbers may come yet.
        const pauseMs = this.#asking && patience.pauseMs(this.#maxWaitMs, (error as SnowmintError).retryAfterMs ?? 0);
        if (!pauseMs) throw error;
        await this.#news.within(pauseMs);
      }
    }
  }

  /** As `close`, for `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** The tag and its store, in messages. */
  toString(): string {
    return `Segments(${this.#tag}, ${this.#store})`;
  }

  async #nextRun(): Promise<bigint> {
    const { start } = await this.#patiently((isFirst) => {
      // Another call may have taken a run.
      const step = this.#left ? undefined : this.#attempt((machine, left, now) => machine.run(left, now), isFirst);
      if (step && step.start === undefined) return step;
      if (step) this.#keep(step);
      // Taken now: other calls run before this one goes on.
      const number = this.#one();
      return { start: number, end: number + 1n };
    });
    return start;
  }

  async #take(most: bigint, least: bigint): Promise<NumberBlock> {
    const { start, end } = await this.#patiently((isFirst) =>
      this.#attempt((machine, left, now) => machine.take(left, most, least, now), isFirst),
    );
    return { start, end };
  }

  /** Repeats an attempt until it finds numbers. */
  async #patiently(attempt: (isFirst: boolean) => Taken): Promise<NumberBlock> {
    const patience = new Patience();
    for (let isFirst = true; ; isFirst = false) {
      const step = attempt(isFirst);
      if (step.start !== undefined) return step;
      const pauseMs = patience.pauseMs(this.#maxWaitMs, step.waitMs);
      if (!pauseMs) throw this.#failure ?? numbers().dry(step.waitMs);
      await this.#news.within(pauseMs);
    }
  }

  #keep(step: Taken): void {
    if (step.start === undefined) throw this.#failure ?? numbers().dry(step.waitMs);
    this.#at = step.start;
    this.#left = Number(step.end - step.start);
  }

  /** Takes one number of the run. */
  #one(): bigint {
    this.#left--;
    return this.#at++;
  }

  /** Takes the unused numbers of the run, and returns their count for the machine. */
  #unused(): bigint {
    const left = this.#left;
    this.#left = 0;
    return BigInt(left);
  }

  /** Takes numbers from the machine, and begins the request that it wants. */
  #attempt(take: Take, isFirst: boolean): Taken {
    const now = monotonicMs();
    if (this.#closed) throw numbers().closed();
    if (this.#asking && now - this.#asking.sinceMs > numbers().doubtMs()) this.#giveUp(now);
    // Another request of the same call would fail in the same way.
    if (!isFirst) this.#refuse();
    if (!this.#machine) return this.#unopened(now);
    const [start, end, add] = take(this.#machine, this.#unused(), now) as unknown as [bigint, bigint, bigint?];
    if (add !== undefined) void this.#fetch(add, this.#begin(now));
    if (start !== end) return { start, end };
    if (!this.#asking) this.#refuse();
    return { waitMs: this.#machine.waitMs };
  }

  #unopened(now: number): Taken {
    if (!this.#asking && now >= this.#openAtMs) void this.#open(this.#begin(now));
    else if (!this.#asking) this.#refuse();
    return { waitMs: Math.max(1, this.#openAtMs - now) };
  }

  #refuse(): void {
    if (this.#failure && !isUnanswered(this.#failure)) throw this.#failure;
  }

  #begin(sinceMs: number): Asking {
    // Until it ends, calls report that the store does not answer.
    if (!isUnanswered(this.#failure)) this.#failure = undefined;
    this.#asking = { sinceMs };
    return this.#asking;
  }

  #giveUp(now: number): void {
    this.#asking = undefined;
    this.#machine?.fetched(undefined, false, now);
  }

  /** Ends a request. Returns whether its answer counts. */
  #ended(asking: Asking, failure: unknown): boolean {
    if (this.#asking !== asking) return false;
    this.#asking = undefined;
    this.#failure = failure;
    this.#news.tell();
    return true;
  }

  async #open(asking: Asking): Promise<void> {
    try {
      const found = await this.#store.definition(this.#source, this.#tag, this.#record);
      if (this.#asking === asking) this.#machine ??= this.#opened(found);
      this.#ended(asking, undefined);
    } catch (error) {
      this.#openAtMs = monotonicMs() + numbers().retryMs();
      this.#ended(asking, this.#store.explained(error, this.#source.key));
    }
  }

  #opened(definition: Uint8Array): WasmSegments {
    const machine = new (numbers().Segments)(definition, monotonicMs());
    if (this.#source.most) machine.limit(this.#source.most);
    return machine;
  }

  async #fetch(amount: bigint, asking: Asking): Promise<void> {
    const machine = this.#machine!;
    let [sum, failure, isDue]: [bigint | null | undefined, unknown, boolean] = [undefined, undefined, false];
    try {
      sum = await this.#source.add(amount, machine.start);
    } catch (error) {
      failure = error;
    }
    if (this.#asking !== asking) return;
    try {
      isDue = machine.fetched(sum ?? undefined, sum === null, monotonicMs());
    } catch (error) {
      failure = error;
    }
    this.#ended(asking, failure);
    if (isDue) await this.#reread(machine);
  }

  /** Reads the step again. If that fails, the present step stays. */
  async #reread(machine: WasmSegments): Promise<void> {
    try {
      const found = await this.#source.read();
      if (found) machine.configure(found);
    } catch {}
  }
}
