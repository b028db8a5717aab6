// The options of generators, and their checked form.

import { blocking, layoutOfEnvironment } from "#runtime";
import { SnowmintError } from "../errors.js";
import { duration, type Owner } from "../input.js";
import { type Layout, layoutOf, type NodeId } from "../layout/layout.js";
import type { STARTS } from "../layout/names.js";
import type { LeaseStore, Lessor } from "../lease/store.js";
import { mint } from "../wasm/mint.js";

/** Where the sequence begins in a new tick. */
export type SequenceStart = (typeof STARTS)[number];

/** The options of a generator; a missing option has core's default. */
export interface SnowflakeOptions {
  /** The preset's name, the text form, or a layout. If missing, `SNOWMINT_LAYOUT` of the environment, or else `"snowmint"`. */
  layout?: Layout | string | undefined;
  /**
   * A node that no other generator of this layout uses; for a lease also some of its fields, `{ datacenter: 3 }`, for any node
   * with these values. If missing, `SNOWMINT_NODE` of the environment.
   */
  node?: NodeId | undefined;
  /** How far IDs may run ahead of the clock, ms: 0; 1000 in browsers and edge runtimes. */
  maxAheadMs?: number | undefined;
  /**
   * How long one call may wait for the clock, ms: 100 in Node, where that stops all other work of the thread; 0 in browsers and
   * edge runtimes, which cannot block. `nextIdAsync` and the claim of a lease wait up to 1000 ms where this is missing.
   */
  maxWaitMs?: number | undefined;
  /** Where the sequence begins in a new tick: `"zero"`. */
  sequenceStart?: SequenceStart | undefined;
  /**
   * The clock, Unix ms; not with an `HttpStore`, whose clock counts. Generators of a node share their state only if they have the
   * same function as clock, and the state is never freed: make a clock once, not for each generator.
   */
  clock?: (() => number) | undefined;
}

/** The options of `Snowflake.lease`; a missing option has the value of the environment or core's default. */
export interface LeaseOptions extends SnowflakeOptions {
  /**
   * The store to lease from: one of `snowmint/stores`, or any object with those verbs; in Node, Deno and Bun also a
   * URL. `file:DIRECTORY` is on a disk of this machine, and `http://` and `https://` are a service, with the token in
   * `SNOWMINT_TOKEN`. Other URLs are opened by the client that the project has installed: `postgres://` by `pg`,
   * `mysql://` and `mariadb://` by `mysql2`, `redis://`, `rediss://` and `unix://` by `ioredis` or `redis`,
   * `sqlite:PATH` by `better-sqlite3`, `dynamodb://REGION/TABLE` by `@aws-sdk/client-dynamodb`; `etcd://` and
   * `etcds://` need none. After `?` a URL may have the options `allow_unsafe=true` and `allow_standby=true` of its
   * store. With a service IDs have the time of the service's clock. If missing: in Node `SNOWMINT_STORE` of the
   * environment, or else the slots of this machine (`SNOWMINT_STATE_DIR`, or `/var/tmp/snowmint`); in browsers the
   * slots of this origin, one for each tab or worker.
   */
  store?: string | LeaseStore | Lessor | undefined;
  /**
   * The namespace, 1 to 64 of `a-z A-Z 0-9 . _ -`: leases of one namespace never have the same node, leases of two may. A
   * namespace keeps its first layout. If missing, `SNOWMINT_NAMESPACE` of the environment, or else the layout's namespace.
   */
  namespace?: string | undefined;
  /**
   * How long the windows of the lease are, ms: 3000 for slots, 30,000 for other stores; 1000 and four ticks at least, and with
   * `maxAheadMs` an hour at most.
   */
  windowMs?: number | undefined;
  /**
   * For how long the store grants a node to a directory of this machine, such as `"24h"`: `1m` to `7d`; in Node with
   * the addon only. Within that time processes of the machine start and mint even if the store does not answer. The
   * directory is the one where slots are kept. If missing, `SNOWMINT_RESERVE` of the environment. A machine that is
   * gone, or was started anew, blocks its nodes for the rest of the time. A claim waits up to a window for a node that
   * its directory already has. Windows are 3000 ms long if `windowMs` is missing.
   */
  reserve?: string | undefined;
  /** Nodes to leave out, such as the nodes of a system that this one replaces. */
  exclude?: Iterable<NodeId> | undefined;
  /** Called with the reason, a `WINDOW_CLOSED`, if the lease is lost. The generator is closed then: make a new one. */
  onLost?: ((error: SnowmintError) => void) | undefined;
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
  reserve: 0,
  exclude: 0,
  onLost: 0,
} satisfies Record<Exclude<keyof LeaseOptions, keyof SnowflakeOptions>, 0>);
/** @internal */
export const OF_CONSTRUCTOR: Owner = { of: "new Snowflake", names: NAMES, ofLeases: LEASE_NAMES };

/** The options, checked. @internal */
export interface Spec {
  layout: Layout;
  maxAheadMs: number;
  maxWaitMs: number;
  asyncWaitMs: number;
  /** A place in STARTS. */
  start: number;
  clock?: (() => number) | undefined;
}

/** A generator that never waits: a call either mints or throws. @internal */
export interface Cell {
  next(): bigint;
  /** Mints up to `ids.length` IDs into `ids`, if the rest comes within `patienceMs`; answers how many. */
  fill(ids: BigUint64Array, patienceMs: number): number;
}

/** The options of a cell. @internal */
export interface CellSpec extends Spec {
  node: number;
}

/** The function that read the system's clock when this module was loaded: tests may replace `Date.now` later. */
const systemClock = Date.now;

/** Returns the layout of a generator, which the environment may name. @internal */
export function layoutOfGenerator(layout: Layout | string | undefined): Layout {
  const text = layout === undefined ? layoutOfEnvironment() : undefined;
  try {
    return layoutOf(layout ?? text ?? "snowmint");
  } catch (error) {
    if (text === undefined || !(error instanceof SnowmintError)) throw error;
    throw new SnowmintError(error.code, `SNOWMINT_LAYOUT is "${text}": ${error.message}`);
  }
}

/** Checks the options of a generator, and fills in missing ones. @internal */
export function specOf({ layout, maxAheadMs, maxWaitMs, sequenceStart = "zero", clock }: SnowflakeOptions): Spec {
  if (clock !== undefined && typeof clock !== "function") throw new TypeError("a clock is a function");
  const start = mint().sequenceStart(String(sequenceStart));
  const defaults = mint().defaults();
  return {
    layout: layoutOfGenerator(layout),
    maxAheadMs: duration("maxAheadMs", maxAheadMs ?? (blocking ? defaults.aheadMs : defaults.nonblockingAheadMs)),
    maxWaitMs: duration("maxWaitMs", maxWaitMs ?? (blocking ? defaults.eventLoopWaitMs : defaults.nonblockingWaitMs)),
    asyncWaitMs: maxWaitMs ?? defaults.waitMs,
    start,
    // As if no clock were given.
    clock: clock === systemClock ? undefined : clock,
  };
}
