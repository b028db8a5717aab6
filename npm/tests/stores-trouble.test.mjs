// Failures of stores: unsafe settings, servers that are unreachable or hang, and values that are not clients.
import assert from "node:assert/strict";
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, test } from "node:test";
import { SnowmintError } from "snowmint";
import { shared, start } from "./servers.mjs";
import {
  atEnd,
  bytes,
  Database,
  database,
  Ioredis,
  LEASED,
  MemoryStore,
  MysqlStore,
  mysql,
  mysqlPromise,
  PgStore,
  pg,
  RedisStore,
  SERVED,
  SqliteStore,
  storeAt,
  text,
} from "./stores.mjs";
import { exitOf, FAKETIME, fakeClock, folder, until } from "./support.mjs";

/** A server that ends with the test. */
async function serve(t, engine, options) {
  const server = await start(engine, options);
  atEnd(t, () => server.stop());
  return server;
}

/** The URL of an empty database on the server that all tests share. */
const databaseAt = async (engine) => (await shared(engine, { newDatabase: true })).url;

/** The error of a promise, which must be a SnowmintError of that code with that in its message. */
async function refused(code, message, promise) {
  const error = await promise.then(
    (value) => assert.fail(`${code} was not thrown, but ${value} answered`),
    (error) => error,
  );
  assert.ok(error instanceof SnowmintError, error.stack);
  assert.equal(error.code, code, error.message);
  assert.match(error.message, message);
  return error;
}

/** Far below the 30 s that calls of other stores here may take, far above the timeouts of impatient ones. */
const IN_TIME_MS = 60_000;

const literally = (text) => new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));

// Unhandled rejections and connection errors would end this process.
const unheard = [];
process.on("unhandledRejection", (error) => unheard.push(error));
process.on("uncaughtExceptionMonitor", (error) => unheard.push(error));

// One for each engine; server-settings.test.mjs has all settings.
const UNSAFE = [
  ["pg", ["-c", "fsync=off"], "fsync=off", "set fsync=on"],
  ["mysql2", ["--innodb-flush-log-at-trx-commit=2"], "innodb_flush_log_at_trx_commit=2", "SET GLOBAL"],
  ["ioredis, RESP3", ["--appendfsync", "everysec"], "appendfsync=everysec", "set appendfsync always"],
];

// Most of them wait for servers.
describe("stores", { concurrency: 4 }, () => {
  describe("settings that can lose confirmed writes are refused", { concurrency: 4 }, () => {
    for (const [kind, options, found, cure] of UNSAFE)
      test(`${kind}: ${found}`, async (t) => {
        const { url } = await serve(t, SERVED[kind].engine, { options });
        const store = await storeAt(t, kind, url);
        const calls = [() => store.write("a/b", bytes("c"), 0), () => store.read("a/b"), () => store.add("c", 1n, 0n)];
        for (const call of calls) {
          const { message } = await refused("UNSAFE_STORE", literally(found), call());
          assert.match(message, literally(cure));
          assert.match(message, /confirmed writes can be lost.*allowUnsafe: true/);
          assert.ok(message.startsWith(`${store}: `), message);
        }
        const allowed = await storeAt(t, kind, url, { allowUnsafe: true });
        // A server ends the session of a process that a busy machine stops within a transaction.
        const written = () => allowed.write("a/b", bytes("c"), 0);
        const version = await written().catch((error) => (error.code === "STORE_UNAVAILABLE" ? written() : error));
        assert.ok(version > 0, `${version}`);
      });
  });

  test("settings of Redis that change later are noticed at the next write", async (t) => {
    const { url, port } = await serve(t, "redis");
    const store = await storeAt(t, "redis, RESP3", url);
    let version = await store.write("a/b", bytes("safe"), 0);
    const admin = new Ioredis(url);
    atEnd(t, () => admin.disconnect());
    await admin.config("SET", "appendfsync", "everysec");
    await refused("UNSAFE_STORE", /appendfsync=everysec/, store.write("a/b", bytes("unsafe"), version));
    await admin.config("SET", "appendfsync", "always");
    // The write was done, and does not count.
    const kept = await store.read("a/b");
    assert.equal(text(kept.value), "unsafe");
    version = await store.write("a/b", bytes("safe"), kept.version);
    assert.ok(version);
    // A user without the right to ask gets no answer.
    await admin.call("ACL", "SETUSER", "app", "on", ">s3cret", "~*", "+@all", "-config");
    for (const kind of ["ioredis, RESP3", "redis, RESP2", "redis 4"]) {
      const blind = await storeAt(t, kind, `redis://app:s3cret@127.0.0.1:${port}`);
      const { message } = await refused(
        "UNSAFE_STORE",
        /CONFIG GET appendonly is refused.*nobody knows/,
        blind.write("a/c", bytes(""), 0),
      );
      assert.doesNotMatch(message, /s3cret/);
    }
    // A replica, from where the primary may be failed over to it.
    const replica = await serve(t, "redis", { options: ["--replicaof", `127.0.0.1 ${port}`] });
    await refused("UNSAFE_STORE", /role=slave/, (await storeAt(t, "ioredis, RESP3", replica.url)).read("a/b"));
    await until(async () => (await admin.info("replication")).includes("connected_slaves:1"), "a replica");
    // A held lease continues and reports the failure.
    version = await store.write("a/b", bytes("safe"), version);
    assert.ok(version);
    assert.match(store.standbyRisk(), /connected_slaves=1/);
    await refused("UNSAFE_STORE", /connected_slaves=1/, store.refuseStandby());
    const other = await storeAt(t, "redis, RESP2", url);
    await refused("UNSAFE_STORE", /connected_slaves=1/, other.write("a/b", bytes("unsafe"), version));
    assert.ok(await (await storeAt(t, "redis, RESP2", url, { allowStandby: true })).write("a/b", bytes(""), version));
  });

  test("tables that a crash can empty are refused", async (t) => {
    const alter = {
      pg: ["ALTER TABLE snowmint.records SET UNLOGGED", "ALTER TABLE snowmint.records SET LOGGED"],
      mysql2: ["ALTER TABLE snowmint_records ENGINE=MyISAM", "ALTER TABLE snowmint_records ENGINE=InnoDB"],
    };
    for (const [kind, [statement, cure]] of Object.entries(alter)) {
      const url = await databaseAt(SERVED[kind].engine);
      const [client, close] = await SERVED[kind].connect(url);
      atEnd(t, () => close(client));
      const store = await storeAt(t, kind, url);
      const version = await store.write("a/b", bytes(""), 0);
      await (client.promise?.() ?? client).query(statement);
      await refused("UNSAFE_STORE", literally(cure), store.write("a/b", bytes(""), version));
    }
  });

  test("tables that another session makes are waited for", async (t) => {
    const url = await databaseAt("postgres");
    const [[other, close], [viewer, closeViewer]] = [await SERVED.pg.connect(url), await SERVED.pg.connect(url)];
    atEnd(t, () => Promise.all([close(other), closeViewer(viewer)]));
    const session = await other.connect();
    await session.query("BEGIN; CREATE SCHEMA snowmint");
    // It finds no table, and its own statement waits for ours, and fails then.
    const reading = (await storeAt(t, "pg", url)).read("a/b");
    const waiting =
      "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'transactionid'";
    await until(async () => (await viewer.query(waiting)).rowCount, "a session that waits for ours");
    await session.query("COMMIT");
    session.release();
    assert.equal(await reading, null);
  });

  test("a standby of PostgreSQL is refused, and by new stores a primary that does not wait for it", async (t) => {
    const primary = await serve(t, "postgres");
    const store = await storeAt(t, "pg", primary.url);
    const first = await store.write("a/b", bytes("1"), 0);
    const standby = await serve(t, "postgres", { standbyOf: primary.port });
    const there = await storeAt(t, "pg", standby.url);
    // A standby that begins may break a connection.
    const answer = () => there.read("a/b").catch(({ code }) => code);
    await until(async () => (await answer()) !== "STORE_UNAVAILABLE", "an answer of the standby");
    await refused(
      "UNSAFE_STORE",
      /pg_is_in_recovery\(\)=true, it is a standby.*connect to the primary/,
      there.read("a/b"),
    );
    const other = await storeAt(t, "pg", primary.url);
    await refused("UNSAFE_STORE", /asynchronous_standby=walreceiver with synchronous_standby/, other.add("c", 1n, 0n));
    // A user without the right to see the standby's progress is refused, too.
    const admin = new pg.Client(primary.url);
    await admin.connect();
    atEnd(t, () => admin.end());
    await admin.query("CREATE ROLE app LOGIN");
    await admin.query("GRANT USAGE ON SCHEMA snowmint TO app");
    await admin.query("GRANT ALL ON snowmint.records, snowmint.counters TO app");
    const blind = await storeAt(t, "pg", primary.url.replace("postgres@", "app@"));
    await refused("UNSAFE_STORE", /asynchronous_standby=/, blind.add("c", 1n, 0n));
    await admin.query("ALTER SYSTEM SET synchronous_standby_names = '*'");
    await admin.query("SELECT pg_reload_conf()");
    let added;
    const add = async () => {
      added = await other.add("c", 1n, 0n).catch((error) => assert.equal(error.code, "UNSAFE_STORE", error.stack));
      return added;
    };
    await until(add, "the new settings");
    assert.equal(added, 1n);
    // A commit waits for a standby that hangs, but not for ever. A read does not show records that the standby has not
    // confirmed.
    const hasty = await storeAt(t, "pg", primary.url, { timeoutMs: 1000 });
    const found = async () => (await hasty.read("a/b").catch(() => null))?.version;
    await until(async () => (await found()) === first, "an answer within 1000 ms");
    await standby.pause();
    await refused("STORE_UNAVAILABLE", /no answer within 1000 ms/, hasty.write("a/b", bytes("2"), first));
    await refused("STORE_UNAVAILABLE", /no answer within 1000 ms/, hasty.read("a/b"));
    await standby.resume();
    // The write without an answer may be done at any later moment, and then only that one comes between a read and a write.
    const { version } = await store.read("a/b");
    const written = await store.write("a/b", bytes("3"), version);
    if (written !== null) return;
    assert.equal(version, first);
    const second = await store.read("a/b");
    assert.equal(text(second.value), "2");
    assert.ok(await store.write("a/b", bytes("3"), second.version));
  });

  test("a table of Leaf outside the search path of PostgreSQL gets no second one beside it", async (t) => {
    const url = await databaseAt("postgres");
    const admin = new pg.Client(url);
    await admin.connect();
    atEnd(t, () => admin.end());
    await admin.query("CREATE SCHEMA app");
    const store = await storeAt(t, "pg", `${url}?options=-csearch_path%3Dapp`);
    assert.equal(await store.segments.create("orders", { next: 1n, step: 10n }), true);
    const other = await storeAt(t, "pg", url);
    const says = /relation "leaf_alloc" does not exist: .* search_path of this role/;
    await refused("INVALID_STORE", says, other.segments.create("orders", { next: 1n, step: 10n }));
    await refused("INVALID_STORE", says, other.segments.tag("orders"));
  });

  test("a process that stops while it writes to PostgreSQL keeps no record locked", async (t) => {
    const url = await databaseAt("postgres");
    const pool = new pg.Pool({ connectionString: url });
    const store = await storeAt(t, "pg", url);
    const first = await store.write("a/b", bytes("1"), 0);
    let isStopped = false;
    pool.on("connect", (client) => {
      const { query } = client;
      // As a stopped process, it sends nothing after the message of the write.
      client.query = (...words) => {
        if (isStopped) return new Promise(() => {});
        isStopped = words[0]?.text.includes("UPDATE");
        return query.apply(client, words);
      };
    });
    const unheard = new PgStore(pool, { timeoutMs: 8000 }).write("a/b", bytes("2"), first);
    await refused("STORE_UNAVAILABLE", /no answer within 8000 ms/, unheard);
    assert.ok(isStopped);
    const second = await store.read("a/b");
    assert.equal(text(second.value), "2");
    assert.ok(await store.write("a/b", bytes("3"), second.version));
    await pool.end();
  });

  test("commits of ours are flushed by PostgreSQL whatever the server says", async (t) => {
    const options = ["-c", "synchronous_commit=off", "-c", "wal_writer_delay=10000"];
    const server = await serve(t, "postgres", { options });
    const store = await storeAt(t, "pg", server.url);
    for (let count = 1n; count <= 20n; count++) assert.equal(await store.add("c", 1n, 0n), count);
    await server.kill();
    await server.restart();
    assert.equal(await (await storeAt(t, "pg", server.url)).add("c", 1n, 0n), 21n);
  });

  describe("a server that crashes or hangs", { concurrency: 4 }, () => {
    for (const kind of [
      "pg",
      "mysql2",
      "mysql2/promise",
      "ioredis, RESP3",
      "ioredis 5",
      "redis, RESP3",
      "redis 4",
      "etcd",
    ])
      test(`${kind}: is told in time, loses nothing, and is found again`, async (t) => {
        const server = await serve(t, LEASED[kind].engine);
        const store = await storeAt(t, kind, server.url);
        const hasty = await storeAt(t, kind, server.url, { timeoutMs: 700 });
        /** Asks until there is an answer. */
        const again = async (call) => {
          for (const deadline = performance.now() + 60_000; ; )
            try {
              return await call();
            } catch (error) {
              assert.ok(performance.now() < deadline, error.stack);
              assert.equal(error.code, "STORE_UNAVAILABLE");
              await new Promise((resolve) => setTimeout(resolve, 50));
            }
        };
        const first = await store.write("a/b", bytes("1"), 0);
        assert.equal((await again(() => hasty.read("a/b"))).version, first);
        await server.kill();
        let since = performance.now();
        await refused("STORE_UNAVAILABLE", /^(PostgreSQL|MySQL|Redis|etcd) at 127\.0\.0\.1:\d+/, hasty.read("a/b"));
        await refused("STORE_UNAVAILABLE", /./, hasty.write("a/b", bytes("away"), first));
        assert.ok(performance.now() - since < IN_TIME_MS, "it was not told in time");
        await server.restart();
        let version = null;
        while (version === null) {
          // The server may have run a rejected statement, or a client may send a queued one later.
          const found = await again(() => store.read("a/b"));
          assert.ok(found.version >= 1 && ["1", "away", "again"].includes(text(found.value)));
          version = await again(() => store.write("a/b", bytes("again"), found.version));
        }

        await server.pause();
        since = performance.now();
        const hanging = [hasty.read("a/b"), hasty.write("a/b", bytes("hangs"), version)];
        if (kind !== "etcd") hanging.push(hasty.clockMs());
        await Promise.all(hanging.map((call) => refused("STORE_UNAVAILABLE", /no answer within \d+ ms/, call)));
        assert.ok(performance.now() - since < IN_TIME_MS, "it did not end in time");
        await server.resume();
        const { value, version: last } = await again(() => store.read("a/b"));
        assert.equal(text(value), last === version ? "again" : "hangs");
        assert.deepEqual(unheard, []);
      });
  });

  test("a connection that was given up is closed", async (t) => {
    const url = await databaseAt("postgres");
    const pool = new pg.Pool({ connectionString: url, max: 1 });
    atEnd(t, () => pool.end());
    const patient = new PgStore(pool, { timeoutMs: 30_000 });
    const first = await patient.write("a/b", bytes("1"), 0);
    const store = new PgStore(pool, { timeoutMs: 300 });
    const other = new pg.Client(url);
    await other.connect();
    atEnd(t, () => other.end());
    await other.query("BEGIN");
    await other.query("SELECT FROM snowmint.records FOR UPDATE");
    await refused("STORE_UNAVAILABLE", /no answer within 300 ms/, store.write("a/b", bytes("2"), first));
    assert.equal(pool.idleCount, 0);
    await other.query("ROLLBACK");
    // The pool, which may have only one connection, has replaced the closed connection.
    // The server may have done the write before it noticed that the client had left.
    assert.ok(["1", "2"].includes(text((await patient.read("a/b")).value)));
    // A connection that becomes free too late is given back unused.
    const taken = await pool.connect();
    await refused("STORE_UNAVAILABLE", /no answer/, store.read("a/b"));
    taken.release();
    await until(() => pool.idleCount === 1 && pool.waitingCount === 0, "the connection is given back");
    assert.equal(pool.totalCount, 1);
  });

  test("what the application has set on its connections does no harm to ours, and stays", async (t) => {
    const url = await databaseAt("mariadb");
    const pool = mysql.createPool({ uri: url, connectionLimit: 1, flags: ["-FOUND_ROWS"], multipleStatements: true });
    atEnd(t, () => pool.promise().end());
    const settings = "SELECT @@autocommit, @@completion_type, @@sql_mode, @@tx_isolation";
    await pool.promise().query("SET autocommit = 0, completion_type = 'CHAIN', sql_mode = 'NO_BACKSLASH_ESCAPES'");
    const [[before]] = await pool.promise().query(settings);
    const store = new MysqlStore(pool, { timeoutMs: 30_000 });
    const first = await store.write("a/b", bytes("\\'1"), 0);
    const second = await store.write("a/b", bytes("\\'1"), first);
    assert.equal(await store.add("c", 0n, 5n), 5n);
    assert.equal(await store.add("c", 0n, 5n), 5n);
    await assert.rejects(store.write("a/c", new Uint8Array(1025), 0), RangeError);
    const [[after]] = await pool.promise().query(settings);
    assert.deepEqual(after, before);
    // What another connection sees is committed.
    const other = await storeAt(t, "mysql2", url);
    assert.deepEqual([text((await other.read("a/b")).value), (await other.read("a/b")).version], ["\\'1", second]);
    // InnoDB's log is flushed by a read, too: it writes.
    const [[{ uses }]] = await pool.promise().query("SELECT uses FROM snowmint_guards");
    assert.equal(Number(uses), 2);
  });

  describe("better-sqlite3", () => {
    const relaxed = (t, mode) => {
      const db = database(t);
      // Otherwise the client is not used in a way that can corrupt it.
      db.unsafeMode();
      assert.equal(db.pragma(`journal_mode = ${mode}`, { simple: true }), mode);
      return db;
    };

    test("a journal that does not last, memory and tmpfs are refused", async (t) => {
      for (const mode of ["off", "memory"]) {
        const store = new SqliteStore(relaxed(t, mode));
        await refused("UNSAFE_STORE", literally(`journal_mode=${mode}`), store.write("a/b", bytes(""), 0));
      }
      for (const name of [":memory:", ""]) {
        const db = database(t, name);
        const store = new SqliteStore(db);
        await refused("UNSAFE_STORE", /file=, the database is in memory.*allowUnsafe: true/, store.read("a/b"));
        const allowed = new SqliteStore(db, { allowUnsafe: true });
        assert.ok(await allowed.write("a/b", bytes(""), 0));
      }
      const path = `/dev/shm/snowmint-${process.pid}.db`;
      atEnd(t, () => rmSync(path, { force: true }));
      await refused("UNSAFE_STORE", /tmpfs.*local disk.*allowUnsafe/, new SqliteStore(database(t, path)).read("a/b"));
    });

    test("our writes are synced where the application's are not, and its settings stay", async (t) => {
      for (const mode of ["wal", "delete", "truncate"]) {
        const db = relaxed(t, mode);
        db.defaultSafeIntegers(mode === "wal");
        db.pragma("synchronous = NORMAL");
        db.pragma("busy_timeout = 1234");
        const seen = [];
        const watched = { ...db, inTransaction: false, pragma: db.pragma.bind(db), prepare: db.prepare.bind(db) };
        watched.exec = (sql) => {
          if (sql === "COMMIT") seen.push(Number(db.pragma("synchronous", { simple: true })));
          return db.exec(sql);
        };
        const store = new SqliteStore(watched);
        assert.ok(await store.write("a/b", bytes("1"), 0));
        assert.deepEqual(seen, [3]);
        assert.equal(Number(db.pragma("synchronous", { simple: true })), 1);
        assert.equal(Number(db.pragma("fullfsync", { simple: true })), 0);
        assert.equal(Number(db.pragma("busy_timeout", { simple: true })), 1234);
      }
    });

    test("another connection's transaction is waited for without blocking, and not for ever", async (t) => {
      const path = join(folder(t), "ids.db");
      const store = new SqliteStore(database(t, path), { timeoutMs: 2000 });
      const first = await store.write("a/b", bytes("1"), 0);
      const other = database(t, path);
      other.exec("BEGIN IMMEDIATE");
      let ticks = 0;
      const ticking = setInterval(() => ticks++, 10);
      const since = performance.now();
      // A call that blocks leaves no time for any. Nor does a slow disk under another test, so it may take several calls.
      for (let calls = 0; ticks <= 2 && calls < 5; calls++)
        await refused("STORE_UNAVAILABLE", /SQLite at .*: database is locked/, store.write("a/b", bytes("2"), first));
      assert.ok(performance.now() - since < IN_TIME_MS);
      clearInterval(ticking);
      assert.ok(ticks > 2, `${ticks}`);
      setTimeout(() => other.exec("COMMIT"), 100);
      const patient = new SqliteStore(database(t, path), { timeoutMs: 30_000 });
      assert.ok(await patient.write("a/b", bytes("2"), first));
    });

    test("a transaction of the application on this connection is not taken for ours", async (t) => {
      const db = database(t);
      const store = new SqliteStore(db);
      const first = await store.write("a/b", bytes("1"), 0);
      db.exec("BEGIN");
      await refused("STORE_UNAVAILABLE", /transaction open/, store.write("a/b", bytes("2"), first));
      await refused("STORE_UNAVAILABLE", /transaction open/, store.read("a/b"));
      db.exec("ROLLBACK");
      assert.ok(await store.write("a/b", bytes("2"), first));
      db.close();
      await refused("STORE_UNAVAILABLE", /not open/, store.read("a/b"));
    });

    test("a file that was removed while it is in use is told", async (t) => {
      for (const removed of ["ids.db", "ids.db-wal"]) {
        const path = join(folder(t), "ids.db");
        const db = database(t, path);
        db.pragma("journal_mode = wal");
        const store = new SqliteStore(db);
        const first = await store.write("a/b", bytes("1"), 0);
        assert.ok(statSync(`${path}-wal`).size > 0);
        rmSync(join(path, "..", removed));
        await refused("UNSAFE_STORE", literally(`${removed} was removed`), store.write("a/b", bytes("2"), first));
      }
    });
  });

  test("clients that are none of ours are refused with what would be right", async (t) => {
    const url = await databaseAt("redis");
    const node = await SERVED["redis, RESP3"].connect(url);
    const ioredis = [new Ioredis(url), (client) => client.disconnect()];
    for (const [client, close] of [node, ioredis]) atEnd(t, () => close(client));
    const cluster = new Ioredis.Cluster([url], { lazyConnect: true });
    const { createCluster, createSentinel } = await import("redis");
    const connection = mysql.createConnection({ host: "127.0.0.1", port: 1 }).on("error", () => {});
    const pool = mysql.createPool({ host: "127.0.0.1", port: 1 });
    atEnd(t, () => pool.end());
    const wrong = [
      [PgStore, /needs a Pool of pg/, [undefined, {}, "postgres://db", new pg.Client(), node[0], pool]],
      [
        MysqlStore,
        /needs a pool of mysql2/,
        [
          null,
          {},
          "mysql://db",
          connection,
          mysql.createPoolCluster(),
          mysqlPromise.createPoolCluster(),
          new pg.Pool(),
        ],
      ],
      [RedisStore, /needs a client/, [5, {}, "redis://db", new pg.Pool(), pool, new Database(":memory:")]],
      [
        RedisStore,
        /of one server, not of a cluster/,
        [
          cluster,
          createCluster({ rootNodes: [{ url }] }),
          createSentinel({ name: "ids", sentinelRootNodes: [{ host: "127.0.0.1", port: 1 }] }),
        ],
      ],
      [RedisStore, /its option prefix/, [new Ioredis({ keyPrefix: "app:", lazyConnect: true })]],
      [SqliteStore, /Database of "better-sqlite3"/, [undefined, "ids.db", {}, new pg.Pool(), node[0]]],
    ];
    for (const [Store, message, clients] of wrong)
      for (const client of clients) assert.throws(() => new Store(client), { name: "TypeError", message });

    await ioredis[0].subscribe("channel");
    const older = new Ioredis(url, { protocol: 2 });
    atEnd(t, () => older.disconnect());
    await older.subscribe("channel");
    await node[0].subscribe("channel", () => {});
    for (const client of [older, node[0]])
      assert.throws(() => new RedisStore(client), { name: "TypeError", message: /subscribed/ });
    // A connection of the newer protocol has both.
    assert.ok(await new RedisStore(ioredis[0], { timeoutMs: 30_000 }).write("a/subscribed", bytes(""), 0));

    const sentinel = new Ioredis({ sentinels: [{ host: "127.0.0.1", port: 1 }], name: "ids", lazyConnect: true });
    await refused("UNSAFE_STORE", /Sentinel/, new RedisStore(sentinel).read("a/b"));
    const db = database(t);
    for (const options of [{ allowUnsafe: "yes" }, { timeoutMs: 0 }, { timeoutMs: Number.NaN }, { timeoutMs: 2 ** 31 }])
      assert.throws(() => new SqliteStore(db, options), /allowUnsafe is|timeoutMs is/);
    assert.throws(() => new RedisStore(ioredis[0], { prefix: 5 }), /prefix is a string/);
  });

  test("no text shows a password, and every text says where", async (t) => {
    const options = { timeoutMs: 2000 };
    const pool = mysql.createPool("mysql://me:s3cret@127.0.0.1:1/ids");
    atEnd(t, () => pool.end());
    const redis = new Ioredis("redis://me:s3cret@127.0.0.1:1", { maxRetriesPerRequest: 0, retryStrategy: null });
    redis.on("error", () => {});
    const stores = [
      new PgStore(new pg.Pool({ connectionString: "postgres://me:s3cret@127.0.0.1:1/ids?password=s3cret" }), options),
      new PgStore(
        new pg.Pool({ host: "127.0.0.1", port: 1, user: "me", password: "s3cret", database: "ids" }),
        options,
      ),
      new MysqlStore(pool, options),
      new RedisStore(redis, options),
    ];
    const { inspect } = await import("node:util");
    for (const store of stores) {
      const { message, cause } = await refused("STORE_UNAVAILABLE", /127\.0\.0\.1:1/, store.read("a/b"));
      assert.ok(cause instanceof Error);
      for (const text of [message, String(store), inspect(store), JSON.stringify(store)])
        assert.doesNotMatch(text, /s3cret/);
      assert.match(String(store), /^(PostgreSQL|MySQL) at 127\.0\.0\.1:1\/ids$|^Redis at 127\.0\.0\.1:1$/);
    }
  });

  test("a foreign value at a key of the store is refused", async (t) => {
    const url = await databaseAt("redis");
    const store = await storeAt(t, "ioredis, RESP3", url);
    const admin = new Ioredis(url);
    atEnd(t, () => admin.disconnect());
    await admin.hset("snowmint:records:a", "b", "nonsense", "c", "0:zero");
    for (const key of ["a/b", "a/c"]) await refused("STORE_UNAVAILABLE", /not a record of snowmint/, store.read(key));
    await refused("STORE_UNAVAILABLE", /not a record/, store.write("a/b", bytes(""), 0));
    await admin.set("snowmint:counters:c", "many");
    await refused("STORE_UNAVAILABLE", /integer/, store.add("c", 1n, 0n));
    const mine = new RedisStore(admin, { prefix: "mine", timeoutMs: 30_000 });
    const version = await mine.write("a/b", bytes("2:3"), 0);
    assert.equal(await admin.hget("mine:records:a", "b"), `${version}:2:3`);
  });

  test("an idle pool, a client and their stores keep no process alive, and a crash of the server ends none", async (t) => {
    const [postgres, redis] = [await serve(t, "postgres"), await serve(t, "redis")];
    const marker = join(folder(t), "asked");
    const script = (url, redisUrl) => `
    import { writeFileSync } from "node:fs";
    import pg from "pg";
    import { createClient } from "redis";
    import { PgStore, RedisStore } from "snowmint/stores";
    const pool = new pg.Pool({ connectionString: "${url}", allowExitOnIdle: true });
    const client = await createClient({ url: "${redisUrl}", socket: { reconnectStrategy: false } }).connect();
    const stores = [new PgStore(pool, { timeoutMs: 30_000 }), new RedisStore(client, { timeoutMs: 30_000 })];
    for (const store of stores) await store.read("a/b");
    process.kill(process.ppid, 0);
    console.log("asked");
    writeFileSync("${marker}", "");
    for (const store of stores) {
      let told;
      do {
        await new Promise((resolve) => setTimeout(resolve, 50));
        told = await store.read("a/b").then(() => "found", (error) => error.code);
      } while (told === "found");
      console.log(told);
    }
  `;
    const ended = exitOf(script(postgres.url, redis.url));
    // The servers crash once the stores have asked, however long that takes.
    let over = false;
    ended.finally(() => {
      over = true;
    });
    await until(() => existsSync(marker) || over, "the first answers");
    await Promise.all([postgres.kill(), redis.kill()]);
    const { code, stdout, stderr } = await ended;
    assert.deepEqual([code, stdout], [0, "asked\nSTORE_UNAVAILABLE\nSTORE_UNAVAILABLE\n"], stderr);
  });

  for (const kind of ["mysql2", "mysql2/promise"])
    test(`${kind}: the clock is right in both hours of one local time`, { skip: !FAKETIME }, async (t) => {
      const { file, set, env } = fakeClock(t);
      // The server has another account.
      chmodSync(dirname(file), 0o755);
      const instants = ["2025-10-26T00:30:00Z", "2025-10-26T01:30:00Z"];
      const ahead = (instant) => Date.parse(instant) - Date.now();
      // Before the server starts: a thread of a running one that waits for a time would wait for more than a year.
      set(ahead(instants[0]) / 1000);
      const { url } = await serve(t, "mariadb", { env: { ...env, TZ: "Europe/Berlin" } });
      const store = await storeAt(t, kind, url);
      for (const instant of instants) {
        const aheadMs = ahead(instant);
        set(aheadMs / 1000);
        const wrongS = ((await store.clockMs()) - Date.now() - aheadMs) / 1000;
        assert.ok(Math.abs(wrongS) < 60, `${instant}: ${wrongS} s`);
      }
    });

  test("a memory store keeps what it was given, whatever becomes of that", async () => {
    const store = new MemoryStore();
    const value = bytes("mine");
    await store.write("a/b", value, 0);
    value.fill(0);
    const found = await store.read("a/b");
    assert.equal(text(found.value), "mine");
    found.value.fill(0);
    assert.equal(text((await store.list("a/"))[0].value), "mine");
  });

  test("scripts of Redis and statements of SQL stores are those of the other languages", () => {
    // The build decides which files have a store.
    const dist = new URL("./node_modules/snowmint/dist/", import.meta.url);
    const modules = readdirSync(dist).filter((name) => name.endsWith(".cjs"));
    const bundle = modules.map((name) => readFileSync(new URL(name, dist), "utf8")).join("\n");
    const bare = (text) => text.replace(/\\n|\\|["'`]|\s+/g, "");
    const scripts = new URL("../../stores/src/scripts/", import.meta.url);
    const files = readdirSync(scripts, { recursive: true }).filter((path) => path.includes("."));
    assert.equal(files.length, 27);
    for (const path of files)
      assert.ok(bare(bundle).includes(bare(readFileSync(new URL(path, scripts), "utf8"))), path);
  });
});
