import { blocking, environment, nativeCell, sleep } from "#host";
import { integer } from "./convert.js";
import { check, core, failure, keep, putInteger, putText, words } from "./core.js";
import { errorOf, SnowmintError } from "./errors.js";
import { CLOSED, DEFAULTS, NODE_NEEDED, NONBLOCKING } from "./generated/tables.js";
import { Layout, type Node } from "./layout.js";
import { STARTS } from "./names.js";

/** Where the sequence begins in a new tick. */
export type SequenceStart = (typeof STARTS)[number];

/** The options of a generator; what is missing has core's default. */
export interface SnowflakeOptions {
  /** The preset's name, the text form, or a layout; `"snowmint"` if missing. */
  layout?: Layout | string;
  /** A node that no other generator of this layout uses. If missing, `SNOWMINT_NODE` of the environment. */
  node?: Node;
  /** How far IDs may run ahead of the clock, ms: 0; 1000 in browsers and edge runtimes. */
  maxAheadMs?: number;
  /** How long one call may wait for the clock, ms: 1000; 0 in browsers and edge runtimes, which cannot block. */
  maxWaitMs?: number;
  /** Where the sequence begins in a new tick: `"zero"`. */
  sequenceStart?: SequenceStart;
  /**
   * The clock, Unix ms. Generators share the state of a node only with those of the same function, and that state is kept
   * for good: make a clock once, not for each generator.
   */
  clock?: () => number;
}

/** What a generator is doing. */
export interface SnowflakeStatus {
  layout: string;
  node: number;
  window: { start: number; end: number } | null;
  maxAheadMs: number;
  maxWaitMs: number;
  closed: boolean;
}

/** A generator that never waits: a call either mints or throws. @internal */
export interface Cell {
  next(): bigint;
  /** Mints up to `ids.length` IDs into `ids`, if the rest comes within `patienceMs`; answers how many. */
  fill(ids: BigUint64Array, patienceMs: number): number;
}

/** What a cell is made of. @internal */
export interface CellSpec {
  layout: Layout;
  node: number;
  maxAheadMs: number;
  /** A place in STARTS. */
  start: number;
}

/**
 * A Snowflake generator for one node. IDs strictly increase, and generators of one node share their state.
 *
 * | method | waits | throws |
 * | --- | --- | --- |
 * | `tryNextId` | never | `EXHAUSTED`, `CLOCK_BACKWARDS`, `WINDOW_CLOSED`, `TIME_OVERFLOW`, `BEFORE_EPOCH` |
 * | `nextId`, `nextIds`, `fill` | up to `maxWaitMs`, where the host can block | the same |
 * | `nextIdAsync` | up to `maxWaitMs`, or 1000 ms, everywhere | the same |
 *
 * @example
 * const gen = new Snowflake({ layout: "twitter", node: 5 });
 * const id = gen.nextId(); // a bigint
 */
export class Snowflake implements Iterable<bigint> {
  /** The layout of the IDs. */
  readonly layout: Layout;
  /** The node in the IDs. */
  readonly node: number;
  /** The window of time that was granted, Unix ms; null for a node that the caller vouches for. */
  readonly window: { start: number; end: number } | null = null;
  readonly #maxAheadMs: number;
  readonly #maxWaitMs: number;
  readonly #asyncWaitMs: number;
  #cell: Cell;

  /** Throws `INVALID_NODE`, `INVALID_LAYOUT`, or `TIME_OVERFLOW` if the layout is over. */
  constructor(options: SnowflakeOptions = {}) {
    const { sequenceStart = "zero", clock } = options;
    const node = options.node ?? environment("SNOWMINT_NODE");
    if (clock !== undefined && typeof clock !== "function")
      throw new TypeError("clock is a function that gives Unix ms");
    this.layout = Layout.of(options.layout ?? "snowmint");
    if (node === undefined) throw errorOf(NODE_NEEDED);
    check(core().wasm.parse_node(this.layout.handle, putText(String(this.layout.nodeOf(node)))));
    this.node = Number(words()[0]);
    const [maxAheadMs, maxWaitMs] = blocking ? DEFAULTS : NONBLOCKING;
    this.#maxAheadMs = ms("maxAheadMs", options.maxAheadMs ?? maxAheadMs);
    this.#maxWaitMs = ms("maxWaitMs", options.maxWaitMs ?? maxWaitMs);
    this.#asyncWaitMs = options.maxWaitMs ?? DEFAULTS[1];
    const start = STARTS.indexOf(sequenceStart);
    if (start < 0) throw new TypeError("sequenceStart is zero, random or carry");
    const spec = { layout: this.layout, node: this.node, maxAheadMs: this.#maxAheadMs, start };
    this.#cell = (clock ? undefined : nativeCell(spec)) ?? wasmCell(spec, clock);
  }

  /** The next ID. Never waits. */
  tryNextId(): bigint {
    return this.#cell.next();
  }

  /** The next ID. */
  nextId(): bigint {
    try {
      return this.#cell.next();
    } catch (error) {
      return this.#later(error);
    }
  }

  /** The next ID; waits without blocking. */
  async nextIdAsync(): Promise<bigint> {
    for (const since = performance.now(); ; ) {
      try {
        return this.#cell.next();
      } catch (error) {
        const pauseMs = pause(error, this.#asyncWaitMs, since);
        await new Promise((resolve) => setTimeout(resolve, pauseMs));
      }
    }
  }

  /** The next `count` IDs, 0 to 2^24. Throws `INVALID_ID` for another count, before any memory is taken. */
  nextIds(count: number): BigUint64Array {
    return this.fill(new BigUint64Array(this.#batch(count)));
  }

  /**
   * Fills an array with IDs, and returns it. A batch that cannot be complete within `maxWaitMs` is refused whole, at
   * once; if the clock stops meanwhile, the IDs minted until then are lost.
   */
  fill(ids: BigUint64Array): BigUint64Array {
    if (!(ids instanceof BigUint64Array)) throw new TypeError("fill takes a BigUint64Array");
    this.#batch(ids.length);
    let patienceMs = this.#blockMs;
    let since: number | undefined;
    for (let done = 0; done < ids.length; ) {
      try {
        done += this.#cell.fill(ids.subarray(done), patienceMs);
        // The batch has begun: from here on only the deadline ends it.
        patienceMs = Infinity;
      } catch (error) {
        // Not to be had in time, so waiting is no use.
        if (error instanceof SnowmintError && (error.retryAfterMs ?? 0) > patienceMs) throw error;
        since ??= performance.now();
        sleep(pause(error, this.#blockMs, since));
      }
    }
    return ids;
  }

  /** IDs without end, each as by `nextId`. */
  [Symbol.iterator](): Iterator<bigint, never> {
    return { next: () => ({ value: this.nextId(), done: false }) };
  }

  /** What the generator is doing. */
  status(): SnowflakeStatus {
    const { layout, node, window } = this;
    return {
      layout: String(layout),
      node,
      window,
      maxAheadMs: this.#maxAheadMs,
      maxWaitMs: this.#maxWaitMs,
      closed: this.#cell === CLOSED_CELL,
    };
  }

  /** Ends the use of this generator: later calls throw `WINDOW_CLOSED`. Others of the same node go on. */
  async close(): Promise<void> {
    this.#cell = CLOSED_CELL;
  }

  /** Tries a refused call again until it succeeds or `maxWaitMs` is over. */
  #later(error: unknown): bigint {
    for (const since = performance.now(); ; ) {
      sleep(pause(error, this.#blockMs, since));
      try {
        return this.#cell.next();
      } catch (again) {
        error = again;
      }
    }
  }

  /** How long a call may block. */
  get #blockMs(): number {
    return blocking ? this.#maxWaitMs : 0;
  }

  #batch(count: number): number {
    putInteger(0, integer(count, "INVALID_ID"));
    return check(core().wasm.batch());
  }
}

function ms(name: string, value: number): number {
  if (!(typeof value === "number" && value >= 0))
    throw new RangeError(`${name} is a number of ms, 0 or more, not ${String(value)}`);
  return value;
}

/** How long to sleep after a refused call, ms; throws the refusal when it is time to give up. */
function pause(error: unknown, maxWaitMs: number, since: number): number {
  const wantedMs = error instanceof SnowmintError ? (error.retryAfterMs ?? error.byMs ?? 0) : 0;
  const pauseMs = core().wasm.pause_ms(maxWaitMs, wantedMs, performance.now() - since);
  if (pauseMs === 0) throw error;
  return pauseMs;
}

function closed(): never {
  throw errorOf(CLOSED);
}

const CLOSED_CELL: Cell = { next: closed, fill: closed };

/** A cell in the wasm module: its state is this realm's, and that of the clock. */
function wasmCell({ layout, node, maxAheadMs, start }: CellSpec, clock?: () => number): Cell {
  const shared = core();
  const { wasm, clocks, seed } = shared;
  if (clock && !clocks.has(clock)) clocks.set(clock, ++shared.clockCount);
  const state = `${clock ? clocks.get(clock) : 0},${layout.numbers},${node}`;
  const wordsHandle = keep(`words ${state}`, wasm.words);
  // An ended layout is refused, but a caller's clock is not read before its time.
  const now = clock ? -(2n ** 63n) : BigInt(Math.floor(Date.now()));
  const handle = keep(`generator ${state},${maxAheadMs},${start}`, () =>
    check(wasm.open(layout.handle, wordsHandle, node, maxAheadMs, start, seed, now)),
  );
  const now_ms = clock ? () => reading(clock()) : Date.now;
  const { next, take, drain } = wasm;
  return {
    next() {
      const id = next(handle, now_ms());
      return id < 0n ? unsigned(id) : id;
    },
    fill(ids, patienceMs) {
      const count = check(take(handle, now_ms(), ids.length, patienceMs));
      for (let done = 0; done < count; ) {
        const part = drain();
        ids.set(words().subarray(0, part), done);
        done += part;
      }
      return count;
    },
  };
}

/** What a negative answer stands for: an ID of bit 63, or a failure. */
function unsigned(id: bigint): bigint {
  const error = failure();
  if (error) throw error;
  return BigInt.asUintN(64, id);
}

function reading(ms: number): number {
  if (!Number.isFinite(ms)) throw new TypeError(`a clock gives Unix ms as a number, not ${String(ms)}`);
  return Math.floor(ms);
}
