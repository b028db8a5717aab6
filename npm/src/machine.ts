// Core's machine of a lease: what it wants to know is asked of the store, and a lock where there is one.
import { leaseModule } from "#lease";
import { Asking } from "./asking.js";
import type { Engine } from "./engine.js";
import type { SnowmintError as ErrorOfOurs } from "./errors.js";
import type * as Leases from "./generated/lease.wasm.js";
import { LEASE_SENTENCES } from "./generated/tables.js";
import { bytes, core, failure, Layout, SnowmintError, sentences, start, words } from "./kit.js";
import type { Layout as OneLayout } from "./layout.js";
import type { Spec, Window } from "./snowflake.js";
import type { LeaseStore } from "./store.js";

/** What the machine wants next: `Next` in `bindings/wasm/src/lease.rs`. */
const [READ_LAYOUT, WRITE_LAYOUT, LIST, CLOCK, READ, WRITE, WINDOW, WAIT, TAKEN, UNANSWERED, FAILED, LOST] = Array(
  12,
).keys() as unknown as number[];
/** How long a record is, and the label in it, in bytes. */
const RECORD = 124;
const LABEL = 60;

/** What is wanted of a store. */
export interface Wanted extends Spec {
  store: LeaseStore;
  /** The namespace; without one that of this layout. */
  namespace: string | undefined;
  namespaceOf: OneLayout;
  windowMs: number | undefined;
  defaultMs: number;
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
  /** Holds a node: what lets go of it, or null if another holds it. `lost` is called if it is taken away. */
  hold(key: string, lost: () => void): Promise<(() => void) | null>;
}

/** A lease that others of an origin can go on with. */
export interface Saved {
  node: number;
  version: number;
  record: Uint8Array;
}

/** The node is somebody else's now. */
export class LostLease extends Error {}

let current: Engine<typeof Leases> | undefined;

function leases(): Engine<typeof Leases> {
  if (!current) {
    current = start<typeof Leases>(leaseModule);
    // The main bundle has no use for them.
    Object.assign(sentences, LEASE_SENTENCES);
  }
  return current;
}

const refusal = (): ErrorOfOurs => failure(leases(), (place) => sentences[place]!)!;

/** The name of a namespace as a part of keys: as `key` in `stores/src/key.rs` has it. */
function directory({ namespace, namespaceOf }: Wanted): string {
  const numbers = namespaceOf.numbers_.split(",").map((word) => BigInt(word).toString(16));
  if (namespace === undefined) return `%40${numbers.join("-")}`;
  if (/^[\w-][\w.-]{0,63}$/.test(namespace)) return namespace;
  throw new SnowmintError(
    "INVALID_NODE",
    `a namespace is 1 to 64 of a-z A-Z 0-9 . _ -, not beginning with a dot, not ${JSON.stringify(namespace)}`,
  );
}

/** A lease over a store: one call at a time. Calls reject with why there is none. */
export class Machine {
  node = -1;
  window: Window = { start: 0, end: 0 };
  skewMs: number | null = null;
  /** Records that are none. */
  skipped: string[] = [];
  windowMs = 0;
  readonly namespace: string;
  readonly store: Asking;
  readonly #wanted: Wanted;
  readonly #directory: string;
  /** Told when the lock is taken away. */
  readonly #lost: () => void;
  #handle = 0;
  #claiming = false;
  #letGo: (() => void) | null = null;
  #noAnswer: unknown;

  constructor(wanted: Wanted, lost: () => void) {
    this.#wanted = wanted;
    this.#lost = lost;
    this.store = new Asking(wanted.store);
    this.#directory = directory(wanted);
    this.namespace = decodeURIComponent(this.#directory);
  }

  /** The time by the clock of the lease, Unix ms. */
  nowMs(): number {
    const ms = this.#wanted.clock?.() ?? Date.now();
    if (Number.isFinite(ms)) return Math.floor(ms);
    throw new TypeError(`a clock gives Unix ms as a number, not ${String(ms)}`);
  }

  /** Claims a node; the last one is preferred. */
  async claim(): Promise<void> {
    this.#claiming = true;
    try {
      await this.#follow(this.#begin());
    } catch (error) {
      this.unlock();
      throw error;
    } finally {
      this.#claiming = false;
    }
  }

  /** Goes on with a lease that another one has saved. */
  async resume({ node, version, record }: Saved): Promise<void> {
    if (!this.#handle) this.#begin();
    await this.#follow(leases().wasm_.resume_(this.#handle, node, version, this.#put(record)));
  }

  /** What another one needs to go on with this lease. */
  saved(): Saved {
    const engine = leases();
    engine.wasm_.save_(this.#handle);
    const [node, version] = words(engine);
    return { node: Number(node), version: Number(version), record: bytes(engine).slice(0, RECORD) };
  }

  /** Moves the window's end up, for a generator whose first unused tick begins at `lastMs`; rejects with a `LostLease` too. */
  renew(lastMs: number, maxAheadMs: number): Promise<void> {
    return this.#follow(leases().wasm_.renew_(this.#handle, this.nowMs(), lastMs, maxAheadMs + this.windowMs));
  }

  /** Gives the rest of the window back, with nothing used from `endMs` on. */
  release(endMs: number): Promise<void> {
    return this.#follow(leases().wasm_.release_(this.#handle, endMs));
  }

  /** Lets go of the lock. */
  unlock(): void {
    this.#letGo?.();
    this.#letGo = null;
  }

  /** Opens a cell for the window, or moves its end up if it is open; within a window that ends sooner, where there is one. */
  openCell(cell: BigUint64Array, first: boolean, { start, end }: Window): void {
    const engine = leases();
    words(engine).set(cell);
    engine.wasm_.open_cell_(this.#handle, Number(first), start, end);
    cell.set(words(engine).subarray(0, 2));
  }

  /** When the first unused tick of a cell begins, Unix ms; NaN if it is closed. */
  unusedFromMs(cell: BigUint64Array): number {
    words(leases()).set(cell);
    return leases().wasm_.unused_from_(this.#handle);
  }

  /** The first thing to do for a new claim. */
  #begin(): number {
    const { layout, maxAheadMs, windowMs, defaultMs, clock, label } = this.#wanted;
    const engine = leases();
    const row = words(engine);
    row.set(layout.numbers_.split(",").map(BigInt));
    row.set(crypto.getRandomValues(new BigUint64Array(2)), 6);
    const lastNode = this.node < 0 ? NaN : this.node;
    // Whole characters only.
    new TextEncoder().encodeInto(label, bytes(engine).fill(0, 0, LABEL).subarray(0, LABEL));
    const handle = engine.wasm_.claim_(maxAheadMs, windowMs ?? NaN, defaultMs, lastNode, Number(!clock), this.nowMs());
    if (handle < 0) throw refusal();
    this.#handle = handle;
    this.windowMs = Number(words(engine)[0]);
    return READ_LAYOUT!;
  }

  async #follow(next: number): Promise<void> {
    const engine = leases();
    const { wasm_ } = engine;
    const { layout, asyncWaitMs_ } = this.#wanted;
    const layoutKey = `layouts/${this.#directory}`;
    for (const since = performance.now(); ; ) {
      switch (next) {
        case READ_LAYOUT: {
          const pinned = await this.store.read(layoutKey);
          if (pinned) this.#refuseOther(pinned.value, layoutKey);
          next = wasm_.pinned_(this.#handle, Number(pinned !== null));
          break;
        }
        case WRITE_LAYOUT: {
          const text = new TextEncoder().encode(String(layout));
          next = wasm_.pinning_(this.#handle, Number((await this.store.write(layoutKey, text, 0)) !== null));
          break;
        }
        case LIST:
          next = await this.#list();
          break;
        case CLOCK: {
          const storeMs = await this.store.clockMs();
          next = wasm_.clock_(this.#handle, storeMs, Date.now());
          break;
        }
        case READ:
        case WRITE:
          next = await this.#ask(next === WRITE);
          break;
        case WINDOW:
          return this.#granted();
        case WAIT:
        case TAKEN: {
          const waitMs = next === WAIT ? Number(words(engine)[0]) : 1 + Math.random() * 50;
          const error = this.#told(refusal());
          const pauseMs = core().wasm_.pause_ms_(asyncWaitMs_, waitMs, performance.now() - since);
          if (!pauseMs) throw error;
          await new Promise((resolve) => setTimeout(resolve, pauseMs));
          next = this.#begin();
          break;
        }
        case UNANSWERED:
          throw this.#noAnswer;
        case FAILED:
          throw this.#told(refusal());
        case LOST:
          throw new LostLease(refusal().message);
        default:
          return;
      }
    }
  }

  async #list(): Promise<number> {
    const { wasm_ } = leases();
    const { guard, excluded } = this.#wanted;
    const prefix = `leases/${this.#directory}/`;
    const records = new Map((await this.store.list(prefix)).map((found) => [found.name, found]));
    const taken = new Set([...excluded(), ...((await guard?.held(prefix)) ?? [])]);
    const numbers = [...records.keys()].filter((name) => /^(0|[1-9]\d*)$/.test(name)).map(Number);
    const now = this.nowMs();
    this.skipped = [];
    for (const node of [...new Set([...numbers, ...taken])].sort((a, b) => a - b)) {
      if (node >= 2 ** 32) break;
      const found = records.get(String(node));
      if (!found || taken.has(node)) {
        wasm_.skip_(this.#handle, node);
        continue;
      }
      const seen = wasm_.see_(this.#handle, node, found.version, now, this.#put(found.value));
      if (seen < 0) throw this.#told(refusal());
      if (seen) this.skipped.push(`${this.store}: ${prefix}${node}`);
    }
    return wasm_.seen_(this.#handle, now);
  }

  /** Reads or writes the record of the node in the words. */
  async #ask(writing: boolean): Promise<number> {
    const engine = leases();
    const { wasm_ } = engine;
    const [node, version] = words(engine);
    const record = bytes(engine).slice(0, RECORD);
    const key = `leases/${this.#directory}/${node}`;
    if (writing && this.#claiming && !(await this.#lock(key))) return wasm_.again_(this.#handle);
    // No answer, until there is one.
    let [outcome, at, length] = [0, 0, 0];
    try {
      if (writing) {
        const written = await this.store.write(key, record, Number(version));
        [outcome, at] = written === null ? [1, 0] : [2, written];
      } else {
        const found = await this.store.read(key);
        outcome = 3;
        if (found) [at, length] = [found.version, this.#put(found.value)];
      }
    } catch (error) {
      if (!(error instanceof SnowmintError && error.code === "STORE_UNAVAILABLE")) throw error;
      this.#noAnswer = error;
    }
    return wasm_.replied_(this.#handle, outcome, at, length);
  }

  async #lock(key: string): Promise<boolean> {
    const { guard } = this.#wanted;
    if (!guard) return true;
    this.unlock();
    this.#letGo = await guard.hold(key, this.#lost);
    return this.#letGo !== null;
  }

  /** The window in the words is durable. */
  #granted(): void {
    const [node, start, end, hasSkew, skewMs] = words(leases());
    const ms = (word: bigint | undefined) => Number(BigInt.asIntN(64, word!));
    this.node = Number(node);
    this.window = { start: ms(start), end: ms(end) };
    this.skewMs = hasSkew ? ms(skewMs) : null;
  }

  /** Puts a record into the buffer; answers how long it is. */
  #put(record: Uint8Array): number {
    bytes(leases()).set(record);
    return record.length;
  }

  #refuseOther(text: Uint8Array, key: string): void {
    let pinned: OneLayout;
    try {
      pinned = Layout.parse(new TextDecoder().decode(text));
    } catch {
      throw this.store.unavailable(`what is at ${key} is no layout`);
    }
    if (pinned.numbers_ !== this.#wanted.layout.numbers_)
      throw new SnowmintError(
        "INVALID_LAYOUT",
        `namespace ${this.namespace} is of layout ${pinned}: use that one, or another namespace`,
      );
  }

  /** An error of core, with what it is about. */
  #told(error: ErrorOfOurs): ErrorOfOurs {
    return new SnowmintError(error.code, `${this.store}, namespace ${this.namespace}: ${error.message}`);
  }
}
