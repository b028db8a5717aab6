import { leased, nativeCell, nodeOfEnvironment, renewalMs } from "#host";
import { blocking, later, sleep } from "#runtime";
import { SnowmintError } from "../errors.js";
import { checkForm, encode, type TextForm } from "../forms/text.js";
import { digits, read } from "../input.js";
import { type Layout, nodeNumber, numbersOf } from "../layout/layout.js";
import { STARTS } from "../layout/names.js";
import type { Found } from "../lease/generator.js";
import type { Lease } from "../lease/lease.js";
import { mint, vouch } from "../wasm/mint.js";
import { wasmCell } from "./cell.js";
import { type Cell, type LeaseOptions, OF_CONSTRUCTOR, type SnowflakeOptions, type Spec, specOf } from "./options.js";
import type { LeaseWindow, SnowflakeStatus } from "./status.js";
import { Patience } from "./waiting.js";

declare global {
  interface SymbolConstructor {
    /** The name of the method that `await using` calls; not every host has it. */
    readonly asyncDispose: unique symbol;
  }
}

/** A class of generators. */
type Made<Generator> = new (options: SnowflakeOptions) => Generator;

/**
 * The key of an option by which `lease` passes its result to the constructor: a subclass passes on all options, so also
 * this one.
 */
const LEASED: unique symbol = Symbol();

/**
 * A Snowflake generator for one node. IDs strictly increase, and generators of one node share their state.
 *
 * | method | waits | throws |
 * | --- | --- | --- |
 * | `tryNextId` | never | `EXHAUSTED`, `CLOCK_BACKWARDS`, `WINDOW_CLOSED`, `TIME_OVERFLOW`, `BEFORE_EPOCH` |
 * | `nextId`, `nextNumber`, `nextString`, `nextText`, `nextIds`, `fill` | up to `maxWaitMs`, where the host can block | the same |
 * | `nextIdAsync` | up to `maxWaitMs`, or 1000 ms, everywhere | the same |
 *
 * @example
 * const gen = await Snowflake.lease({ layout: "twitter" }); // or new Snowflake({ layout: "twitter", node: 5 })
 * const id = gen.nextId(); // a bigint
 */
export class Snowflake implements Iterable<bigint>, AsyncIterable<bigint> {
  /** The layout of the IDs. */
  readonly layout: Layout;
  readonly #node: number;
  readonly #spec: Spec;
  readonly #lease: Lease | undefined;
  #cell: Cell;

  static {
    // The method that `console.log` calls in Node.
    if (blocking)
      Object.defineProperty(Snowflake.prototype, Symbol.for("nodejs.util.inspect.custom"), {
        value: Snowflake.prototype.toString,
      });
  }

  /**
   * Makes a generator of a vouched node. Throws `INVALID_NODE`, also if the node is leased in this process, `INVALID_LAYOUT`, or
   * `TIME_OVERFLOW` if the layout is over; TypeError for an unknown option.
   */
  constructor(options: SnowflakeOptions = {}) {
    const found = (Object(options) as { [LEASED]?: Found })[LEASED];
    const given = found ? options : read(options, OF_CONSTRUCTOR);
    const lease = found?.lease;
    const spec = specOf(given);
    this.#spec = spec;
    this.#lease = lease;
    this.layout = spec.layout;
    const wanted = lease ? lease.node : (given.node ?? nodeOfEnvironment(spec));
    if (wanted === undefined) throw nodeNeeded();
    const node = nodeNumber(spec.layout, wanted);
    this.#node = node;
    if (!lease && !spec.clock && !vouch(`${numbersOf(spec.layout)},${node}`)) throw nodeNeeded();
    const cell = { ...spec, node };
    this.#cell = lease?.cell ?? nativeCell(cell) ?? wasmCell(cell);
  }

  /**
   * A generator on a lease: no other generator of the namespace has its node while it lives, or had the node at the
   * times of its IDs. Without options it is a slot of this machine, or of this origin in a browser. With a `node`, or
   * with `SNOWMINT_NODE` and a store or namespace, it leases this node. `SNOWMINT_NODE` alone works as in the
   * constructor.
   *
   * Each profile of a browser, a private window and each storage partition has separate slots: if their IDs end up in
   * one database, lease over a shared store. A frame in a page of another origin gets no slot; a worker of that frame
   * cannot see where it is, and gets one.
   *
   * A timer of this thread renews a lease over a store object or of a tab. If the timer cannot run, as in a hidden tab
   * or during a long calculation, calls throw `WINDOW_CLOSED` after some seconds, and `nextIdAsync` renews first.
   *
   * Called on a subclass, it returns an instance of the subclass. The constructor of the subclass must pass on its
   * options.
   *
   * Rejects with `NODES_EXHAUSTED`, if no node is free within `maxWaitMs` (1000 ms if it is missing);
   * `STORE_UNAVAILABLE`; `INVALID_STORE`, also where the addon is missing, and where a browser has no Web Locks; `UNSAFE_STORE`;
   * `INVALID_NODE`, also where the directory is not the machine's, as in Kubernetes; `INVALID_LAYOUT`; `TIME_OVERFLOW`; `BEFORE_EPOCH`; TypeError for an unknown option.
   *
   * @example
   * await using gen = await Snowflake.lease();
   * gen.nextId();
   */
  static async lease<Generator extends Snowflake = Snowflake>(
    // biome-ignore lint/suspicious/noConfusingVoidType: it is also called as a function that was taken from the class
    this: Made<Generator> | void,
    options: LeaseOptions = {},
  ): Promise<Generator> {
    // biome-ignore-start lint/complexity/noThisInStatic: subclasses inherit this function, and it makes one of theirs. A
    // function that was taken from its class is called without one.
    const Class = (Object(this).prototype instanceof Snowflake ? this : Snowflake) as Made<Generator>;
    // biome-ignore-end lint/complexity/noThisInStatic: as above
    return leased(options, (given, found) => {
      const generator = new Class({ ...given, [LEASED]: found } as SnowflakeOptions);
      return generator.#lease === found.lease ? generator : undefined;
    });
  }

  /** The node in the IDs. A page that comes back from the back/forward cache may get another one. */
  get node(): number {
    return this.#lease?.node ?? this.#node;
  }

  /** The window of time that is granted, Unix ms; null for a node that the caller vouches for. */
  get window(): LeaseWindow | null {
    return this.#lease?.window() ?? null;
  }

  /** The next ID. Never waits. */
  tryNextId(): bigint {
    return this.#cell.next();
  }

  /** The next ID. */
  nextId(): bigint {
    if (blocking)
      try {
        return this.#cell.next();
      } catch (error) {
        return again(this, error, this.#spec.maxWaitMs);
      }
    else return this.#cell.next();
  }

  /** The next ID as a number. Throws `INVALID_LAYOUT` unless the layout is `jsSafe`: it needs IDs of 53 bits at most. */
  nextNumber(): number {
    if (this.layout.jsSafe) return Number(this.nextId());
    throw new SnowmintError("INVALID_LAYOUT", "nextNumber takes a layout of 53 bits at most, such as safe53");
  }

  /** The next ID as decimal digits, for JSON and other texts. */
  nextString(): string {
    return String(this.nextId());
  }

  /**
   * The next ID as a text of fixed width. Texts sort like their IDs. Throws `INVALID_TEXT` for an unknown form.
   *
   * @example
   * gen.nextText("base62") // "1ptWyK4WgZU"
   */
  nextText(form: TextForm): string {
    // Before an ID is taken.
    checkForm(form);
    return encode(this.nextId(), form);
  }

  /**
   * The next ID; waits without blocking. If its frame is removed meanwhile it rejects with the reason of the wait; in Firefox no
   * promise of a removed frame settles.
   */
  async nextIdAsync(): Promise<bigint> {
    for (const patience = new Patience(); ; ) {
      try {
        return this.#cell.next();
      } catch (error) {
        await later(pause(error, this.#spec.asyncWaitMs, patience, this.#lease?.awaitMs?.(error)), error);
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
    const length = this.#batch(ids.length);
    if (!length) return ids;
    // A plain array over the same memory, whatever the class of the caller's array adds.
    const view = new BigUint64Array(ids.buffer, ids.byteOffset, length);
    if (blocking) {
      let patienceMs = this.#spec.maxWaitMs;
      let patience: Patience | undefined;
      for (let done = 0; done < length; ) {
        try {
          done += this.#cell.fill(view.subarray(done), patienceMs);
          // The batch has begun: only its deadline ends it now.
          patienceMs = Infinity;
        } catch (error) {
          // The IDs come too late, so waiting does not help.
          if (error instanceof SnowmintError && (error.retryAfterMs ?? 0) > patienceMs) throw error;
          patience ??= new Patience();
          sleep(pause(error, this.#spec.maxWaitMs, patience));
        }
      }
    } else {
      // With no patience a batch comes at once, and whole.
      this.#cell.fill(view, 0);
    }
    return ids;
  }

  /** IDs without end, each as by `nextId`. */
  [Symbol.iterator](): Iterator<bigint, never> {
    return { next: () => ({ value: this.nextId(), done: false }) };
  }

  /** IDs without end, each as by `nextIdAsync`. */
  [Symbol.asyncIterator](): AsyncIterator<bigint, never> {
    return { next: async () => ({ value: await this.nextIdAsync(), done: false }) };
  }

  /** The layout and the node, for people: `Snowflake(twitter, node 5)`. */
  toString(): string {
    return `Snowflake(${this.layout.name ?? this.layout}, node ${this.node})`;
  }

  get [Symbol.toStringTag](): string {
    return "Snowflake";
  }

  /** Returns the state of the generator. */
  status(): SnowflakeStatus {
    const { layout, node, window } = this;
    const { maxAheadMs, maxWaitMs, start } = this.#spec;
    return {
      layout: String(layout),
      node,
      window,
      namespace: null,
      lost: null,
      skipped: [],
      renewalFailures: 0,
      renewalError: null,
      standbyRisk: null,
      reserved: null,
      skewMs: null,
      disorderMs: null,
      ...this.#lease?.status(),
      maxAheadMs,
      maxWaitMs,
      sequenceStart: STARTS[start]!,
      closed: this.#cell === CLOSED_CELL,
    };
  }

  /**
   * Ends the use of this generator: later calls throw `WINDOW_CLOSED`. Other generators of the same node continue. The
   * last generator of a lease gives the rest of the window back, so that a restart need not wait.
   */
  async close(): Promise<void> {
    this.#cell = CLOSED_CELL;
    await this.#lease?.close();
  }

  /** As `close`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #batch(count: number): number {
    return mint().batch(digits(count));
  }
}

const nodeNeeded = () =>
  new SnowmintError(
    "INVALID_NODE",
    "pass a node that no other generator of this layout uses, or use await Snowflake.lease()" +
      (blocking ? ", or set SNOWMINT_NODE" : ""),
  );

/** How long to sleep after a refused call, ms; throws the refusal when it is time to give up. */
function pause(error: unknown, maxWaitMs: number, patience: Patience, renewal = 0): number {
  const wantedMs =
    error instanceof SnowmintError ? (error.retryAfterMs ?? error.byMs ?? (renewalMs(error) || renewal)) : 0;
  const pauseMs = patience.pauseMs(maxWaitMs, wantedMs);
  if (pauseMs === 0) throw error;
  return pauseMs;
}

/** Tries a refused call again until it succeeds or `maxWaitMs` is over. */
function again(generator: Snowflake, error: unknown, maxWaitMs: number): bigint {
  for (const patience = new Patience(); ; ) {
    sleep(pause(error, maxWaitMs, patience));
    try {
      return generator.tryNextId();
    } catch (refused) {
      error = refused;
    }
  }
}

function closed(): never {
  throw mint().closed();
}

const CLOSED_CELL: Cell = { next: closed, fill: closed };
