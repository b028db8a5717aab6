// The command line as a process of Node: signals, pipes and the addon. Its verbs are tested in server/tests/command_line/.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { existsSync, openSync, statSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { folder, increasing, until } from "./support.mjs";

const COMMAND = new URL("./node_modules/snowmint/dist/cli.mjs", import.meta.url).pathname;
const ONE_NODE = "time:41,sequence:12;epoch=2025-01-01T00:00:00Z";

/** The result of a process. */
function run(args, { code = 0, env = {}, input = "", stdout = "pipe" } = {}) {
  const options = { input, encoding: "utf8", timeout: 60_000, stdio: ["pipe", stdout, "pipe"] };
  const done = spawnSync(process.execPath, [COMMAND, ...args], { ...options, env: { ...process.env, ...env } });
  assert.equal(done.status, code, `${done.signal}: ${done.stderr}`);
  return done;
}

/** The only line on standard error of a process that fails. */
function complaint(args, options) {
  const { stdout, stderr } = run(args, options);
  assert.equal(stdout, "");
  assert.match(stderr, /^snowmint: [^\n]+\n$/);
  return stderr;
}

/** A process that continues until it is stopped. */
function begin(t, args, stdio) {
  const child = spawn(process.execPath, [COMMAND, ...args], { stdio });
  t.after(() => child.kill("SIGKILL"));
  child.errors = "";
  child.stderr.setEncoding("utf8").on("data", (text) => (child.errors += text));
  const gone = new Promise((resolve) => child.once("close", (code, signal) => resolve(code ?? signal)));
  child.end = () => Promise.race([gone, setTimeout(30_000, "it goes on", { ref: false })]);
  child.begun = new Promise((resolve) => child.stdout?.once("data", resolve));
  return child;
}

test("a pipe takes many IDs in their order", () => {
  const ids = run(["gen", "-n", "50000", "--node", "1"]).stdout.split("\n").slice(0, -1);
  assert.equal(ids.length, 50_000);
  increasing(ids.map(BigInt));
  const found = run(["inspect", "--layout", "snowmint"], { input: `${ids.slice(0, 500).join("\n")}\n` });
  assert.equal(found.stdout.match(/ node 1 /g).length, 500);
});

test("a reader that leaves early is no error", async (t) => {
  const child = begin(t, ["gen", "-n", "1000000", "--node", "2"], ["ignore", "pipe", "pipe"]);
  assert.ok(BigInt(String(await child.begun).split("\n")[0]) > 0n);
  child.stdout.destroy();
  assert.equal(await child.end(), 0);
  assert.equal(child.errors, "");
});

for (const [signal, ends] of Object.entries({ SIGINT: 130, SIGTERM: 130 }))
  test(`${signal} ends gen quietly, and gives the lease back`, async (t) => {
    const lease = ["gen", "--layout", ONE_NODE, "--store", `file:${folder(t)}`, "-n"];
    const child = begin(t, [...lease, "1000000000"], ["ignore", "pipe", "pipe"]);
    await child.begun;
    child.stdout.resume();
    child.kill(signal);
    assert.equal(await child.end(), ends);
    assert.equal(child.errors, "");
    run([...lease, "1", "--max-wait-ms", "5"]);
  });

test("an interrupt ends a gen that writes to a file", async (t) => {
  const output = join(folder(t), "ids");
  const words = ["gen", "-n", "1000000000", "--store", `file:${folder(t)}`];
  const child = begin(t, words, ["ignore", openSync(output, "w"), "pipe"]);
  await until(() => statSync(output).size > 0, "the first IDs");
  child.kill("SIGINT");
  assert.equal(await child.end(), 130);
});

for (const verb of ["inspect", "audit"])
  test(`an interrupt ends an ${verb} that waits for lines`, async (t) => {
    const child = begin(t, [verb, "--layout", "twitter"], ["pipe", "pipe", "pipe"]);
    // More than a pipe holds, so the command has begun to read when all is written.
    child.stdout.resume();
    await new Promise((resolve) => child.stdin.write("1541815603606036480\n".repeat(50_000), resolve));
    child.kill("SIGINT");
    assert.equal(await child.end(), "SIGINT");
    assert.equal(child.errors, "");
  });

test("a full disk is told in one line", { skip: !existsSync("/dev/full") }, () => {
  const { stderr } = run(["gen", "--node", "1"], { stdout: openSync("/dev/full", "w"), code: 1 });
  assert.match(stderr, /^snowmint: No space left on device[^\n]*\n$/);
});

test("without the addon the command line names other installs", () => {
  const told = complaint(["gen"], { code: 1, env: { SNOWMINT_NO_ADDON: "1" } });
  const place = `${process.platform}-${process.arch}`;
  const needs = `snowmint: the command line needs the package's addon, which has no build for ${place}: `;
  assert.equal(told, `${needs}use pip install snowmint, or cargo install snowmint-server\n`);
});

test("a verb of the server names its crate", () => {
  assert.match(complaint(["serve"], { code: 2 }), /no verb serve: .*cargo install snowmint-server/);
});

test("a store that needs an engine is refused in one line", () => {
  const told = complaint(["gen", "--store", "postgres://me:secret@db/ids"], { code: 1 });
  assert.match(told, /no store postgres: .*cargo install snowmint-server/);
  assert.ok(!told.includes("secret"));
});

test("help and version are there", () => {
  for (const verb of [[], ["gen"], ["inspect"], ["layouts"], ["doctor"], ["audit"], ["mask"]]) {
    const { stdout } = run([...verb, "--help"]);
    assert.match(stdout, new RegExp(`^Usage: ${["snowmint", ...verb].join(" ")} `, "m"));
    assert.ok(stdout.split("\n").every((line) => line.length <= 80));
  }
  assert.match(run(["--version"]).stdout, /^snowmint \d+\.\d+\.\d+\n$/);
});
