// A node held by this realm, window by window: its cell, the timer that renews it, and who mints by it.
import type { SnowmintError as ErrorOfOurs } from "./errors.js";
import { WINDOW_OVER } from "./generated/tables.js";
import { core, errorOf, realm, SnowmintError, sentences, wasmCell } from "./kit.js";
import type { Layout } from "./layout.js";
import { type Leased, LostLease, type Wanted } from "./leased.js";
import { leasedBy } from "./lessee.js";
import type { Cell, CellSpec, LeaseStatus, Spec, Window } from "./snowflake.js";

/** How long after a renewal that failed the next one comes, and after how long it is worth a look again, ms. */
const RETRY_MS = 200;
const LOOK_MS = 5;

/** What a generator mints by; another one after each claim. */
export interface Box {
  spec: Spec;
  cell: Cell;
  onLost?: (error: ErrorOfOurs) => void;
}

/** A part of the node that is leased elsewhere. */
export interface Device {
  node: number;
  window: Window;
  skewMs: number | null;
  namespace: string;
  /** What both parts go by, unless it is the system's. */
  clock: (() => number) | undefined;
  /** Has a node, and half a window of it ahead at least. */
  ensure(maxAheadMs: number): Promise<void>;
}

/** What is to be held. */
export interface Holding extends Wanted {
  /** The layout of the generators. */
  whole: Layout;
  /** The nodes of it that generators of this realm were vouched to have to themselves. */
  vouched(): number[];
  device?: Device;
  /** What is held by this realm. */
  holders?: Set<Held>;
}

/** Generators share it; the last one gives it back. */
export class Held {
  /** Why it is over. */
  lost: ErrorOfOurs | undefined;
  closed = false;
  /** The generators. */
  readonly #boxes = new Set<Box>();
  readonly #holding: Holding;
  readonly #machine: Leased;
  #node = -1;
  #failures = 0;
  /** The address of its words in the module that mints; 0 while nothing is held. */
  #words = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #underWay: Promise<void> | undefined;

  constructor(holding: Holding) {
    const clock = holding.device?.clock ?? holding.clock;
    this.#holding = holding;
    this.#machine = leasedBy({ ...holding, clock }, () => this.#lose("its lock was taken away"));
  }

  /** The node of the whole layout. */
  get node(): number {
    return this.#node;
  }

  /** The window that is granted, of both parts where there are two. */
  get window(): Window {
    const { window } = this.#machine;
    const { start, end } = this.#holding.device?.window ?? window;
    return { start: Math.max(window.start, start), end: Math.min(window.end, end) };
  }

  /** Claims a node, for the first time or again. */
  async claim(): Promise<void> {
    await this.#holding.device?.ensure(this.#maxAheadMs);
    await this.#machine.claim();
    // A generator may have been made for it meanwhile.
    while (this.#holding.vouched().includes(this.#whole())) {
      await this.#machine.release(this.#machine.window.start);
      await this.#machine.claim();
    }
    this.#open();
  }

  /** Has a generator mint by it. */
  add(box: Box): void {
    this.#boxes.add(box);
    this.#fill(box);
  }

  /** Gives the node back if that was the last generator. */
  async remove(box: Box): Promise<void> {
    if (!this.#boxes.delete(box) || this.#boxes.size) return;
    this.closed = true;
    this.#holding.holders?.delete(this);
    await this.release();
  }

  /** Stops here, writes nothing, and lets others have the node when its window is over. */
  rest(): void {
    clearTimeout(this.#timer);
    this.#close();
    this.#machine.unlock();
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
    let end = this.#close();
    // Before the write, as a page that goes has little time: the record is changed only if it still is this one's.
    this.#machine.unlock();
    await this.#underWay;
    // It may have been a claim.
    end ??= this.#close();
    if (end !== undefined) await this.#machine.release(end).catch(() => {});
    this.#machine.unlock();
  }

  /** In how many ms it is worth a look whether a renewal helps against that refusal, which is begun; 0 if it does not. */
  awaitMs(error: unknown): number {
    if (this.closed || this.lost || !(error instanceof SnowmintError) || error.code !== "WINDOW_CLOSED") return 0;
    void this.renew();
    return LOOK_MS;
  }

  status(): LeaseStatus {
    const { namespace, skewMs } = this.#holding.device ?? this.#machine;
    const lost = this.lost?.message ?? null;
    return { namespace, lost, skipped: this.#machine.skipped, renewalFailures: this.#failures, skewMs };
  }

  get #maxAheadMs(): number {
    return Math.max(this.#holding.maxAheadMs, ...Array.from(this.#boxes, ({ spec }) => spec.maxAheadMs));
  }

  async #renew(): Promise<void> {
    const { device } = this.#holding;
    try {
      if (!this.#words) return await this.claim();
      const before = device?.node;
      await device?.ensure(this.#maxAheadMs);
      // Nothing more is minted by a part that somebody else may have.
      const other = device?.node !== before;
      const unused = other ? this.#close() : this.#machine.unusedFromMs(this.#cell());
      if (unused === undefined || Number.isNaN(unused)) return;
      await this.#machine.renew(unused, this.#maxAheadMs);
      if (other) this.#open();
      else this.#extend();
    } catch (error) {
      if (error instanceof LostLease) return this.#lose(error.message);
      this.#failures += 1;
      this.#renewIn(RETRY_MS);
    }
  }

  /** Opens a cell for the window. Each claim has one of its own: what was closed stays so. */
  #open(): void {
    const { holders, clock } = this.#holding;
    this.#node = this.#whole();
    this.#words = core().wasm_.words_();
    this.#machine.openCell(this.#cell(), true, this.window);
    holders?.add(this);
    if (!clock) realm()[this.#key()] = this;
    for (const box of this.#boxes) this.#fill(box);
    this.#renewed();
  }

  /** The node of the whole layout that is held. */
  #whole(): number {
    const { device, whole } = this.#holding;
    const { node } = this.#machine;
    return device ? whole.numberOf_({ device: device.node, tab: node }) : node;
  }

  /** Moves the end of the cell up, unless it was closed meanwhile. */
  #extend(): void {
    if (!this.#words) return;
    this.#machine.openCell(this.#cell(), false, this.window);
    this.#renewed();
  }

  #renewed(): void {
    this.#failures = 0;
    this.#renewIn(this.#machine.windowMs / 2);
  }

  #renewIn(ms: number): void {
    clearTimeout(this.#timer);
    if (this.closed || this.lost) return;
    // More than timers take would be at once.
    this.#timer = setTimeout(() => this.renew(), Math.min(ms, 2 ** 31 - 1));
    // In Node it keeps no process alive.
    (this.#timer as { unref?: () => void }).unref?.();
  }

  /** The two words of the cell; a view that lives until that module's memory next grows. */
  #cell(): BigUint64Array {
    return new BigUint64Array(core().wasm_.memory_.buffer, this.#words, 2);
  }

  /** Closes the cell for good; when its first unused tick begins, Unix ms, if it was open. */
  #close(): number | undefined {
    if (!this.#words) return;
    const cell = this.#cell();
    const unused = this.#machine.unusedFromMs(cell);
    cell[0] = 0n;
    this.#words = 0;
    if (realm()[this.#key()] === this) delete realm()[this.#key()];
    for (const box of this.#boxes) this.#fill(box);
    return unused;
  }

  #key(): string {
    return `${this.#holding.whole.numbers_},${this.#node}`;
  }

  #lose(why: string): void {
    if (this.closed || this.lost) return;
    this.lost = new SnowmintError(
      "WINDOW_CLOSED",
      `the lease of node ${this.#node} was lost: ${why}. The generator is closed: make a new one`,
    );
    clearTimeout(this.#timer);
    this.#holding.holders?.delete(this);
    this.#close();
    this.#machine.unlock();
    const { lost } = this;
    for (const { onLost } of this.#boxes) if (onLost) queueMicrotask(() => onLost(lost));
  }

  #fill(box: Box): void {
    const refuse = () => {
      throw this.lost ?? errorOf(sentences[WINDOW_OVER]!);
    };
    const spec: CellSpec = { ...box.spec, node: this.#node, clock: this.#machine.clock };
    box.cell = this.#words ? wasmCell(spec, this.#words) : { next: refuse, fill: refuse };
  }
}
