// The number of this browser among those that lease from one store. The tabs of an origin share it: whoever finds its window
// short renews it, one at a time, and leaves the lease in IndexedDB for the next.
import type { Device } from "./held.js";
import { SnowmintError } from "./kit.js";
import type { Layout } from "./layout.js";
import { type Leased, LostLease, type Wanted } from "./leased.js";
import { isLessor, leasedBy } from "./lessee.js";
import type { LeaseStore } from "./store.js";

/** How long to wait for another tab that is asking the store, ms. */
const PATIENCE_MS = 10_000;

/** A layout of which only that part of the node is leased; to it the other one is anything. */
export function partOf(layout: Layout, part: "device" | "tab", parse: (text: string) => Layout): Layout {
  if ("random" in layout.fields)
    throw new SnowmintError("INVALID_LAYOUT", "a layout of device and tab that is leased has no random field");
  return parse(String(layout).replace(part === "device" ? "tab:" : "device:", "random:"));
}

/** Whether a node of that layout is a device and a tab, and nothing else. */
export function isDeviceAndTab({ fields }: Layout): boolean {
  const rest = Object.keys(fields).filter((name) => !["time", "sequence", "random"].includes(name));
  return rest.sort().join() === "device,tab";
}

/** The device of an origin. */
export class SharedDevice implements Device {
  readonly #machine: Leased;
  readonly #records: LeaseStore;
  readonly #key: string;

  constructor(wanted: Wanted, records: LeaseStore) {
    const { store } = wanted;
    this.#machine = leasedBy(wanted, () => {});
    this.#records = records;
    // What stores of records and what services leave there differs.
    this.#key = `devices/${isLessor(store) ? `${store}/` : ""}${this.#machine.namespace}`;
  }

  get node(): number {
    return this.#machine.node;
  }

  get window() {
    return this.#machine.window;
  }

  get skewMs(): number | null {
    return this.#machine.skewMs;
  }

  get namespace(): string {
    return this.#machine.namespace;
  }

  get clock(): (() => number) | undefined {
    return this.#machine.clock;
  }

  async ensure(maxAheadMs: number): Promise<void> {
    if (this.#lasts(maxAheadMs)) return;
    const signal = AbortSignal.timeout(PATIENCE_MS);
    await navigator.locks.request(`snowmint/${this.#key}`, { signal }, () => this.#renew(maxAheadMs));
  }

  /** Whether half a window is left. */
  #lasts(maxAheadMs: number): boolean {
    const { window, windowMs } = this.#machine;
    return windowMs > 0 && window.end - maxAheadMs - this.#machine.nowMs() > windowMs / 2;
  }

  async #renew(maxAheadMs: number): Promise<void> {
    const machine = this.#machine;
    const found = await this.#records.read(this.#key);
    // Another tab may have been first.
    if (found) await machine.resume(found.value);
    if (found && this.#lasts(maxAheadMs)) return;
    try {
      if (found) await machine.renew(machine.window.start, maxAheadMs);
      else await machine.claim();
    } catch (error) {
      if (!(error instanceof LostLease)) throw error;
      await machine.claim();
    }
    await this.#records.write(this.#key, machine.saved(), found?.version ?? 0);
  }
}
