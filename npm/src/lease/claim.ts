// A claim on a node, held window by window, whoever grants the windows; and the module that has core's machines.
import module from "#wasm/lease";
import type { SnowmintError } from "../errors.js";
import type * as LeaseModule from "../generated/lease.wasm.js";
import { SENTENCES } from "../generated/tables.js";
import { SENTENCES as LEASE_SENTENCES } from "../generated/tables.lease.js";
import { type Layout, numbersOf } from "../layout.js";
import type { Spec } from "../options.js";
import type { LeaseWindow } from "../status.js";
import type { LeaseStore, Lessor } from "../store.js";
import { utf8 } from "../utf8.js";
import { bytes, type Engine, getText, putBytes, start, takeError, words } from "../wasm/engine.js";

/** The options of a lease, resolved. */
export interface Terms extends Spec {
  store: LeaseStore | Lessor;
  /** The namespace; if missing, the default namespace of `namespaceOf`. */
  namespace: string | undefined;
  namespaceOf: Layout;
  windowMs: number | undefined;
  defaultMs: number;
  /** The node to claim; if missing, any node. */
  node: number | undefined;
  /** Returns the nodes to leave out now. */
  excluded(): number[];
  /** The label of this process, for people. */
  label: string;
  guard?: Guard;
}

/** Locks that exclude other tabs from a node, beside the store. */
export interface Guard {
  /** Returns the nodes that other tabs hold. */
  held(prefix: string): Promise<number[]>;
  /** Returns the node to prefer in a claim; undefined to prefer the last node. */
  preferred(layout: Layout): Promise<number | undefined>;
  /** Locks a node. Returns the function that unlocks it, or null if another tab holds it. `lost` is called if the lock is stolen. */
  hold(key: string, lost: () => void): Promise<(() => void) | null>;
}

/** The lease is over, because another holder has the node. */
export class LostLease extends Error {}

let current: Engine<typeof LeaseModule> | undefined;

/** Returns the module of leases, started when first used. */
export function leases(): Engine<typeof LeaseModule> {
  if (!current) {
    current = start<typeof LeaseModule>(module);
    // In the module that mints, a cell of a lease fails in ways in which no other cell does.
    Object.assign(SENTENCES, LEASE_SENTENCES);
  }
  return current;
}

/** Takes the error that a call of the module left. */
export const refusal = (): SnowmintError => takeError(leases(), (place) => SENTENCES[place]!)!;

/** Returns a result of the module, or throws the error that the call left. */
function check(result: number): number {
  if (result < 0) throw refusal();
  return result;
}

/** Returns the module with a layout in its words. */
function withLayout(layout: Layout): Engine<typeof LeaseModule> {
  words(leases()).set(numbersOf(layout).split(",").map(BigInt));
  return leases();
}

/** Refuses terms that no lease can have, also for a generator that would share an existing lease. */
export function checkTerms(terms: Terms, excluded: number[], vouched: number[]): void {
  const { layout, windowMs, defaultMs, maxAheadMs, node } = terms;
  check(withLayout(layout).wasm.check_window(maxAheadMs, windowMs ?? NaN, defaultMs));
  if (node === undefined) return;
  check(leases().wasm.check_node(node, Number(excluded.includes(node)), Number(vouched.includes(node))));
}

/** Returns the record of a namespace with another count of nodes. */
export function recounted(record: Uint8Array, nodes: number): Uint8Array {
  const engine = leases();
  const length = engine.wasm.recounted(putBytes(engine, record), nodes);
  return bytes(engine).slice(0, length);
}

/** Returns the namespace as a part of keys. */
function directoryOf({ namespace, namespaceOf }: Terms): string {
  const engine = withLayout(namespaceOf);
  const length = putBytes(engine, utf8(namespace ?? ""));
  return getText(engine, check(engine.wasm.namespace(Number(namespace !== undefined), length)));
}

/** A claim on a node, with one call at a time. Calls reject with the reason of the refusal. */
export abstract class Claim {
  node = -1;
  window: LeaseWindow = { start: 0, end: 0 };
  windowMs = 0;
  skewMs: number | null = null;
  /** The writes that a failover of the store could lose, as a sentence. */
  standbyRisk: string | null = null;
  /** The keys whose value is not a valid record. */
  skipped: string[] = [];
  readonly namespace: string;
  /** The clock of the generators, if it is not the system's clock. */
  readonly clock: (() => number) | undefined;
  protected readonly terms: Terms;
  /** The namespace as a part of keys and paths. */
  protected readonly directory: string;
  /** The handle of the machine in the module of leases; 0 before the first claim. */
  protected handle = 0;

  constructor(terms: Terms, clock: (() => number) | undefined) {
    this.terms = terms;
    this.clock = clock;
    this.directory = directoryOf(terms);
    this.namespace = decodeURIComponent(this.directory);
  }

  /** Reads the clock of the lease, Unix ms. */
  abstract nowMs(): number;

  /** Claims a node, if possible the last one. */
  abstract claim(): Promise<void>;

  /** Extends the window, for a generator whose first unused tick begins at `lastMs`. Rejects also with a `LostLease`. */
  abstract renew(lastMs: number, maxAheadMs: number): Promise<void>;

  /** Gives the rest of the window back; no time from `endMs` on was used. */
  abstract release(endMs: number): Promise<void>;

  /** Returns the state with which another tab of this origin can go on with the lease. */
  abstract saved(): Uint8Array;

  /** Goes on with a lease that another tab has saved. */
  abstract resume(saved: Uint8Array): Promise<void>;

  /**
   * Returns a copy that goes on from here while a call of this claim has no answer yet; with the node, if it `holds` one.
   */
  abstract again(holds: boolean): Claim;

  /** Unlocks the node, if there is a lock. */
  unlock(): void {}

  /** Takes the lock again. Returns whether the lock is held. */
  async lock(): Promise<boolean> {
    return true;
  }

  /** Opens a cell for the window; if not `first`, extends an open cell to the window's end. */
  openCell(cell: BigUint64Array, first: boolean, { start, end }: LeaseWindow): void {
    const engine = leases();
    words(engine).set(cell);
    engine.wasm.open_cell(this.handle, Number(first), start, end);
    cell.set(words(engine).subarray(0, 2));
  }

  /** Returns the start of the first unused tick of a cell, Unix ms; NaN if the cell is closed. */
  unusedFromMs(cell: BigUint64Array): number {
    words(leases()).set(cell);
    return leases().wasm.unused_from(this.handle);
  }

  /** Copies the state of this claim to another claim. */
  protected tell<T extends Claim>(other: T): T {
    const { node, window, windowMs, skewMs, standbyRisk, skipped } = this;
    return Object.assign(other, { node, window, windowMs, skewMs, standbyRisk, skipped });
  }

  /** A new handle, of windows as they were terms or are granted. */
  protected begin(windowMs: number | undefined, nowMs: number): void {
    const { layout, maxAheadMs, defaultMs, clock, label, node } = this.terms;
    const engine = leases();
    words(engine).set(crypto.getRandomValues(new BigUint64Array(2)));
    const lastNode = this.node < 0 ? NaN : this.node;
    // Core cuts it.
    const told = utf8(label.slice(0, 100));
    const length = putBytes(engine, new Uint8Array([...told, ...utf8(String(layout))]));
    const system = Number(!clock);
    this.handle = check(
      engine.wasm.claim(
        maxAheadMs,
        windowMs ?? NaN,
        defaultMs,
        lastNode,
        node ?? NaN,
        system,
        nowMs,
        told.length,
        length,
      ),
    );
    this.windowMs = Number(words(engine)[0]);
  }
}
