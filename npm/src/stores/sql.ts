// The part that all stores over an SQL server share. Other languages use the same tables and statements.
import type { Listed, SegmentTable, ServerSettings, Store, Tag, Versioned } from "../lease/store.js";
import { tools } from "../wasm/tools.js";
import { codeOf, Findings, failed, type Kind, settingsOf } from "./shared/durability.js";
import { within } from "./shared/failure.js";
import { ownerOf, type StoreOptions, settled } from "./shared/options.js";
import { checkAdd, full, MAX_COUNT, newVersion } from "./shared/values.js";

/** The value of `$1`, `$2` and so on: a key, an integer of 64 bits, or bytes. */
export type Value = string | bigint | Uint8Array;

/** The rows, all as text, or how many rows were written. */
export interface Answer {
  rows: (string | null)[][];
  count: number;
}

/** A connection that belongs to one caller until it is given back. */
export interface Connection {
  ask(sql: string, values?: readonly Value[]): Promise<Answer>;
  /** Gives it back to the pool, which may use it on. */
  release(): void;
  /** Lets the pool close it, because its state is unknown. */
  destroy(why: Error): void;
}

/** Tables that are made when first used. */
interface Tables {
  /** A query for the names of tables that exist, these and others. */
  existing: string;
  /** Makes them, by statements with blank lines between them. */
  schema: string;
}

/** The differences between databases. */
export interface Dialect {
  /** The class of the store. */
  store: string;
  /** The engine whose rules of durability hold. */
  kind: Kind;
  /** The tables of records and counters, and Leaf's table. */
  tables: Tables;
  leaf: Tables;
  /** The beginning of `records` and `counters` in the names of these tables. */
  prefix: "snowmint." | "snowmint_";
  /**
   * Begins a transaction in which each statement sees all earlier commits, and whose commit is flushed. Nothing, if each
   * statement is such a transaction.
   */
  begin: readonly string[];
  commit?: string;
  /** Queries for the names and values of settings, and for the tables that a crash can empty. */
  settings(names: readonly string[]): readonly string[];
  /** An integer column, and one of bytes, as text: in hex. */
  integer(column: string): string;
  bytes(column: string): string;
  /** Reads version and value, in hex, of a record, and waits until the write that it saw is durable. */
  read(ask: Connection["ask"], key: string): Promise<[version: string, value: string] | undefined>;
  /** Inserts a record; whether it was not there. */
  insert(ask: Connection["ask"], key: string, value: Uint8Array, version: bigint): Promise<boolean>;
  /** Replaces a record; whether it still was of the version `expected`. */
  update(ask: Connection["ask"], key: string, value: Uint8Array, version: bigint, expected: bigint): Promise<boolean>;
  /** Adds to a counter, and returns the sum. It does nothing, or returns undefined to undo it, beyond 2^63-1. */
  add(ask: Connection["ask"], counter: string, delta: bigint, start: bigint): Promise<bigint | undefined>;
  /** Inserts a row into Leaf's table; whether the tag had none. */
  createTag(ask: Connection["ask"], tag: string, row: Tag): Promise<boolean>;
  /** Adds to the row of a tag whose number is `most` at most, and returns the sum. */
  fetch(ask: Connection["ask"], tag: string, amount: bigint, most: bigint): Promise<bigint | undefined>;
  /** A query for Unix ms. */
  clock: string;
  /** Statements on a sequence of the database, if it has sequences. */
  sequence?: SequenceStatements;
}

/** Statements on a sequence, whose name replaces `{sequence}`. */
interface SequenceStatements {
  /** Reads the server's version and the object's type. */
  object: string;
  /** Reads the state. */
  state: string;
  /** Takes numbers, whose number replaces `{count}`. */
  nextval: string;
  /** Makes the transaction durable. */
  guard?: string;
}

/** A sequence of a database. */
export interface DatabaseSequence {
  engine: Kind;
  allowsUnsafe: boolean;
  /** Reads the server's version, and the type of the object; null without one. */
  object(): Promise<(string | null)[]>;
  /** Reads the state; undefined without a row. */
  state(): Promise<string[] | undefined>;
  /** Takes numbers; null if the sequence has fewer, as the code of the error says. */
  take(count: bigint, isRunOut: (code: string) => boolean): Promise<bigint[] | null>;
}

const MAX_VALUE = 1024;
/** So often tables are tried to be made, and so long is waited in between. */
const TRIES = 20;
const PAUSE_MS = 10;

/** A store on a server that speaks SQL. */
export abstract class SqlStore implements Store {
  readonly #name: string;
  readonly #dialect: Dialect;
  readonly #allowUnsafe: boolean;
  readonly #timeoutMs: number;
  readonly #findings: Findings;
  /** The tables that are there. */
  readonly #made = new Set<Tables>();
  #checked = false;

  /** Leaf's table of segments in this database. An existing table stays unchanged. */
  readonly segments: SegmentTable = {
    tag: async (tag) => {
      const sql = `SELECT ${this.#dialect.integer("max_id")}, ${this.#dialect.integer("step")} FROM leaf_alloc WHERE biz_tag = $1`;
      const [row] = (await this.#leaf(false, (ask) => ask(sql, [tag]))).rows;
      return row ? { next: BigInt(row[0]!), step: BigInt(row[1]!) } : null;
    },
    create: (tag, row) => this.#leaf(true, (ask) => this.#dialect.createTag(ask, tag, row)),
    fetch: async (tag, amount) => {
      const most = MAX_COUNT - amount;
      const sum = most < 0n ? undefined : await this.#leaf(true, (ask) => this.#dialect.fetch(ask, tag, amount, most));
      if (sum === undefined && (await this.segments.tag(tag))) throw full(this, tag);
      return sum ?? null;
    },
    lower: (tag, end, start) => {
      const sql =
        "UPDATE leaf_alloc SET max_id = $1, update_time = CURRENT_TIMESTAMP WHERE biz_tag = $2 AND max_id = $3";
      return this.#leaf(true, async (ask) => (await ask(sql, [start, tag, end])).count === 1);
    },
  };

  protected constructor(name: string, dialect: Dialect, options?: StoreOptions) {
    const { allowUnsafe, allowStandby, timeoutMs } = settled(options, ownerOf(dialect.store));
    this.#findings = new Findings(dialect.kind, allowStandby);
    this.#name = name;
    this.#dialect = dialect;
    this.#allowUnsafe = allowUnsafe;
    this.#timeoutMs = timeoutMs;
  }

  /** @internal A connection of the pool. */
  protected abstract connect(): Promise<Connection>;

  /** As `Store.read`. */
  async read(key: string): Promise<Versioned | null> {
    return this.#transaction(false, async (ask) => {
      const row = await this.#dialect.read(ask, key);
      return row ? found(row) : null;
    });
  }

  /** As `Store.write`. */
  async write(key: string, value: Uint8Array, expectedVersion: number): Promise<number | null> {
    // A server that is not strict would cut a longer value.
    if (value.length > MAX_VALUE) throw new RangeError(`a value is at most ${MAX_VALUE} bytes, not ${value.length}`);
    const version = newVersion();
    return this.#transaction(true, async (ask) => {
      const written = expectedVersion
        ? await this.#dialect.update(ask, key, value, BigInt(version), BigInt(expectedVersion))
        : await this.#dialect.insert(ask, key, value, BigInt(version));
      return written ? version : null;
    });
  }

  /** As `Store.list`. */
  async list(prefix: string): Promise<Listed[]> {
    const { integer, bytes, prefix: tables } = this.#dialect;
    const columns = `${bytes("name")}, ${integer("version")}, ${bytes("value")}`;
    // From the slash to the next character, because LIKE has wildcards.
    const end = prefix.slice(0, -1) + String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1);
    const sql = `SELECT ${columns} FROM ${tables}records WHERE name >= $1 AND name < $2`;
    const listed = ([name, ...row]: (string | null)[]): Listed => ({
      name: String.fromCharCode(...fromHex(name!)).slice(prefix.length),
      ...found(row),
    });
    return this.#transaction(false, async (ask) =>
      (await ask(sql, [prefix, end])).rows.map(listed).filter(({ name }) => !name.includes("/")),
    );
  }

  /** As `Store.add`. */
  async add(counter: string, delta: bigint, start: bigint): Promise<bigint> {
    checkAdd(this, counter, delta, start);
    const count = await this.#transaction(true, (ask) => this.#dialect.add(ask, counter, delta, start));
    if (count === undefined) throw full(this, counter);
    return count;
  }

  /** As `Store.lower`. */
  async lower(counter: string, end: bigint, start: bigint): Promise<boolean> {
    const sql = `UPDATE ${this.#dialect.prefix}counters SET value = $1 WHERE name = $2 AND value = $3`;
    return this.#transaction(true, async (ask) => (await ask(sql, [start, counter, end])).count === 1);
  }

  /** As `Store.clockMs`. */
  async clockMs(): Promise<number> {
    return this.#transaction(false, async (ask) => Number((await ask(this.#dialect.clock)).rows[0]![0]));
  }

  /** As `Store.refuseStandby`. */
  async refuseStandby(): Promise<void> {
    if (this.#allowUnsafe) return;
    await this.#transaction(true, async () => null);
    this.#findings.refuseStandby();
  }

  /** As `Store.settings`. */
  async settings(): Promise<ServerSettings> {
    const { kind } = this.#dialect;
    return this.#transaction(false, async (ask) => ({ engine: kind, values: await this.#settings(ask) }));
  }

  /** As `Store.standbyRisk`. */
  standbyRisk(): string | null {
    return this.#findings.risk;
  }

  /** Its name in messages. */
  toString(): string {
    return this.#name;
  }

  /** @internal Opens a sequence of the database; undefined if the database has none. */
  sequence(name: string): DatabaseSequence | undefined {
    const { kind, sequence } = this.#dialect;
    if (!sequence) return undefined;
    const { object, state, nextval, guard } = sequence;
    const filled = (sql: string, count = 0n) => sql.replaceAll("{sequence}", name).replaceAll("{count}", String(count));
    const row = async (sql: string) => (await this.#transaction(false, (ask) => ask(filled(sql)))).rows[0];
    const taken = async (ask: Connection["ask"], count: bigint): Promise<bigint[]> => {
      const { rows } = await ask(filled(nextval, count));
      if (guard) await ask(filled(guard));
      return rows.map(([number]) => BigInt(number!));
    };
    return {
      engine: kind,
      allowsUnsafe: this.#allowUnsafe,
      object: async () => (await row(object))!,
      state: async () => (await row(state)) as string[] | undefined,
      take: (count, isRunOut) =>
        this.#transaction(true, (ask) =>
          taken(ask, count).catch((error) => {
            if (isRunOut(codeOf(kind, error))) return null;
            throw error;
          }),
        ),
    };
  }

  /** @internal Whether the caller accepts a database that can lose confirmed writes. */
  protected get allowsUnsafe(): boolean {
    return this.#allowUnsafe;
  }

  /** @internal Runs `work`, which writes to a table of the application, in a transaction. */
  protected writing<T>(work: (ask: Connection["ask"]) => Promise<T>): Promise<T> {
    return this.#transaction(true, work, null);
  }

  /** Runs `work` on Leaf's table in a transaction. */
  #leaf<T>(writing: boolean, work: (ask: Connection["ask"]) => Promise<T>): Promise<T> {
    return this.#transaction(writing, work, this.#dialect.leaf);
  }

  /**
   * Runs `work` in a transaction, which is committed by the time this resolves, or undone if the result is undefined. The tables are
   * made before, unless they are null.
   */
  async #transaction<T>(
    writing: boolean,
    work: (ask: Connection["ask"]) => Promise<T>,
    tables: Tables | null = this.#dialect.tables,
  ): Promise<T> {
    const { begin, commit } = this.#dialect;
    // With a separate timeout, because making tables takes long.
    if (tables && !this.#made.has(tables)) await this.#use((ask) => this.#makeTables(ask, tables));
    return this.#use(async (ask) => {
      for (const statement of begin) await ask(statement);
      // A server that is refused at first is not written.
      if (!this.#checked && !this.#allowUnsafe) await this.#check(ask);
      const result = await work(ask);
      if (commit) await ask(result === undefined ? "ROLLBACK" : commit);
      // Behind the commit: it counts only if the server keeps it.
      if (writing && !this.#allowUnsafe) await this.#check(ask);
      return result;
    });
  }

  /** Runs `work` on a connection, which is closed if that fails or takes too long. */
  async #use<T>(work: (ask: Connection["ask"]) => Promise<T>): Promise<T> {
    let connection: Connection | undefined;
    let over = false;
    try {
      const result = await within(this.#timeoutMs, async () => {
        const connected = await this.connect();
        // A connection that arrives too late is given back unused.
        if (over) return connected.release() as never;
        connection = connected;
        return work((sql, values) => connected.ask(sql, values));
      });
      connection?.release();
      return result;
    } catch (error) {
      over = true;
      const failure = failed(this, this.#dialect.kind, error);
      connection?.destroy(failure);
      throw failure;
    }
  }

  /** Makes the tables once. If they are missing later, it must not make them again: numbers would restart. */
  async #makeTables(ask: Connection["ask"], tables: Tables): Promise<void> {
    const names = [...tables.schema.matchAll(/CREATE TABLE IF NOT EXISTS (\S+)/g)].map(([, name]) => name!);
    for (let tries = 1; !this.#made.has(tables); tries++) {
      const existing = new Set((await ask(tables.existing)).rows.map(([name]) => name));
      if (names.every((name) => existing.has(name))) this.#made.add(tables);
      else
        try {
          for (const statement of tables.schema.split("\n\n")) await ask(statement);
        } catch (error) {
          const { kind } = this.#dialect;
          if (tries === TRIES || !tools().isOvertaken(kind, codeOf(kind, error))) throw error;
          await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
        }
    }
  }

  async #settings(ask: Connection["ask"]): Promise<Map<string, string>> {
    const { kind, settings } = this.#dialect;
    // MySQL writes names in another case than it reads them.
    const names = new Map(settingsOf(kind).map((name) => [name.toLowerCase(), name]));
    const found = new Map<string, string>();
    for (const query of settings([...names.values()]))
      for (const [name, value] of (await ask(query)).rows)
        found.set(names.get(name!.toLowerCase()) ?? name!, value ?? "");
    return found;
  }

  async #check(ask: Connection["ask"]): Promise<void> {
    this.#findings.judge(this, await this.#settings(ask));
    this.#checked = true;
  }
}

/** A record from its version and its value in hex. */
function found([version, value]: (string | null)[]): Versioned {
  const number = Number(version);
  if (!Number.isSafeInteger(number)) throw new Error(`${version} is no version`);
  return { value: fromHex(value!), version: number };
}

/** Bytes from hex. */
const fromHex = (hex: string): Uint8Array =>
  Uint8Array.from({ length: hex.length / 2 }, (_, at) => Number.parseInt(hex.slice(2 * at, 2 * at + 2), 16));
