// A claim over a store of records: core's machine asks, the store answers, and a lock excludes other tabs where there is one.
import { type ErrorCode, SnowmintError } from "../errors.js";
import { monotonicMs, Patience } from "../generator/waiting.js";
import { lease, type Step, type WasmLease } from "../wasm/lease.js";
import { CheckedStore } from "./checked-store.js";
import { Claim, LostLease, type Terms } from "./claim.js";
import { onlyNode } from "./nodes.js";
import type { LeaseStore, Listed } from "./store.js";

/** The bytes of a record. */
const RECORD = 124;

/** The lock of a node, while it is held, and how often it was released. */
interface Lock {
  letGo: (() => void) | null;
  turn: number;
}

/** A claim over a store of records. */
export class StoreClaim extends Claim {
  readonly #store: CheckedStore;
  /** Called when another tab takes the lock. */
  readonly #lost: () => void;
  #claiming = false;
  /** Shared by all copies of a claim. */
  #lock: Lock = { letGo: null, turn: 0 };
  /** The error of the last write without an answer. */
  #noAnswer: unknown;

  constructor(wanted: Terms, store: LeaseStore, lost: () => void) {
    super(wanted, wanted.clock);
    this.#store = new CheckedStore(store);
    this.#lost = lost;
  }

  nowMs(): number {
    const ms = this.clock?.() ?? Date.now();
    if (Number.isFinite(ms)) return Math.floor(ms);
    throw new TypeError(`a clock gives Unix ms, not ${String(ms)}`);
  }

  async claim(): Promise<void> {
    this.#claiming = true;
    try {
      await this.#store.refuseStandby();
      this.node = (await this.terms.guard?.preferred(this.terms.layout)) ?? this.node;
      await this.#follow(this.#begin());
    } catch (error) {
      this.unlock();
      throw error;
    } finally {
      this.#claiming = false;
    }
  }

  saved(): Uint8Array {
    const { node, record } = this.#saved();
    const saved = new Uint8Array(8 + RECORD);
    new DataView(saved.buffer).setFloat64(0, node);
    saved.set(record, 8);
    return saved;
  }

  /** Compares the saved record with the record in the store: another store may have the same name. */
  async resume(saved: Uint8Array): Promise<void> {
    const node = new DataView(saved.buffer, saved.byteOffset).getFloat64(0);
    const found = await this.#store.read(this.#key(node));
    if (!found || !lease().isHeld(found.value, saved.subarray(8)))
      throw new LostLease(`${this.#store}: node ${node} is not this browser's`);
    this.#resume(node, found.version, found.value);
  }

  again(holds: boolean): StoreClaim {
    const other = this.tell(new StoreClaim(this.terms, this.#store.store, this.#lost));
    if (!holds) return other;
    const { node, version, record } = this.#saved();
    other.#resume(node, version, record);
    other.skewMs = this.skewMs;
    other.#lock = this.#lock;
    return other;
  }

  renew(lastMs: number, maxAheadMs: number): Promise<void> {
    return this.#follow(this.#lease.renew(this.nowMs(), lastMs, maxAheadMs + this.windowMs));
  }

  release(endMs: number): Promise<void> {
    return this.#follow(this.#lease.release(endMs));
  }

  override unlock(): void {
    this.#lock.letGo?.();
    this.#lock.letGo = null;
    this.#lock.turn += 1;
  }

  override async lock(): Promise<boolean> {
    const lock = this.#lock;
    const { turn } = lock;
    const letGo = await this.terms.guard!.hold(this.#key(this.node), this.#lost);
    if (lock.turn === turn && letGo) lock.letGo = letGo;
    else letGo?.();
    return lock.letGo !== null;
  }

  #key(node: number): string {
    return `leases/${this.directory}/${node}`;
  }

  /** Core's machine, made when first used. */
  get #lease(): WasmLease {
    return this.machine ?? this.begin(this.terms.windowMs, this.nowMs());
  }

  #saved(): { node: number; version: number; record: Uint8Array } {
    const step = this.#lease.save();
    return step.kind === "write" ? step : { node: this.node, version: 0, record: new Uint8Array(RECORD) };
  }

  #resume(node: number, version: number, record: Uint8Array): void {
    const step = this.#lease.resume(node, record, version);
    if (step.kind !== "window") throw step.kind === "failed" ? this.#failed(step.error) : step;
    this.#granted(step);
  }

  /** Starts a new claim. Returns its first step. */
  #begin(): Step {
    this.begin(this.terms.windowMs, this.nowMs());
    return { kind: "readLayout" };
  }

  async #follow(first: Step): Promise<void> {
    const { asyncWaitMs } = this.terms;
    const layoutKey = `layouts/${this.directory}`;
    this.#noAnswer = undefined;
    const patience = new Patience();
    const since = monotonicMs();
    for (let step = first; ; ) {
      switch (step.kind) {
        case "readLayout": {
          const found = await this.#store.read(layoutKey);
          step = this.#lease.pinned(this.namespace, found?.value, found?.version ?? 0);
          break;
        }
        case "readFloor":
          step = this.#lease.floor((await this.#store.read("fence/floor"))?.value);
          break;
        case "writeLayout":
          step = this.#lease.pinning(await this.#write(layoutKey, step.record, step.version));
          break;
        case "list":
          // A store that confirms no write is asked no longer than the caller waits.
          if (this.#noAnswer && monotonicMs() - since >= asyncWaitMs) throw this.#noAnswer;
          step = await this.#list();
          break;
        case "clock": {
          const storeMs = await this.#store.clockMs();
          step = this.#lease.clock(Number.isNaN(storeMs) ? undefined : storeMs, Date.now());
          break;
        }
        case "read":
          step = await this.#read(step.node);
          break;
        case "write":
          step = await this.#writeNode(step);
          break;
        case "window":
          return this.#granted(step);
        case "wait":
        case "taken":
        case "failed": {
          const waitMs = step.kind === "wait" ? step.waitMs : 1 + Math.random() * 50;
          const isBusy = step.kind === "wait";
          const error = this.#failed(step.error, isBusy ? this.#holder() : "", isBusy ? waitMs : 0);
          // Another tab may release the only node that this claim can get.
          const mayBeFree =
            onlyNode(this.terms.nodes) !== undefined && this.terms.guard && error.code === "NODES_EXHAUSTED";
          if (step.kind === "failed" && !mayBeFree) throw error;
          const pauseMs = patience.pauseMs(asyncWaitMs, waitMs);
          if (!pauseMs) throw error;
          await new Promise((resolve) => setTimeout(resolve, pauseMs));
          step = this.#begin();
          break;
        }
        case "unanswered":
          throw this.#noAnswer;
        case "refused":
          throw new SnowmintError(step.code as ErrorCode, `${this.#store}: ${step.message}`);
        case "lost":
          throw new LostLease(`${this.#store}: ${step.error.message}`);
        default:
          return;
      }
    }
  }

  /** Lists the nodes, and passes them on. Returns the next step. */
  async #list(): Promise<Step> {
    const { guard, excluded } = this.terms;
    const prefix = `leases/${this.directory}/`;
    const records = new Map((await this.#store.list(prefix)).map((found) => [found.name, found]));
    const taken = new Set([...excluded(), ...((await guard?.held(prefix)) ?? [])]);
    const numbers = [...records.keys()].filter((name) => /^(0|[1-9]\d*)$/.test(name)).map(Number);
    const now = this.nowMs();
    this.skipped = [];
    for (const node of [...new Set([...numbers, ...taken])].sort((a, b) => a - b)) {
      if (node >= 2 ** 32) break;
      const found = records.get(String(node));
      if (!found || taken.has(node)) this.#lease.skip(node);
      else if (!this.#see(node, found, now)) this.skipped.push(`${this.#store}: leases/${this.directory}/${node}`);
    }
    return this.#lease.seen(now, numbers.length);
  }

  /** Passes a node on. Returns whether it has a record. */
  #see(node: number, { value, version }: Listed, now: number): boolean {
    try {
      return this.#lease.see(node, value, version, now);
    } catch (error) {
      throw this.#failed(error as Error);
    }
  }

  async #read(node: number): Promise<Step> {
    const [found] = await this.#answer(this.#store.read(this.#key(node)));
    return found === undefined ? this.#lease.written(undefined) : this.#lease.read(found?.value, found?.version ?? 0);
  }

  async #writeNode({ node, record, version }: { node: number; record: Uint8Array; version: number }): Promise<Step> {
    const key = this.#key(node);
    if (this.#claiming && !(await this.#hold(key))) return this.#lease.again();
    return this.#lease.written(await this.#write(key, record, version));
  }

  /** Writes a record. Returns its version; null if the store has another version, undefined if it did not answer. */
  async #write(key: string, value: Uint8Array, expected: number): Promise<number | null | undefined> {
    const [written] = await this.#answer(this.#store.write(key, value, expected));
    if (written !== undefined) this.#noAnswer = undefined;
    return written;
  }

  /** Returns the answer of the store; an empty list if the store did not answer. */
  async #answer<T>(asked: Promise<T>): Promise<[T?]> {
    try {
      return [await asked];
    } catch (error) {
      if (!(error instanceof SnowmintError && error.code === "STORE_UNAVAILABLE")) throw error;
      this.#noAnswer = error;
      return [];
    }
  }

  async #hold(key: string): Promise<boolean> {
    const { guard } = this.terms;
    if (!guard) return true;
    this.unlock();
    this.#lock = { letGo: await guard.hold(key, this.#lost), turn: 0 };
    return this.#lock.letGo !== null;
  }

  /** Takes the durable window. */
  #granted({ node, start, end, skewMs }: { node: number; start: number; end: number; skewMs: number | null }): void {
    this.node = node;
    this.window = { start, end };
    this.skewMs = skewMs;
    this.standbyRisk = this.#store.standbyRisk();
  }

  /** Returns the holder of the wanted node as a part of a message; empty if the holder is unknown. */
  #holder(): string {
    const holder = this.#lease.holder();
    return holder ? ` (its holder is ${holder})` : "";
  }

  /** Adds the store and the namespace to an error of core. */
  #failed(error: Error, more = "", retryAfterMs = 0): SnowmintError {
    const message = `${this.#store}, namespace ${this.namespace}: ${error.message}${more}`;
    return new SnowmintError((error as SnowmintError).code, message, retryAfterMs);
  }
}
