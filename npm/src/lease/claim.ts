// A claim on a node, held window by window, whoever grants the windows.

import type { Spec } from "../generator/options.js";
import type { LeaseWindow } from "../generator/status.js";
import type { Layout } from "../layout/layout.js";
import { lease, type WasmLease } from "../wasm/lease.js";
import type { State } from "../wasm/mint.js";
import { onlyNode } from "./nodes.js";
import type { LeaseStore, Lessor } from "./store.js";

/** The options of a lease, resolved. */
export interface Terms extends Spec {
  store: LeaseStore | Lessor;
  /** The namespace; if missing, the default namespace of `namespaceOf`. */
  namespace: string | undefined;
  namespaceOf: Layout;
  windowMs: number | undefined;
  defaultMs: number;
  /** The nodes of which one is claimed, as `nodesText` writes them; if missing, all. */
  nodes: string | undefined;
  /** Returns the nodes to leave out now. */
  excluded(): number[];
  /** The label of this process, for people. */
  label: string;
  guard?: Guard | undefined;
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

/** Refuses terms that no lease can have, also for a generator that would share an existing lease. */
export function checkTerms(terms: Terms, excluded: number[], vouched: number[]): void {
  const { layout, windowMs, defaultMs, maxAheadMs, nodes } = terms;
  lease().checkWindow(String(layout), maxAheadMs, windowMs, defaultMs);
  const node = onlyNode(nodes);
  if (node === undefined) return;
  lease().checkNode(node, excluded.includes(node), vouched.includes(node));
}

/** Returns the record of a namespace with another count of nodes. */
export const recounted = (record: Uint8Array, nodes: number): Uint8Array => lease().recounted(record, nodes);

/** A claim on a node, with one call at a time. Calls reject with the reason of the refusal. */
export abstract class Claim {
  node = -1;
  window: LeaseWindow = { start: 0, end: 0 };
  /** The length of windows, ms: as asked at first, then as granted, since a service may grant less. */
  windowMs = 0;
  skewMs: number | null = null;
  /** The writes that a failover of the store could lose, as a message. */
  standbyRisk: string | null = null;
  /** The keys whose value is not a valid record. */
  skipped: string[] = [];
  /** 16 random bytes, new for each claim. */
  nonce: Uint8Array = crypto.getRandomValues(new Uint8Array(16));
  readonly namespace: string;
  /** The clock of the generators, if it is not the system's clock. */
  readonly clock: (() => number) | undefined;
  protected readonly terms: Terms;
  /** The namespace as a part of keys and paths. */
  protected readonly directory: string;
  /** Core's machine; undefined before the first claim. */
  protected machine: WasmLease | undefined;

  constructor(terms: Terms, clock: (() => number) | undefined) {
    this.terms = terms;
    this.clock = clock;
    this.directory = lease().namespaceKey(terms.namespace, String(terms.namespaceOf));
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

  /** Returns the state with which another tab of this origin can continue the lease. */
  abstract saved(): Uint8Array;

  /** Continues a lease that another tab has saved. */
  abstract resume(saved: Uint8Array): Promise<void>;

  /**
   * Returns a copy to continue with while a call of this claim has no answer yet. The copy has the node if it `holds`
   * one.
   */
  abstract again(holds: boolean): Claim;

  /** Unlocks the node, if there is a lock. */
  unlock(): void {}

  /** Takes the lock again. Returns whether the lock is held. */
  async lock(): Promise<boolean> {
    return true;
  }

  /** Opens a cell for the window; if not `first`, extends an open cell to the window's end. */
  openCell(cell: State, first: boolean, { start, end }: LeaseWindow): void {
    this.machine?.openCell(cell, first, start, end);
  }

  /** Returns the start of the first unused tick of a cell, Unix ms; NaN if the cell is closed. */
  unusedFromMs(cell: State): number {
    return this.machine?.unusedFrom(cell) ?? NaN;
  }

  /** Copies the state of this claim to another claim. */
  protected tell<T extends Claim>(other: T): T {
    const { node, window, windowMs, nonce, skewMs, standbyRisk, skipped } = this;
    return Object.assign(other, { node, window, windowMs, nonce, skewMs, standbyRisk, skipped });
  }

  /** Makes a new machine, with the windows of the terms or of a service. */
  protected begin(windowMs: number | undefined, nowMs: number): WasmLease {
    const { layout, maxAheadMs, defaultMs, clock, label, nodes } = this.terms;
    this.nonce = crypto.getRandomValues(new Uint8Array(16));
    const lastNode = this.node < 0 ? undefined : this.node;
    const { Lease } = lease();
    const text = String(layout);
    this.machine = new Lease(text, maxAheadMs, windowMs, defaultMs, lastNode, nodes, !clock, nowMs, this.nonce, label);
    this.windowMs = this.machine.windowMs;
    return this.machine;
  }
}
