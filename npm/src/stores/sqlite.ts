import { fileAt } from "#files";
import { SnowmintError } from "../errors.js";
import { postgresLeaf, sqliteSchema } from "../generated/scripts.js";
import { monotonicMs } from "../generator/waiting.js";
import type { Listed, SegmentTable, ServerSettings, Store, Versioned } from "../lease/store.js";
import { failed, refuseLossyPlace, refuseUnsafe } from "./shared/durability.js";
import { ownerOf, type StoreOptions, settled } from "./shared/options.js";
import { checkAdd, full, MAX_COUNT, newVersion, raised } from "./shared/values.js";

/** A `Database` of `better-sqlite3`. */
export interface SqliteDatabase {
  prepare(...args: never[]): unknown;
  pragma(...args: never[]): unknown;
  readonly inTransaction: boolean;
}

/** As much of the database as is used. */
interface Database {
  prepare(sql: string): Statement;
  pragma(source: string, options?: { simple: boolean }): unknown;
  exec(sql: string): unknown;
  readonly name?: string | undefined;
  readonly inTransaction: boolean;
}
interface Statement {
  safeIntegers(on: boolean): Statement;
  raw(on: boolean): Statement;
  all(...values: Value[]): unknown[][];
  run(...values: Value[]): { changes: number | bigint };
}
type Value = string | bigint | Uint8Array;

const COUNT_TABLES =
  "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name IN ('snowmint_records', 'snowmint_counters', 'leaf_alloc')";
/** So long another process's transaction is left to itself before the next look. */
const PAUSE_MS = 5;

/** The settings of the application's connection during a call. On macOS a plain fsync lets the drive write later. */
const CURED: [pragma: string, value: string][] = [
  ["synchronous", "EXTRA"],
  ["fullfsync", "ON"],
  // Waiting for other processes would block this one.
  ["busy_timeout", "0"],
];

/**
 * Records and counters in two tables of an SQLite database, over a `Database` of `better-sqlite3`; without a clock.
 *
 * The tables `snowmint_records` and `snowmint_counters` are made when first used, if they are missing. A database in
 * memory, one without a journal that lasts, and one on a network's file system or in the memory of the machine are refused
 * with `UNSAFE_STORE`; `synchronous` is cured for the store's own transactions. Other processes may use the file at once:
 * a call waits for them without blocking, for `timeoutMs` at most. A call is refused while the application has an open
 * transaction on this connection: a rollback would undo the call.
 *
 * Throws TypeError unless the argument is a `Database` of better-sqlite3.
 *
 * @example
 * const store = new SqliteStore(new Database("/var/lib/app/ids.db"));
 */
export class SqliteStore implements Store {
  readonly #db: Database;
  readonly #allowUnsafe: boolean;
  readonly #timeoutMs: number;
  #hasTables = false;
  #checked = false;
  /** Which file it was at first. */
  #file: string | undefined;
  #path = "";
  /** The path of its write-ahead log, if it has one. */
  #log = "";

  /** Leaf's table of segments in this database. An existing table stays unchanged. */
  readonly segments: SegmentTable = {
    tag: async (tag) => {
      const sql = "SELECT max_id, step FROM leaf_alloc WHERE biz_tag = ?";
      const [row] = await this.#transaction(false, () => this.#all(sql, tag));
      return row ? { next: row[0] as bigint, step: row[1] as bigint } : null;
    },
    create: (tag, { next, step }) => {
      const sql =
        "INSERT INTO leaf_alloc (biz_tag, max_id, step, description) VALUES (?, ?, ?, '') ON CONFLICT DO NOTHING";
      return this.#transaction(true, () => this.#run(sql, tag, next, step) === 1);
    },
    fetch: async (tag, amount) => {
      const most = MAX_COUNT - amount;
      const sql =
        "UPDATE leaf_alloc SET max_id = max_id + ?, update_time = CURRENT_TIMESTAMP " +
        "WHERE biz_tag = ? AND max_id BETWEEN 0 AND ? RETURNING max_id";
      const [row] = most < 0n ? [] : await this.#transaction(true, () => this.#all(sql, amount, tag, most));
      if (!row && (await this.segments.tag(tag))) throw full(this, tag);
      return row ? (row[0] as bigint) : null;
    },
    lower: (tag, end, start) => {
      const sql = "UPDATE leaf_alloc SET max_id = ?, update_time = CURRENT_TIMESTAMP WHERE biz_tag = ? AND max_id = ?";
      return this.#transaction(true, () => this.#run(sql, start, tag, end) === 1);
    },
  };

  /** Over a database, which stays the caller's. */
  constructor(db: SqliteDatabase, options?: StoreOptions) {
    const { allowUnsafe, timeoutMs } = settled(options, ownerOf("SqliteStore"));
    const known = Object(db) as Partial<SqliteDatabase>;
    if (typeof known.pragma !== "function" || typeof known.prepare !== "function" || !("inTransaction" in known))
      throw new TypeError('SqliteStore needs a Database of "better-sqlite3", such as new Database("ids.db")');
    this.#db = db as unknown as Database;
    this.#allowUnsafe = allowUnsafe;
    this.#timeoutMs = timeoutMs;
  }

  /** As `Store.read`. */
  async read(key: string): Promise<Versioned | null> {
    return this.#transaction(false, () => {
      const [row] = this.#all("SELECT version, value FROM snowmint_records WHERE name = ?", key);
      return row ? found(row) : null;
    });
  }

  /** As `Store.write`. */
  async write(key: string, value: Uint8Array, expectedVersion: number): Promise<number | null> {
    const bytes = Uint8Array.from(value);
    const version = newVersion();
    return this.#transaction(true, () => {
      const count = expectedVersion
        ? this.#run(
            "UPDATE snowmint_records SET value = ?, version = ? WHERE name = ? AND version = ?",
            bytes,
            BigInt(version),
            key,
            BigInt(expectedVersion),
          )
        : this.#run(
            "INSERT INTO snowmint_records (value, version, name) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
            bytes,
            BigInt(version),
            key,
          );
      return count === 1 ? version : null;
    });
  }

  /** As `Store.list`. */
  async list(prefix: string): Promise<Listed[]> {
    // From the slash to the next character, because LIKE has wildcards.
    const end = prefix.slice(0, -1) + String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1);
    return this.#transaction(false, () =>
      this.#all("SELECT name, version, value FROM snowmint_records WHERE name >= ? AND name < ?", prefix, end)
        .map(([name, ...row]) => ({ name: String(name).slice(prefix.length), ...found(row) }))
        .filter(({ name }) => !name.includes("/")),
    );
  }

  /** As `Store.add`. */
  async add(counter: string, delta: bigint, start: bigint): Promise<bigint> {
    checkAdd(this, counter, delta, start);
    const count = await this.#transaction(true, () => {
      const [row] = this.#all("SELECT value FROM snowmint_counters WHERE name = ?", counter);
      const count = raised((row?.[0] ?? start) as bigint, delta);
      if (count !== undefined)
        this.#run(
          "INSERT INTO snowmint_counters (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
          counter,
          count,
        );
      return count;
    });
    if (count === undefined) throw full(this, counter);
    return count;
  }

  /** As `Store.lower`. */
  async lower(counter: string, end: bigint, start: bigint): Promise<boolean> {
    const sql = "UPDATE snowmint_counters SET value = ? WHERE name = ? AND value = ?";
    return this.#transaction(true, () => this.#run(sql, start, counter, end) === 1);
  }

  /** As `Store.clockMs`. */
  async clockMs(): Promise<null> {
    return null;
  }

  /** As `Store.settings`. */
  async settings(): Promise<ServerSettings> {
    return this.#transaction(false, () => ({ engine: "sqlite" as const, values: this.#settings() }));
  }

  /** Its name in messages. */
  toString(): string {
    return `SQLite at ${this.#db.name || "a temporary file"}`;
  }

  #all(sql: string, ...values: Value[]): unknown[][] {
    return this.#db
      .prepare(sql)
      .safeIntegers(true)
      .raw(true)
      .all(...values);
  }

  #run(sql: string, ...values: Value[]): number {
    return Number(this.#db.prepare(sql).run(...values).changes);
  }

  /** Runs `work`, which only reads and writes the database, in a transaction. Resolves when the transaction is on disk. */
  async #transaction<T>(writing: boolean, work: () => T): Promise<T> {
    const until = monotonicMs() + this.#timeoutMs;
    for (;;) {
      try {
        return this.#attempt(writing, work);
      } catch (error) {
        const busy = String((error as { code?: unknown }).code).startsWith("SQLITE_BUSY");
        if (!busy || monotonicMs() > until) throw failed(this, "sqlite", error);
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      }
    }
  }

  #attempt<T>(writing: boolean, work: () => T): T {
    const db = this.#db;
    // A read there may be old, too.
    if (db.inTransaction) throw new Error("the application has a transaction open on this connection");
    const before = CURED.map(([pragma]) => [pragma, db.pragma(pragma, { simple: true })] as const);
    try {
      for (const [pragma, value] of CURED) db.pragma(`${pragma} = ${value}`);
      this.#makeTables();
      if ((writing || !this.#checked) && !this.#allowUnsafe) this.#check();
      db.exec(writing ? "BEGIN IMMEDIATE" : "BEGIN");
      const result = work();
      db.exec("COMMIT");
      if (writing) this.#refuseRemoved();
      return result;
    } finally {
      if (db.inTransaction) db.exec("ROLLBACK");
      for (const [pragma, value] of before) db.pragma(`${pragma} = ${Number(value)}`);
    }
  }

  /** Makes the tables once. If they are missing later, it must not make them again: numbers would restart. */
  #makeTables(): void {
    if (this.#hasTables) return;
    const [count] = this.#all(COUNT_TABLES);
    if (Number(count![0]) < 3) this.#db.exec(sqliteSchema + postgresLeaf);
    this.#hasTables = true;
  }

  #settings(): Map<string, string> {
    const [file] = this.#all("SELECT file FROM pragma_database_list WHERE name = 'main'");
    const pragma = (name: string) => String(this.#db.pragma(name, { simple: true }));
    return new Map([
      ["file", String(file![0] ?? "")],
      ["journal_mode", pragma("journal_mode")],
      ["synchronous", pragma("synchronous")],
    ]);
  }

  #check(): void {
    this.#refuseRemoved();
    const found = this.#settings();
    const path = found.get("file")!;
    const mode = found.get("journal_mode");
    // The path may be too long for core.
    refuseUnsafe(this, "sqlite", found.set("file", path && "a file"));
    refuseLossyPlace(this, path);
    this.#path = path;
    if (!this.#checked) this.#file = fileAt(path);
    this.#log = mode === "wal" ? `${path}-wal` : "";
    this.#checked = true;
  }

  /** Refuses a file that was removed while in use, because its writes are lost. */
  #refuseRemoved(): void {
    if (this.#allowUnsafe || !this.#checked) return;
    const removed =
      fileAt(this.#path) !== this.#file ? this.#path : this.#log && fileAt(this.#log) === undefined ? this.#log : "";
    if (removed)
      throw new SnowmintError(
        "UNSAFE_STORE",
        `${this}: ${removed} was removed while it is in use, so what is written there is lost`,
      );
  }
}

/** A record from its version and its value. */
const found = ([version, value]: unknown[]): Versioned => ({
  value: Uint8Array.from(value as Uint8Array),
  version: Number(version),
});
