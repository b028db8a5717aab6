import { type ErrorCode, SnowmintError } from "../errors.js";
import { monotonicMs } from "../generator/waiting.js";
import { digits, type Integer, type Owner, read } from "../input.js";
import type { Store } from "../lease/store.js";
import type { HttpStore } from "../stores/http.js";
import type { MysqlStore } from "../stores/mysql.js";
import { numbers, type WasmPin, type WasmTickets } from "../wasm/numbers.js";
import { Call, reasons, Together } from "./calls.js";
import { maxWaitOf } from "./news.js";
import { NumberStore, nameOf } from "./number-store.js";
import { isPinned, pin } from "./pins.js";
import { MAX_TAKEN, takeSeveral } from "./service.js";

/** The options of `Tickets`. */
export interface TicketsOptions {
  /** The longest wait of a call, ms; 1000 if missing. Each store gets an equal part of the time that is left. */
  maxWaitMs?: number | undefined;
}

/** The options of `Tickets.ofTables`. */
export interface TableTicketsOptions extends TicketsOptions {
  /** The row whose number is replaced; `"a"` if missing. All stubs of a table share its numbers. */
  stub?: string | undefined;
  /** The step of all stores, 1 to 65,535; their number if missing. */
  increment?: Integer | undefined;
  /** The offset of each store, 1 to `increment`; its place in the list, from 1, if missing. */
  offsets?: readonly Integer[] | undefined;
}

const OPTIONS: Owner = {
  of: "Tickets",
  names: Object.keys({ maxWaitMs: 0 } satisfies Record<keyof TicketsOptions, 0>),
};
const OF_TABLES: Owner = {
  of: "Tickets.ofTables",
  names: Object.keys({ stub: 0, increment: 0, offsets: 0, maxWaitMs: 0 } satisfies Record<
    keyof TableTicketsOptions,
    0
  >),
};

/** How many tickets of a table a transaction takes for calls that wait. */
const MAX_OF_TABLE = 100;

/**
 * Numbers from several independent stores, like Flickr's ticket servers. With N stores the first one gives 1, 1 + N, 1
 * + 2N and so on, the second one 2, 2 + N. So any store may be down, and two stores never give the same number. Each
 * number is one write. Calls that wait at the same time share a write.
 *
 * Numbers of one store increase in the order of calls; between stores they have no order. Each store keeps its place and the number of
 * stores, and refuses another. So all stores must answer for the first ticket of a name.
 *
 * An `HttpStore` hands out tickets of its service, which may have several stores.
 *
 * The constructor throws `INVALID_ID` unless there are 1 to 32 stores, `INVALID_TEXT` for a name that is not 1 to 128 bytes long, and
 * TypeError for a store without the method `add`, and for an `HttpStore` beside others.
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
  constructor(stores: Store | HttpStore | readonly Store[], name: string, options?: TicketsOptions);
  /** @internal */
  constructor(servers: Servers, name: string, options: TicketsOptions);
  constructor(stores: Store | HttpStore | readonly Store[] | Servers, name: string, options: TicketsOptions = {}) {
    const { maxWaitMs } = read(options, OPTIONS);
    const { machine, servers } = stores instanceof Servers ? stores : overStores(stores, name);
    this.#machine = machine;
    this.#servers = servers;
    this.#name = name;
    this.#key = numbers().keyOf("settings/tickets/", name);
    this.#maxWaitMs = maxWaitOf(maxWaitMs);
  }

  /**
   * Opens tables of tickets, such as Flickr's `Tickets64`, in databases of MySQL or MariaDB.
   *
   * Each ticket is a `REPLACE INTO` and its `LAST_INSERT_ID`, on one connection. The table must exist, with an
   * `AUTO_INCREMENT` column and a column `stub`. It stays unchanged, and other clients may use it at the same time. The
   * variables of the connection's session are restored after each ticket. `EXHAUSTED` means that the table has no
   * number left. No number repeats.
   *
   * Throws `INVALID_ID` if the offsets do not fit the increment or the stores, and `INVALID_STORE` for a store that is not a
   * `MysqlStore`. A table that cannot serve shows at the first ticket.
   *
   * @example
   * const photos = Tickets.ofTables([new MysqlStore(first), new MysqlStore(second)], "Tickets64");
   */
  static ofTables(
    stores: MysqlStore | readonly MysqlStore[],
    table: string,
    options: TableTicketsOptions = {},
  ): Tickets {
    const { stub = "a", increment, offsets, ...others } = read(options, OF_TABLES);
    const name = nameOf(table, "a table");
    const list = Array.isArray(stores) ? (stores as MysqlStore[]) : [stores as MysqlStore];
    const places = offsets === undefined ? list.map((_, place) => place + 1) : [...offsets];
    if (places.length !== list.length)
      throw new SnowmintError("INVALID_ID", `${list.length} stores need ${list.length} offsets, not ${places.length}`);
    const [step, ...starts] = [increment ?? list.length, ...places].map((value) => digits(value));
    const machine = numbers().Tickets.ofServers(step!, starts);
    const servers = list.map((store, place) => {
      if (typeof Object(store).tickets !== "function")
        throw new SnowmintError("INVALID_STORE", `${store}: only a MysqlStore has tables of tickets`);
      const row = nameOf(stub, "stub");
      const opened = store.tickets({
        table: name,
        stub: row,
        increment: BigInt(step!),
        offset: BigInt(starts[place]!),
      });
      return new TicketServer(new NumberStore(store, "Tickets"), new Together(opened, MAX_OF_TABLE));
    });
    return new Tickets(new Servers(machine, servers), name, others);
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
          return server.tickets.next(call);
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
      if (!failures.length) throw error;
      const codes = failures.map((failure) => (failure as SnowmintError).code);
      throw new SnowmintError(numbers().unserved(code, codes) as ErrorCode, `${message}: ${reasons(failures)}`);
    }
  }

  /**
   * Checks the place of a store, before its first ticket. If no store has a place, each gets one, in order: of two clients that begin
   * with different orders, one is refused.
   */
  async #confirm(server: TicketServer, call: Call): Promise<void> {
    if (server.isConfirmed) return;
    const found = ({ store, pin }: TicketServer) => isPinned(store, this.#key, pin!());
    if (!(await found(server))) {
      for (const other of this.#servers) if (other !== server) await found(other);
      for (const each of this.#servers) await pin(each.store, this.#key, this.#name, each.pin!(), () => call.check());
    }
    server.isConfirmed = true;
  }
}

/** The servers of tickets, with core's machine. */
class Servers {
  constructor(
    readonly machine: WasmTickets,
    readonly servers: TicketServer[],
  ) {}
}

/** A server of tickets. One request serves all calls that wait. */
class TicketServer {
  /** Whether the store has this place, or keeps none. */
  isConfirmed: boolean;

  /** `pin` makes the place that the store keeps. */
  constructor(
    readonly store: NumberStore,
    readonly tickets: Together,
    readonly pin?: () => WasmPin,
  ) {
    this.isConfirmed = pin === undefined;
  }
}

/** Returns the counters of stores, or the tickets of a service. */
function overStores(stores: Store | HttpStore | readonly Store[], name: string): Servers {
  const list = (Array.isArray(stores) ? stores : [stores]).map((store) => new NumberStore(store, "Tickets"));
  const service = list.find(({ service }) => service)?.service;
  if (service && list.length > 1)
    throw new TypeError("Tickets takes one HttpStore alone: the service has several stores itself");
  const key = numbers().keyOf("tickets/", nameOf(name, "the name of tickets"));
  const { Pin, Tickets } = numbers();
  if (service) {
    const take = (count: number) => takeSeveral(service, "GET", key, count);
    return new Servers(Tickets.ofServers("1", ["1"]), [new TicketServer(list[0]!, new Together(take, MAX_TAKEN))]);
  }
  const servers = list.map(
    (store, place) =>
      new TicketServer(store, new Together(counter(store, key)), () => Pin.tickets(list.length, place + 1)),
  );
  return new Servers(new Tickets(list.length), servers);
}

/** Returns a function that takes numbers of a counter, from 1. */
function counter(store: NumberStore, key: string): (calls: number) => Promise<bigint[]> {
  /** Where a new counter begins: after the numbers that fences skip. */
  let start: bigint | undefined;
  return async (calls) => {
    start ??= numbers().skippedBy(await store.floor());
    const count = BigInt(calls);
    const last = await store.add(key, count, start);
    if (last === null) throw new SnowmintError("EXHAUSTED", `${store}: ${key} has no more numbers`);
    return Array.from({ length: calls }, (_, place) => last - count + BigInt(place) + 1n);
  };
}
