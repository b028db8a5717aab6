// `npx snowmint doctor` on real servers, compared with Python's.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Snowflake } from "snowmint";
import { shared, start } from "./servers.mjs";
import { atEnd, database, SqliteStore, sqliteAt, storeAt } from "./stores.mjs";
import { folder } from "./support.mjs";

const root = new URL("../..", import.meta.url).pathname;
const COMMAND = join(root, "npm/dist/cli.mjs");
const python = join(root, ".venv/bin/python");
const noPython =
  spawnSync(python, ["-m", "snowmint", "--version"]).status === 0 ? false : "scripts/build-python.sh was not run";

function outcome(program, args) {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^SNOWMINT_(?!ENGINES)/.test(name)));
  const options = { encoding: "utf8", timeout: 60_000, env, cwd: join(root, "npm") };
  const { status, stdout, stderr } = spawnSync(program, args, options);
  return { status, stdout, stderr };
}

/** Returns the exit code and the findings. A server of a busy machine may answer too late for a store: then the doctor looks again. */
function examine(...args) {
  for (let tries = 1; ; tries++) {
    const { status, stdout, stderr } = outcome(process.execPath, [COMMAND, "doctor", "--json", ...args]);
    assert.equal(stderr, "");
    const found = stdout.trimEnd().split("\n").map(JSON.parse);
    if (tries === 5 || !found.some(({ told }) => told.includes("no answer within"))) return { status, found };
  }
}

const about = (found, topic) => found.filter((each) => each.topic === topic);

for (const [engine, scheme] of [
  ["postgres", "pg"],
  ["mariadb", "mysql2"],
  ["redis", "ioredis, RESP2"],
])
  test(`${engine}: nothing is wrong, holders are seen, and nothing is claimed`, async (t) => {
    const { url } = await shared(engine, { newDatabase: true });
    for (let round = 0; round < 2; round++) {
      const { status, found } = examine("--store", url, "--namespace", "doctor");
      assert.equal(status, 0, JSON.stringify(found));
      assert.match(about(found, "namespace")[0].told, /^doctor is new: /);
      assert.equal(about(found, "node")[0].node, 0);
      assert.ok(Math.abs(about(found, "clock")[0].skew_ms) < 60_000);
      assert.ok(Object.keys(about(found, "durability")[0].settings).length >= 3);
    }
    const holder = await Snowflake.lease({ store: await storeAt(t, scheme, url), namespace: "doctor" });
    atEnd(t, () => holder.close());
    const { found } = examine("--store", url, "--namespace", "doctor");
    const [{ node, free, held }] = about(found, "node");
    assert.deepEqual({ node, free, held }, { node: 1, free: 1023, held: 1 });
    const [taken] = about(examine("--store", url, "--namespace", "doctor", "--node", "0").found, "node");
    assert.equal(taken.level, "note");
    assert.match(taken.told, /^node 0 is held until .* \(its holder is /);
    const other = examine("--store", url, "--namespace", "doctor", "--layout", "twitter");
    assert.equal(other.status, 1);
    assert.match(about(other.found, "layout")[1].told, /^namespace doctor is of layout /);
  });

const FORGED = "web\x1b[2J\nok    store       fine\u202e\x9b";
const ESCAPED = String.raw`web\u{1b}[2J\nok    store       fine\u{202e}\u{9b}`;

test("a label of another program is escaped", async (t) => {
  const path = join(folder(t), "ids.db");
  const url = `sqlite:${path}?allow_unsafe=true`;
  const store = sqliteAt(t, path, { allowUnsafe: true });
  const options = { store, namespace: "doctor", node: 0, windowMs: 600_000 };
  const holder = await Snowflake.lease(options);
  atEnd(t, () => holder.close());
  const { value, version } = await store.read("leases/doctor/0");
  // As a client without our checks writes it: the label is in these bytes of the record.
  const record = Uint8Array.from(value);
  record.fill(0, 56, 116).set(new TextEncoder().encode(FORGED), 56);
  assert.ok(await store.write("leases/doctor/0", record, version));
  const place = ["--store", url, "--namespace", "doctor", "--node", "0"];
  const [{ told }] = about(examine(...place).found, "node");
  assert.ok(told.endsWith(` (its holder is ${ESCAPED})`), told);
  const { stdout } = outcome(process.execPath, [COMMAND, "doctor", ...place]);
  assert.ok(stdout.includes(ESCAPED) && !["\x1b", "\u202e", "\x9b"].some((letter) => stdout.includes(letter)));
  const refusal = await Snowflake.lease({
    ...options,
    store: sqliteAt(t, path, { allowUnsafe: true }),
    maxWaitMs: 0,
  }).catch((error) => error);
  assert.equal(refusal.code, "NODES_EXHAUSTED");
  assert.ok(refusal.message.endsWith(` (its holder is ${ESCAPED})`), refusal.message);
  const { stderr } = outcome(process.execPath, [COMMAND, "inspect", "--layout", "leaf", FORGED]);
  assert.ok(stderr.includes(ESCAPED) && stderr.trimEnd().split("\n").length === 1, JSON.stringify(stderr));
});

test("every setting that loses writes is named, in the words of JavaScript", async (t) => {
  const postgres = await start("postgres", { options: ["-c", "fsync=off", "-c", "full_page_writes=off"] });
  atEnd(t, () => postgres.stop());
  const redis = await start("redis", { options: ["--appendonly", "no", "--appendfsync", "everysec"] });
  atEnd(t, () => redis.stop());
  for (const [{ url }, settings] of [
    [postgres, ["fsync=off", "full_page_writes=off"]],
    [redis, ["appendonly=no", "appendfsync=everysec"]],
  ]) {
    const { status, found } = examine("--store", url);
    assert.equal(status, 1);
    const told = about(found, "durability");
    assert.deepEqual(
      told.map(({ told }) => told.split(",")[0]),
      settings,
    );
    for (const each of told) assert.match(each.told, /or pass allowUnsafe: true$/);
    const accepted = examine("--store", `${url}?allow_unsafe=true`);
    assert.equal(accepted.status, 0);
    for (const { level } of about(accepted.found, "durability")) assert.equal(level, "note");
  }
});

test("a server that does not answer, and an unknown one, are findings", () => {
  for (const [store, told] of [
    ["postgres://127.0.0.1:1/ids", /^PostgreSQL at 127.0.0.1:1\/ids: /],
    ["oracle://me:secret@db", /^no such store: "oracle"/],
  ]) {
    const { status, found } = examine("--store", store);
    assert.equal(status, 1);
    assert.match(about(found, "store")[0].told, told);
    assert.ok(!JSON.stringify(found).includes("secret"));
  }
});

test("a service that answers is left to itself", async () => {
  const { url } = await shared("service");
  const { status, found } = examine("--store", url, "--namespace", "doctor");
  assert.equal(status, 0);
  assert.match(about(found, "store")[0].told, /grants the nodes by its own clock/);
  const none = examine("--store", "http://127.0.0.1:1");
  assert.equal(none.status, 1);
  assert.match(about(none.found, "store")[0].told, /^the service at http:\/\/127.0.0.1:1: /);
});

test("mistakes in the words are no findings", () => {
  for (const [args, told] of [
    [["--node", "5000"], "snowmint: node 5000 does not fit this layout: it takes 0 to 1023\n"],
    [["--colour"], "snowmint: Unknown option '--colour' (see snowmint doctor --help)\n"],
  ])
    assert.deepEqual(outcome(process.execPath, [COMMAND, "doctor", ...args]), { status: 2, stdout: "", stderr: told });
});

test("slots, vouched nodes and files: the same words as in Python", { skip: noPython }, async (t) => {
  const place = folder(t);
  const slots = `file:${join(place, "slots")}?allow_unsafe=true`;
  const file = join(place, "ids.db");
  const store = new SqliteStore(database(t, file), { allowUnsafe: true });
  const holder = await Snowflake.lease({ store, namespace: "files" });
  atEnd(t, () => holder.close());
  for (const args of [
    ["--node", "5"],
    ["--store", slots],
    ["--store", slots, "--namespace", "files", "--node", "5", "--json"],
    ["--store", `sqlite:${file}?allow_unsafe=true`, "--namespace", "files"],
  ]) {
    const own = outcome(process.execPath, [COMMAND, "doctor", ...args]);
    const pythons = outcome(python, ["-m", "snowmint", "doctor", ...args]);
    const alike = ({ status, stdout, stderr }) => ({
      status,
      stderr,
      // Each language has its own name of the option, of the store and of its settings.
      lines: stdout
        .split("\n")
        .filter((line) => !/SQLite|sqlite|journal_mode/.test(line))
        .map((line) => line.replace("allowUnsafe: true", "allow_unsafe=true")),
    });
    assert.deepEqual(alike(own), alike(pythons));
    assert.equal(own.status, 0);
  }
  assert.ok(!existsSync(join(place, "slots")), "no slots are made");
});
