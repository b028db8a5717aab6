// Leases over stores of this realm: generators of the same store, namespace and layout share one.
import type { SnowmintError as ErrorOfOurs } from "./errors.js";
import { ENGINE_MS } from "./generated/tables.js";
import { type Box, Held, type Holding } from "./held.js";
import { core, duration, realm, SnowmintError } from "./kit.js";
import type { Layout, Node } from "./layout.js";
import { checkWindow, type Guard } from "./leased.js";
import { isLessor } from "./lessee.js";
import type { Lease, LeaseOptions, LeaseStatus, Spec, Window } from "./snowflake.js";
import { stated } from "./stated.js";
import type { LeaseStore, Lessor } from "./store.js";

/** What a host adds to the options of a caller. */
export interface Place {
  /** The store, unless the caller gives one. */
  store?: LeaseStore;
  guard?: Guard;
  /** What is held in this realm by that guard. */
  holders?: Set<Held>;
  namespace?: string;
  /** The node to lease, where the caller names none. */
  node?: Node;
  /** The length of windows where the caller gives none, ms. */
  defaultMs?: number;
  /** Who this is, for people. */
  label: string;
  /** Makes what the other part of the node is leased by, of what is wanted, and tells the layout of this part. */
  divide?(wanted: Holding): Partial<Holding>;
}

/** A lease over that store. */
export async function leaseOver(spec: Spec, options: LeaseOptions, place: Place): Promise<Lease> {
  const { layout, clock } = spec;
  const { windowMs, exclude = [], onLost } = stated(options);
  const { guard, holders, label, defaultMs = ENGINE_MS } = place;
  const store = (place.store ?? options.store) as LeaseStore | Lessor;
  checkStore(store, clock);
  const namespace = options.namespace ?? place.namespace ?? undefined;
  if (typeof (namespace ?? "") !== "string") throw new TypeError("namespace is a string");
  if (typeof (onLost ?? leaseOver) !== "function") throw new TypeError("onLost is a function that takes an error");
  const named = options.node ?? place.node ?? undefined;
  const node = named === undefined ? undefined : layout.numberOf_(named);
  const excluded = [...exclude].map((node) => layout.numberOf_(node));
  const vouched = () => (clock ? [] : vouchedNodes(layout));
  if (node !== undefined && excluded.includes(node))
    throw new SnowmintError("INVALID_NODE", `node ${node} is both asked for and excluded`);
  if (node !== undefined && vouched().includes(node))
    throw new SnowmintError(
      "INVALID_NODE",
      `a generator of this process uses node ${node} without a lease: lease another node`,
    );
  const wanted: Holding = {
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
    node,
    vouched,
    excluded: () => [...excluded, ...vouched()],
  };
  checkWindow(wanted);
  const { clocks_ } = core();
  if (clock && !clocks_.has(clock)) clocks_.set(clock, ++core().clockCount_);
  const key = JSON.stringify([namespace, layout.numbers_, clock && clocks_.get(clock), node, ...excluded]);
  const box: Box = { spec, onLost, cell: nothing };
  const holding = () => ({ ...wanted, ...place.divide?.({ ...wanted, guard: undefined }) });
  const held = await shared(store, key, holding, box);
  return new Share(held, box);
}

function checkStore(store: LeaseStore | Lessor, clock: Spec["clock"]): void {
  if (isLessor(store)) {
    if (clock) throw new TypeError(`a lease of ${store} goes by the clock there: pass no clock`);
    return;
  }
  if (typeof store === "string")
    throw new TypeError("a store as a string is for Node: pass one of snowmint/stores, such as new HttpStore(url)");
  for (const verb of ["read", "write", "list", "clockMs"] as const)
    if (typeof store?.[verb] !== "function") throw new TypeError(`store has no ${verb}: pass one of snowmint/stores`);
}

/** The nodes that generators of this realm were vouched to have to themselves. */
function vouchedNodes({ numbers_ }: Layout): number[] {
  return Object.entries(realm()).flatMap(([key, user]) => {
    const at = key.lastIndexOf(",");
    return typeof user === "string" && key.slice(0, at) === numbers_ ? [Number(key.slice(at + 1))] : [];
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

/** The lease of that key, claimed if there is none, with one more generator. */
async function shared(store: LeaseStore | Lessor, key: string, holding: () => Holding, box: Box): Promise<Held> {
  const stores = (core().held_ ??= new WeakMap());
  const leases = (stores.get(store) ?? new Map()) as Map<string, Held>;
  stores.set(store, leases);
  for (;;) {
    const held = leases.get(key) ?? new Held(holding());
    leases.set(key, held);
    let granted = false;
    try {
      await held.granted();
      granted = !held.closed && !held.lost;
    } finally {
      // Whoever waits is told; the next one tries again.
      if (!granted && leases.get(key) === held) leases.delete(key);
    }
    // Nothing comes between this look and the count.
    if (granted) {
      held.add(box);
      return held;
    }
  }
}

/** A generator that is forgotten without a close gives its part up as well; but not in workerd of a date before 2025-05-05. */
const forgotten =
  globalThis.FinalizationRegistry && new FinalizationRegistry<[Held, Box]>(([held, box]) => void held.remove(box));

/** A generator's part of a lease. */
class Share implements Lease {
  readonly #held: Held;
  readonly #box: Box;
  readonly cell;

  constructor(held: Held, box: Box) {
    this.#held = held;
    this.#box = box;
    // Nothing here may lead to the generator.
    this.cell = {
      next() {
        try {
          return box.cell.next();
        } catch (error) {
          throw held.explained(error);
        }
      },
      fill(ids: BigUint64Array, patienceMs: number) {
        try {
          return box.cell.fill(ids, patienceMs);
        } catch (error) {
          throw held.explained(error);
        }
      },
    };
    forgotten?.register(this, [held, box], this);
  }

  get node(): number {
    return this.#held.node;
  }

  window(): Window {
    return this.#held.window;
  }

  status(): LeaseStatus {
    return this.#held.status();
  }

  awaitMs(error: unknown): number {
    return this.#held.awaitMs(error);
  }

  close(): Promise<void> {
    forgotten?.unregister(this);
    return this.#held.remove(this.#box);
  }
}

/** The error of a host that has no nodes to lease. */
export function noSlots(why: string): ErrorOfOurs {
  return new SnowmintError(
    "STORE_UNAVAILABLE",
    `${why}: pass a store of snowmint/stores, or use new Snowflake({ node }) with a node that no other generator of this ` +
      "layout uses",
  );
}
