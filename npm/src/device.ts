// The number of this browser among those that lease from one store. The tabs of an origin share it: whoever finds its window
// short renews it, one at a time, and leaves the lease in IndexedDB for the next.
import { Asking } from "./asking.js";
import type { SnowmintError as ErrorOfOurs } from "./errors.js";
import type { Device } from "./held.js";
import { SnowmintError } from "./kit.js";
import type { Layout } from "./layout.js";
import { type Leased, LostLease, type Wanted } from "./leased.js";
import { isLessor, leasedBy } from "./lessee.js";
import type { LeaseStore } from "./store.js";

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
  readonly #wanted: Wanted;
  readonly #machine: Leased;
  readonly #records: Asking;
  readonly #key: string;

  constructor(wanted: Wanted, records: LeaseStore) {
    const { store } = wanted;
    this.#wanted = wanted;
    this.#machine = leasedBy(wanted, () => {});
    this.#records = new Asking(records);
    // What stores of records and what services leave there differs. A service is known by its URL; of stores of records
    // several may be called the same.
    this.#key = `devices/${isLessor(store) ? "" : "records/"}${store}/${this.#machine.namespace}`;
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
    const renew = () => this.#renew(maxAheadMs);
    // One that is free is had at once, however short the wait may be.
    if (!(await this.#locked({ ifAvailable: true }, renew))) await this.#locked(this.#patience(), renew);
  }

  /** Does it while no other tab does; false if another one does now. */
  async #locked(options: LockOptions, work: () => Promise<void>): Promise<boolean> {
    let begun = false;
    try {
      await navigator.locks.request(`snowmint/${this.#key}`, options, async (lock) => {
        if (!lock) return;
        begun = true;
        await work();
      });
    } catch (error) {
      throw begun ? error : this.#refusal(error);
    }
    return begun;
  }

  /** The caller's wait; more than timers take would be none. */
  #patience(): { signal: AbortSignal } {
    return { signal: AbortSignal.timeout(Math.min(this.#wanted.asyncWaitMs_, 2 ** 31 - 1)) };
  }

  /** The error of a lock that was not had. */
  #refusal(cause: unknown): ErrorOfOurs {
    const why =
      (cause as Error)?.name === "TimeoutError"
        ? `another tab is asking ${this.#wanted.store} for the device of this browser, and has not ended within ` +
          `${this.#wanted.asyncWaitMs_} ms: it may be frozen. Try again, or pass a longer maxWaitMs`
        : `Web Locks are refused (${cause}), and tabs share a device by them: use new Snowflake({ node }) with a node that ` +
          "no other generator of this layout uses";
    const error = new SnowmintError("STORE_UNAVAILABLE", why);
    error.cause = cause;
    return error;
  }

  /** Whether half a window is left. */
  #lasts(maxAheadMs: number): boolean {
    const { window, windowMs } = this.#machine;
    return windowMs > 0 && window.end - maxAheadMs - this.#machine.nowMs() > windowMs / 2;
  }

  async #renew(maxAheadMs: number): Promise<void> {
    const machine = this.#machine;
    const found = await this.#records.read(this.#key);
    if (found) await this.#resume(found.value);
    // Another tab may have been first.
    if (found && this.#lasts(maxAheadMs)) return;
    try {
      // Where the records of the origin were deleted, those of tabs are gone too, so it takes a device without tabs.
      if (found && machine.node >= 0) await machine.renew(machine.window.start, maxAheadMs);
      else await machine.claim();
    } catch (error) {
      if (!(error instanceof LostLease)) throw error;
      await machine.claim();
    }
    await this.#records.write(this.#key, machine.saved(), found?.version ?? 0);
  }

  /** Goes on with what a tab has saved, if it is a device of this store; or else with its own, if it has one. */
  async #resume(saved: Uint8Array): Promise<void> {
    try {
      await this.#machine.resume(saved);
    } catch (error) {
      if (!(error instanceof LostLease)) throw error;
    }
  }
}
