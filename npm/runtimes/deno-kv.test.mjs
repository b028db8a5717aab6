// Leases over Deno KV, in Deno: the tests of every store, and processes that are killed and stopped.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { givenNode } from "../tests/given-node.mjs";
import { answerOf, FAKETIME, folder, idsOf, until } from "../tests/support.mjs";
import { blockOf, executable, projectOf, version } from "./tools.mjs";

const { home, run } = projectOf(
  {
    "guide.mjs": blockOf("serverless.md", "DenoKvStore"),
    "suite.mjs": `
      import { DenoKvStore } from "snowmint/stores/deno";
      import { suites } from "./suites.mjs";
      const store = async () => new DenoKvStore(await Deno.openKv(Deno.args[0]), { timeoutMs: 30_000 });
      console.log(JSON.stringify(await suites(store, { hasClock: false })));
      Deno.exit();`,
    "wrong.mjs": `
      import { SnowmintError } from "snowmint";
      import { DenoKvStore } from "snowmint/stores/deno";
      const told = [];
      for (const args of [[{}], [null], ["kv"], [await Deno.openKv(":memory:"), { prefix: 5 }],
        [await Deno.openKv(":memory:"), { timeoutMs: 0 }], [await Deno.openKv(":memory:"), { allowUnsafe: true }]]) {
        try {
          told.push(String(new DenoKvStore(...args)));
        } catch ({ name, message }) {
          told.push(name + ": " + message);
        }
      }
      const kv = await Deno.openKv(":memory:");
      const store = new DenoKvStore(kv);
      kv.close();
      const error = await store.read("leases/orders/5").catch((error) => error);
      told.push([error instanceof SnowmintError, error.code, error.message].join());
      console.log(JSON.stringify(told));`,
  },
  { addon: false },
);
for (const [name, from] of [
  ["suites.mjs", import.meta.dirname],
  ["deno-holder.mjs", import.meta.dirname],
  ["asserting.mjs", join(import.meta.dirname, "../tests")],
  ["leases.mjs", join(import.meta.dirname, "../tests")],
  ["verbs.mjs", join(import.meta.dirname, "../tests")],
])
  copyFileSync(join(from, name), join(home, name));

const deno = executable("@deno", "deno");
const KILLS = Number(process.env.SNOWMINT_KILLS ?? 4);

/** Starts a process of Deno that leases and mints, with `message` and `gone` as processes of the tests have them. */
function hold(t, database, ledger, options = {}, variables = {}) {
  const args = ["run", "--no-prompt", "--allow-all", "--unstable-kv", "deno-holder.mjs"];
  const child = spawn(deno, [...args, database, "deno", ledger, JSON.stringify(options)], {
    cwd: home,
    env: { ...process.env, NO_COLOR: "1", ...variables },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const output = { stdout: "", stderr: "" };
  child.gone = new Promise((resolve) => child.once("close", (code, signal) => resolve({ code, signal, ...output })));
  child.message = new Promise((resolve) => {
    for (const name of ["stdout", "stderr"])
      child[name].setEncoding("utf8").on("data", (text) => {
        output[name] += text;
        const [line, rest] = output.stdout.split("\n");
        if (rest !== undefined) resolve(JSON.parse(line));
      });
  });
  t.after(async () => {
    child.kill("SIGKILL");
    await child.gone;
  });
  return child;
}

test(`Deno KV of Deno ${version("deno")} passes the tests of every store`, async (t) => {
  const database = join(folder(t), "ids.kv");
  const told = await run(deno, "run", "--no-prompt", "--allow-all", "--unstable-kv", "suite.mjs", database);
  const results = JSON.parse(told);
  assert.ok(results.length >= 13, `${results.length}`);
  for (const { name, error } of results) await t.test(name, () => assert.ok(!error, error));
});

test("the program of the guide serves IDs", async (t) => {
  const permissions = ["--allow-net", "--allow-read", "--allow-write"];
  const program = spawn(deno, ["run", "--no-prompt", ...permissions, "--unstable-kv", "guide.mjs"], {
    cwd: home,
    env: { ...process.env, NO_COLOR: "1", DENO_DIR: folder(t), DENO_SERVE_ADDRESS: "tcp:127.0.0.1:0" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  t.after(() => program.kill("SIGKILL"));
  let said = "";
  for (const stream of [program.stdout, program.stderr]) stream.on("data", (text) => (said += text));
  const urlOf = () => /http:\/\/[\d.:]+/.exec(said)?.[0];
  await until(() => urlOf() ?? (program.exitCode !== null && assert.fail(said)), "the program listens");
  const ids = [];
  for (let call = 0; call < 10; call++) ids.push(BigInt(await (await fetch(urlOf())).text()));
  assert.equal(new Set(ids).size, 10);
});

test("what is not a Deno.Kv, and an option that it does not have, is refused", async () => {
  const [...told] = JSON.parse(await run(deno, "run", "--no-prompt", "--allow-all", "--unstable-kv", "wrong.mjs"));
  const needed = "TypeError: DenoKvStore needs a Deno.Kv, such as await Deno.openKv()";
  assert.deepEqual(told.splice(0, 3), [needed, needed, needed]);
  assert.equal(told.shift(), "TypeError: prefix is a string");
  assert.match(told.shift(), /^RangeError: timeoutMs/);
  assert.match(told.shift(), /^TypeError: DenoKvStore has no option allowUnsafe/);
  assert.match(told.shift(), /^true,STORE_UNAVAILABLE,Deno KV: /);
});

test("processes of Deno that start at once and are killed repeat nothing", async (t) => {
  const path = folder(t);
  const ledgers = [];
  for (let round = 0; round < KILLS; round++) {
    const mine = [0, 1, 2].map((number) => join(path, `${round}-${number}`));
    ledgers.push(...mine);
    const holders = mine.map((ledger) => hold(t, join(path, "ids.kv"), ledger));
    const told = await Promise.all(holders.map(answerOf));
    assert.equal(new Set(told.map(({ node }) => node)).size, 3, JSON.stringify(told));
    await until(() => idsOf(...mine).every((ids) => ids.length > 100), "100 IDs each");
    // In the middle of whatever they do.
    await sleep(Math.random() * 500);
    for (const child of holders) child.kill("SIGKILL");
    await Promise.all(holders.map(({ gone }) => gone));
  }
  const ids = idsOf(...ledgers).flat();
  assert.equal(new Set(ids).size, ids.length);
});

const noFaketime = { skip: !FAKETIME && "libfaketime is not installed" };
test("a named node in Deno KV repeats nothing over a pause, a kill and a clock set back", noFaketime, async (t) => {
  const database = join(folder(t), "ids.kv");
  const start = (ledger, options, variables) => hold(t, database, ledger, options, variables);
  await givenNode(t, start, { pause: (child) => child.kill("SIGUSR1") });
});
