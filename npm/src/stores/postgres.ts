import { postgresClock, postgresFlush, postgresSchema, postgresSettings } from "../generated/scripts.js";
import type { StoreOptions } from "./options.js";
import { type Emitter, hushed, placeOf, quiet } from "./place.js";
import { type Answer, type Connection, type Dialect, SqlStore, type Value } from "./sql.js";

/** A `Pool` of `pg`. */
export interface PgPool {
  connect(...args: never[]): unknown;
  readonly totalCount: number;
  readonly idleCount: number;
}

/** As much of the pool and its clients as is used. */
interface Pool {
  connect(done: (error: unknown, client: Client) => void): void;
  options?: { host?: string; port?: number; database?: string; connectionString?: string };
  on(event: "error", listener: () => void): unknown;
  listeners?(event: "error"): unknown[];
}
interface Client extends Emitter {
  query(query: object): Promise<{ rows: unknown[][]; rowCount: number | null }>;
  release(error?: Error): void;
}

const DIALECT: Dialect = {
  store: "PgStore",
  kind: "postgres",
  countTables:
    "SELECT ((to_regclass('snowmint_records') IS NOT NULL)::int + (to_regclass('snowmint_counters') IS NOT NULL)::int)::text",
  schema: postgresSchema,
  begin: [
    "BEGIN ISOLATION LEVEL READ COMMITTED",
    // A statement's time limit would turn the wait for a synchronous standby into a mere warning; one for locks not.
    // A process that stops in the middle of a transaction keeps a record locked until the server ends its session.
    "SELECT set_config('statement_timeout', '0', true), set_config('lock_timeout', '5000', true), " +
      "set_config('idle_in_transaction_session_timeout', '5000', true), " +
      "set_config('synchronous_commit', CASE current_setting('synchronous_commit') " +
      "WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END, true)",
  ],
  commit: "COMMIT",
  settings: () => [postgresSettings],
  integer: (column) => `${column}::text`,
  bytes: (column) => (column === "name" ? "encode(convert_to(name, 'UTF8'), 'hex')" : `encode(${column}, 'hex')`),
  insertCounter: "INSERT INTO snowmint_counters (name, value) VALUES ($1, $2) ON CONFLICT DO NOTHING",
  insert: async (ask, sql, values) => (await ask(`${sql} ON CONFLICT DO NOTHING`, values)).count === 1,
  flush: postgresFlush,
  clock: postgresClock,
};

// Whatever parsers the application has set: all that is asked for is text.
const AS_TEXT = { getTypeParser: () => String };

/**
 * Records and counters in two tables of a PostgreSQL database, over a pool of `pg`.
 *
 * The tables `snowmint_records` and `snowmint_counters` are made when first used, if they are missing. A server that can
 * lose confirmed writes is refused: `UNSAFE_STORE` names setting, value and cure. That is looked at before each write;
 * `synchronous_commit=off` is cured for the store's own transactions. A standby that is not waited
 * for, to which a failover can lose confirmed writes, is refused at first and by each claim, unless `allowStandby`; leases
 * that are held go on, and `status().standbyRisk` and a warning of the process say so. Each call takes a connection of the pool, and a
 * connection that does not answer within `timeoutMs` is closed. An error of an idle connection, which without a listener
 * would end the process, is left to the next call.
 *
 * Throws TypeError unless the argument is a pool: the queries of others on a `Client` would fall into the store's transactions.
 *
 * @example
 * const store = new PgStore(new pg.Pool({ connectionString: process.env.DATABASE_URL }));
 */
export class PgStore extends SqlStore {
  readonly #pool: Pool;

  /** Over a pool, which stays the caller's. */
  constructor(pool: PgPool, options?: StoreOptions) {
    const known = Object(pool) as Partial<PgPool>;
    if (typeof known.connect !== "function" || typeof known.totalCount !== "number")
      throw new TypeError("PgStore needs a Pool of pg, such as new pg.Pool(), not a Client or anything else");
    const given = pool as unknown as Pool;
    const { host, port, database, connectionString } = given.options ?? {};
    super(placeOf("PostgreSQL", { host, port, database, url: connectionString }), DIALECT, options);
    this.#pool = given;
    if (!given.listeners?.("error").includes(quiet)) given.on("error", quiet);
  }

  /** @internal */
  protected connect(): Promise<Connection> {
    // Not by its promise: an error in the same read would come before the promise resolves.
    return new Promise((resolve, reject) => {
      this.#pool.connect((error, client) => (error ? reject(error) : resolve(connectionOf(client))));
    });
  }
}

function connectionOf(client: Client): Connection {
  // While the client is in use, the pool does not listen.
  const listened = hushed(client);
  return {
    async ask(text: string, values: readonly Value[] = []): Promise<Answer> {
      const { rows, rowCount } = await client.query({
        text,
        values: values.map((value) => (typeof value === "bigint" ? String(value) : value)),
        rowMode: "array",
        types: AS_TEXT,
      });
      return { rows: rows as Answer["rows"], count: rowCount ?? 0 };
    },
    release() {
      client.release();
      listened();
    },
    // The listener stays, because a client that closes may emit errors.
    destroy: (why) => client.release(why),
  };
}
