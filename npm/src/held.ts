// A node held by this realm, window by window: its cell, the timer that renews it, and who mints by it.
import type { SnowmintError as ErrorOfOurs } from "./errors.js";
import { WINDOW_OVER } from "./generated/tables.js";
import { core, errorOf, monotonicMs, realm, SnowmintError, sentences, wasmCell } from "./kit.js";
import type { Layout } from "./layout.js";
import { type Leased, LostLease, type Wanted } from "./leased.js";
import { leasedBy } from "./lessee.js";
import type { Cell, CellSpec, LeaseStatus, Spec, Window } from "./snowflake.js";

/** How long after a renewal that failed the next one comes, and after how long it is worth a look again, ms. */
const RETRY_MS = 200;
const LOOK_MS = 5;
/** After how long another attempt may begin beside one that has not ended, ms. */
const DOUBT_MS = 500;
/** How long a page that is about to go goes without its lock; if it is there still, it stays. */
const GOING_MS = 5000;

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

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

const isYoung = ({ sinceMs }: Attempt): boolean => monotonicMs() - sinceMs < DOUBT_MS;

/**
 * A claim or renewal. In edge runtimes it stops for good with the request in which it began, and so would everybody who
 * awaited it: others only look whether it is over.
 */
interface Attempt {
  /** That of the lease when it began: it counts only if nothing has come of another one since. */
  turn: number;
  sinceMs: number;
  over: boolean;
  error?: unknown;
  /** For whoever began it. Never rejects. */
  done?: Promise<void>;
}

/** Generators share it; the last one gives it back. */
export class Held {
  /** Why it is over. */
  lost: ErrorOfOurs | undefined;
  closed = false;
  /** The generators. */
  readonly #boxes = new Set<Box>();
  readonly #holding: Holding;
  /** What is granted; and what the latest attempt works with. */
  #machine: Leased;
  #node = -1;
  #failures = 0;
  /** Why the last attempt failed, if none has succeeded since. */
  #failure: unknown;
  /** The address of its words in the module that mints; 0 while nothing is held. */
  #words = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Takes the lock again; undefined while nobody has let go of it. */
  #going: ReturnType<typeof setTimeout> | undefined;
  /** Another one after each grant, rest and end. */
  #turn = 0;
  /** The latest attempt, while it is under way. */
  #attempt: Attempt | undefined;

  constructor(holding: Holding) {
    const clock = holding.device?.clock ?? holding.clock;
    this.#holding = holding;
    this.#machine = leasedBy({ ...holding, clock }, () => {
      if (this.#words) this.#lose("its lock was taken away");
    });
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

  /** Waits for the first node, and claims it unless somebody does; rejects with why there is none. */
  async granted(): Promise<void> {
    while (this.#node < 0) {
      const there = this.#underWay();
      const attempt = there ?? this.#begin();
      await (there ? sleep(LOOK_MS) : attempt.done);
      if (this.#node < 0 && attempt.error !== undefined) throw attempt.error;
    }
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

  /**
   * Lets go of the lock before the page goes, and takes it again if the page stays. Firefox keeps no page for the back button
   * that has a lock, and decides of that before `pagehide`. Meanwhile the window keeps others from the node.
   */
  loosen(): void {
    if (!this.#holding.guard || !this.#words) return;
    this.#machine.unlock();
    clearTimeout(this.#going);
    this.#going = setTimeout(async () => {
      if (await this.#machine.lock().catch(() => false)) this.#stay();
    }, GOING_MS);
  }

  #stay(): void {
    clearTimeout(this.#going);
    this.#going = undefined;
  }

  /** Stops here, writes nothing, and lets others have the node when its window is over. */
  rest(): void {
    this.#stay();
    clearTimeout(this.#timer);
    this.#close();
    this.#machine.unlock();
    this.#drop(false);
  }

  /** Claims anew, because nobody can see any more what was written for the node. */
  claimAnew(): void {
    if (!this.#holding.guard) return;
    this.rest();
    this.renew();
  }

  /** Moves the window's end up, or claims a node if none is held. */
  renew(): void {
    if (!this.closed && !this.lost && !this.#underWay()) this.#begin();
  }

  /** Gives the rest of the window back. If that cannot be written, it runs out by itself. */
  async release(): Promise<void> {
    this.#stay();
    clearTimeout(this.#timer);
    const attempt = this.#attempt;
    const end = this.#close();
    // Before the write, as a page that goes has little time: the record is changed only if it still is this one's.
    this.#machine.unlock();
    try {
      this.#drop(end !== undefined);
      if (end !== undefined) await this.#machine.release(end);
    } catch {}
    // A claim gives back what it gets.
    while (attempt && end === undefined && isYoung(attempt) && !attempt.over) await sleep(LOOK_MS);
  }

  /** In how many ms it is worth a look whether a renewal helps against that refusal, which is begun; 0 if it does not. */
  awaitMs(error: unknown): number {
    if (this.closed || this.lost || !(error instanceof SnowmintError) || error.code !== "WINDOW_CLOSED") return 0;
    this.renew();
    return LOOK_MS;
  }

  /** A refusal, which says why the window was not renewed. */
  explained(error: unknown): unknown {
    const { lost } = this;
    if (
      error instanceof SnowmintError &&
      error.code === "WINDOW_CLOSED" &&
      error !== lost &&
      this.#failure !== undefined
    )
      error.cause = this.#failure;
    return error;
  }

  status(): LeaseStatus {
    const { namespace, skewMs } = this.#holding.device ?? this.#machine;
    const { skipped, standbyRisk } = this.#machine;
    const lost = this.lost?.message ?? null;
    const renewalError =
      this.#failure === undefined ? null : String((this.#failure as Error)?.message ?? this.#failure);
    return { namespace, lost, skipped, renewalFailures: this.#failures, renewalError, standbyRisk, skewMs };
  }

  get #maxAheadMs(): number {
    return Math.max(this.#holding.maxAheadMs, ...Array.from(this.#boxes, ({ spec }) => spec.maxAheadMs));
  }

  /** The attempt that is under way, unless it may never end. */
  #underWay(): Attempt | undefined {
    return this.#attempt && isYoung(this.#attempt) ? this.#attempt : undefined;
  }

  #begin(): Attempt {
    const attempt: Attempt = { turn: this.#turn, sinceMs: monotonicMs(), over: false };
    const beside = this.#attempt !== undefined;
    this.#attempt = attempt;
    attempt.done = this.#run(attempt, beside);
    return attempt;
  }

  /** `beside` an earlier attempt, the first one counts that comes back. */
  async #run(attempt: Attempt, beside: boolean): Promise<void> {
    const holds = this.#words > 0;
    try {
      if (beside) this.#machine = this.#machine.again(holds);
      await (holds ? this.#extend(attempt, this.#machine) : this.#claim(attempt, this.#machine));
    } catch (error) {
      attempt.error = error;
      if (attempt.turn === this.#turn) this.#fail(error);
    }
    attempt.over = true;
    if (this.#attempt === attempt) this.#attempt = undefined;
    if (attempt.turn === this.#turn && this.#boxes.size) this.#renewIn(RETRY_MS);
  }

  #fail(error: unknown): void {
    const unsafe = error instanceof SnowmintError && error.code === "UNSAFE_STORE";
    // A store that loses writes grants nothing more: when the window has run out, that is the end.
    const over = unsafe && this.#words > 0 && this.#machine.nowMs() >= this.window.end;
    if (!(error instanceof LostLease || over)) {
      this.#failures += 1;
      this.#failure = error;
      return;
    }
    // Without its lock, a page that stood still may lose its node to another one.
    if (this.#going !== undefined) this.claimAnew();
    else this.#lose(error.message);
  }

  /** Takes what has come of an attempt; whether it still counts. */
  #take(attempt: Attempt, machine: Leased): boolean {
    if (attempt.turn !== this.#turn) return false;
    this.#turn += 1;
    this.#machine = machine;
    this.#attempt = undefined;
    return true;
  }

  /** Has nothing come of what is under way; what goes on with the node, if one is held, is another machine then. */
  #drop(holds: boolean): void {
    this.#turn += 1;
    if (this.#attempt) this.#machine = this.#machine.again(holds);
    this.#attempt = undefined;
  }

  async #claim(attempt: Attempt, machine: Leased): Promise<void> {
    const { device, vouched } = this.#holding;
    await device?.ensure(this.#maxAheadMs);
    await machine.claim();
    // A generator may have been made for it meanwhile.
    while (vouched().includes(this.#whole(machine))) {
      await machine.release(machine.window.start);
      await machine.claim();
    }
    if (this.#take(attempt, machine)) return this.#open();
    machine.unlock();
    if (this.closed) await machine.release(machine.window.start);
  }

  async #extend(attempt: Attempt, machine: Leased): Promise<void> {
    await this.#holding.device?.ensure(this.#maxAheadMs);
    if (attempt.turn !== this.#turn) return;
    // Nothing more is minted by a part that somebody else may have.
    const other = this.#whole(machine) !== this.#node;
    const unused = other ? this.#close() : machine.unusedFromMs(this.#cell());
    if (unused === undefined || Number.isNaN(unused)) return;
    await machine.renew(unused, this.#maxAheadMs);
    if (!this.#take(attempt, machine)) {
      // Of a node that is closed, nobody goes on with the lock.
      if (other) machine.unlock();
      return;
    }
    if (other) return this.#open();
    machine.openCell(this.#cell(), false, this.window);
    this.#renewed();
  }

  /** Opens a cell for the window. Each claim has one of its own: what was closed stays so. */
  #open(): void {
    const { holders, clock } = this.#holding;
    this.#node = this.#whole(this.#machine);
    this.#words = core().wasm_.words_();
    this.#machine.openCell(this.#cell(), true, this.window);
    holders?.add(this);
    if (!clock) realm()[this.#key()] = this;
    for (const box of this.#boxes) this.#fill(box);
    this.#renewed();
  }

  /** The node of the whole layout. */
  #whole({ node }: Leased): number {
    const { device, whole } = this.#holding;
    return device ? whole.numberOf_({ device: device.node, tab: node }) : node;
  }

  #renewed(): void {
    this.#failures = 0;
    this.#failure = undefined;
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
    this.#stay();
    clearTimeout(this.#timer);
    this.#holding.holders?.delete(this);
    this.#close();
    this.#machine.unlock();
    this.#drop(false);
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
