// A node that is held, window by window, whoever decides of them; and the module that has its cells.
import { leaseModule } from "#lease";
import type { Engine } from "./engine.js";
import type { SnowmintError as ErrorOfOurs } from "./errors.js";
import type * as Leases from "./generated/lease.wasm.js";
import { LEASE_SENTENCES } from "./generated/tables.js";
import { bytes, failure, SnowmintError, sentences, start, utf8, words } from "./kit.js";
import type { Layout as OneLayout } from "./layout.js";
import type { Spec, Window } from "./snowflake.js";
import type { LeaseStore, Lessor } from "./store.js";

/** How long a label is, in bytes. */
const LABEL = 60;

/** What is wanted of a store. */
export interface Wanted extends Spec {
  store: LeaseStore | Lessor;
  /** The namespace; without one that of this layout. */
  namespace: string | undefined;
  namespaceOf: OneLayout;
  windowMs: number | undefined;
  defaultMs: number;
  /** The only node to get. */
  node: number | undefined;
  /** Nodes not to get, known now. */
  excluded(): number[];
  /** Who this is, for people. */
  label: string;
  guard?: Guard;
}

/** What keeps others in reach from a node, beside the store. */
export interface Guard {
  /** The nodes that others hold. */
  held(prefix: string): Promise<number[]>;
  /** The node to prefer in a claim, if it is not the one held last. */
  preferred(layout: OneLayout): Promise<number | undefined>;
  /** Holds a node: what lets go of it, or null if another holds it. `lost` is called if it is taken away. */
  hold(key: string, lost: () => void): Promise<(() => void) | null>;
}

/** The node is somebody else's now. */
export class LostLease extends Error {}

let current: Engine<typeof Leases> | undefined;

/** The module of leases. */
export function leases(): Engine<typeof Leases> {
  if (!current) {
    current = start<typeof Leases>(leaseModule);
    // The main bundle has no use for them.
    Object.assign(sentences, LEASE_SENTENCES);
  }
  return current;
}

/** The error that a call of it left. */
export const refusal = (): ErrorOfOurs => failure(leases(), (place) => sentences[place]!)!;

/** Refuses windows that no lease can have, whether another generator has claimed it already or not. */
export function checkWindow({ layout, windowMs, defaultMs, maxAheadMs }: Wanted): void {
  const engine = leases();
  words(engine).set(layout.numbers_.split(",").map(BigInt));
  if (engine.wasm_.check_window_(maxAheadMs, windowMs ?? NaN, defaultMs) < 0) throw refusal();
}

/** The name of a namespace as a part of keys: as `key` in `stores/src/store/key.rs` has it. */
function directoryOf({ namespace, namespaceOf }: Wanted): string {
  const numbers = namespaceOf.numbers_.split(",").map((word) => BigInt(word).toString(16));
  if (namespace === undefined) return `%40${numbers.join("-")}`;
  if (/^[\w-][\w.-]{0,63}$/.test(namespace)) return namespace;
  throw new SnowmintError(
    "INVALID_NODE",
    `a namespace is 1 to 64 of a-z A-Z 0-9 . _ -, not beginning with a dot, not ${JSON.stringify(namespace)}`,
  );
}

/** A node: one call at a time. Calls reject with why there is none. */
export abstract class Leased {
  node = -1;
  window: Window = { start: 0, end: 0 };
  windowMs = 0;
  skewMs: number | null = null;
  /** What a failover of the store could lose. */
  standbyRisk: string | null = null;
  /** Records that are none. */
  skipped: string[] = [];
  readonly namespace: string;
  /** What the generators go by, unless it is the system's. */
  readonly clock: (() => number) | undefined;
  protected readonly wanted: Wanted;
  /** The namespace as a part of keys and paths. */
  protected readonly directory: string;
  /** Of the module of leases; 0 before the first one. */
  protected handle = 0;

  constructor(wanted: Wanted, clock: (() => number) | undefined) {
    this.wanted = wanted;
    this.clock = clock;
    this.directory = directoryOf(wanted);
    this.namespace = decodeURIComponent(this.directory);
  }

  /** The time by the clock of the lease, Unix ms. */
  abstract nowMs(): number;

  /** Claims a node; the last one is preferred. */
  abstract claim(): Promise<void>;

  /** Moves the window's end up, for a generator whose first unused tick begins at `lastMs`; rejects with a `LostLease` too. */
  abstract renew(lastMs: number, maxAheadMs: number): Promise<void>;

  /** Gives the rest of the window back, with nothing used from `endMs` on. */
  abstract release(endMs: number): Promise<void>;

  /** What another one of this origin needs to go on with this lease. */
  abstract saved(): Uint8Array;

  /** Goes on with a lease that another one has saved. */
  abstract resume(saved: Uint8Array): Promise<void>;

  /**
   * One that goes on from where this one is, while nothing is known of a call of this one: if that `holds` the node, with it.
   */
  abstract again(holds: boolean): Leased;

  /** Lets go of the lock, if there is one. */
  unlock(): void {}

  /** Takes the lock again that was let go of; returns whether it is held. */
  async lock(): Promise<boolean> {
    return true;
  }

  /** Opens a cell for that part of the window, or moves its end up if it is open. */
  openCell(cell: BigUint64Array, first: boolean, { start, end }: Window): void {
    const engine = leases();
    words(engine).set(cell);
    engine.wasm_.open_cell_(this.handle, Number(first), start, end);
    cell.set(words(engine).subarray(0, 2));
  }

  /** When the first unused tick of a cell begins, Unix ms; NaN if it is closed. */
  unusedFromMs(cell: BigUint64Array): number {
    words(leases()).set(cell);
    return leases().wasm_.unused_from_(this.handle);
  }

  /** Has what is known here known there. */
  protected tell<T extends Leased>(other: T): T {
    const { node, window, windowMs, skewMs, standbyRisk, skipped } = this;
    return Object.assign(other, { node, window, windowMs, skewMs, standbyRisk, skipped });
  }

  /** A new handle, of windows as they were wanted or are granted. */
  protected begin(windowMs: number | undefined, nowMs: number): void {
    const { layout, maxAheadMs, defaultMs, clock, label, node } = this.wanted;
    const engine = leases();
    const row = words(engine);
    row.set(layout.numbers_.split(",").map(BigInt));
    row.set(crypto.getRandomValues(new BigUint64Array(2)), 6);
    const lastNode = this.node < 0 ? NaN : this.node;
    const told: number[] = [];
    // Whole characters only.
    for (const character of label) {
      const more = utf8(character);
      if (told.length + more.length > LABEL) break;
      told.push(...more);
    }
    bytes(engine).fill(0, 0, LABEL).set(told);
    const system = Number(!clock);
    const handle = engine.wasm_.claim_(maxAheadMs, windowMs ?? NaN, defaultMs, lastNode, node ?? NaN, system, nowMs);
    if (handle < 0) throw refusal();
    this.handle = handle;
    this.windowMs = Number(words(engine)[0]);
  }
}
