// Numbers of sequences that PostgreSQL and MariaDB have.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { NativeNumbers } from "snowmint/numbers";
import { refusal } from "./asserting.mjs";
import { killed, WAIT } from "./number-places.mjs";
import { shared } from "./servers.mjs";
import { atEnd, MemoryStore, MysqlStore, mysqlPromise, PgStore, pg, sqliteAt } from "./stores.mjs";
import { folder } from "./support.mjs";

/** An empty database: a function that runs a statement, one that takes a number as any client may, and one that makes a store. */
const DATABASES = {
  async pg(t) {
    const { url } = await shared("postgres", { newDatabase: true });
    const pool = new pg.Pool({ connectionString: url });
    atEnd(t, () => pool.end());
    return {
      url,
      run: (sql) => pool.query(sql),
      nextval: async (name) => BigInt((await pool.query(`SELECT nextval('${name}')`)).rows[0].nextval),
      store: (options) => new PgStore(pool, { timeoutMs: 30_000, ...options }),
    };
  },
  async "mysql2/promise"(t) {
    const { url } = await shared("mariadb", { newDatabase: true });
    const pool = mysqlPromise.createPool({ uri: url });
    atEnd(t, () => pool.end());
    return {
      url,
      run: (sql) => pool.query(sql),
      nextval: async (name) => BigInt((await pool.query(`SELECT NEXT VALUE FOR ${name} AS number`))[0][0].number),
      store: (options) => new MysqlStore(pool, { timeoutMs: 30_000, ...options }),
    };
  },
};

for (const [kind, database] of Object.entries(DATABASES))
  describe(`sequences of ${kind}`, { concurrency: 2 }, () => {
    test("numbers mix with those of other sessions", async (t) => {
      const { run, nextval, store } = await database(t);
      await run("CREATE SEQUENCE invoices START WITH 100 INCREMENT BY 10");
      const invoices = new NativeNumbers(store(), "invoices", { step: 3, ...WAIT });
      const taken = [await invoices.next(), invoices.tryNext(), await invoices.next()];
      assert.deepEqual(taken, [100n, 110n, 120n]);
      for (let i = 0; i < 5; i++) taken.push(await nextval("invoices"));
      taken.push(...(await Promise.all(Array.from({ length: 50 }, () => invoices.next()))));
      assert.equal(new Set(taken).size, 58);
    });

    for (const [definition, numbers] of [
      ["MAXVALUE 5 CACHE 3", [1n, 2n, 3n, 4n, 5n]],
      ["START WITH -1 INCREMENT BY -2 MINVALUE -7 MAXVALUE -1", [-1n, -3n, -5n, -7n]],
      ["START WITH 9223372036854775805 MAXVALUE 9223372036854775806", [2n ** 63n - 3n, 2n ** 63n - 2n]],
    ])
      test(`a sequence gives its last number and ends: ${definition}`, async (t) => {
        const { run, store } = await database(t);
        await run(`CREATE SEQUENCE small ${definition}`);
        const small = new NativeNumbers(store(), "small", WAIT);
        const taken = [];
        const end = async () => {
          for (;;) taken.push(await small.next());
        };
        await assert.rejects(end, { code: "EXHAUSTED", message: /sequence small has no more numbers/ });
        assert.deepEqual(taken, numbers);
        await assert.rejects(small.next(), { code: "EXHAUSTED" });
      });

    test("sequences whose numbers can repeat are refused", async (t) => {
      const { run, store } = await database(t);
      await run("CREATE SEQUENCE round MAXVALUE 3 CYCLE");
      await run(kind === "pg" ? "CREATE UNLOGGED SEQUENCE quick" : "CREATE SEQUENCE quick ENGINE=MyISAM");
      await run("CREATE SEQUENCE later");
      const cures = { round: /NO CYCLE, or pass allowUnsafe: true/, quick: /SET LOGGED|ENGINE=InnoDB/ };
      for (const [name, message] of Object.entries(cures)) {
        await assert.rejects(new NativeNumbers(store(), name, WAIT).next(), { code: "UNSAFE_STORE", message });
        assert.equal(await new NativeNumbers(store({ allowUnsafe: true }), name, WAIT).next(), 1n);
      }
      // A sequence may get CYCLE later.
      const later = new NativeNumbers(store(), "later", { step: 1, ...WAIT });
      assert.equal(await later.next(), 1n);
      await run("ALTER SEQUENCE later CYCLE");
      const more = async () => {
        for (let i = 0; i < 100_000; i++) await later.next();
      };
      await assert.rejects(more, { code: "UNSAFE_STORE", message: /CYCLE/ });
    });

    test("calls go on while others alter the sequence", async (t) => {
      const { run, store: opened } = await database(t);
      await run("CREATE SEQUENCE invoices");
      const store = opened();
      let isOver = false;
      const alter = async () => {
        for (let i = 0; i < 300; i++) await run(`ALTER SEQUENCE invoices MAXVALUE ${10_000_000 + i}`);
        isOver = true;
      };
      const take = async () => {
        const taken = [];
        while (!isOver) taken.push(await new NativeNumbers(store, "invoices", { step: 1, ...WAIT }).next());
        return taken;
      };
      const [, ...taken] = await Promise.all([alter(), take(), take(), take()]);
      assert.equal(new Set(taken.flat()).size, taken.flat().length);
    });

    test("what is no sequence is refused", async (t) => {
      const { run, store } = await database(t);
      await run("CREATE TABLE plain (x int)");
      for (const name of ["missing", "plain"])
        await assert.rejects(new NativeNumbers(store(), name, WAIT).next(), {
          code: "INVALID_STORE",
          message: new RegExp(name),
        });
      for (const name of ["", "a b", "a.b", 'a"', "a`", "1a"])
        assert.match(refusal("INVALID_STORE", () => new NativeNumbers(store(), name)).message, /1 to 64 of A-Z a-z/);
      for (const step of [0, -1, 2 ** 31]) refusal("INVALID_ID", () => new NativeNumbers(store(), "plain", { step }));
    });

    test("processes that are killed repeat no number", async (t) => {
      const { url, run } = await database(t);
      await run("CREATE SEQUENCE s$1");
      await killed(t, kind, { url }, "NativeNumbers");
    });
  });

test("stores without sequences are refused, and wrong arguments with types", (t) => {
  for (const store of [new MemoryStore(), sqliteAt(t, `${folder(t)}/ids.db`)]) {
    const { message } = refusal("INVALID_STORE", () => new NativeNumbers(store, "orders"));
    assert.match(message, /only PostgreSQL and MariaDB have/);
  }
  assert.throws(() => new NativeNumbers({}, "orders"), /TypeError.*needs a store with the method/);
  assert.throws(() => new NativeNumbers(new MemoryStore(), 5), TypeError);
  assert.throws(() => new NativeNumbers(new MemoryStore(), "orders", { start: 1 }), TypeError);
});
