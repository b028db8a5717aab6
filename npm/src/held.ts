// A node held over a store: what core's machine wants to know is asked of the store, and a timer renews the window.
import { leaseModule } from "#lease";
import { Asking } from "./asking.js";
import type { Engine } from "./engine.js";
import type { SnowmintError as ErrorOfOurs } from "./errors.js";
import type * as Leases from "./generated/lease.wasm.js";
import { LEASE_SENTENCES, WINDOW_OVER } from "./generated/tables.js";
import { bytes, core, errorOf, failure, Layout, SnowmintError, sentences, start, wasmCell, words } from "./kit.js";
import type { Layout as OneLayout } from "./layout.js";
import type { Cell, CellSpec, LeaseStatus, Spec, Window } from "./snowflake.js";
import type { LeaseStore } from "./store.js";

/** What the machine wants next: `Next` in `bindings/wasm/src/lease.rs`. */
const [READ_LAYOUT, WRITE_LAYOUT, LIST, CLOCK, READ, WRITE, WINDOW, WAIT, TAKEN, UNANSWERED, FAILED, LOST] = Array(
  12,
).keys() as unknown as number[];
/** How long a record is, and the label in it, in bytes. */
const RECORD = 124;
const LABEL = 60;
/** How long after a renewal that failed the next one comes, and after how long it is worth a look again, ms. */
const RETRY_MS = 200;
const LOOK_MS = 5;

/** What is wanted of a store. */
export interface Wanted extends Spec {
  store: LeaseStore;
  /** Without one there is one for each layout. */
  namespace: string | undefined;
  windowMs: number | undefined;
  defaultMs: number;
  exclude: number[];
  /** Who this is, for people. */
  label: string;
  guard?: Guard;
}

/** What keeps others in reach from a node, beside the store. */
export interface Guard {
  /** Who holds nodes by it. */
  readonly holders: Set<Held>;
  /** The nodes that others hold. */
  held(prefix: string): Promise<number[]>;
  /** Holds a node: what lets go of it, or null if another holds it. `lost` is called if it is taken away. */
  hold(key: string, lost: () => void): Promise<(() => void) | null>;
}

/** What a generator mints by; another one after each claim. */
export interface Box {
  spec: Spec;
  cell: Cell;
  onLost?: (error: ErrorOfOurs) => void;
}

let current: Engine<typeof Leases> | undefined;

function leases(): Engine<typeof Leases> {
  if (!current) {
    current = start<typeof Leases>(leaseModule);
    // The main bundle has no use for them.
    Object.assign(sentences, LEASE_SENTENCES);
    core().refuse_ = refuseLeased;
  }
  return current;
}

/** The nodes that are leased by the system's clock in this realm, behind the numbers of their layouts. */
const leasedNodes = (): Set<string> => (core().leased_ ??= new Set());

function refuseLeased(numbers: string, node: number): void {
  if (leasedNodes().has(`${numbers},${node}`))
    throw new SnowmintError(
      "INVALID_NODE",
      `node ${node} is leased by another generator of this process: pass another, or none to lease one`,
    );
}

const refusal = (): ErrorOfOurs => failure(leases(), (place) => sentences[place]!)!;

/** The name of a namespace as a part of keys: as `key` in `stores/src/key.rs` has it. */
function directory({ namespace, layout }: Wanted): string {
  const numbers = layout.numbers_.split(",").map((word) => BigInt(word).toString(16));
  if (namespace === undefined) return `%40${numbers.join("-")}`;
  if (/^[\w-][\w.-]{0,63}$/.test(namespace)) return namespace;
  throw new SnowmintError(
    "INVALID_NODE",
    `a namespace is 1 to 64 of a-z A-Z 0-9 . _ -, not beginning with a dot, not ${JSON.stringify(namespace)}`,
  );
}

/** A node held by this realm, window by window. Generators share it; the last one gives it back. */
export class Held {
  node = -1;
  window: Window = { start: 0, end: 0 };
  /** The generators. */
  readonly boxes = new Set<Box>();
  readonly namespace: string;
  /** Why it is over. */
  lost: ErrorOfOurs | undefined;
  closed = false;
  skipped: string[] = [];
  failures = 0;
  skewMs: number | null = null;
  readonly #wanted: Wanted;
  readonly #store: Asking;
  readonly #directory: string;
  #handle = 0;
  #claiming = false;
  #windowMs = 0;
  /** The address of its words in the module that mints; 0 while nothing is held. */
  #words = 0;
  #letGo: (() => void) | null = null;
  #noAnswer: unknown;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #underWay: Promise<void> | undefined;

  constructor(wanted: Wanted) {
    this.#wanted = wanted;
    this.#store = new Asking(wanted.store);
    this.#directory = directory(wanted);
    this.namespace = decodeURIComponent(this.#directory);
  }

  /** Claims a node, for the first time or again. */
  async claim(): Promise<void> {
    this.#claiming = true;
    try {
      await this.#follow(this.#begin());
    } catch (error) {
      this.#unlock();
      throw error;
    } finally {
      this.#claiming = false;
    }
  }

  /** Has a generator mint by it. */
  add(box: Box): void {
    this.boxes.add(box);
    this.#fill(box);
  }

  /** Gives the node back if that was the last generator. */
  async remove(box: Box): Promise<void> {
    if (!this.boxes.delete(box) || this.boxes.size) return;
    this.closed = true;
    this.#wanted.guard?.holders.delete(this);
    await this.release();
  }

  /** Stops here, writes nothing, and lets others have the node when its window is over. */
  rest(): void {
    clearTimeout(this.#timer);
    this.#close();
    this.#unlock();
  }

  /** Moves the window's end up, or claims a node if none is held. Never rejects. */
  renew(): Promise<void> {
    if (this.closed || this.lost) return Promise.resolve();
    this.#underWay ??= this.#renew().finally(() => {
      this.#underWay = undefined;
    });
    return this.#underWay;
  }

  /** Gives the rest of the window back. If that cannot be written, it runs out by itself. */
  async release(): Promise<void> {
    clearTimeout(this.#timer);
    let cell = this.#close();
    // Before the write, as a page that goes has little time: the record is changed only if it still is this one's.
    this.#unlock();
    await this.#underWay;
    // It may have been a claim.
    cell ??= this.#close();
    if (cell) {
      words(leases()).set(cell);
      try {
        await this.#follow(leases().wasm_.release_(this.#handle));
      } catch {}
    }
    this.#unlock();
  }

  /** In how many ms it is worth a look whether a renewal helps against that refusal, which is begun; 0 if it does not. */
  awaitMs(error: unknown): number {
    if (this.closed || this.lost || !(error instanceof SnowmintError) || error.code !== "WINDOW_CLOSED") return 0;
    this.renew();
    return LOOK_MS;
  }

  status(): LeaseStatus {
    const { namespace, lost, skipped, failures, skewMs } = this;
    return { namespace, lost: lost?.message ?? null, skipped, renewalFailures: failures, skewMs };
  }

  #now(): number {
    return this.#wanted.clock?.() ?? Date.now();
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
    const handle = engine.wasm_.claim_(maxAheadMs, windowMs ?? NaN, defaultMs, lastNode, Number(!clock), this.#now());
    if (handle < 0) throw refusal();
    this.#handle = handle;
    this.#windowMs = Number(words(engine)[0]);
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
          const pinned = await this.#store.read(layoutKey);
          if (pinned) this.#refuseOther(pinned.value, layoutKey);
          next = wasm_.pinned_(this.#handle, Number(pinned !== null));
          break;
        }
        case WRITE_LAYOUT: {
          const text = new TextEncoder().encode(String(layout));
          next = wasm_.pinning_(this.#handle, Number((await this.#store.write(layoutKey, text, 0)) !== null));
          break;
        }
        case LIST:
          next = await this.#list();
          break;
        case CLOCK: {
          const storeMs = await this.#store.clockMs();
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
          return this.#lose(refusal().message);
        default:
          return;
      }
    }
  }

  async #list(): Promise<number> {
    const engine = leases();
    const { wasm_ } = engine;
    const { exclude, layout, clock, guard } = this.#wanted;
    const prefix = `leases/${this.#directory}/`;
    const nodes = new Map((await this.#store.list(prefix)).map((found) => [found.name, found]));
    const taken = [...exclude, ...(clock ? [] : vouchedNodes(layout)), ...((await guard?.held(prefix)) ?? [])];
    const numbers = [...nodes.keys()]
      .map(Number)
      .filter((node) => Number.isInteger(node) && node >= 0 && node < 2 ** 32);
    const skipped = new Set(taken);
    const now = this.#now();
    this.skipped = [];
    for (const node of [...new Set([...numbers, ...taken])].sort((a, b) => a - b)) {
      const found = nodes.get(String(node));
      if (!found || skipped.has(node)) {
        wasm_.skip_(this.#handle, node);
        continue;
      }
      const seen = wasm_.see_(this.#handle, node, found.version, now, putBytes(engine, found.value));
      if (seen < 0) throw this.#told(refusal());
      if (seen) this.skipped.push(`${this.#store}: ${prefix}${node}`);
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
        const written = await this.#store.write(key, record, Number(version));
        [outcome, at] = written === null ? [1, 0] : [2, written];
      } else {
        const found = await this.#store.read(key);
        outcome = 3;
        if (found) [at, length] = [found.version, putBytes(engine, found.value)];
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
    this.#unlock();
    this.#letGo = await guard.hold(key, () => this.#lose("its lock was taken away"));
    return this.#letGo !== null;
  }

  #unlock(): void {
    this.#letGo?.();
    this.#letGo = null;
  }

  /** The window in the words is durable. */
  #granted(): void {
    const engine = leases();
    const [node, start, end, hasSkew, skewMs] = words(engine);
    const ms = (word: bigint | undefined) => Number(BigInt.asIntN(64, word!));
    [this.node, this.window] = [Number(node), { start: ms(start), end: ms(end) }];
    this.failures = 0;
    this.skewMs = hasSkew ? ms(skewMs) : null;
    const first = this.#claiming;
    // Each claim has a cell of its own, and one that was closed meanwhile stays so.
    if (first) {
      this.#words = core().wasm_.words_();
      this.#wanted.guard?.holders.add(this);
      if (!this.#wanted.clock) leasedNodes().add(this.#key());
    }
    if (!this.#words) return;
    const cell = this.#cell();
    words(engine).set(cell);
    engine.wasm_.open_cell_(this.#handle, Number(first));
    cell.set(words(engine).subarray(0, 2));
    if (first) for (const box of this.boxes) this.#fill(box);
    this.#renewIn(this.#windowMs / 2);
  }

  #renewIn(ms: number): void {
    clearTimeout(this.#timer);
    if (this.closed || this.lost) return;
    this.#timer = setTimeout(() => this.renew(), ms);
    // In Node it keeps no process alive.
    (this.#timer as { unref?: () => void }).unref?.();
  }

  async #renew(): Promise<void> {
    try {
      if (!this.#words) return await this.claim();
      const reachMs = Math.max(...Array.from(this.boxes, ({ spec }) => spec.maxAheadMs)) + this.#windowMs;
      words(leases()).set(this.#cell());
      await this.#follow(leases().wasm_.renew_(this.#handle, this.#now(), reachMs));
    } catch {
      this.failures += 1;
      this.#renewIn(RETRY_MS);
    }
  }

  /** The two words of the cell; a view that lives until that module's memory next grows. */
  #cell(): BigUint64Array {
    return new BigUint64Array(core().wasm_.memory_.buffer, this.#words, 2);
  }

  /** Closes the cell for good; what was in it, if it was open. */
  #close(): BigUint64Array | undefined {
    if (!this.#words) return;
    const cell = this.#cell();
    const before = cell.slice();
    cell[0] = 0n;
    this.#words = 0;
    leasedNodes().delete(this.#key());
    for (const box of this.boxes) this.#fill(box);
    return before;
  }

  #key(): string {
    return `${this.#wanted.layout.numbers_},${this.node}`;
  }

  #lose(why: string): void {
    if (this.closed || this.lost) return;
    this.lost = new SnowmintError(
      "WINDOW_CLOSED",
      `the lease of node ${this.node} was lost: ${this.#store}: ${why}. The generator is closed: make a new one`,
    );
    clearTimeout(this.#timer);
    this.#wanted.guard?.holders.delete(this);
    this.#close();
    this.#unlock();
    for (const { onLost } of this.boxes) if (onLost) queueMicrotask(() => onLost(this.lost!));
  }

  #fill(box: Box): void {
    const refuse = () => {
      throw this.lost ?? errorOf(sentences[WINDOW_OVER]!);
    };
    const spec: CellSpec = { ...box.spec, node: this.node };
    box.cell = this.#words ? wasmCell(spec, this.#words) : { next: refuse, fill: refuse };
  }

  #refuseOther(text: Uint8Array, key: string): void {
    let pinned: OneLayout;
    try {
      pinned = Layout.parse(new TextDecoder().decode(text));
    } catch {
      throw this.#store.unavailable(`what is at ${key} is no layout`);
    }
    if (pinned.numbers_ !== this.#wanted.layout.numbers_)
      throw new SnowmintError(
        "INVALID_LAYOUT",
        `namespace ${this.namespace} is of layout ${pinned}: use that one, or another namespace`,
      );
  }

  /** An error of core, with what it is about. */
  #told(error: ErrorOfOurs): ErrorOfOurs {
    return new SnowmintError(error.code, `${this.#store}, namespace ${this.namespace}: ${error.message}`);
  }
}

/** Puts bytes into the buffer; answers how many. */
function putBytes(engine: Engine, value: Uint8Array): number {
  bytes(engine).set(value);
  return value.length;
}

/** The nodes that generators of this realm were vouched to have to themselves. */
function vouchedNodes({ numbers_ }: OneLayout): number[] {
  const keys = [...core().kept_.keys()].map((key) => key.match(/^(?:words|native) 0,(.*),(\d+)$/));
  return keys.flatMap((key) => (key && key[1] === numbers_ ? [Number(key[2])] : []));
}
