// The number of this browser among all browsers that lease from a store. The tabs of an origin share it: a tab that finds its
// window short renews it, one tab at a time, and saves the lease in IndexedDB for the next tab.
import { SnowmintError } from "../errors.js";
import { Layout } from "../layout/layout.js";
import { CheckedStore } from "../lease/checked-store.js";
import { type Claim, LostLease, type Terms } from "../lease/claim.js";
import type { Device } from "../lease/holder.js";
import { claimOf, isLessor } from "../lease/service-claim.js";
import type { LeaseStore } from "../lease/store.js";

/** Returns the layout in which only this part of the node is leased; the other part counts as random bits. */
export function partOf(layout: Layout, part: "device" | "tab"): Layout {
  if ("random" in layout.fields)
    throw new SnowmintError("INVALID_LAYOUT", "a layout of device and tab that is leased has no random field");
  return Layout.parse(String(layout).replace(part === "device" ? "tab:" : "device:", "random:"));
}

/** Returns whether a node of the layout consists of a device and a tab. */
export function isDeviceAndTab({ fields }: Layout): boolean {
  const rest = Object.keys(fields).filter((name) => !["time", "sequence", "random"].includes(name));
  return rest.sort().join() === "device,tab";
}

/** The device of an origin. */
export class SharedDevice implements Device {
  readonly #terms: Terms;
  readonly #claim: Claim;
  readonly #records: CheckedStore;
  readonly #key: string;

  constructor(terms: Terms, records: LeaseStore) {
    const { store, nodes = "" } = terms;
    this.#terms = terms;
    this.#claim = claimOf(terms, () => {});
    this.#records = new CheckedStore(records);
    // Stores and services save different states. A service is known by its URL; several stores may have the same name.
    // Tabs that ask for a certain device do not share the device of tabs that take any device.
    this.#key = `devices/${isLessor(store) ? "" : "records/"}${store}/${this.#claim.namespace}${nodes && `/${nodes}`}`;
  }

  get node(): number {
    return this.#claim.node;
  }

  get window() {
    return this.#claim.window;
  }

  get skewMs(): number | null {
    return this.#claim.skewMs;
  }

  get namespace(): string {
    return this.#claim.namespace;
  }

  get clock(): (() => number) | undefined {
    return this.#claim.clock;
  }

  async ensure(maxAheadMs: number): Promise<void> {
    if (this.#lasts(maxAheadMs)) return;
    const renew = () => this.#renew(maxAheadMs);
    // A free lock is taken at once, however short the wait may be.
    if (!(await this.#locked({ ifAvailable: true }, renew))) await this.#locked(this.#patience(), renew);
  }

  /** Runs `work` under the lock of all tabs. Returns false if another tab has the lock. */
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

  /** Returns the caller's wait as lock options, within the range of timers. */
  #patience(): { signal: AbortSignal } {
    return { signal: AbortSignal.timeout(Math.min(this.#terms.asyncWaitMs, 2 ** 31 - 1)) };
  }

  /** Makes the error of a lock that this tab did not get. */
  #refusal(cause: unknown): SnowmintError {
    const isLate = (cause as Error)?.name === "TimeoutError";
    const why = isLate
      ? `another tab is asking ${this.#terms.store} for the device of this browser, and has not ended within ` +
        `${this.#terms.asyncWaitMs} ms: it may be frozen. Try again, or pass a longer maxWaitMs`
      : `Web Locks are refused (${cause}), and tabs share a device by them: use new Snowflake({ node }) with a node that ` +
        "no other generator of this layout uses";
    const error = new SnowmintError(isLate ? "STORE_UNAVAILABLE" : "INVALID_STORE", why);
    error.cause = cause;
    return error;
  }

  /** Returns whether more than half a window is left. */
  #lasts(maxAheadMs: number): boolean {
    const { window, windowMs } = this.#claim;
    return windowMs > 0 && window.end - maxAheadMs - this.#claim.nowMs() > windowMs / 2;
  }

  async #renew(maxAheadMs: number): Promise<void> {
    const claim = this.#claim;
    const found = await this.#records.read(this.#key);
    if (found) await this.#resume(found.value);
    // Another tab may have renewed it.
    if (found && this.#lasts(maxAheadMs)) return;
    try {
      // If the records of the origin were deleted, the records of tabs are gone too: claim a device without tabs.
      if (found && claim.node >= 0) await claim.renew(claim.window.start, maxAheadMs);
      else await claim.claim();
    } catch (error) {
      if (!(error instanceof LostLease)) throw error;
      await claim.claim();
    }
    await this.#records.write(this.#key, claim.saved(), found?.version ?? 0);
  }

  /** Continues the device that a tab has saved, if it belongs to this store; otherwise the device of this tab. */
  async #resume(saved: Uint8Array): Promise<void> {
    try {
      await this.#claim.resume(saved);
    } catch (error) {
      if (!(error instanceof LostLease)) throw error;
    }
  }
}
