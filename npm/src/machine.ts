// Core's machine of a lease: what it wants to know is asked of the store, and a lock where there is one.
import { Asking } from "./asking.js";
import type { SnowmintError as ErrorOfOurs } from "./errors.js";
import { bytes, Layout, monotonicMs, Patience, SnowmintError, utf8, words } from "./kit.js";
import type { Layout as OneLayout } from "./layout.js";
import { Leased, LostLease, leases, refusal, type Wanted } from "./leased.js";
import type { LeaseStore } from "./store.js";

/** What the machine wants next: `Next` in `bindings/wasm/lease/src/lib.rs`. */
const [READ_LAYOUT, READ_FLOOR, WRITE_LAYOUT, LIST, CLOCK, READ, WRITE, WINDOW, WAIT, TAKEN, UNANSWERED, FAILED, LOST] =
  Array(13).keys() as unknown as number[];
/** How long a record is, in bytes. */
const RECORD = 124;

/** The lock of a node, while it is held, and how often it was let go of. */
interface Lock {
  letGo: (() => void) | null;
  turn: number;
}

/** A lease over a store of verbs. */
export class Machine extends Leased {
  readonly #store: Asking;
  /** Told when the lock is taken away. */
  readonly #lost: () => void;
  #claiming = false;
  /** Shared by those that go on with one lease. */
  #lock: Lock = { letGo: null, turn: 0 };
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
      await this.#store.refuseStandby();
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
    const found = await this.#store.read(this.#key(node));
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
    this.#lock.turn += 1;
  }

  override async lock(): Promise<boolean> {
    const lock = this.#lock;
    const { turn } = lock;
    const letGo = await this.wanted.guard!.hold(this.#key(this.node), this.#lost);
    if (lock.turn === turn && letGo) lock.letGo = letGo;
    else letGo?.();
    return lock.letGo !== null;
  }

  #key(node: number | bigint | undefined): string {
    return `leases/${this.directory}/${node}`;
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
    let pinned = String(layout);
    this.#noAnswer = undefined;
    const patience = new Patience();
    for (const since = monotonicMs(); ; ) {
      switch (next) {
        case READ_LAYOUT: {
          const found = await this.#store.read(layoutKey);
          pinned = found ? this.#layoutOf(found.value, layoutKey) : String(layout);
          next = wasm_.pinned_(this.handle, found?.version ?? 0, found ? this.#put(found.value) : 0);
          break;
        }
        case READ_FLOOR: {
          const floor = await this.#store.read("fence/floor");
          next = wasm_.floor_(this.handle, floor ? this.#put(floor.value) : 0);
          break;
        }
        case WRITE_LAYOUT: {
          const [length, version] = words(engine);
          const pin = String.fromCharCode(...bytes(engine).subarray(0, Number(length)));
          const text = utf8(pinned + pin);
          const [outcome, at] = await this.#write(layoutKey, text, Number(version));
          next = wasm_.pinning_(this.handle, outcome, at);
          break;
        }
        case LIST:
          // A store that does not write is not asked for longer than the caller waits.
          if (this.#noAnswer && monotonicMs() - since >= asyncWaitMs_) throw this.#noAnswer;
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
        case TAKEN:
        case FAILED: {
          const waitMs = next === WAIT ? Number(words(engine)[0]) : 1 + Math.random() * 50;
          const error = this.#told(refusal(), next === WAIT ? this.#holder() : "");
          // Another tab may let go of the only node to get.
          const mayBeFree = this.wanted.node !== undefined && this.wanted.guard && error.code === "NODES_EXHAUSTED";
          if (next === FAILED && !mayBeFree) throw error;
          const pauseMs = patience.pauseMs(asyncWaitMs_, waitMs);
          if (!pauseMs) throw error;
          await new Promise((resolve) => setTimeout(resolve, pauseMs));
          next = this.#begin();
          break;
        }
        case UNANSWERED:
          throw this.#noAnswer;
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
    return wasm_.seen_(this.handle, now, numbers.length);
  }

  /** Reads or writes the record of the node in the words. */
  async #ask(writing: boolean): Promise<number> {
    const engine = leases();
    const { wasm_ } = engine;
    const [node, version] = words(engine);
    const record = bytes(engine).slice(0, RECORD);
    const key = this.#key(node);
    if (writing && this.#claiming && !(await this.#hold(key))) return wasm_.again_(this.handle);
    if (writing) {
      const [outcome, at] = await this.#write(key, record, Number(version));
      return wasm_.replied_(this.handle, outcome, at, 0);
    }
    const [found] = await this.#answer(this.#store.read(key));
    if (found === undefined) return wasm_.replied_(this.handle, 0, 0, 0);
    return wasm_.replied_(this.handle, 3, found?.version ?? 0, found ? this.#put(found.value) : 0);
  }

  /** Writes; what came of it, as the machine takes it, and the version. */
  async #write(key: string, value: Uint8Array, expected: number): Promise<[outcome: number, at: number]> {
    const [written] = await this.#answer(this.#store.write(key, value, expected));
    if (written === undefined) return [0, 0];
    this.#noAnswer = undefined;
    return written === null ? [1, 0] : [2, written];
  }

  /** What the store answers; nothing, if it does not. */
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
    const { guard } = this.wanted;
    if (!guard) return true;
    this.unlock();
    this.#lock = { letGo: await guard.hold(key, this.#lost), turn: 0 };
    return this.#lock.letGo !== null;
  }

  /** The window in the words is durable. */
  #granted(): void {
    const [node, start, end, hasSkew, skewMs] = words(leases());
    const ms = (word: bigint | undefined) => Number(BigInt.asIntN(64, word!));
    this.node = Number(node);
    this.window = { start: ms(start), end: ms(end) };
    this.skewMs = hasSkew ? ms(skewMs) : null;
    this.standbyRisk = this.#store.standbyRisk();
  }

  /** Puts a record into the buffer; answers how long it is. */
  #put(record: Uint8Array): number {
    bytes(leases()).set(record);
    return record.length;
  }

  /** The text of the layout in a namespace's record, which has to be this one. */
  #layoutOf(record: Uint8Array, key: string): string {
    let pinned: OneLayout;
    try {
      const length = leases().wasm_.layout_len_(this.#put(record));
      pinned = Layout.parse(String.fromCharCode(...record.subarray(0, length)));
    } catch {
      throw this.#store.unavailable(`what is at ${key} is no layout`);
    }
    if (pinned.numbers_ === this.wanted.layout.numbers_) return String(pinned);
    throw new SnowmintError(
      "INVALID_LAYOUT",
      `namespace ${this.namespace} is of layout ${pinned}: use that one, or another namespace`,
    );
  }

  /** Names the holder of the node that the caller wants, if it is known. */
  #holder(): string {
    const length = leases().wasm_.holder_(this.handle);
    return length ? ` (its holder is ${new TextDecoder().decode(bytes(leases()).slice(0, length))})` : "";
  }

  /** An error of core, with what it is about. */
  #told(error: ErrorOfOurs, more = ""): ErrorOfOurs {
    return new SnowmintError(error.code, `${this.#store}, namespace ${this.namespace}: ${error.message}${more}`);
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
