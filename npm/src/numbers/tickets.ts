import { SnowmintError } from "../errors.js";
import { monotonicMs } from "../generator/waiting.js";
import { type Owner, read } from "../input.js";
import type { Store } from "../lease/store.js";
import { numbers, type WasmPin, type WasmTickets } from "../wasm/numbers.js";
import { Call, reasons } from "./calls.js";
import { maxWaitOf } from "./news.js";
import { NumberStore, nameOf } from "./number-store.js";
import { isPinned, pin } from "./pins.js";

/** The options of `Tickets`. */
export interface TicketsOptions {
  /** The longest wait of a call, ms; 1000 if missing. Each store gets an equal part of the time that is left. */
  maxWaitMs?: number | undefined;
}

const OPTIONS: Owner = {
  of: "Tickets",
  names: Object.keys({ maxWaitMs: 0 } satisfies Record<keyof TicketsOptions, 0>),
};

/**
 * Numbers of several independent stores, as of Flickr's ticket servers. With N stores the first one gives 1, 1 + N, 1 + 2N and so on,
 * the second one 2, 2 + N. So any store may be down, and no two give the same number. Each number is one write, which calls that wait
 * at the same time share.
 *
 * Numbers of one store increase in the order of calls; between stores they have no order. Each store keeps its place and the number of
 * stores, and refuses another. So all stores must answer for the first ticket of a name.
 *
 * The constructor throws `INVALID_ID` unless there are 1 to 32 stores, `INVALID_TEXT` for a name that is not 1 to 128 bytes long, and
 * TypeError for a store without the method `add`.
 *
 * @example
 * const photos = new Tickets([first, second], "photos");
 * await photos.next(); // 1n
 */
export class Tickets {
  readonly #servers: TicketServer[];
  readonly #machine: WasmTickets;
  readonly #maxWaitMs: number;
  readonly #name: string;
  readonly #key: string;
  #calls = 0;

  /** Over one store or several, which stay the caller's. */
  constructor(stores: Store | readonly Store[], name: string, options: TicketsOptions = {}) {
    const { maxWaitMs } = read(options, OPTIONS);
    const list = (Array.isArray(stores) ? stores : [stores]).map((store) => new NumberStore(store, "Tickets"));
    this.#machine = new (numbers().Tickets)(list.length, false);
    this.#name = nameOf(name, "the name of tickets");
    this.#key = numbers().keyOf("settings/tickets/", name);
    const key = numbers().keyOf("tickets/", name);
    const { Pin } = numbers();
    this.#servers = list.map((store, place) => new TicketServer(store, key, () => Pin.tickets(list.length, place + 1)));
    this.#maxWaitMs = maxWaitOf(maxWaitMs);
  }

  /**
   * The next ticket, of the stores in turn. Rejects with `STORE_UNAVAILABLE` and the error of each store if no store answers,
   * `INVALID_ID` if a store has another place, `INVALID_TEXT` for a new name that is not allowed, and `EXHAUSTED` after 2^63-1.
   */
  async next(): Promise<bigint> {
    const endMs = monotonicMs() + this.#maxWaitMs;
    const take = new (numbers().Take)(this.#calls++);
    const failures: unknown[] = [];
    for (let answer: bigint | undefined; ; ) {
      const place = this.#turn(() => this.#machine.next(take, answer, monotonicMs()), failures);
      if (place === undefined) return take.ticket!;
      const server = this.#servers[place]!;
      const leftMs = Math.max(0, endMs - monotonicMs());
      const partMs = numbers().partMs(leftMs, this.#servers.length, failures.length);
      try {
        answer = await Call.within(server.store, partMs, async (call) => {
          await this.#confirm(server, call);
          return server.take();
        });
      } catch (error) {
        if (!(error instanceof SnowmintError) || numbers().endsCall(error.code)) throw error;
        failures.push(error);
        answer = undefined;
      }
    }
  }

  /** The name and the stores, in messages. */
  toString(): string {
    return `Tickets(${this.#name}, ${this.#servers.map(({ store }) => store).join(", ")})`;
  }

  /** Adds the errors of the stores to an error of the machine. */
  #turn<T>(next: () => T, failures: unknown[]): T {
    try {
      return next();
    } catch (error) {
      const { code, message } = error as SnowmintError;
      throw failures.length ? new SnowmintError(code, `${message}: ${reasons(failures)}`) : error;
    }
  }

  /**
   * Checks the place of a store, before its first ticket. If no store has a place, each gets one, in order: of two clients that begin
   * with different orders, one is refused.
   */
  async #confirm(server: TicketServer, call: Call): Promise<void> {
    if (server.isConfirmed) return;
    const found = ({ store, pin }: TicketServer) => isPinned(store, this.#key, pin());
    if (!(await found(server))) {
      for (const other of this.#servers) if (other !== server) await found(other);
      for (const each of this.#servers) await pin(each.store, this.#key, this.#name, each.pin(), () => call.check());
    }
    server.isConfirmed = true;
  }
}

/** A counter of a store. One write serves all calls that wait; calls that come during a write wait for the next. */
class TicketServer {
  isConfirmed = false;
  /** Where a new counter begins: after the numbers that fences skip. */
  #start: bigint | undefined;
  #waiting: { resolve: (number: bigint) => void; reject: (error: unknown) => void }[] = [];
  #isServing = false;

  constructor(
    readonly store: NumberStore,
    readonly key: string,
    readonly pin: () => WasmPin,
  ) {}

  /** Takes the next number of the counter, from 1. */
  take(): Promise<bigint> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
      if (!this.#isServing) void this.#serve();
    });
  }

  async #serve(): Promise<void> {
    this.#isServing = true;
    while (this.#waiting.length) {
      const calls = this.#waiting;
      this.#waiting = [];
      try {
        const start = this.#start ?? numbers().skippedBy(await this.store.floor());
        this.#start = start;
        const count = BigInt(calls.length);
        const last = await this.store.add(this.key, count, start);
        if (last === null) throw new SnowmintError("EXHAUSTED", `${this.store}: ${this.key} has no more numbers`);
        for (const [place, { resolve }] of calls.entries()) resolve(last - count + BigInt(place) + 1n);
      } catch (error) {
        for (const { reject } of calls) reject(error);
      }
    }
    this.#isServing = false;
  }
}
