// A node held by this realm, window by window: its cell, the timer that renews it, and the generators that share it.

import { SnowmintError } from "../errors.js";
import { wasmCell } from "../generator/cell.js";
import type { Cell, CellSpec, Spec } from "../generator/options.js";
import type { LeaseStatus, LeaseWindow } from "../generator/status.js";
import { monotonicMs } from "../generator/waiting.js";
import { type Layout, nodeNumber, numbersOf } from "../layout/layout.js";
import { lease } from "../wasm/lease.js";
import { mint, realm, type State } from "../wasm/mint.js";
import { type Claim, LostLease, type Terms } from "./claim.js";
import { claimOf, isLessor } from "./service-claim.js";

/** The ms between two looks at an attempt of another caller. */
const LOOK_MS = 5;
/** The ms after which a second attempt may begin beside an attempt that has not ended. */
const DOUBT_MS = 500;
/** The ms for which a page that is about to close gives up its lock. A page that still runs then takes the lock again. */
const GOING_MS = 5000;

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** A generator that shares the holder, and the cell from which it mints. Each claim replaces the cell. */
export interface Sharer {
  spec: Spec;
  cell: Cell;
  onLost?: ((error: SnowmintError) => void) | undefined;
}

/** The part of the node that all tabs of a browser share. */
export interface Device {
  node: number;
  window: LeaseWindow;
  skewMs: number | null;
  namespace: string;
  /** The clock of both parts, if it is not the system's clock. */
  clock: (() => number) | undefined;
  /** Makes sure that the node is held for at least another half window. */
  ensure(maxAheadMs: number): Promise<void>;
}

/** The terms of a holder. */
export interface HolderTerms extends Terms {
  /** The layout of the generators. */
  whole: Layout;
  /** Returns the nodes of vouched generators of this realm. */
  vouched(): number[];
  device?: Device | undefined;
  /** The holders of this realm. */
  holders?: Set<Holder> | undefined;
}

const isYoung = ({ sinceMs }: Attempt): boolean => monotonicMs() - sinceMs < DOUBT_MS;

/**
 * A claim or renewal. In edge runtimes it stops for good with the request in which it began. Other callers must not await it,
 * because they would stop too: they check from time to time whether it has ended.
 */
interface Attempt {
  /** The turn of the holder when the attempt began: the attempt counts only if no other attempt has ended since. */
  turn: number;
  sinceMs: number;
  over: boolean;
  error?: unknown;
  /** Resolves when the attempt ends, for the caller that began it. Never rejects. */
  done?: Promise<void> | undefined;
}

/** A node that generators share; the last generator that closes gives it back. */
export class Holder {
  /** The reason why the lease was lost. */
  lost: SnowmintError | undefined;
  closed = false;
  /** The generators that share the node. */
  readonly #sharers = new Set<Sharer>();
  readonly #terms: HolderTerms;
  /** The claim with the granted window; the latest attempt works with it too. */
  #claim: Claim;
  #node = -1;
  #failures = 0;
  /** The error of the last attempt, if no attempt has succeeded since. */
  #failure: unknown;
  /** The cell; undefined while no node is held. */
  #cell: State | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** The timer that takes the lock again; undefined while the lock is held. */
  #going: ReturnType<typeof setTimeout> | undefined;
  /** A number that changes with each grant, rest and end. */
  #turn = 0;
  /** The latest attempt, while it is under way. */
  #attempt: Attempt | undefined;

  constructor(terms: HolderTerms) {
    const clock = terms.device?.clock ?? terms.clock;
    this.#terms = terms;
    this.#claim = claimOf({ ...terms, clock }, () => {
      if (this.#cell) this.#lose("its lock was taken away");
    });
  }

  /** The node of the whole layout. */
  get node(): number {
    return this.#node;
  }

  /** The granted window; where the node has two parts, the time that both windows cover. */
  get window(): LeaseWindow {
    const { window } = this.#claim;
    const { start, end } = this.#terms.device?.window ?? window;
    return { start: Math.max(window.start, start), end: Math.min(window.end, end) };
  }

  /** Waits for the first node, and claims it unless another attempt is under way. Rejects with the error of the claim. */
  async granted(): Promise<void> {
    while (this.#node < 0) {
      const there = this.#underWay();
      const attempt = there ?? this.#begin();
      await (there ? sleep(LOOK_MS) : attempt.done);
      if (this.#node < 0 && attempt.error !== undefined) throw attempt.error;
    }
  }

  /** Adds a generator, which mints from the node. */
  add(sharer: Sharer): void {
    this.#sharers.add(sharer);
    this.#fill(sharer);
  }

  /** Removes a generator. The last one gives the node back. */
  async remove(sharer: Sharer): Promise<void> {
    if (!this.#sharers.delete(sharer) || this.#sharers.size) return;
    this.closed = true;
    this.#terms.holders?.delete(this);
    await this.release();
  }

  /**
   * Releases the lock before the page is left, and takes it again if the page stays. Firefox does not keep a page with
   * a lock for the back button, and decides before `pagehide`. Without the lock, the window still protects the node.
   */
  loosen(): void {
    if (!this.#terms.guard || !this.#cell) return;
    this.#claim.unlock();
    clearTimeout(this.#going);
    this.#going = setTimeout(async () => {
      if (await this.#claim.lock().catch(() => false)) this.#stay();
    }, GOING_MS);
  }

  #stay(): void {
    clearTimeout(this.#going);
    this.#going = undefined;
  }

  /** Stops minting without a write. Other tabs can claim the node when its window is over. */
  rest(): void {
    this.#stay();
    clearTimeout(this.#timer);
    this.#close();
    this.#claim.unlock();
    this.#drop(false);
  }

  /** Claims again, because the record of the node is gone and other tabs cannot see it. */
  claimAnew(): void {
    if (!this.#terms.guard) return;
    this.rest();
    this.renew();
  }

  /** Extends the window, or claims a node if no node is held. */
  renew(): void {
    if (!this.closed && !this.lost && !this.#underWay()) this.#begin();
  }

  /** Gives the rest of the window back. If the write fails, the window ends by itself. */
  async release(): Promise<void> {
    this.#stay();
    clearTimeout(this.#timer);
    const attempt = this.#attempt;
    const end = this.#close();
    // Before the write, because a closing page has little time. The write changes the record only if this holder still has it.
    this.#claim.unlock();
    try {
      this.#drop(end !== undefined);
      if (end !== undefined) await this.#claim.release(end);
    } catch {}
    // A claim under way gives back its grant.
    while (attempt && end === undefined && isYoung(attempt) && !attempt.over) await sleep(LOOK_MS);
  }

  /** Starts a renewal after `WINDOW_CLOSED`. Returns the ms after which the caller looks again; 0 if a renewal does not help. */
  awaitMs(error: unknown): number {
    if (this.closed || this.lost || !(error instanceof SnowmintError) || error.code !== "WINDOW_CLOSED") return 0;
    this.renew();
    return LOOK_MS;
  }

  /** Adds to `WINDOW_CLOSED` the cause: the error of the failed renewal. */
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
    const { namespace, skewMs } = this.#terms.device ?? this.#claim;
    const { skipped, standbyRisk } = this.#claim;
    const lost = this.lost?.message ?? null;
    const renewalError =
      this.#failure === undefined ? null : String((this.#failure as Error)?.message ?? this.#failure);
    // Generators of a service read its clock.
    const errorMs = isLessor(this.#terms.store) ? 0 : skewMs;
    const disorderMs =
      errorMs === null ? null : lease().disorderMs(String(this.#terms.whole), this.#maxAheadMs, errorMs);
    const reserved = null;
    return {
      reserved,
      namespace,
      lost,
      skipped,
      renewalFailures: this.#failures,
      renewalError,
      standbyRisk,
      skewMs,
      disorderMs,
    };
  }

  get #maxAheadMs(): number {
    return Math.max(this.#terms.maxAheadMs, ...Array.from(this.#sharers, ({ spec }) => spec.maxAheadMs));
  }

  /** Returns the attempt under way, unless it is so old that it may never end. */
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

  /** Runs an attempt. With `beside` an earlier attempt still runs, and the first of the two that ends counts. */
  async #run(attempt: Attempt, beside: boolean): Promise<void> {
    const cell = this.#cell;
    try {
      if (beside) this.#claim = this.#claim.again(cell !== undefined);
      await (cell ? this.#extend(attempt, this.#claim, cell) : this.#claimNode(attempt, this.#claim));
    } catch (error) {
      attempt.error = error;
      if (attempt.turn === this.#turn) this.#fail(error);
    }
    attempt.over = true;
    if (this.#attempt === attempt) this.#attempt = undefined;
    if (attempt.turn === this.#turn && this.#sharers.size) this.#renewSoon();
  }

  #fail(error: unknown): void {
    const unsafe = error instanceof SnowmintError && error.code === "UNSAFE_STORE";
    // A store that loses writes grants no more time: the lease ends with its window.
    const over = unsafe && this.#cell && this.#claim.nowMs() >= this.window.end;
    if (!(error instanceof LostLease || over)) {
      this.#failures += 1;
      this.#failure = error;
      return;
    }
    // A page that was frozen without its lock may lose its node to another page.
    if (this.#going !== undefined) this.claimAnew();
    else this.#lose(error.message);
  }

  /** Takes the result of an attempt. Returns whether the attempt still counts. */
  #take(attempt: Attempt, claim: Claim): boolean {
    if (attempt.turn !== this.#turn) return false;
    this.#turn += 1;
    this.#claim = claim;
    this.#attempt = undefined;
    return true;
  }

  /** Drops the attempt under way. If a node is held, a copy of the claim continues with it. */
  #drop(holds: boolean): void {
    this.#turn += 1;
    if (this.#attempt) this.#claim = this.#claim.again(holds);
    this.#attempt = undefined;
  }

  async #claimNode(attempt: Attempt, claim: Claim): Promise<void> {
    const { device, vouched } = this.#terms;
    await device?.ensure(this.#maxAheadMs);
    await claim.claim();
    // Meanwhile a vouched generator of the node may have been made.
    while (vouched().includes(this.#whole(claim))) {
      await claim.release(claim.window.start);
      await claim.claim();
    }
    if (this.#take(attempt, claim)) return this.#open();
    claim.unlock();
    if (this.closed) await claim.release(claim.window.start);
  }

  async #extend(attempt: Attempt, claim: Claim, cell: State): Promise<void> {
    const failure = await this.#ensureDevice();
    if (attempt.turn !== this.#turn) return;
    // The tab part has changed: the old cell closes, because another tab may have its node.
    const other = this.#whole(claim) !== this.#node;
    const unused = other ? this.#close() : claim.unusedFromMs(cell);
    if (unused === undefined || Number.isNaN(unused)) return;
    await claim.renew(unused, this.#maxAheadMs);
    if (!this.#take(attempt, claim)) {
      // The old cell is closed, so no generator needs the lock.
      if (other) claim.unlock();
      return;
    }
    if (other) return this.#open();
    claim.openCell(cell, false, this.window);
    this.#renewed();
    if (failure !== undefined) this.#fail(failure);
  }

  /** Renews the device. Returns the error of a failed renewal if the device's window is still valid, as offline. */
  async #ensureDevice(): Promise<unknown> {
    const { device } = this.#terms;
    try {
      await device?.ensure(this.#maxAheadMs);
    } catch (error) {
      if (error instanceof LostLease || !device || device.window.end <= this.#claim.nowMs()) throw error;
      return error;
    }
  }

  /** Opens a cell for the window. Each claim has a separate cell: a closed cell stays closed. */
  #open(): void {
    const { holders, clock } = this.#terms;
    this.#node = this.#whole(this.#claim);
    this.#cell = new BigUint64Array(2);
    this.#claim.openCell(this.#cell, true, this.window);
    holders?.add(this);
    if (!clock) realm()[this.#key()] = this;
    for (const sharer of this.#sharers) this.#fill(sharer);
    this.#renewed();
  }

  /** The node of the whole layout. */
  #whole({ node }: Claim): number {
    const { device, whole } = this.#terms;
    return device ? nodeNumber(whole, { device: device.node, tab: node }) : node;
  }

  #renewed(): void {
    this.#failures = 0;
    this.#failure = undefined;
    this.#renewSoon();
  }

  /** Returns the ms that are left of the granted window. If the caller's clock fails, none: the renewal reports it. */
  #leftMs(): number {
    try {
      return this.window.end - this.#maxAheadMs - this.#claim.nowMs();
    } catch {
      return 0;
    }
  }

  #renewSoon(): void {
    clearTimeout(this.#timer);
    if (this.closed || this.lost) return;
    const { windowMs, nonce } = this.#claim;
    // The granted window may be shorter than that of the claim: the device's window may end sooner.
    const pauseMs = lease().renewalPauseMs(windowMs, this.#leftMs(), this.#failures, nonce);
    this.#timer = setTimeout(() => this.renew(), pauseMs);
    // In Node the timer keeps no process alive.
    (this.#timer as { unref?: () => void }).unref?.();
  }

  /** Closes the cell for good. Returns the start of its first unused tick, Unix ms, if the cell was open. */
  #close(): number | undefined {
    const cell = this.#cell;
    if (!cell) return;
    const unused = this.#claim.unusedFromMs(cell);
    cell[0] = 0n;
    this.#cell = undefined;
    if (realm()[this.#key()] === this) delete realm()[this.#key()];
    for (const sharer of this.#sharers) this.#fill(sharer);
    return unused;
  }

  #key(): string {
    return `${numbersOf(this.#terms.whole)},${this.#node}`;
  }

  #lose(why: string): void {
    if (this.closed || this.lost) return;
    this.lost = new SnowmintError(
      "WINDOW_CLOSED",
      `the lease of node ${this.#node} was lost: ${why}. The generator is closed: make a new one`,
    );
    this.#stay();
    clearTimeout(this.#timer);
    this.#terms.holders?.delete(this);
    this.#close();
    this.#claim.unlock();
    this.#drop(false);
    const { lost } = this;
    for (const { onLost } of this.#sharers) if (onLost) queueMicrotask(() => onLost(lost));
  }

  #fill(sharer: Sharer): void {
    const refuse = () => {
      throw this.lost ?? mint().windowOver();
    };
    const spec: CellSpec = { ...sharer.spec, node: this.#node, clock: this.#claim.clock };
    sharer.cell = this.#cell ? wasmCell(spec, this.#cell) : { next: refuse, fill: refuse };
  }
}
