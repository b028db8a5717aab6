// snowmint/sql: layouts as SQL, by a wasm module that is started when first used.
import module from "#wasm/sql";
import { type ErrorCode, SnowmintError } from "../errors.js";
import type * as Sql from "../generated/sql.wasm.js";
import { PRESETS } from "../generated/tables.js";
import { duration, type Instant, integer, type Owner, read, unixMs } from "../input.js";
import type { Layout, NodeId } from "../layout.js";
import { type Preset, STARTS } from "../names.js";
import { utf8 } from "../utf8.js";
import { bytes, type Engine, putBytes, start, TEXT } from "../wasm/engine.js";

/**
 * The database and its type of the column: `postgres` (`bigint`), `mariadb` (`BIGINT UNSIGNED`), `mariadb_signed`
 * (`BIGINT`), `clickhouse` (`UInt64`), `clickhouse_signed` (`Int64`), `duckdb` (`BIGINT`), `duckdb_unsigned` (`UBIGINT`),
 * `sqlite` (`INTEGER`), `cockroach` (`INT8`), `tidb` (`BIGINT UNSIGNED`), `tidb_signed` (`BIGINT`). MySQL takes the
 * expressions of `mariadb`. No test runs those of CockroachDB, TiDB and MySQL in these databases.
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
  maxAheadMs?: number;
  /** How long a call may wait for the clock, in ms; the default is 1000. */
  maxWaitMs?: number;
  /** Where the sequence begins in a new tick; the default is `"zero"`. */
  sequenceStart?: (typeof STARTS)[number];
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

let current: Engine<typeof Sql> | undefined;

/** What a function of a database is told: the texts, and the times with `NaN` for the default. */
function functionOf(
  of: string,
  layout: Layout | string,
  schema: string,
  name: string,
  node: NodeId,
  options: FunctionOptions,
): [told: string[], ahead: number, wait: number] {
  const { maxAheadMs, maxWaitMs, sequenceStart = STARTS[0] } = read(options, { of, names: NAMES } satisfies Owner);
  if (!STARTS.includes(sequenceStart)) throw new RangeError(`sequenceStart is one of ${STARTS.join(", ")}`);
  // A NUL parts texts: one in the schema's name is refused with the name behind it.
  const told = [textOf(layout), nodeOf(node), sequenceStart, nameOf(schema, 65), nameOf(name, 65)];
  const ms = (name: string, given?: number): number => (given === undefined ? NaN : duration(name, given));
  return [told, ms("maxAheadMs", maxAheadMs), ms("maxWaitMs", maxWaitMs)];
}

/** A text of the module, piece by piece. */
function tell(told: readonly string[], write: (wasm: typeof Sql, length: number, from: number) => number): string {
  const engine = (current ??= start<typeof Sql>(module));
  const all: number[] = [];
  for (let length = TEXT; length === TEXT; ) {
    length = write(engine.wasm, putBytes(engine, utf8(told.join("\0"))), all.length);
    if (length < 0) {
      const [, code, sentence] = /^(\S+) (.*)/s.exec(new TextDecoder().decode(bytes(engine).slice(0, -1 - length)))!;
      throw new SnowmintError(code as ErrorCode, sentence!);
    }
    all.push(...bytes(engine).subarray(0, length));
  }
  return new TextDecoder().decode(Uint8Array.from(all));
}

/** The text of a layout, a preset or itself. */
function textOf(layout: Layout | string): string {
  const text = String(layout);
  return Object.hasOwn(PRESETS, text) ? PRESETS[text as Preset] : text;
}

/** A name as core reads it: one too long for any database is cut where it still is. */
function nameOf(name: string, longest: number): string {
  if (typeof name !== "string") throw new TypeError("a name of SQL is a string");
  if (/\p{Surrogate}/u.test(name)) throw new SnowmintError("INVALID_TEXT", "a name of SQL has no lone surrogates");
  return name.length > longest ? "x".repeat(longest) : name;
}

function nodeOf(node: NodeId): string {
  if (typeof node === "string") return node;
  if (typeof node !== "object" || node === null) return String(integer(node, "INVALID_NODE"));
  return Object.entries(node)
    .map(([name, value]) => `${name.replace(/\W/g, "?")}=${integer(value, "INVALID_NODE")}`)
    .join();
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
  const [told, ahead, wait] = functionOf("postgresFunction", layout, schema, name, node, options);
  return tell(told, (wasm, length, from) => wasm.postgres_function(length, from, ahead, wait));
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
  const [told, ahead, wait] = functionOf("mariadbFunction", layout, schema, name, node, options);
  const statement = (place: number): string =>
    tell(told, (wasm, length, from) => wasm.mariadb_function(length, from, place, ahead, wait));
  return [statement(0), statement(1), statement(2)];
}

/**
 * A kind of 128-bit ID: the function of `uuid7` returns a `uuid`, that of `ulid` a `text` of 26 characters, and that of
 * `typeid` a `text` with the prefix that the function takes as its argument.
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
  const told = [String(kind), nameOf(schema, 65), nameOf(name, 65)];
  return tell(told, (wasm, length, from) => wasm.postgres_wide_function(length, from));
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
  const told = [textOf(layout), String(dialect), nameOf(column, 400)];
  const part = (part: number): string => tell(told, (wasm, length, from) => wasm.expression(length, from, part));
  const parts = [0, 1, 2, 3, 4].map(part) as [string, string, string, string, string];
  const fields = told[0]!
    .replace(/;.*/s, "")
    .split(",")
    .map((field) => field.split(":")[0]!);
  const [timestamp, timestampMs, tick, node, sequence] = parts;
  return {
    timestamp,
    timestampMs,
    tick,
    node,
    sequence,
    fields: Object.fromEntries(fields.filter((name) => name !== "unused").map((name, at) => [name, part(5 + at)])),
    between: (from, to) => {
      const [fromMs, toMs] = [unixMs(from), unixMs(to)];
      return tell(told, (wasm, length, from) => wasm.between(length, from, fromMs, toMs));
    },
  };
}
