// snowmint/sql: layouts as SQL.
import { SnowmintError } from "../errors.js";
import { duration, type Instant, type Owner, read, unixMs } from "../input.js";
import { type Layout, type NodeId, nodeText } from "../layout/layout.js";
import type { STARTS } from "../layout/names.js";
import { sql, type WasmFunctionOptions } from "../wasm/sql.js";

/**
 * The database and its type of the column: `postgres` (`bigint`), `mariadb` (`BIGINT UNSIGNED`), `mariadb_signed`
 * (`BIGINT`), `clickhouse` (`UInt64`), `clickhouse_signed` (`Int64`), `duckdb` (`BIGINT`), `duckdb_unsigned` (`UBIGINT`),
 * `sqlite` (`INTEGER`), `cockroach` (`INT8`), `tidb` (`BIGINT UNSIGNED`), `tidb_signed` (`BIGINT`). MySQL takes the
 * expressions of `mariadb`. No test runs the expressions in CockroachDB, TiDB or MySQL.
 */
export type Dialect =
  | "postgres"
  | "mariadb"
  | "mariadb_signed"
  | "clickhouse"
  | "clickhouse_signed"
  | "duckdb"
  | "duckdb_unsigned"
  | "sqlite"
  | "cockroach"
  | "tidb"
  | "tidb_signed";

/** How the function deals with the clock; see `SnowflakeOptions`. */
export interface FunctionOptions {
  /** How far IDs may run ahead of the clock, in ms; the default is 0. */
  maxAheadMs?: number | undefined;
  /** How long a call may wait for the clock, in ms; the default is 1000. */
  maxWaitMs?: number | undefined;
  /** Where the sequence begins in a new tick; the default is `"zero"`. */
  sequenceStart?: (typeof STARTS)[number] | undefined;
}

const NAMES = Object.keys({ maxAheadMs: 0, maxWaitMs: 0, sequenceStart: 0 } satisfies Record<keyof FunctionOptions, 0>);

/** Expressions of SQL that take the IDs of a column apart, as `layout.decode` does. */
export interface SqlParts {
  /**
   * The first instant of the ID's tick: a `timestamptz` in PostgreSQL and CockroachDB, a `DATETIME(6)` in UTC in MariaDB
   * and TiDB, a `DateTime64(3, 'UTC')` in ClickHouse, a `TIMESTAMP` in UTC in DuckDB, a text in SQLite. It is `NULL` from
   * the year 10000 on in MariaDB, TiDB and SQLite, and before 1900 and from 2300 on in ClickHouse.
   */
  timestamp: string;
  /** The same as Unix ms. */
  timestampMs: string;
  /** The value of the time field: ticks since the epoch. */
  tick: string;
  /** All node fields, concatenated high to low. */
  node: string;
  /** The counter within the tick; 0 if the layout has none. */
  sequence: string;
  /** Every field but `unused`, high to low. */
  fields: Record<string, string>;
  /**
   * Whether an ID lies between two instants, both included; an index on the column serves. Throws as `layout.idRange`.
   */
  between(from: Instant, to: Instant): string;
}

/** How the function of a database deals with the clock. */
function functionOptions(of: string, options: FunctionOptions): WasmFunctionOptions {
  const { maxAheadMs, maxWaitMs, sequenceStart } = read(options, { of, names: NAMES } satisfies Owner);
  const ms = (name: string, given?: number) => (given === undefined ? given : duration(name, given));
  const { FunctionOptions } = sql();
  const start = sequenceStart === undefined ? sequenceStart : String(sequenceStart);
  return new FunctionOptions(ms("maxAheadMs", maxAheadMs), ms("maxWaitMs", maxWaitMs), start);
}

/** Checks a name. */
function nameOf(name: string): string {
  if (typeof name !== "string") throw new TypeError("a name of SQL is a string");
  if (/\p{Surrogate}/u.test(name)) throw new SnowmintError("INVALID_TEXT", "a name of SQL has no lone surrogates");
  return name;
}

/**
 * A script for PostgreSQL that creates the function `schema.name()`, which mints the IDs of a node. Made to be the default
 * of a column: `id bigint PRIMARY KEY DEFAULT app.next_id()`.
 *
 * It follows the rules of a `Snowflake` with these options: it waits or fails where the sequence is used up or the clock
 * went back, and never repeats an ID, whatever the number of connections. Names are quoted, whatever they hold. Nothing
 * else, in the database or outside, may mint with this node. The comment on the function says when its IDs become
 * negative in a `bigint`, if they ever do.
 *
 * Throws `INVALID_LAYOUT`, `INVALID_NODE`, or `INVALID_TEXT` for a name that is empty, has a NUL or is too long.
 *
 * @example
 * await pool.query(postgresFunction("snowmint", "app", "next_id", 5))
 */
export function postgresFunction(
  layout: Layout | string,
  schema: string,
  name: string,
  node: NodeId,
  options: FunctionOptions = {},
): string {
  const clock = functionOptions("postgresFunction", options);
  return sql().postgresFunction(String(layout), nameOf(schema), nameOf(name), nodeText(node), clock);
}

/**
 * Statements for MariaDB from 10.6 on, tested on 10.11, that create the stored function `schema.name()`, which mints the
 * IDs of a node. `schema` is a database. Run them in their order. MariaDB allows no stored function as the default of a
 * column: call it in a statement, or in a trigger.
 *
 * It follows the rules of a `Snowflake` with these options, as `postgresFunction` does. No ID is repeated, whatever the
 * number of connections and whatever their transactions do.
 *
 * Throws `INVALID_LAYOUT`, `INVALID_NODE`, or `INVALID_TEXT` for a name that is empty, has a NUL or is too long.
 *
 * @example
 * for (const statement of mariadbFunction("snowmint", "app", "next_id", 5)) await pool.query(statement)
 */
export function mariadbFunction(
  layout: Layout | string,
  schema: string,
  name: string,
  node: NodeId,
  options: FunctionOptions = {},
): [table: string, drop: string, create: string] {
  const clock = functionOptions("mariadbFunction", options);
  const { mariadbFunction: statements } = sql();
  const [table, drop, create] = statements(String(layout), nameOf(schema), nameOf(name), nodeText(node), clock);
  return [table!, drop!, create!];
}

/**
 * A kind of 128-bit ID: the function for `uuid7` returns a `uuid`, the function for `ulid` a `text` of 26 characters,
 * and the function for `typeid` a `text` with the prefix that it takes as its argument.
 */
export type WideKind = "uuid7" | "ulid" | "typeid";

/**
 * A script for PostgreSQL 13 and later that creates the function `schema.name()`, which mints 128-bit IDs without an
 * extension. Made to be the default of a column: `id uuid PRIMARY KEY DEFAULT app.uuid7()`, or
 * `id text PRIMARY KEY DEFAULT app.typeid('user')`. IDs of one function strictly increase over all connections, whatever
 * the clock does.
 *
 * Throws `INVALID_TEXT` for an unknown kind, and for a name that is empty, has a NUL or is too long.
 *
 * @example
 * await pool.query(postgresWideFunction("uuid7", "app", "uuid7"))
 */
export function postgresWideFunction(kind: WideKind, schema: string, name: string): string {
  return sql().postgresWideFunction(String(kind), nameOf(schema), nameOf(name));
}

/**
 * Expressions that take the IDs of a column apart. `column` is the name of the column in the database, with its
 * schema and table before it where needed: `app.orders.id`.
 *
 * Throws `INVALID_LAYOUT`, or `INVALID_TEXT` for an unknown dialect or a name that is empty, has a NUL or is too long.
 *
 * @example
 * decodeSql("twitter", "postgres", "orders.id").node // (("orders"."id" >> 12) & 1023)
 */
export function decodeSql(layout: Layout | string, dialect: Dialect, column: string): SqlParts {
  const given = [String(layout), String(dialect), nameOf(column)] as const;
  return {
    ...sql().decodeSql(...given),
    between: (from, to) => sql().betweenSql(...given, unixMs(from), unixMs(to)),
  };
}
