// Leases over stores of this realm: generators of the same store, namespace and layout share one.

import { SnowmintError } from "../errors.js";
import { clockNumber } from "../generator/cell.js";
import type { Cell, LeaseOptions, Spec } from "../generator/options.js";
import type { LeaseStatus, LeaseWindow } from "../generator/status.js";
import { duration } from "../input.js";
import { type Layout, type NodeId, nodeNumber, numbersOf } from "../layout/layout.js";
import { lease } from "../wasm/lease.js";
import { mint, realm, shared as sharedHere } from "../wasm/mint.js";
import { checkTerms, type Guard } from "./claim.js";
import { Holder, type HolderTerms, type Sharer } from "./holder.js";
import { nodesText } from "./nodes.js";
import { isLessor } from "./service-claim.js";
import type { LeaseStore, Lessor } from "./store.js";

/** A generator on a lease, as a host gives it. @internal */
export interface Lease {
  readonly node: number;
  cell: Cell;
  /** Starts a renewal if the window is over. Returns the ms after which the caller looks again; 0 if waiting does not help. */
  awaitMs?(error: unknown): number;
  window(): LeaseWindow | null;
  status(): LeaseStatus;
  close(): Promise<void>;
}

/** The surroundings that a host adds to the options of a caller. */
export interface Place {
  /** The store, unless the caller gives one. */
  store?: LeaseStore | undefined;
  guard?: Guard | undefined;
  /** The holders of this realm that use the guard. */
  holders?: Set<Holder> | undefined;
  namespace?: string | undefined;
  /** The nodes to lease one of, where the caller names none. */
  nodes?: NodeId | undefined;
  /** The length of windows where the caller gives none, ms. */
  defaultMs?: number | undefined;
  /** The label of this process, for people. */
  label: string;
  /** Divides the node: returns the terms of this part, with the lease of the other part. */
  divide?(wanted: HolderTerms): Partial<HolderTerms>;
}

/** Leases a node over a store. */
export async function leaseOver(spec: Spec, options: LeaseOptions, place: Place): Promise<Lease> {
  const { layout, clock } = spec;
  const { windowMs, exclude = [], onLost } = options;
  const { guard, holders, label, defaultMs = mint().defaults().engineMs } = place;
  const store = (place.store ?? options.store) as LeaseStore | Lessor;
  if (options.reserve !== undefined) lease().refuseReserve();
  checkStore(store, clock);
  const namespace = options.namespace ?? place.namespace ?? undefined;
  if (typeof (namespace ?? "") !== "string") throw new TypeError("namespace is a string");
  if (typeof (onLost ?? leaseOver) !== "function") throw new TypeError("onLost is a function that takes an error");
  const named = options.node ?? place.nodes ?? undefined;
  const nodes = named === undefined ? undefined : nodesText(layout, named);
  const excluded = [...exclude].map((node) => nodeNumber(layout, node));
  const vouched = () => (clock ? [] : vouchedNodes(layout));
  const wanted: HolderTerms = {
    ...spec,
    whole: layout,
    store,
    guard,
    holders,
    label,
    defaultMs,
    namespace,
    namespaceOf: layout,
    windowMs: windowMs === undefined ? undefined : duration("windowMs", windowMs),
    nodes,
    vouched,
    excluded: () => [...excluded, ...vouched()],
  };
  checkTerms(wanted, excluded, vouched());
  const key = JSON.stringify([namespace, numbersOf(layout), clockNumber(clock), nodes, ...excluded]);
  const sharer: Sharer = { spec, onLost, cell: nothing };
  const holding = () => ({ ...wanted, ...place.divide?.({ ...wanted, guard: undefined }) });
  const holder = await shared(store, key, holding, sharer);
  return new Share(holder, sharer);
}

/** Refuses an object that is not a store, and a clock if the store is a service with its own clock. */
export function checkStore(store: LeaseStore | Lessor, clock: Spec["clock"]): void {
  if (isLessor(store)) {
    if (clock) throw new TypeError(`a lease of ${store} goes by the clock there: pass no clock`);
    return;
  }
  if (typeof store === "string")
    throw new TypeError("a store as a string is for Node: pass one of snowmint/stores, such as new HttpStore(url)");
  for (const verb of ["read", "write", "list", "clockMs"] as const)
    if (typeof store?.[verb] !== "function") throw new TypeError(`store has no ${verb}: pass one of snowmint/stores`);
}

/** Returns the nodes of vouched generators of this realm. */
function vouchedNodes(layout: Layout): number[] {
  const numbers = numbersOf(layout);
  return Object.entries(realm()).flatMap(([key, user]) => {
    const at = key.lastIndexOf(",");
    return typeof user === "string" && key.slice(0, at) === numbers ? [Number(key.slice(at + 1))] : [];
  });
}

const nothing = {
  next: (): never => {
    throw new Error("no lease yet");
  },
  fill: (): never => {
    throw new Error("no lease yet");
  },
};

/** Returns the holder of a key, and adds a generator to it. Without a holder it makes one, which claims a node. */
async function shared(
  store: LeaseStore | Lessor,
  key: string,
  holding: () => HolderTerms,
  sharer: Sharer,
): Promise<Holder> {
  const stores = (sharedHere().held ??= new WeakMap());
  const leases = (stores.get(store) ?? new Map()) as Map<string, Holder>;
  stores.set(store, leases);
  for (;;) {
    const holder = leases.get(key) ?? new Holder(holding());
    leases.set(key, holder);
    let granted = false;
    try {
      await holder.granted();
      granted = !holder.closed && !holder.lost;
    } finally {
      // All callers that wait get the error; the next caller tries again.
      if (!granted && leases.get(key) === holder) leases.delete(key);
    }
    // No other code runs between this check and the count.
    if (granted) {
      holder.add(sharer);
      return holder;
    }
  }
}

/** Gives up the part of a generator that was forgotten without a close; not in workerd with a date before 2025-05-05. */
const forgotten =
  globalThis.FinalizationRegistry &&
  new FinalizationRegistry<[Holder, Sharer]>(([holder, sharer]) => void holder.remove(sharer));

/** The part of one generator in a lease. */
class Share implements Lease {
  readonly #holder: Holder;
  readonly #sharer: Sharer;
  readonly cell;

  constructor(holder: Holder, sharer: Sharer) {
    this.#holder = holder;
    this.#sharer = sharer;
    // Nothing here may lead to the generator.
    this.cell = {
      next() {
        try {
          return sharer.cell.next();
        } catch (error) {
          throw holder.explained(error);
        }
      },
      fill(ids: BigUint64Array, patienceMs: number) {
        try {
          return sharer.cell.fill(ids, patienceMs);
        } catch (error) {
          throw holder.explained(error);
        }
      },
    };
    forgotten?.register(this, [holder, sharer], this);
  }

  get node(): number {
    return this.#holder.node;
  }

  window(): LeaseWindow {
    return this.#holder.window;
  }

  status(): LeaseStatus {
    return this.#holder.status();
  }

  awaitMs(error: unknown): number {
    return this.#holder.awaitMs(error);
  }

  close(): Promise<void> {
    forgotten?.unregister(this);
    return this.#holder.remove(this.#sharer);
  }
}

/** Makes the error of a host without nodes to lease. */
export function noSlots(why: string): SnowmintError {
  return new SnowmintError(
    "INVALID_STORE",
    `${why}: pass a store, such as an HttpStore of snowmint/stores, or use new Snowflake({ node }) with a node that no other generator of this ` +
      "layout uses",
  );
}
