// Core's machine of a lease: what it wants to know is asked of the store, and a lock where there is one.
import { Asking } from "./asking.js";
import type { SnowmintError as ErrorOfOurs } from "./errors.js";
import { bytes, core, Layout, SnowmintError, words } from "./kit.js";
import type { Layout as OneLayout } from "./layout.js";
import { Leased, LostLease, leases, refusal, type Wanted } from "./leased.js";
import type { LeaseStore } from "./store.js";

/** What the machine wants next: `Next` in `bindings/wasm/src/lease.rs`. */
const [READ_LAYOUT, WRITE_LAYOUT, LIST, CLOCK, READ, WRITE, WINDOW, WAIT, TAKEN, UNANSWERED, FAILED, LOST] = Array(
  12,
).keys() as unknown as number[];
/** How long a record is, in bytes. */
const RECORD = 124;

/** The lock of a node, while it is held. */
interface Lock {
  letGo: (() => void) | null;
}

/** A lease over a store of verbs. */
export class Machine extends Leased {
  readonly #store: Asking;
  /** Told when the lock is taken away. */
  readonly #lost: () => void;
  #claiming = false;
  /** Shared by those that go on with one lease. */
  #lock: Lock = { letGo: null };
  /** Why the last write had no answer. */
  #noAnswer: unknown;

  constructor(wanted: Wanted, store: LeaseStore, lost: () => void) {
    super(wanted, wanted.clock);
    this.#store = new Asking(store);
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
      this.node = (await this.wanted.guard?.preferred(this.wanted.layout)) ?? this.node;
      await this.#follow(this.#begin());
    } catch (error) {
      this.unlock();
      throw error;
    } finally {
      this.#claiming = false;
    }
  }

  saved(): Uint8Array {
    const { node, record } = this.#state();
    const saved = new Uint8Array(8 + RECORD);
    new DataView(saved.buffer).setFloat64(0, node);
    saved.set(record, 8);
    return saved;
  }

  /** What the store has counts: the lease may be one of another store that is called the same. */
  async resume(saved: Uint8Array): Promise<void> {
    const node = new DataView(saved.buffer, saved.byteOffset).getFloat64(0);
    const found = await this.#store.read(`leases/${this.directory}/${node}`);
    if (!found || !isHeld(found.value, saved.subarray(8)))
      throw new LostLease(`${this.#store}: node ${node} is not this browser's`);
    this.#resume(node, found.version, found.value);
  }

  again(holds: boolean): Machine {
    const other = this.tell(new Machine(this.wanted, this.#store.store, this.#lost));
    if (!holds) return other;
    const { node, version, record } = this.#state();
    other.#resume(node, version, record);
    other.skewMs = this.skewMs;
    other.#lock = this.#lock;
    return other;
  }

  renew(lastMs: number, maxAheadMs: number): Promise<void> {
    return this.#follow(leases().wasm_.renew_(this.handle, this.nowMs(), lastMs, maxAheadMs + this.windowMs));
  }

  release(endMs: number): Promise<void> {
    return this.#follow(leases().wasm_.release_(this.handle, endMs));
  }

  override unlock(): void {
    this.#lock.letGo?.();
    this.#lock.letGo = null;
  }

  #state(): { node: number; version: number; record: Uint8Array } {
    const engine = leases();
    engine.wasm_.save_(this.handle);
    const [node, version] = words(engine);
    return { node: Number(node), version: Number(version), record: bytes(engine).slice(0, RECORD) };
  }

  #resume(node: number, version: number, record: Uint8Array): void {
    if (!this.handle) this.#begin();
    if (leases().wasm_.resume_(this.handle, node, version, this.#put(record)) !== WINDOW) throw this.#told(refusal());
    this.#granted();
  }

  /** The first thing to do for a new claim. */
  #begin(): number {
    this.begin(this.wanted.windowMs, this.nowMs());
    return READ_LAYOUT!;
  }

  async #follow(next: number): Promise<void> {
    const engine = leases();
    const { wasm_ } = engine;
    const { layout, asyncWaitMs_ } = this.wanted;
    const layoutKey = `layouts/${this.directory}`;
    this.#noAnswer = undefined;
    for (const since = performance.now(); ; ) {
      switch (next) {
        case READ_LAYOUT: {
          const pinned = await this.#store.read(layoutKey);
          if (pinned) this.#refuseOther(pinned.value, layoutKey);
          next = wasm_.pinned_(this.handle, Number(pinned !== null));
          break;
        }
        case WRITE_LAYOUT: {
          const text = new TextEncoder().encode(String(layout));
          next = wasm_.pinning_(this.handle, Number((await this.#store.write(layoutKey, text, 0)) !== null));
          break;
        }
        case LIST:
          // A store that does not write is not asked for longer than the caller waits.
          if (this.#noAnswer && performance.now() - since >= asyncWaitMs_) throw this.#noAnswer;
          next = await this.#list();
          break;
        case CLOCK: {
          const storeMs = await this.#store.clockMs();
          next = wasm_.clock_(this.handle, storeMs, Date.now());
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
          throw new LostLease(`${this.#store}: ${refusal().message}`);
        default:
          return;
      }
    }
  }

  async #list(): Promise<number> {
    const { wasm_ } = leases();
    const { guard, excluded } = this.wanted;
    const prefix = `leases/${this.directory}/`;
    const records = new Map((await this.#store.list(prefix)).map((found) => [found.name, found]));
    const taken = new Set([...excluded(), ...((await guard?.held(prefix)) ?? [])]);
    const numbers = [...records.keys()].filter((name) => /^(0|[1-9]\d*)$/.test(name)).map(Number);
    const now = this.nowMs();
    this.skipped = [];
    for (const node of [...new Set([...numbers, ...taken])].sort((a, b) => a - b)) {
      if (node >= 2 ** 32) break;
      const found = records.get(String(node));
      if (!found || taken.has(node)) {
        wasm_.skip_(this.handle, node);
        continue;
      }
      const seen = wasm_.see_(this.handle, node, found.version, now, this.#put(found.value));
      if (seen < 0) throw this.#told(refusal());
      if (seen) this.skipped.push(`${this.#store}: ${prefix}${node}`);
    }
    return wasm_.seen_(this.handle, now);
  }

  /** Reads or writes the record of the node in the words. */
  async #ask(writing: boolean): Promise<number> {
    const engine = leases();
    const { wasm_ } = engine;
    const [node, version] = words(engine);
    const record = bytes(engine).slice(0, RECORD);
    const key = `leases/${this.directory}/${node}`;
    if (writing && this.#claiming && !(await this.#hold(key))) return wasm_.again_(this.handle);
    // No answer, until there is one.
    let [outcome, at, length] = [0, 0, 0];
    try {
      if (writing) {
        const written = await this.#store.write(key, record, Number(version));
        this.#noAnswer = undefined;
        [outcome, at] = written === null ? [1, 0] : [2, written];
      } else {
        const found = await this.#store.read(key);
        outcome = 3;
        if (found) [at, length] = [found.version, this.#put(found.value)];
      }
    } catch (error) {
      if (!(error instanceof SnowmintError && error.code === "STORE_UNAVAILABLE")) throw error;
      this.#noAnswer = error;
    }
    return wasm_.replied_(this.handle, outcome, at, length);
  }

  async #hold(key: string): Promise<boolean> {
    const { guard } = this.wanted;
    if (!guard) return true;
    this.unlock();
    this.#lock = { letGo: await guard.hold(key, this.#lost) };
    return this.#lock.letGo !== null;
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
      throw this.#store.unavailable(`what is at ${key} is no layout`);
    }
    if (pinned.numbers_ !== this.wanted.layout.numbers_)
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

/** Whether a record that was found is held by the holder of one that was saved. */
function isHeld(found: Uint8Array, saved: Uint8Array): boolean {
  const engine = leases();
  if (found.length + saved.length > bytes(engine).length) return false;
  bytes(engine).set(found);
  bytes(engine).set(saved, found.length);
  return engine.wasm_.is_held_(found.length, saved.length) !== 0;
}
