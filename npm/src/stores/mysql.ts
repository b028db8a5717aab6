import { SnowmintError } from "../errors.js";
import {
  mysqlClock,
  mysqlFlush,
  mysqlGuard,
  mysqlLeaf,
  mysqlNextval,
  mysqlObject,
  mysqlSchema,
  mysqlSequence,
  mysqlTables,
} from "../generated/scripts.js";
import { failure } from "./shared/failure.js";
import type { StoreOptions } from "./shared/options.js";
import { type Emitter, hushed, placeOf } from "./shared/place.js";
import { raised } from "./shared/values.js";
import { type Answer, type Connection, type Dialect, SqlStore, type Value } from "./sql.js";

/** A pool of `mysql2`, or of `mysql2/promise`. */
export interface MysqlPool {
  getConnection(...args: never[]): unknown;
  query(...args: never[]): unknown;
  escapeId(...args: never[]): unknown;
}

/** As much of the pool and its connections as is used, with callbacks. */
interface Pool {
  getConnection(done: (error: unknown, client: Client) => void): void;
  promise?: unknown;
  config?: { connectionConfig?: { host?: string; port?: number; database?: string; socketPath?: string } };
}
interface Client extends Emitter {
  query(query: object, done: (error: unknown, result: unknown) => void): unknown;
  release(): void;
  destroy(): void;
}

const DUPLICATE = 1062;
/** "Failed to read auto-increment value", and "out of range" of a column, of a number and of MariaDB's AUTO_INCREMENT. */
const NO_NUMBER_LEFT: unknown[] = [1467, 1264, 1690, 167];
/** Another mode would give the last number of a full table again. */
const STRICT = "STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION";
const SESSION = "SELECT @@SESSION.auto_increment_increment, @@SESSION.auto_increment_offset, @@SESSION.sql_mode";
const SET_SESSION =
  "SET SESSION auto_increment_increment = $1, auto_increment_offset = $2, sql_mode = CONVERT($3 USING ascii)";
const TICKET_TABLE =
  "SELECT CAST(t.engine AS CHAR), MAX(c.extra LIKE '%auto_increment%') FROM information_schema.tables t " +
  "JOIN information_schema.columns c USING (table_schema, table_name) " +
  "WHERE t.table_schema = DATABASE() AND t.table_name = CONVERT($1 USING utf8mb4) GROUP BY t.engine";

/** A table of tickets, and the numbers that it gives. */
interface TicketTable {
  table: string;
  stub: string;
  increment: bigint;
  offset: bigint;
}

const EXISTING =
  "SELECT CAST(table_name AS CHAR) FROM information_schema.tables WHERE table_schema = DATABASE() " +
  "AND table_name IN ('snowmint_records', 'snowmint_counters', 'snowmint_guards', 'leaf_alloc')";

const DIALECT: Dialect = {
  store: "MysqlStore",
  kind: "mysql",
  tables: { existing: EXISTING, schema: mysqlSchema },
  leaf: { existing: EXISTING, schema: mysqlLeaf },
  prefix: "snowmint_",
  begin: ["SET TRANSACTION ISOLATION LEVEL READ COMMITTED", "START TRANSACTION"],
  // With `completion_type` CHAIN the server would begin another transaction, which no code commits.
  commit: "COMMIT AND NO CHAIN NO RELEASE",
  settings(names) {
    // Those of a list that is our own.
    const among = names.map((name) => `'${name}'`).join(", ");
    const variables = ["VARIABLES", "STATUS"].map((what) => `SHOW GLOBAL ${what} WHERE Variable_name IN (${among})`);
    return [...variables, mysqlTables];
  },
  integer: (column) => column,
  bytes: (column) => `HEX(${column})`,
  async read(ask, key) {
    const [row] = (await ask("SELECT version, HEX(value) FROM snowmint_records WHERE name = $1", [key])).rows;
    if (!row) return undefined;
    await ask(mysqlFlush);
    return [row[0]!, row[1]!];
  },
  async insert(ask, key, value, version) {
    return inserted(ask, "INSERT INTO snowmint_records (value, version, name) VALUES ($1, $2, $3)", [
      value,
      version,
      key,
    ]);
  },
  async update(ask, key, value, version, expected) {
    const sql = "UPDATE snowmint_records SET value = $1, version = $2 WHERE name = $3 AND version = $4";
    return (await ask(sql, [value, version, key, expected])).count === 1;
  },
  async add(ask, counter, delta, start) {
    // The row is locked until the end.
    await ask("INSERT INTO snowmint_counters (name, value) VALUES ($1, $2) ON DUPLICATE KEY UPDATE value = value", [
      counter,
      start,
    ]);
    const [row] = (await ask("SELECT value FROM snowmint_counters WHERE name = $1 FOR UPDATE", [counter])).rows;
    if (!row) throw new Error(`the counter ${counter} is gone`);
    const count = raised(BigInt(row[0]!), delta);
    // The rollback removes the inserted row too.
    if (count === undefined) return undefined;
    await ask("UPDATE snowmint_counters SET value = $2 WHERE name = $1", [counter, count]);
    return count;
  },
  async createTag(ask, tag, { next, step }) {
    const sql = "INSERT INTO leaf_alloc (biz_tag, max_id, step, description) VALUES ($1, $2, $3, '')";
    return inserted(ask, sql, [tag, next, step]);
  },
  async fetch(ask, tag, amount, most) {
    const sql = "UPDATE leaf_alloc SET max_id = max_id + $2 WHERE biz_tag = $1 AND max_id BETWEEN 0 AND $3";
    if ((await ask(sql, [tag, amount, most])).count !== 1) return undefined;
    const [row] = (await ask("SELECT max_id FROM leaf_alloc WHERE biz_tag = $1", [tag])).rows;
    return BigInt(row![0]!);
  },
  clock: mysqlClock,
  sequence: {
    object: mysqlObject,
    state: mysqlSequence,
    nextval: mysqlNextval,
    guard: mysqlGuard,
  },
};

/** Inserts a row; false if its key has one. Not by INSERT IGNORE, which would take more than that for nothing. */
async function inserted(ask: Connection["ask"], sql: string, values: readonly Value[]): Promise<boolean> {
  try {
    return (await ask(sql, values)).count === 1;
  } catch (error) {
    if ((error as { errno?: unknown }).errno === DUPLICATE) return false;
    throw error;
  }
}

/**
 * Records and counters in three tables of a MySQL or MariaDB database, over a pool of `mysql2`, with promises or callbacks.
 *
 * The tables `snowmint_records`, `snowmint_counters` and `snowmint_guards` are made when first used, if they are missing.
 * A server that can lose confirmed writes is refused: `UNSAFE_STORE` names setting, value and cure. That is looked at
 * behind each write, which counts only then. A replica that is not waited for, to which a failover can lose confirmed
 * writes, is refused at first and by each claim, unless `allowStandby`; leases that are held go on, and
 * `status().standbyRisk` and a warning of the process say so. Each call takes a connection of the pool, and a connection
 * that does not answer within `timeoutMs` is closed.
 *
 * Throws TypeError unless the argument is a pool of mysql2.
 *
 * @example
 * const store = new MysqlStore(mysql.createPool("mysql://ids@db/app"));
 */
export class MysqlStore extends SqlStore {
  readonly #pool: Pool;

  /** Over a pool, which stays the caller's. */
  constructor(pool: MysqlPool, options?: StoreOptions) {
    // The pool with promises is a coat of one with callbacks, which has a method for the coat.
    const inner = Object((Object(pool) as { pool?: unknown }).pool) as Partial<Pool>;
    const given = (typeof inner.getConnection === "function" ? inner : Object(pool)) as Pool;
    if (typeof given.getConnection !== "function" || typeof given.promise !== "function" || !given.config)
      throw new TypeError(
        "MysqlStore needs a pool of mysql2, such as mysql.createPool(), not a connection or a cluster",
      );
    const { host, port, database, socketPath } = given.config.connectionConfig ?? {};
    super(placeOf("MySQL", { host: socketPath || host, port: socketPath ? "" : port, database }), DIALECT, options);
    this.#pool = given;
  }

  /** @internal Returns a function that takes some tickets of a table: fewer than asked if the table ends, at least one. */
  tickets({ table, stub, increment, offset }: TicketTable): (count: number) => Promise<bigint[]> {
    const source = `${this}, table ${table}`;
    let isChecked = false;
    return async (count) => {
      const taken = await this.writing(async (ask) => {
        if (!isChecked) await this.#checkTickets(ask, table, source);
        isChecked = true;
        const [before] = (await ask(SESSION)).rows;
        const [step, start, mode] = before as string[];
        await ask(SET_SESSION, [increment, offset, STRICT]);
        try {
          return await replaced(ask, table, stub, count);
        } finally {
          // The application uses the session too. If this fails, the connection is closed.
          await ask(SET_SESSION, [BigInt(step!), BigInt(start!), mode!]);
        }
      });
      if (taken.length) return taken;
      throw new SnowmintError("EXHAUSTED", `${source} has no more numbers`);
    };
  }

  async #checkTickets(ask: Connection["ask"], table: string, source: string): Promise<void> {
    const [found] = (await ask(TICKET_TABLE, [table])).rows;
    if (!found)
      throw failure("INVALID_STORE", source, "it does not exist: make it, or open tickets over the store itself");
    const [engine, hasNumbers] = found;
    if (hasNumbers !== "1") throw failure("INVALID_STORE", source, "it has no AUTO_INCREMENT column");
    if (engine?.toLowerCase() !== "innodb" && !this.allowsUnsafe)
      throw failure(
        "UNSAFE_STORE",
        source,
        `it has ENGINE=${engine}, which can lose confirmed writes: ALTER TABLE ... ENGINE=InnoDB`,
      );
  }

  /** @internal */
  protected connect(): Promise<Connection> {
    return new Promise((resolve, reject) => {
      this.#pool.getConnection((error, client) => (error ? reject(error) : resolve(connectionOf(client))));
    });
  }
}

/** Replaces the row of a stub for each ticket. Returns the tickets, fewer if the table has no number left. */
async function replaced(ask: Connection["ask"], table: string, stub: string, count: number): Promise<bigint[]> {
  const replace = `REPLACE INTO \`${table.replaceAll("`", "``")}\` (stub) VALUES (${literal(stub)})`;
  const taken: bigint[] = [];
  while (taken.length < count) {
    try {
      await ask(replace);
    } catch (error) {
      if (NO_NUMBER_LEFT.includes((error as { errno?: unknown }).errno)) break;
      throw error;
    }
    // As text: the driver's own number is rounded beyond 2^53.
    const [row] = (await ask("SELECT LAST_INSERT_ID()")).rows;
    taken.push(BigInt(row![0]!));
  }
  return taken;
}

function connectionOf(client: Client): Connection {
  const listened = hushed(client);
  return {
    ask: (sql, values = []) =>
      new Promise((resolve, reject) => {
        // Whatever the application has set for its own queries: rows of texts as the server sends them.
        const query = { sql: filled(sql, values), rowsAsArray: true, typeCast: AS_BYTES, nestTables: false };
        client.query(query, (error, result) => (error ? reject(error) : resolve(answerOf(result))));
      }),
    release() {
      client.release();
      listened();
    },
    // Errors of a connection that closes are ignored.
    destroy: () => client.destroy(),
  };
}

function answerOf(result: unknown): Answer {
  if (!Array.isArray(result)) return { rows: [], count: (result as { affectedRows: number }).affectedRows };
  const texts = (row: (Uint8Array | null)[]) => row.map((value) => value && new TextDecoder().decode(value));
  return { rows: result.map(texts), count: 0 };
}

// Not false, which would leave it to a function that the application has set.
const AS_BYTES = (field: { buffer(): unknown }): unknown => field.buffer();

/** A statement with its values. */
const filled = (sql: string, values: readonly Value[]): string =>
  values.length ? sql.replace(/\$(\d)/g, (_, place) => literal(values[place - 1]!)) : sql;

/** A value as a literal of digits alone, which means the same in every mode of the server. */
function literal(value: Value): string {
  if (typeof value === "bigint") return String(value);
  const bytes = typeof value === "string" ? new TextEncoder().encode(value) : value;
  return `X'${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}'`;
}
