// A claim over a store of records: core's machine asks, the store answers, and a lock excludes other tabs where there is one.
import { SnowmintError } from "../errors.js";
import { monotonicMs } from "../host/monotonic.js";
import { Patience } from "../patience.js";
import type { LeaseStore, Listed } from "../store.js";
import { utf8 } from "../utf8.js";
import { bytes, getText, putBytes, words } from "../wasm/engine.js";
import { CheckedStore } from "./checked-store.js";
import { Claim, LostLease, leases, refusal, type Terms } from "./claim.js";

/** The next step of the machine: `Next` in `bindings/wasm/lease/src/lib.rs`. */
const [
  READ_LAYOUT,
  READ_FLOOR,
  WRITE_LAYOUT,
  LIST,
  CLOCK,
  READ,
  WRITE,
  WINDOW,
  WAIT,
  TAKEN,
  UNANSWERED,
  FAILED,
  LOST,
  NO_LAYOUT,
  ANOTHER_LAYOUT,
] = Array(15).keys() as unknown as number[];
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
  /** Called when another tab takes the lock away. */
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
    const { node, record } = this.#state();
    const saved = new Uint8Array(8 + RECORD);
    new DataView(saved.buffer).setFloat64(0, node);
    saved.set(record, 8);
    return saved;
  }

  /** Compares the saved record with the record in the store: another store may have the same name. */
  async resume(saved: Uint8Array): Promise<void> {
    const node = new DataView(saved.buffer, saved.byteOffset).getFloat64(0);
    const found = await this.#store.read(this.#key(node));
    if (!found || !isHeld(found.value, saved.subarray(8)))
      throw new LostLease(`${this.#store}: node ${node} is not this browser's`);
    this.#resume(node, found.version, found.value);
  }

  again(holds: boolean): StoreClaim {
    const other = this.tell(new StoreClaim(this.terms, this.#store.store, this.#lost));
    if (!holds) return other;
    const { node, version, record } = this.#state();
    other.#resume(node, version, record);
    other.skewMs = this.skewMs;
    other.#lock = this.#lock;
    return other;
  }

  renew(lastMs: number, maxAheadMs: number): Promise<void> {
    return this.#follow(leases().wasm.renew(this.handle, this.nowMs(), lastMs, maxAheadMs + this.windowMs));
  }

  release(endMs: number): Promise<void> {
    return this.#follow(leases().wasm.release(this.handle, endMs));
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

  #key(node: number | bigint | undefined): string {
    return `leases/${this.directory}/${node}`;
  }

  #state(): { node: number; version: number; record: Uint8Array } {
    const engine = leases();
    engine.wasm.save(this.handle);
    const [node, version] = words(engine);
    return { node: Number(node), version: Number(version), record: bytes(engine).slice(0, RECORD) };
  }

  #resume(node: number, version: number, record: Uint8Array): void {
    if (!this.handle) this.#begin();
    if (leases().wasm.resume(this.handle, node, version, this.#put(record)) !== WINDOW) throw this.#told(refusal());
    this.#granted();
  }

  /** Starts a new claim. Returns its first step. */
  #begin(): number {
    this.begin(this.terms.windowMs, this.nowMs());
    return READ_LAYOUT!;
  }

  async #follow(next: number): Promise<void> {
    const engine = leases();
    const { wasm } = engine;
    const { asyncWaitMs } = this.terms;
    const layoutKey = `layouts/${this.directory}`;
    this.#noAnswer = undefined;
    const patience = new Patience();
    for (const since = monotonicMs(); ; ) {
      switch (next) {
        case READ_LAYOUT: {
          const found = await this.#store.read(layoutKey);
          const name = utf8(this.namespace);
          if (found) putBytes(engine, new Uint8Array([...name, ...found.value]));
          next = wasm.pinned(this.handle, found?.version ?? 0, name.length, found?.value.length ?? 0);
          break;
        }
        case READ_FLOOR: {
          const floor = await this.#store.read("fence/floor");
          next = wasm.floor(this.handle, floor ? this.#put(floor.value) : 0);
          break;
        }
        case WRITE_LAYOUT: {
          const [length, version] = words(engine);
          const record = bytes(engine).slice(0, Number(length));
          const [outcome, at] = await this.#write(layoutKey, record, Number(version));
          next = wasm.pinning(this.handle, outcome, at);
          break;
        }
        case LIST:
          // A store that confirms no write is asked no longer than the caller waits.
          if (this.#noAnswer && monotonicMs() - since >= asyncWaitMs) throw this.#noAnswer;
          next = (await this.#list())();
          break;
        case CLOCK: {
          const storeMs = await this.#store.clockMs();
          next = wasm.clock(this.handle, storeMs, Date.now());
          break;
        }
        case READ:
        case WRITE:
          next = (await this.#ask(next === WRITE))();
          break;
        case WINDOW:
          return this.#granted();
        case WAIT:
        case TAKEN:
        case FAILED: {
          const waitMs = next === WAIT ? Number(words(engine)[0]) : 1 + Math.random() * 50;
          const error = this.#told(refusal(), next === WAIT ? this.#holder() : "", next === WAIT ? waitMs : 0);
          // Another tab may release the only node that this claim can get.
          const mayBeFree = this.terms.node !== undefined && this.terms.guard && error.code === "NODES_EXHAUSTED";
          if (next === FAILED && !mayBeFree) throw error;
          const pauseMs = patience.pauseMs(asyncWaitMs, waitMs);
          if (!pauseMs) throw error;
          await new Promise((resolve) => setTimeout(resolve, pauseMs));
          next = this.#begin();
          break;
        }
        case UNANSWERED:
          throw this.#noAnswer;
        case NO_LAYOUT:
        case ANOTHER_LAYOUT: {
          const sentence = `${this.#store}: ${getText(engine, Number(words(engine)[0]))}`;
          throw new SnowmintError(next === NO_LAYOUT ? "INVALID_STORE" : "INVALID_LAYOUT", sentence);
        }
        case LOST:
          throw new LostLease(`${this.#store}: ${refusal().message}`);
        default:
          return;
      }
    }
  }

  /** Lists the nodes. Returns the call that passes them on, as `#ask`. */
  async #list(): Promise<() => number> {
    const { guard, excluded } = this.terms;
    const prefix = `leases/${this.directory}/`;
    const records = new Map((await this.#store.list(prefix)).map((found) => [found.name, found]));
    const taken = new Set([...excluded(), ...((await guard?.held(prefix)) ?? [])]);
    return () => this.#see(records, taken);
  }

  /** Passes the nodes on. Returns the next step. */
  #see(records: ReadonlyMap<string, Listed>, taken: ReadonlySet<number>): number {
    const { wasm } = leases();
    const numbers = [...records.keys()].filter((name) => /^(0|[1-9]\d*)$/.test(name)).map(Number);
    const now = this.nowMs();
    this.skipped = [];
    for (const node of [...new Set([...numbers, ...taken])].sort((a, b) => a - b)) {
      if (node >= 2 ** 32) break;
      const found = records.get(String(node));
      if (!found || taken.has(node)) {
        wasm.skip(this.handle, node);
        continue;
      }
      const seen = wasm.see(this.handle, node, found.version, now, this.#put(found.value));
      if (seen < 0) throw this.#told(refusal());
      if (seen) this.skipped.push(`${this.#store}: leases/${this.directory}/${node}`);
    }
    return wasm.seen(this.handle, now, numbers.length);
  }

  /**
   * Reads or writes the record of the node that stands in the words. Returns the call that passes the answer on and returns the
   * next step. The caller makes it when it goes on: all leases of this realm share the buffer, and what the call leaves there
   * for the next step must not wait until another lease has had its turn.
   */
  async #ask(writing: boolean): Promise<() => number> {
    const engine = leases();
    const { wasm } = engine;
    const [node, version] = words(engine);
    const record = bytes(engine).slice(0, RECORD);
    const key = this.#key(node);
    if (writing && this.#claiming && !(await this.#hold(key))) return () => wasm.again(this.handle);
    if (writing) {
      const [outcome, at] = await this.#write(key, record, Number(version));
      return () => wasm.replied(this.handle, outcome, at, 0);
    }
    const [found] = await this.#answer(this.#store.read(key));
    if (found === undefined) return () => wasm.replied(this.handle, 0, 0, 0);
    return () => wasm.replied(this.handle, 3, found?.version ?? 0, found ? this.#put(found.value) : 0);
  }

  /** Writes a record. Returns the outcome, as the machine numbers it, and the version. */
  async #write(key: string, value: Uint8Array, expected: number): Promise<[outcome: number, at: number]> {
    const [written] = await this.#answer(this.#store.write(key, value, expected));
    if (written === undefined) return [0, 0];
    this.#noAnswer = undefined;
    return written === null ? [1, 0] : [2, written];
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

  /** Takes the durable window from the words. */
  #granted(): void {
    const [node, start, end, hasSkew, skewMs] = words(leases());
    const ms = (word: bigint | undefined) => Number(BigInt.asIntN(64, word!));
    this.node = Number(node);
    this.window = { start: ms(start), end: ms(end) };
    this.skewMs = hasSkew ? ms(skewMs) : null;
    this.standbyRisk = this.#store.standbyRisk();
  }

  /** Puts a record into the buffer, and returns its length. */
  #put(record: Uint8Array): number {
    return putBytes(leases(), record);
  }

  /** Returns the holder of the wanted node as a part of a sentence; empty if the holder is unknown. */
  #holder(): string {
    const length = leases().wasm.holder(this.handle);
    return length ? ` (its holder is ${new TextDecoder().decode(bytes(leases()).slice(0, length))})` : "";
  }

  /** Adds the store and the namespace to an error of core. */
  #told(error: SnowmintError, more = "", retryAfterMs = 0): SnowmintError {
    const sentence = `${this.#store}, namespace ${this.namespace}: ${error.message}${more}`;
    return new SnowmintError(error.code, sentence, retryAfterMs);
  }
}

/** Returns whether two records have the same holder. */
function isHeld(found: Uint8Array, saved: Uint8Array): boolean {
  const engine = leases();
  if (found.length + saved.length > bytes(engine).length) return false;
  bytes(engine).set(found);
  bytes(engine).set(saved, found.length);
  return engine.wasm.is_held(found.length, saved.length) !== 0;
}
