// Settings that change under a live fleet: settings by which the server itself loses writes end renewals; settings that
// matter in a failover are reported.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Snowflake } from "snowmint";
import { start } from "./servers.mjs";
import { atEnd, Ioredis, mysqlPromise, pg, SERVED, storeAt } from "./stores.mjs";
import { until } from "./support.mjs";

const ONE_NODE = "time:41,sequence:12;epoch=2025-01-01T00:00:00Z";

const warnings = [];
process.on("warning", ({ name, message }) => name === "SnowmintWarning" && warnings.push(message));

/** A server that ends with the test. */
async function serve(t, engine, options) {
  const server = await start(engine, options);
  atEnd(t, () => server.stop());
  return server;
}

async function postgresSays(url, ...statements) {
  const client = new pg.Client(url);
  await client.connect();
  for (const statement of statements) await client.query(statement);
  await client.end();
}

async function mariadbSays(url, statement) {
  const client = await mysqlPromise.createConnection(url);
  await client.query(statement);
  await client.end();
}

async function redisSays(url, ...words) {
  const client = new Ioredis(url);
  const answer = await client.call(...words);
  client.disconnect();
  return answer;
}

const SPOILT = [
  ["pg", (url) => postgresSays(url, "ALTER SYSTEM SET fsync = off", "SELECT pg_reload_conf()"), "fsync=off"],
  [
    "mysql2",
    (url) => mariadbSays(url, "SET GLOBAL innodb_flush_log_at_trx_commit = 2"),
    "innodb_flush_log_at_trx_commit=2",
  ],
  ["ioredis, RESP3", (url) => redisSays(url, "CONFIG", "SET", "appendonly", "no"), "appendonly=no"],
];

const ATTACHED = [
  [
    "pg",
    (t, { port }) => serve(t, "postgres", { standbyOf: port }),
    "asynchronous_standby=walreceiver",
    "every commit of this server wait for the standby",
  ],
  [
    "redis, RESP3",
    async (t, { url, port }) => {
      await serve(t, "redis", { options: ["--replicaof", `127.0.0.1 ${port}`] });
      for (let info = ""; !info.includes("connected_slaves:1"); ) info = await redisSays(url, "INFO", "replication");
    },
    "connected_slaves=1",
    "no other server replaces while it is down",
  ],
];

// Windows of real servers, whose clocks cannot be scripted: all wait at the same time.
describe("settings that change", { concurrency: 5 }, () => {
  for (const [kind, spoil, setting] of SPOILT)
    test(`renewals end with their reason at ${setting}`, async (t) => {
      const { url } = await serve(t, SERVED[kind].engine);
      const lost = [];
      const onLost = ({ message }) => lost.push(message);
      const store = await storeAt(t, kind, url);
      const gen = await Snowflake.lease({ store, layout: ONE_NODE, namespace: "a", windowMs: 6000, onLost });
      await gen.nextIdAsync();
      await spoil(url);
      // On a very busy machine the window may end before the test looks.
      const reason = () => gen.status().renewalError ?? gen.status().lost;
      await until(() => reason()?.includes(setting), "the reason");
      const end = gen.window?.end;
      await until(() => lost.length, "the end");
      assert.ok(lost[0].includes(setting) && lost[0].startsWith("the lease of node 0 was lost"), lost[0]);
      assert.ok(gen.status().lost.includes(setting));
      assert.equal(gen.window?.end ?? end, end);
      assert.throws(() => gen.nextId(), { code: "WINDOW_CLOSED" });
      const again = Snowflake.lease({ store: await storeAt(t, kind, url), layout: ONE_NODE, namespace: "a" });
      await assert.rejects(again, ({ code, message }) => code === "UNSAFE_STORE" && message.includes(setting));
      assert.ok(warnings.some((told) => told.startsWith("nothing new is granted: ") && told.includes(setting)));
    });

  for (const [kind, attach, setting, price] of ATTACHED)
    test(`a fleet goes on at ${setting}, and new claims are refused`, async (t) => {
      const server = await serve(t, SERVED[kind].engine);
      const store = await storeAt(t, kind, server.url);
      const lost = [];
      const claim = (namespace, other = store) =>
        Snowflake.lease({ store: other, namespace, windowMs: 6000, onLost: ({ message }) => lost.push(message) });
      const fleet = [await claim("fleet0"), await claim("fleet1"), await claim("fleet2")];
      assert.deepEqual(
        fleet.map((gen) => gen.status().standbyRisk),
        [null, null, null],
      );
      await attach(t, server);
      const goesOn = async (gen) => {
        await until(() => gen.status().standbyRisk, "the report");
        const { standbyRisk } = gen.status();
        for (const part of [setting, price, "allowStandby: true if `snowmint fence` follows every failover"])
          assert.ok(standbyRisk.includes(part), standbyRisk);
        const end = gen.window.end + 4000;
        await until(() => gen.window.end >= end, "renewals");
        await gen.nextIdAsync();
        assert.equal(gen.status().renewalError, null);
      };
      await Promise.all(fleet.map(goesOn));
      assert.deepEqual(lost, []);
      assert.equal(warnings.filter((told) => told.includes(setting)).length, 1);
      // By the store that there is, and by a new one.
      for (const other of [store, await storeAt(t, kind, server.url)])
        await assert.rejects(
          claim("newcomers", other),
          ({ code, message }) => code === "UNSAFE_STORE" && message.includes(setting),
        );
      assert.equal(await store.read("leases/newcomers/0"), null);
      const accepted = await claim("newcomers", await storeAt(t, kind, server.url, { allowStandby: true }));
      assert.ok(accepted.status().standbyRisk.includes(setting));
      for (const gen of [accepted, ...fleet]) await gen.close();
    });
});
