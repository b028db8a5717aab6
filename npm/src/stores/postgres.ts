import {
  postgresAdd,
  postgresClock,
  postgresCure,
  postgresExisting,
  postgresInsert,
  postgresLeaf,
  postgresNextval,
  postgresObject,
  postgresRaise,
  postgresRead,
  postgresSchema,
  postgresSequence,
  postgresSettings,
  postgresUpdate,
} from "../generated/scripts.js";
import type { StoreOptions } from "./shared/options.js";
import { type Emitter, hushed, placeOf, quiet } from "./shared/place.js";
import { raised } from "./shared/values.js";
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
  query(query: object): Promise<Result | Result[]>;
  release(error?: Error): void;
}

interface Result {
  rows: unknown[][];
  rowCount: number | null;
}

/**
 * The beginning of each message. A pooler such as PgBouncer may give every message to another session of the server. So a message
 * holds the whole transaction: its isolation, the settings that make its commit durable, and one statement with its values. The
 * server wraps the statements of a message in a transaction.
 */
const BEFORE = `SET TRANSACTION ISOLATION LEVEL READ COMMITTED; ${postgresCure}; `;

const DIALECT: Dialect = {
  store: "PgStore",
  kind: "postgres",
  tables: { existing: postgresExisting, schema: postgresSchema },
  leaf: { existing: postgresExisting, schema: postgresLeaf },
  prefix: "snowmint.",
  // Each message is a transaction.
  begin: [],
  settings: () => [postgresSettings],
  integer: (column) => `${column}::text`,
  bytes: (column) => (column === "name" ? "encode(convert_to(name, 'UTF8'), 'hex')" : `encode(${column}, 'hex')`),
  async read(ask, key) {
    const [row] = (await ask(postgresRead, [key])).rows;
    // From \x on.
    return row && [row[0]!, row[1]!.slice(2)];
  },
  insert: async (ask, key, value, version) => (await ask(postgresInsert, [value, version, key])).count === 1,
  update: async (ask, key, value, version, expected) =>
    (await ask(postgresUpdate, [value, version, key, expected])).count === 1,
  async add(ask, counter, delta, start) {
    const first = raised(start, delta);
    const { rows } =
      first === undefined
        ? await ask(postgresRaise, [delta, counter])
        : await ask(postgresAdd, [first, counter, delta]);
    return rows[0] && BigInt(rows[0][0]!);
  },
  async createTag(ask, tag, { next, step }) {
    const sql =
      "INSERT INTO leaf_alloc (biz_tag, max_id, step, description) VALUES ($1, $2, $3, '') ON CONFLICT DO NOTHING";
    return (await ask(sql, [tag, next, step])).count === 1;
  },
  async fetch(ask, tag, amount, most) {
    const sql =
      "UPDATE leaf_alloc SET max_id = max_id + $2, update_time = CURRENT_TIMESTAMP " +
      "WHERE biz_tag = $1 AND max_id BETWEEN 0 AND $3 RETURNING max_id::text";
    const [row] = (await ask(sql, [tag, amount, most])).rows;
    return row && BigInt(row[0]!);
  },
  clock: postgresClock,
  sequence: {
    object: postgresObject,
    state: postgresSequence,
    nextval: postgresNextval,
  },
};

// Whatever parsers the application has set: all that is asked for is text.
const AS_TEXT = { getTypeParser: () => String };

/**
 * Records and counters in two tables of a PostgreSQL database, over a pool of `pg`.
 *
 * The schema `snowmint` with the tables `records` and `counters` is made when first used, if it is missing. A server
 * that can lose confirmed writes is refused: `UNSAFE_STORE` names setting, value and cure. The settings are checked after
 * each write, and the write counts only after this check; `synchronous_commit=off` is cured for the store's own
 * transactions. A standby that is not waited for, to which a failover can lose confirmed writes, is refused at first
 * and by each claim, unless `allowStandby`; leases that are held go on, and `status().standbyRisk` and a warning of the
 * process say so. A pooler such as PgBouncer may be in between, in any mode. Each call takes a connection of the pool,
 * and a connection that does not answer within `timeoutMs` is closed. An error of an idle connection, which without a
 * listener would end the process, is left to the next call.
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
      const query = { text: BEFORE + filled(text, values), rowMode: "array", types: AS_TEXT };
      // One for each statement of the message.
      const { rows, rowCount } = [await client.query(query)].flat().at(-1)!;
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

/** A statement with its values as literals of digits alone, which mean the same whatever the session's rules for quotes are. */
const filled = (sql: string, values: readonly Value[]): string =>
  !values.length
    ? sql
    : sql.replace(/\$(\d)/g, (_, place) => {
        const value = values[place - 1]!;
        if (typeof value === "bigint") return `(${value}::bigint)`;
        const bytes = typeof value === "string" ? new TextEncoder().encode(value) : value;
        const decoded = `decode('${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}', 'hex')`;
        return typeof value === "string" ? `convert_from(${decoded}, 'UTF8')` : decoded;
      });
