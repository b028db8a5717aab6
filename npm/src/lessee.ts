// A lease of a service, which decides of windows by its own clock; the generators go by that clock.
import { monotonicMs, Patience, SnowmintError, utf8 } from "./kit.js";
import { Leased, LostLease, type Wanted } from "./leased.js";
import { Machine } from "./machine.js";
import type { Granted, LeaseStore, Lessor } from "./store.js";

/** Whether that is a service that leases, rather than a store of records. */
export function isLessor(store: unknown): store is Lessor {
  const { claim, renew, release } = Object(store) as Partial<Lessor>;
  return [claim, renew, release].every((verb) => typeof verb === "function");
}

/** A lease over either; `lost` is told when a lock is taken away. */
export function leasedBy(wanted: Wanted, lost: () => void): Leased {
  const { store } = wanted;
  return isLessor(store) ? new Lessee(wanted, store) : new Machine(wanted, store as LeaseStore, lost);
}

/**
 * The clock of a service, told by the monotonic one of this host: whatever the wall clock here shows is of no account. It is
 * never ahead of the service's by more than a request took, and behind by a sleep of the machine until the next answer.
 */
class ServiceClock {
  #aheadMs = NaN;
  #heardMs = NaN;

  /** Unix ms; NaN before the first answer. */
  readonly read = (): number => this.#aheadMs + monotonicMs();

  /** For how long nothing has been heard, ms. */
  get silentMs(): number {
    return monotonicMs() - this.#heardMs;
  }

  /** Takes in what the service's clock showed at some time between that of the monotonic one and now. */
  hear(serviceMs: number, sentMs: number): void {
    this.#heardMs = monotonicMs();
    const [least, most] = [serviceMs - this.#heardMs, serviceMs - sentMs];
    // What is known stays as far as it fits, so that answers that took long make no steps.
    const known = Number.isNaN(this.#aheadMs) ? least : this.#aheadMs;
    this.#aheadMs = Math.min(Math.max(known, least), most);
  }
}

/** A lease of a service. */
class Lessee extends Leased {
  readonly #lessor: Lessor;
  readonly #clock: ServiceClock;
  /** That of the lease that is held, and that of a claim that was not answered. */
  #nonce = "";
  #claiming: string | undefined;

  constructor(wanted: Wanted, lessor: Lessor, clock = new ServiceClock()) {
    super(wanted, clock.read);
    this.#clock = clock;
    this.#lessor = lessor;
  }

  /** NaN if nothing was heard for longer than a window, as the monotonic clock may have stood still meanwhile. */
  nowMs(): number {
    return this.#clock.silentMs <= this.windowMs ? Math.floor(this.#clock.read()) : NaN;
  }

  async claim(): Promise<void> {
    const { layout, windowMs, maxAheadMs, label, asyncWaitMs_, node, excluded } = this.wanted;
    const lastNode = this.node < 0 ? undefined : this.node;
    for (const patience = new Patience(); ; ) {
      // One that was not answered may have been granted: it is this one then.
      const nonce = (this.#claiming ??= newNonce());
      const exclude = excluded();
      const terms = { nonce, layout: String(layout), windowMs, maxAheadMs, label, node, lastNode, exclude };
      try {
        const granted = await this.#hear(this.#lessor.claim(this.directory, terms));
        this.begin(granted.windowMs, granted.serviceMs);
        this.#nonce = nonce;
        this.#claiming = undefined;
        return this.#take(granted);
      } catch (error) {
        const pauseMs = patience.pauseMs(asyncWaitMs_, waitMs(error));
        if (!pauseMs) throw error;
        await new Promise((resolve) => setTimeout(resolve, pauseMs));
      }
    }
  }

  async renew(lastMs: number, maxAheadMs: number): Promise<void> {
    const { node, windowMs } = this;
    const terms = { nonce: this.#nonce, unusedFromMs: lastMs, windowMs, maxAheadMs };
    try {
      this.#take(await this.#hear(this.#lessor.renew(this.directory, node, terms)));
    } catch (error) {
      if (error instanceof SnowmintError && error.code === "WINDOW_CLOSED") throw new LostLease(error.message);
      throw error;
    }
  }

  release(endMs: number): Promise<void> {
    return this.#lessor.release(this.directory, this.node, { nonce: this.#nonce, unusedFromMs: endMs });
  }

  saved(): Uint8Array {
    const { node, window, windowMs } = this;
    return utf8(JSON.stringify({ nonce: this.#nonce, node, window, windowMs }));
  }

  async resume(saved: Uint8Array): Promise<void> {
    const { nonce, node, window, windowMs } = JSON.parse(String.fromCharCode(...saved));
    if (!this.handle) this.begin(windowMs, window.start);
    Object.assign(this, { node, window, windowMs });
    this.#nonce = nonce;
  }

  again(): Lessee {
    const other = this.tell(new Lessee(this.wanted, this.#lessor, this.#clock));
    other.handle = this.handle;
    other.#nonce = this.#nonce;
    other.#claiming = this.#claiming;
    return other;
  }

  #take({ node, window }: Granted): void {
    this.node = node;
    this.window = window;
  }

  /** What was answered, with the clock set by it. */
  async #hear<T extends Granted>(answer: Promise<T>): Promise<T> {
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

/** In how many ms a refused claim has a chance; 0 if waiting is no use. */
function waitMs(error: unknown): number {
  const { code, cause } = Object(error) as { code?: unknown; cause?: { retry_after_ms?: unknown } };
  return code === "NODES_EXHAUSTED" ? Number(cause?.retry_after_ms ?? 0) : 0;
}
