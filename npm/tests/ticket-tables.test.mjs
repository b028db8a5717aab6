// Tickets of Flickr's tables, in MariaDB.
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { SnowmintError } from "snowmint";
import { Tickets } from "snowmint/numbers";
import { refusal } from "./asserting.mjs";
import { WAIT } from "./number-places.mjs";
import { shared } from "./servers.mjs";
import { atEnd, MemoryStore, MysqlStore, mysql, mysqlPromise } from "./stores.mjs";

const SESSION = "SELECT @@SESSION.sql_mode, @@SESSION.auto_increment_increment, @@SESSION.auto_increment_offset";

let url;
before(async () => {
  ({ url } = await shared("mariadb", { newDatabase: true }));
});

/** A pool of one connection, and a store over it. */
function pooled(t, options) {
  const pool = mysqlPromise.createPool({ uri: url, connectionLimit: 1, rowsAsArray: true });
  atEnd(t, () => pool.end());
  return { pool, store: new MysqlStore(pool, { timeoutMs: 30_000, ...options }) };
}

/** Makes a table as Flickr did. */
const make = (pool, table, kind = "bigint unsigned", storage = "InnoDB") =>
  pool.query(
    `CREATE TABLE ${table} (id ${kind} NOT NULL AUTO_INCREMENT PRIMARY KEY, stub char(1) NOT NULL DEFAULT '', ` +
      `UNIQUE KEY stub (stub)) ENGINE=${storage}`,
  );

describe("tables of tickets", { concurrency: 2 }, () => {
  test("two tables give odd and even tickets, and leave the session as it was", async (t) => {
    const { pool, store } = pooled(t);
    const [before] = await pool.query(SESSION);
    await make(pool, "odd");
    await make(pool, "even");
    const [odd, even] = [1, 2].map((offset) =>
      Tickets.ofTables(store, ["odd", "even"][offset - 1], { increment: 2, offsets: [offset], ...WAIT }),
    );
    const taken = [await odd.next(), await odd.next(), await even.next(), await odd.next(), await even.next()];
    assert.deepEqual(taken, [1n, 3n, 2n, 5n, 4n]);
    const [after] = await pool.query(SESSION);
    assert.deepEqual(after, before);
  });

  test("several stores take turns", async (t) => {
    const { pool, store } = pooled(t);
    await make(pool, "`of$1``several`");
    // Both are the same table here, which then has odd and even tickets.
    const photos = Tickets.ofTables([store, pooled(t).store], "of$1`several", WAIT);
    const taken = [];
    for (let i = 0; i < 6; i++) taken.push(await photos.next());
    assert.deepEqual(
      taken.map((ticket) => Number(ticket % 2n)),
      [1, 0, 1, 0, 1, 0],
    );
    assert.equal(new Set(taken).size, 6);
  });

  test("tickets continue where the other clients of the table are", async (t) => {
    const { pool, store } = pooled(t);
    await make(pool, "Tickets64");
    const photos = Tickets.ofTables(store, "Tickets64", { stub: "b", ...WAIT });
    assert.equal(await photos.next(), 1n);
    await pool.query("REPLACE INTO Tickets64 (stub) VALUES ('b')");
    const over = mysql.createPool(url);
    atEnd(t, () => over.promise().end());
    const others = Tickets.ofTables(new MysqlStore(over), "Tickets64", { stub: "b", ...WAIT });
    const taken = await Promise.all(Array.from({ length: 120 }, (_, i) => (i % 2 ? photos : others).next()));
    assert.equal(new Set(taken).size, 120);
    assert.ok(taken.every((ticket) => ticket > 2n));
    const [[[rows]]] = await pool.query("SELECT COUNT(*) FROM Tickets64");
    assert.equal(rows, 1);
  });

  test("a ticket beyond 2^53 has all its digits", async (t) => {
    const { pool, store } = pooled(t);
    await make(pool, "beyond");
    const photos = Tickets.ofTables(store, "beyond", WAIT);
    for (const first of [2n ** 53n + 1n, 2n ** 63n + 1n]) {
      await pool.query(`ALTER TABLE beyond AUTO_INCREMENT = ${first}`);
      assert.deepEqual([await photos.next(), await photos.next()], [first, first + 1n]);
    }
  });

  for (const [kind, last] of [
    ["tinyint", 127n],
    ["int", 2n ** 31n - 1n],
    ["int unsigned", 2n ** 32n - 1n],
  ])
    test(`a full table of ${kind} is exhausted, and repeats nothing`, async (t) => {
      const { pool, store } = pooled(t);
      const table = `full_${kind.replace(" ", "_")}`;
      await make(pool, table, kind);
      await pool.query(`ALTER TABLE ${table} AUTO_INCREMENT = ${last - 2n}`);
      // A mode that would take the last number again.
      await pool.query("SET SESSION sql_mode = ''");
      const photos = Tickets.ofTables(store, table, WAIT);
      const taken = [await photos.next(), await photos.next()];
      const failed = await (async () => {
        for (;;) taken.push(await photos.next());
      })().catch((error) => error);
      assert.ok(failed instanceof SnowmintError && failed.code === "EXHAUSTED", failed.stack);
      assert.match(failed.message, /no more numbers/);
      assert.ok([`${last - 2n},${last - 1n}`, `${last - 2n},${last - 1n},${last}`].includes(`${taken}`), `${taken}`);
      await assert.rejects(photos.next(), { code: "EXHAUSTED" });
      const [[[mode]]] = await pool.query(SESSION);
      assert.equal(mode, "");
    });

  test("tables that are unfit for tickets are refused", async (t) => {
    const { pool, store } = pooled(t);
    await make(pool, "careless", "bigint", "MyISAM");
    await pool.query("CREATE TABLE plain (id int, stub char(1))");
    for (const [table, message] of [
      ["missing", /does not exist/],
      ["plain", /AUTO_INCREMENT/],
      ["a`b", /does not exist/],
      ["careless", /MyISAM/],
    ])
      await assert.rejects(Tickets.ofTables(store, table, WAIT).next(), { code: "STORE_UNAVAILABLE", message });
    const lenient = pooled(t, { allowUnsafe: true });
    assert.equal(await Tickets.ofTables(lenient.store, "careless", WAIT).next(), 1n);
  });
});

test("wrong arguments are refused with types", (t) => {
  const { store } = pooled(t);
  const other = refusal("INVALID_STORE", () => Tickets.ofTables(new MemoryStore(), "Tickets64"));
  assert.match(other.message, /MemoryStore: only a MysqlStore/);
  const wrong = [{ increment: 0 }, { offsets: [2] }, { offsets: [1, 2] }, { increment: -1, offsets: [0] }];
  for (const options of [...wrong, { increment: 2n ** 64n + 1n }])
    refusal("INVALID_ID", () => Tickets.ofTables(store, "Tickets64", options));
  refusal("INVALID_ID", () => Tickets.ofTables([], "Tickets64"));
  for (const table of [undefined, 5]) assert.throws(() => Tickets.ofTables(store, table), TypeError);
  for (const options of [{ stub: 5 }, { steps: 1 }])
    assert.throws(() => Tickets.ofTables(store, "Tickets64", options), TypeError);
});
