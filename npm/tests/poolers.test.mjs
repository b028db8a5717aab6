// PostgreSQL behind PgBouncer and Pgpool-II, in their modes, on a server whose commits do not wait.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { start } from "./servers.mjs";
import { atEnd, bytes, storeAt, text } from "./stores.mjs";
import { folder, hold, until } from "./support.mjs";

const KILLS = Number(process.env.SNOWMINT_KILLS ?? 1);
const NUMBERS = Number(process.env.SNOWMINT_NUMBERS ?? 0);
// Eight processes that mint without rest leave no processor to the tests beside them.
const skip = NUMBERS ? false : "one of the proofs, which say by SNOWMINT_NUMBERS how many numbers";
const PROCESSES = 8;

/** A server and its pooler. Except in session mode clients share a few sessions. */
async function pooled(t, mode) {
  const server = await start("postgres", { options: ["-c", "synchronous_commit=off", "-c", "wal_writer_delay=10000"] });
  atEnd(t, () => server.stop());
  if (mode === "pgpool" || mode === "balanced") {
    const lines = [`num_init_children=${NUMBERS ? 90 : 30}`];
    if (mode === "pgpool") lines.push("backend_clustering_mode='raw'");
    else {
      const standby = await start("postgres", { standbyOf: server.port });
      atEnd(t, () => standby.stop());
      lines.push("backend_clustering_mode='streaming_replication'", "load_balance_mode=on", "backend_weight0=0");
      lines.push("backend_hostname1='127.0.0.1'", `backend_port1=${standby.port}`, "backend_weight1=1");
      lines.push("backend_flag1='DISALLOW_TO_FAILOVER'");
    }
    const pooler = await start("pgpool", { options: lines, poolerOf: server.port });
    atEnd(t, () => pooler.stop());
    return { server, pooler };
  }
  const options = [`pool_mode=${mode}`, `default_pool_size=${mode === "session" ? 90 : 5}`];
  const pooler = await start("pgbouncer", { options, poolerOf: server.port });
  atEnd(t, () => pooler.stop());
  return { server, pooler };
}

/** Adds 1 to a counter, once the store answers. */
async function addSoon(store) {
  for (const since = performance.now(); ; await sleep(20))
    try {
      return await store.add("c", 1n, 0n);
    } catch (error) {
      assert.equal(error.code, "STORE_UNAVAILABLE", error.stack);
      assert.ok(performance.now() - since < 60_000, error.message);
    }
}

describe("poolers", () => {
  // The modes of PgBouncer, and Pgpool-II with one server and with a standby for reads.
  for (const mode of ["session", "transaction", "statement", "pgpool", "balanced"]) {
    test(`${mode} mode: sessions are shared, and confirmed numbers outlast a kill`, async (t) => {
      const { server, pooler } = await pooled(t, mode);
      // Nothing is promoted here.
      const store = await storeAt(t, "pg", pooler.url, { allowStandby: true });
      const sums = await Promise.all(Array.from({ length: 100 }, () => store.add("t", 1n, 0n)));
      assert.equal(new Set(sums).size, 100);
      assert.equal(await store.add("t", 1n, 0n), 101n);
      assert.ok(await store.write("a/b", bytes("'\\\0"), 0));
      assert.equal(await store.write("a/b", bytes("'\\\0"), 0), null);
      assert.equal(text((await store.read("a/b")).value), "'\\\0");
      assert.deepEqual(
        (await store.list("a/")).map(({ name }) => name),
        ["b"],
      );
      for (let round = 0; round < 3; round++) {
        const last = await addSoon(store);
        await server.kill();
        await server.restart();
        assert.ok((await addSoon(store)) > last);
      }
    });

    test(`${mode} mode: kills of the server and of its pooler repeat nothing`, { skip }, async (t) => {
      const { server, pooler } = await pooled(t, mode);
      const ledgers = Array.from({ length: PROCESSES }, (_, number) => join(folder(t), `${number}`));
      // Nothing is promoted here.
      const store = await storeAt(t, "pg", pooler.url, { allowStandby: true });
      const options = JSON.stringify({ windowMs: 2000, allowStandby: true });
      // A holder that loses its lease ends, and another one goes on.
      let isOver = false;
      const work = (ledger) => {
        const child = hold(t, "leasing.mjs", {}, ["pg", pooler.url, "pooled", ledger, options]);
        child.once("exit", () => isOver || work(ledger));
      };
      for (const ledger of ledgers) work(ledger);
      const linesOf = (ledger) => (existsSync(ledger) ? readFileSync(ledger, "utf8").split("\n").slice(0, -1) : []);
      const took = [];
      const taking = (async () => {
        while (!isOver) took.push(await addSoon(store));
      })();
      await until(() => ledgers.some((ledger) => linesOf(ledger).length), "the first ID");
      for (let round = 0; round < KILLS; round++)
        for (const victim of [server, pooler]) {
          await sleep(100 + Math.random() * 600);
          await victim.kill();
          await sleep(Math.random() * 300);
          await victim.restart();
        }
      await until(() => ledgers.every((ledger) => linesOf(ledger).length >= NUMBERS), "the IDs", 600_000);
      isOver = true;
      await taking;
      const ids = ledgers.flatMap(linesOf);
      assert.equal(new Set(ids).size, ids.length);
      assert.equal(new Set(took).size, took.length);
    });
  }
});
