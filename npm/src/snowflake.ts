import { blocking, later, lease, nativeCell, nodeOfEnvironment, renewalMs, sleep } from "#host";
import { wasmCell } from "./cell.js";
import { duration } from "./convert.js";
import { check, core, vouch } from "./core.js";
import { putInteger } from "./engine.js";
import { errorOf, SnowmintError } from "./errors.js";
import { AHEAD_MS, CLOSED, NONBLOCKING_AHEAD_MS, NONBLOCKING_WAIT_MS, SENTENCES, WAIT_MS } from "./generated/tables.js";
import { Layout, type Node } from "./layout.js";
import { STARTS } from "./names.js";
import { type Owner, read } from "./options.js";
import { Patience } from "./patience.js";
import type { LeaseStore, Lessor } from "./store.js";

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
   * The clock, Unix ms; not with an `HttpStore`, whose clock counts. Generators share the state of a node only with those of the same function, and that state is kept
   * for good: make a clock once, not for each generator.
   */
  clock?: () => number;
}

/** The options of `Snowflake.lease`; what is missing has the default of core or of the environment. */
export interface LeaseOptions extends SnowflakeOptions {
  /**
   * The store to lease from: one of `snowmint/stores`, or any object with those verbs; in Node also a URL,
   * `file:DIRECTORY`, on a disk of this machine. With an `HttpStore` IDs have the time of the service's clock. If missing: in Node `SNOWMINT_STORE` of the environment, or else the slots
   * of this machine (`SNOWMINT_STATE_DIR`, or `/var/tmp/snowmint`); in browsers the slots of this origin, one for a tab or
   * worker.
   */
  store?: string | LeaseStore | Lessor;
  /**
   * The namespace, 1 to 64 of `a-z A-Z 0-9 . _ -`: leases of one never have the same node, those of two may. It keeps its
   * first layout. If missing, `SNOWMINT_NAMESPACE` of the environment, or else one for each layout.
   */
  namespace?: string;
  /**
   * How long the windows of the lease are, ms: 3000 for slots, 30,000 for other stores; 1000 and four ticks at least, and with
   * `maxAheadMs` an hour at most.
   */
  windowMs?: number;
  /** Nodes not to get, such as those of a system that this one replaces. */
  exclude?: Iterable<Node>;
  /** Called with the reason, a `WINDOW_CLOSED`, if the lease is lost. The generator is closed then: make a new one. */
  onLost?: (error: SnowmintError) => void;
}

const NAMES = Object.keys({
  layout: 0,
  node: 0,
  maxAheadMs: 0,
  maxWaitMs: 0,
  sequenceStart: 0,
  clock: 0,
} satisfies Record<keyof SnowflakeOptions, 0>);
const LEASE_NAMES = Object.keys({
  store: 0,
  namespace: 0,
  windowMs: 0,
  exclude: 0,
  onLost: 0,
} satisfies Record<Exclude<keyof LeaseOptions, keyof SnowflakeOptions>, 0>);
const OF_CONSTRUCTOR: Owner = { of: "new Snowflake", names: NAMES, ofLeases: LEASE_NAMES };
const OF_LEASE: Owner = { of: "Snowflake.lease", names: [...NAMES, ...LEASE_NAMES] };

/** A window of time, Unix ms; the end is not part of it. */
export interface Window {
  /** Its first ms. */
  start: number;
  /** The first ms after it. */
  end: number;
}

/** What a generator is doing. */
export interface SnowflakeStatus {
  /** The text of the layout. */
  layout: string;
  /** The node in the IDs. */
  node: number;
  /** The window that is granted; null for a node that the caller vouches for. */
  window: Window | null;
  /** The namespace of the lease. */
  namespace: string | null;
  /** Why the lease was lost, if it was. */
  lost: string | null;
  /** Slot files, or records of a store, passed over because they are not valid. */
  skipped: string[];
  /** How many renewals of the lease have failed since the last one that did not. */
  renewalFailures: number;
  /** Why the last renewal failed, if none has succeeded since. */
  renewalError: string | null;
  /** What a failover of the store could lose, such as to a standby that is not waited for; the lease goes on. */
  standbyRisk: string | null;
  /** By how many ms this clock is ahead of the store's; null if the store has none. */
  skewMs: number | null;
  /** How far IDs may run ahead of the clock, ms. */
  maxAheadMs: number;
  /** How long one call may wait for the clock, ms. */
  maxWaitMs: number;
  /** Where the sequence begins in a new tick. */
  sequenceStart: SequenceStart;
  /** Whether `close` was called. */
  closed: boolean;
}

declare global {
  interface SymbolConstructor {
    /** The name of the method that `await using` calls; not every host has it. */
    readonly asyncDispose: unique symbol;
  }
}

/** What of a status only leases have. @internal */
export type LeaseStatus = Pick<
  SnowflakeStatus,
  "namespace" | "lost" | "skipped" | "renewalFailures" | "renewalError" | "standbyRisk" | "skewMs"
>;

/** A generator on a lease, as a host gives it. @internal */
export interface Lease {
  readonly node: number;
  cell: Cell;
  /** Has a window renewed that is over; in how many ms it is worth a look whether it is, 0 if it never will be. */
  awaitMs?(error: unknown): number;
  window(): Window | null;
  status(): LeaseStatus;
  close(): Promise<void>;
}

/** The options, checked. @internal */
export interface Spec {
  layout: Layout;
  maxAheadMs: number;
  maxWaitMs: number;
  asyncWaitMs_: number;
  /** A place in STARTS. */
  start: number;
  clock?: () => number;
}

/** A class of generators. */
type Made<Generator> = new (options: SnowflakeOptions) => Generator;

/**
 * The key of what `lease` hands to the constructor within the options, so that the constructor of a subclass passes it on with
 * them.
 */
const LEASED: unique symbol = Symbol();

/** What `lease` has found. */
interface Found {
  spec: Spec;
  /** Nothing where the caller vouches for the node. */
  lease: Lease | undefined;
}

/** A generator that never waits: a call either mints or throws. @internal */
export interface Cell {
  next(): bigint;
  /** Mints up to `ids.length` IDs into `ids`, if the rest comes within `patienceMs`; answers how many. */
  fill(ids: BigUint64Array, patienceMs: number): number;
}

/** What a cell is made of. @internal */
export interface CellSpec extends Spec {
  node: number;
}

/**
 * A Snowflake generator for one node. IDs strictly increase, and generators of one node share their state.
 *
 * | method | waits | throws |
 * | --- | --- | --- |
 * | `tryNextId` | never | `EXHAUSTED`, `CLOCK_BACKWARDS`, `WINDOW_CLOSED`, `TIME_OVERFLOW`, `BEFORE_EPOCH` |
 * | `nextId`, `nextNumber`, `nextIds`, `fill` | up to `maxWaitMs`, where the host can block | the same |
 * | `nextIdAsync` | up to `maxWaitMs`, or 1000 ms, everywhere | the same |
 *
 * @example
 * const gen = await Snowflake.lease({ layout: "twitter" }); // or new Snowflake({ layout: "twitter", node: 5 })
 * const id = gen.nextId(); // a bigint
 */
export class Snowflake implements Iterable<bigint> {
  /** The layout of the IDs. */
  readonly layout: Layout;
  readonly #node: number;
  readonly #spec: Spec;
  readonly #lease: Lease | undefined;
  #cell: Cell;

  /**
   * A generator of a node that the caller vouches for. Throws `INVALID_NODE`, also if the node is leased in this process,
   * `INVALID_LAYOUT`, or `TIME_OVERFLOW` if the layout is over; TypeError for a name that is no option.
   */
  constructor(options: SnowflakeOptions = {}) {
    const found = (Object(options) as { [LEASED]?: Found })[LEASED];
    const given = found ? options : read(options, OF_CONSTRUCTOR);
    const lease = found?.lease;
    const spec = specOf(given);
    if (found && found.spec.layout.numbers_ !== spec.layout.numbers_)
      throw new TypeError("a subclass of Snowflake cannot change the layout of a lease: pass the layout to lease");
    this.#spec = spec;
    this.#lease = lease;
    this.layout = spec.layout;
    const wanted = lease ? lease.node : (given.node ?? nodeOfEnvironment(spec));
    if (wanted === undefined) throw nodeNeeded();
    const node = spec.layout.numberOf_(wanted);
    this.#node = node;
    if (!lease && !spec.clock && !vouch(`${spec.layout.numbers_},${node}`)) throw nodeNeeded();
    const cell = { ...spec, node };
    this.#cell = lease?.cell ?? nativeCell(cell) ?? wasmCell(cell);
  }

  /**
   * A generator on a lease: while it lives no other generator of the namespace has its node, nor had it at the times of
   * its IDs. Without options it is a slot of this machine, or of this origin in a browser. Of a `node` that is given, or of
   * `SNOWMINT_NODE` beside a store or namespace, the lease is of that node. `SNOWMINT_NODE` alone is used as by the constructor.
   *
   * A lease over a store object or of a tab is renewed by a timer of this thread: where that has no chance to run, as in a
   * hidden tab or behind a long calculation, calls throw `WINDOW_CLOSED` after some seconds, and `nextIdAsync` renews first.
   *
   * Of a subclass it is an instance of that, whose constructor has to pass on the options that it is called with.
   *
   * Rejects with `NODES_EXHAUSTED`, if no node is free within `maxWaitMs` (1000 ms where none is given);
   * `STORE_UNAVAILABLE`, also where the addon is missing, and where a browser has no Web Locks; `UNSAFE_STORE`; `INVALID_NODE`, also where the directory is not the machine's, as in Kubernetes;
   * `INVALID_LAYOUT`; `TIME_OVERFLOW`; `BEFORE_EPOCH`; TypeError for a name that is no option.
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
    const given = read(options, OF_LEASE);
    const spec = specOf(given);
    const found: Found = { spec, lease: await lease(spec, given) };
    // biome-ignore lint/complexity/noThisInStatic: subclasses inherit this function, and it makes one of theirs
    const Class = classOf<Generator>(this);
    try {
      const generator = new Class({ ...given, [LEASED]: found } as SnowflakeOptions);
      if (generator.#lease === found.lease) return generator;
      throw new TypeError(
        "the constructor of a subclass of Snowflake that is leased passes its options on: super(options)",
      );
    } catch (error) {
      await found.lease?.close();
      throw error;
    }
  }

  /** The node in the IDs. A page that comes back from the back/forward cache may get another one. */
  get node(): number {
    return this.#lease?.node ?? this.#node;
  }

  /** The window of time that is granted, Unix ms; null for a node that the caller vouches for. */
  get window(): Window | null {
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

  /** The next ID; waits without blocking. */
  async nextIdAsync(): Promise<bigint> {
    for (const patience = new Patience(); ; ) {
      try {
        return this.#cell.next();
      } catch (error) {
        await later(pause(error, this.#spec.asyncWaitMs_, patience, this.#lease?.awaitMs?.(error)));
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
    // What a subclass or a property says of the array may be another length or memory than it has.
    const of = <Name extends "buffer" | "byteOffset" | "length">(name: Name): BigUint64Array[Name] =>
      Reflect.get(BigUint64Array.prototype, name, ids);
    const length = this.#batch(of("length"));
    if (!length) return ids;
    const view = new BigUint64Array(of("buffer"), of("byteOffset"), length);
    if (blocking) {
      let patienceMs = this.#spec.maxWaitMs;
      let patience: Patience | undefined;
      for (let done = 0; done < length; ) {
        try {
          done += this.#cell.fill(view.subarray(done), patienceMs);
          // The batch has begun: from here on only the deadline ends it.
          patienceMs = Infinity;
        } catch (error) {
          // Not to be had in time, so waiting is no use.
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

  /** What the generator is doing. */
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
      skewMs: null,
      ...this.#lease?.status(),
      maxAheadMs,
      maxWaitMs,
      sequenceStart: STARTS[start]!,
      closed: this.#cell === CLOSED_CELL,
    };
  }

  /**
   * Ends the use of this generator: later calls throw `WINDOW_CLOSED`. Others of the same node go on; the last one of a
   * lease gives the rest of its window back, so that a restart waits for nothing.
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
    putInteger(core(), 0, count);
    return check(core().wasm_.batch_());
  }
}

/** The class of what `lease` makes: a function that was taken from its class is called without one. */
const classOf = <Generator>(given: unknown): Made<Generator> =>
  (Object(given).prototype instanceof Snowflake ? given : Snowflake) as Made<Generator>;

const nodeNeeded = () =>
  new SnowmintError(
    "INVALID_NODE",
    "pass a node that no other generator of this layout uses, or use await Snowflake.lease()" +
      (blocking ? ", or set SNOWMINT_NODE" : ""),
  );

function specOf({ layout, maxAheadMs, maxWaitMs, sequenceStart = "zero", clock }: SnowflakeOptions): Spec {
  if (typeof (clock ?? closed) !== "function") throw new TypeError("a clock is a function");
  const start = STARTS.indexOf(sequenceStart);
  if (start < 0) throw new TypeError("sequenceStart is zero, random or carry");
  return {
    layout: Layout.of_(layout ?? "snowmint"),
    maxAheadMs: duration("maxAheadMs", maxAheadMs ?? (blocking ? AHEAD_MS : NONBLOCKING_AHEAD_MS)),
    maxWaitMs: duration("maxWaitMs", maxWaitMs ?? (blocking ? WAIT_MS : NONBLOCKING_WAIT_MS)),
    asyncWaitMs_: maxWaitMs ?? WAIT_MS,
    start,
    // The default is no clock of the caller's.
    clock: clock === Date.now ? undefined : clock,
  };
}

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
  throw errorOf(SENTENCES[CLOSED]!);
}

const CLOSED_CELL: Cell = { next: closed, fill: closed };
