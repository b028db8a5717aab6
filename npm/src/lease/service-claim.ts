// A claim on a node of a service. The service decides on windows by its clock, and the generators use that clock.
import { SnowmintError } from "../errors.js";
import { monotonicMs, Patience } from "../generator/waiting.js";
import { lease } from "../wasm/lease.js";
import { Claim, LostLease, type Terms } from "./claim.js";
import { onlyNode } from "./nodes.js";
import type { Grant, LeaseStore, Lessor } from "./store.js";
import { StoreClaim } from "./store-claim.js";

/** Returns whether the store is a service that leases, and not a store of records. */
export function isLessor(store: unknown): store is Lessor {
  const { claim, renew, release } = Object(store) as Partial<Lessor>;
  return [claim, renew, release].every((verb) => typeof verb === "function");
}

/** Makes the claim for a service or a store. `lost` is called when another tab takes the lock. */
export function claimOf(wanted: Terms, lost: () => void): Claim {
  const { store } = wanted;
  return isLessor(store) ? new ServiceClaim(wanted, store) : new StoreClaim(wanted, store as LeaseStore, lost);
}

/**
 * The clock of a service, computed from the monotonic clock of this host; the wall clock of this host does not matter. It is
 * ahead of the service's clock by at most the time of a request. After this machine slept, it is behind until the next answer.
 */
class ServiceClock {
  /** How far the service's clock is ahead of the monotonic clock, µs. */
  #aheadUs: number | undefined;
  #heardMs = NaN;

  /** Unix ms; NaN before the first answer. */
  readonly read = (): number => (this.#aheadUs ?? NaN) / 1000 + monotonicMs();

  /** The ms since the last answer of the service. */
  get silentMs(): number {
    return monotonicMs() - this.#heardMs;
  }

  /** Adjusts the clock by an answer: the service's clock showed `serviceMs` at some time after the request was sent. */
  hear(serviceMs: number, sentMs: number): void {
    this.#heardMs = monotonicMs();
    this.#aheadUs = lease().lessorAheadUs(this.#aheadUs, serviceMs, sentMs * 1000, this.#heardMs * 1000);
  }
}

/** A lease of a service. */
class ServiceClaim extends Claim {
  readonly #lessor: Lessor;
  readonly #clock: ServiceClock;
  /** The nonce of the lease that is held, and the nonce of a claim without an answer yet. */
  #nonce = "";
  #claiming: string | undefined;

  constructor(wanted: Terms, lessor: Lessor, clock = new ServiceClock()) {
    super(wanted, clock.read);
    this.#clock = clock;
    this.#lessor = lessor;
  }

  /** Returns NaN if the last answer is older than a window, because the monotonic clock may have stopped since then. */
  nowMs(): number {
    return this.#clock.silentMs <= this.windowMs ? Math.floor(this.#clock.read()) : NaN;
  }

  async claim(): Promise<void> {
    const { layout, windowMs, maxAheadMs, label, asyncWaitMs, excluded } = this.terms;
    const node = onlyNode(this.terms.nodes);
    const nodes = node === undefined ? this.terms.nodes : undefined;
    const lastNode = this.node < 0 ? undefined : this.node;
    for (const patience = new Patience(); ; ) {
      // The service may have granted an earlier claim whose answer was lost: the same nonce gets the same grant.
      const nonce = (this.#claiming ??= newNonce());
      const exclude = excluded();
      const terms = { nonce, layout: String(layout), windowMs, maxAheadMs, label, node, nodes, lastNode, exclude };
      try {
        const granted = await this.#hear(this.#lessor.claim(this.directory, terms));
        this.begin(granted.windowMs, granted.serviceMs);
        this.#nonce = nonce;
        this.#claiming = undefined;
        return this.#take(granted);
      } catch (error) {
        const pauseMs = patience.pauseMs(asyncWaitMs, waitMs(error));
        if (!pauseMs) throw error;
        await new Promise((resolve) => setTimeout(resolve, pauseMs));
      }
    }
  }

  async renew(lastMs: number, maxAheadMs: number): Promise<void> {
    const { windowMs } = this.machine!;
    const terms = { nonce: this.#nonce, unusedFromMs: lastMs, windowMs, maxAheadMs };
    try {
      const granted = await this.#hear(this.#lessor.renew(this.directory, this.node, terms));
      this.#take(granted);
      // The service may have shortened it, and its answer does not say the length.
      const grantedMs = granted.window.end - maxAheadMs - granted.serviceMs;
      this.windowMs = Math.max(0, Math.min(windowMs, grantedMs));
    } catch (error) {
      if (error instanceof SnowmintError && error.code === "WINDOW_CLOSED") throw new LostLease(error.message);
      throw error;
    }
  }

  release(endMs: number): Promise<void> {
    return this.#lessor.release(this.directory, this.node, { nonce: this.#nonce, unusedFromMs: endMs });
  }

  saved(): Uint8Array {
    const { node, window } = this;
    return new TextEncoder().encode(JSON.stringify({ nonce: this.#nonce, node, window }));
  }

  async resume(saved: Uint8Array): Promise<void> {
    const { nonce, node, window } = JSON.parse(String.fromCharCode(...saved));
    // Renewals ask for the length of this tab, also if the tab that saved the lease had another.
    if (!this.machine) this.begin(this.terms.windowMs, window.start);
    Object.assign(this, { node, window });
    this.#nonce = nonce;
  }

  again(): ServiceClaim {
    const other = this.tell(new ServiceClaim(this.terms, this.#lessor, this.#clock));
    other.machine = this.machine;
    other.#nonce = this.#nonce;
    other.#claiming = this.#claiming;
    return other;
  }

  #take({ node, window }: Grant): void {
    this.node = node;
    this.window = window;
  }

  /** Waits for the answer, and sets the clock by it. */
  async #hear<T extends Grant>(answer: Promise<T>): Promise<T> {
    const sentMs = monotonicMs();
    const granted = await answer;
    this.#clock.hear(granted.serviceMs, sentMs);
    this.skewMs = Math.round(Date.now() - this.#clock.read());
    return granted;
  }
}

function newNonce(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Returns the ms after which a refused claim can succeed; 0 if waiting does not help. */
function waitMs(error: unknown): number {
  return error instanceof SnowmintError && error.code === "NODES_EXHAUSTED" ? (error.retryAfterMs ?? 0) : 0;
}
