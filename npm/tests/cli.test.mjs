// The command line in separate processes, compared with Python's.
import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { existsSync, openSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { Layout, layouts, prefix, text } from "snowmint";
import { folder, increasing, slots, until } from "./support.mjs";

const root = new URL("../..", import.meta.url).pathname;
const COMMAND = join(root, "npm/dist/cli.mjs");
const TWEET = "1541815603606036480";
const ONE_NODE = "time:41,sequence:12;epoch=2025-01-01T00:00:00Z";
// biome-ignore lint/complexity/useRegexLiterals: a literal may not hold it
const BOLD = new RegExp("\x1b\\[1m");
const UUID = "017f22e2-79b0-7cc3-98c4-dc0c0c07398f";

const python = join(root, ".venv/bin/python");
const noPython =
  spawnSync(python, ["-m", "snowmint", "--version"]).status === 0 ? false : "scripts/build-python.sh was not run";

/** The result of a process. */
function run(args, { stdin = "", code = 0, env = {}, stdout = "pipe" } = {}) {
  const options = { input: stdin, encoding: "utf8", timeout: 60_000, stdio: ["pipe", stdout, "pipe"] };
  const done = spawnSync(process.execPath, [COMMAND, ...args], { ...options, env: { ...process.env, ...env } });
  assert.equal(done.status, code, `${done.signal}: ${done.stderr}`);
  return done;
}

function lines(args, options) {
  const { stdout, stderr } = run(args, options);
  assert.equal(stderr, "");
  return stdout.split("\n").slice(0, -1);
}

const jsonLines = (args, options) => lines(args, options).map((line) => JSON.parse(line));

/** What Python's command line makes of the same. */
function pythons(args, stdin = "") {
  const options = { input: stdin, encoding: "utf8", env: { ...process.env, PYTHONUTF8: "1" } };
  const { status, stdout, stderr } = spawnSync(python, ["-m", "snowmint", ...args], options);
  return { status, stdout, stderr };
}

/** A generator that continues until the test stops it. */
function minter(t, args) {
  const child = spawn(process.execPath, [COMMAND, ...args], { stdio: ["ignore", "pipe", "pipe"] });
  t.after(() => child.kill("SIGKILL"));
  child.errors = "";
  child.stderr.setEncoding("utf8").on("data", (text) => (child.errors += text));
  child.gone = new Promise((resolve) => child.once("close", (code, signal) => resolve(code ?? signal)));
  child.begun = new Promise((resolve) => child.stdout.once("data", resolve));
  return child;
}

// gen

test("gen prints increasing IDs, one a line", (t) => {
  slots(t);
  const ids = lines(["gen", "-n", "10000"]).map(BigInt);
  assert.equal(ids.length, 10_000);
  increasing(ids);
  assert.equal(lines(["gen"]).length, 1);
  assert.deepEqual(lines(["gen", "--count=0"]), []);
});

test("gen takes a layout, a node and a format", () => {
  const args = ["gen", "-n5", "--layout", "twitter", "--node", "datacenter=1,worker=2", "--format", "base62"];
  const workers = lines(args).map((line) => layouts.TWITTER.decode(text.decode(line, "base62")).fields.worker);
  assert.deepEqual(workers, [2, 2, 2, 2, 2]);
  const sharded = ONE_NODE.replace("sequence:12", "shard:3,sequence:9");
  const [id] = lines(["gen", "--layout", sharded, "--node", "6"]);
  assert.equal(Layout.parse(sharded).decode(id).node, 6);
});

test("gen writes IDs into JSON as strings", (t) => {
  slots(t);
  const [bare] = jsonLines(["gen", "--json"]);
  assert.deepEqual(bare, { id: String(BigInt(bare.id)) });
  for (const told of jsonLines(["gen", "-n", "3", "--json", "--format", "hex"]))
    assert.equal(text.decode(told.text, "hex"), BigInt(told.id));
});

test("gen puts a prefix before each ID", () => {
  const ids = lines(["gen", "-n", "3", "--prefix", "api_key"]).map((line) => prefix.decode("api_key", line, "id"));
  assert.ok(ids.length === 3 && ids[0] < ids[1] && ids[1] < ids[2]);
  const [told] = jsonLines(["gen", "--prefix", "user", "--json"]);
  assert.equal(prefix.decode("user", told.text), BigInt(told.id));
});

test("gen without a node leases one", (t) => {
  const state = slots(t);
  lines(["gen"]);
  assert.deepEqual(readdirSync(state, { recursive: true }).filter((name) => name.endsWith(".slot")).length, 1);
  const store = folder(t);
  lines(["gen", "--store", `file:${store}`, "--namespace", "orders"]);
  assert.ok(existsSync(join(store, "orders/0.slot")));
  assert.equal(layouts.SNOWMINT.decode(lines(["gen"], { env: { SNOWMINT_NODE: "37" } })[0]).node, 37);
});

test("gen waits for a slow layout", () => {
  const layout = "time:32,sequence:1;epoch=2025-01-01T00:00:00Z;tick=1s";
  assert.equal(new Set(lines(["gen", "-n", "4", "--layout", layout, "--node", "0"])).size, 4);
});

test("gen holds a batch of many at a time", () => {
  // As an array and its text they would take 56 MB.
  const script = `process.argv.splice(1, 1, "snowmint", "gen", "-n", "2000000", "--node", "1");
    await import(${JSON.stringify(COMMAND)});
    console.error(process.resourceUsage().maxRSS);`;
  const child = ["--max-semi-space-size=1", "--input-type=module", "-e", script, "placeholder"];
  const empty = spawnSync(process.execPath, ["-e", "console.error(process.resourceUsage().maxRSS)"]);
  const done = spawnSync(process.execPath, child, { stdio: ["ignore", "ignore", "pipe"], timeout: 60_000 });
  const usedKb = Number(done.stderr) - Number(empty.stderr);
  assert.ok(usedKb < 40_000, `${usedKb} kB; ${done.stderr}`);
});

test("a reader that leaves early is no error", async (t) => {
  const child = minter(t, ["gen", "-n", "1000000", "--node", "2"]);
  assert.ok(BigInt(String(await child.begun).split("\n")[0]) > 0n);
  child.stdout.destroy();
  assert.equal(await child.gone, 0);
  assert.equal(child.errors, "");
});

test("an interrupt is quiet, and gives the lease back", async (t) => {
  const lease = ["gen", "--layout", ONE_NODE, "--store", `file:${folder(t)}`, "-n"];
  const child = minter(t, [...lease, "1000000000"]);
  await child.begun;
  child.stdout.resume();
  child.kill("SIGINT");
  assert.equal(await child.gone, 130);
  assert.equal(child.errors, "");
  lines([...lease, "1", "--max-wait-ms", "5"]);
});

test("an interrupt ends a gen that writes to a file", async (t) => {
  const output = join(folder(t), "ids");
  const stdio = ["ignore", openSync(output, "w"), "ignore"];
  const child = spawn(process.execPath, [COMMAND, "gen", "-n", "1000000000", "--store", `file:${folder(t)}`], {
    stdio,
  });
  t.after(() => child.kill("SIGKILL"));
  const gone = new Promise((resolve) => child.once("close", (code, signal) => resolve(code ?? signal)));
  await until(() => statSync(output).size > 0, "the first IDs");
  child.kill("SIGINT");
  assert.equal(await Promise.race([gone, setTimeout(30_000, "it goes on", { ref: false })]), 130);
});

test("an interrupt ends an inspect that waits for lines", async (t) => {
  const child = spawn(process.execPath, [COMMAND, "inspect", "--layout", "twitter"]);
  t.after(() => child.kill("SIGKILL"));
  const gone = new Promise((resolve) => child.once("close", resolve));
  child.stdin.write("5\n");
  await new Promise((resolve) => child.stdout.once("data", resolve));
  child.kill("SIGINT");
  assert.equal(await gone, 130);
});

// inspect

test("inspect takes IDs apart under one layout", () => {
  const [line] = lines(["inspect", "--layout", "twitter", TWEET]);
  assert.equal(line, `${TWEET}  2022-06-28T16:07:40.105Z  datacenter 11  worker 26  sequence 0`);
  assert.match(lines(["inspect", "--layout", "mastodon", "-1"])[0], /sequence 65535$/);
});

test("what gen writes inspect reads", () => {
  for (const form of [[], ...text.FORMS.map((form) => ["--format", form])]) {
    const minted = lines(["gen", "-n", "3", "--node", "9", ...form]);
    const found = lines(["inspect", "--layout", "snowmint", ...form], { stdin: `${minted.join("\n")}\n` });
    assert.equal(found.length, 3);
    for (const line of found) assert.match(line, / {2}node 9 {2}sequence /);
  }
});

test("a bad line is reported, and the others are shown", () => {
  const stdin = "5\n\nnone\n 6 \n9999999999999999999999999999\n";
  const { stdout, stderr } = run(["inspect", "--layout", "twitter"], { stdin, code: 2 });
  assert.match(stdout, /^5 .*\n6 .*\n$/);
  assert.match(stderr, /^snowmint: none: an ID is an integer.*\nsnowmint: 9{28}: .*\n$/);
});

test("bytes that are no text are no ID", () => {
  const { stdout, stderr } = run(["inspect", "--layout", "twitter"], {
    stdin: Buffer.from("\xff\n7\n", "latin1"),
    code: 2,
  });
  assert.match(stdout, /^7 /);
  assert.match(stderr, /^snowmint: \\xff: an ID is/);
});

test("what nobody could have minted is a failure of inspect", () => {
  const { stdout, stderr } = run(["inspect", "-", "no ID at all"], { code: 1 });
  assert.equal(stderr, "");
  assert.match(stdout, /^no ID at all\n {2}nothing known/m);
});

// Both programs

const SAME = [
  ["layouts"],
  ["layouts", "--json"],
  ["layouts", ...Object.keys(layouts.all())],
  ["layouts", "twitter", "time:40,a:1,sequence:3;epoch=0", "unused:3,random:5,time:50;epoch=-1;tick=7s"],
  ["layouts", "--json", "time:1,verylongname:31,sequence:32;epoch=2025-01-01T00:00:00.5Z;tick=10ms", "time:64;epoch=0"],
  ["inspect", "--layout", "twitter", TWEET],
  ["inspect", "--layout", "twitter", "--json", TWEET, "-1", "0"],
  ["inspect", "--layout", "yitter", TWEET, "-5"],
  ["inspect", "--layout", "random:20,time:44;epoch=0", "18446744073709551615", "--json"],
  ["inspect", "--json", "--layout=time:64;epoch=0", "18446744073709551615"],
  ["inspect", TWEET, UUID, "01ARZ3NDEKTSV4RRFFQ69G5FAV", "507f1f77bcf86cd799439011", "-", "-1"],
  ["inspect", "--json", TWEET, UUID, "no ID at all"],
  ["inspect", "--format", "hex", "1565a11f6217a000", "zz", "--layout", "twitter"],
  ["inspect", "--json", "--format", "base62", "1ptWyK4WgZU"],
  ["inspect", "--layout", "twitter", "zz"],
  ["inspect", "--layout", "sonyflake", "-1"],
  ["inspect", "--layout", "safe53", "9007199254740992"],
  ["layouts", "twiter"],
  ["gen", "--layout", "twiter"],
  ["gen", "--layout", "time:41;epoch"],
  ["gen", "--node", "1024"],
  ["gen", "--store", "file:/proc/slots"],
];
const INPUT = `5\n\n${TWEET}\r\nnone\n 6 \n99999999999999999999999999999\n${UUID}\n`;

test("both command lines print the same", { skip: noPython, concurrency: false }, async (t) => {
  slots(t);
  for (const [args, stdin] of [
    ...SAME.map((args) => [args, ""]),
    [["inspect"], INPUT],
    [["inspect", "--json"], INPUT],
  ]) {
    await t.test(args.join(" "), () => {
      const { status, stdout, stderr } = spawnSync(process.execPath, [COMMAND, ...args], {
        input: stdin,
        encoding: "utf8",
      });
      // A moment may pass between the two: "4.3 years before now".
      const theirs = pythons(args, stdin);
      assert.deepEqual({ status, stdout, stderr }, theirs);
    });
  }
});

test("mistakes in what is typed have the same exit codes, and a line each", { skip: noPython }, async (t) => {
  const mistakes = [
    [],
    ["mint"],
    ["--bogus"],
    ["gen", "5"],
    ["gen", "-n"],
    ["gen", "-n", "-1"],
    ["gen", "-n", "many"],
    ["gen", "--bogus"],
    ["gen", "--format", "base10"],
    ["gen", "--prefix", "User"],
    ["gen", "--prefix", "user", "--format", "hex"],
    ["gen", "--max-wait-ms", "1.5"],
    ["gen", "--json=yes"],
    ["layouts", "--layout", "x"],
  ];
  for (const args of mistakes)
    await t.test(args.join(" "), () => {
      const { stdout, stderr } = run(args, { code: 2 });
      assert.equal(stdout, "");
      assert.match(stderr, /^snowmint: [^\n]+ \(see snowmint (gen |layouts )?--help\)\n$/);
      assert.equal(pythons(args).status, 2);
    });
});

test("failures have the same exit codes, and a line each", { skip: noPython }, () => {
  const failures = [
    [2, ["gen", "--node", "1", "--store", "oracle:/srv"], /no such store/],
    [1, ["gen", "--layout", "baidu"], /after the layout's last tick/],
  ];
  for (const [code, args, match] of failures) {
    const told = [run(args, { code }), pythons(args)];
    assert.equal(told[1].status, code);
    for (const { stdout, stderr } of told) {
      assert.equal(stdout, "");
      assert.match(stderr, /^snowmint: [^\n]+\n$/);
      assert.match(stderr, match);
    }
  }
});

// All

test("layouts fit into 80 columns", () => {
  for (const args of [[], Object.keys(layouts.all())])
    for (const line of lines(["layouts", ...args])) assert.ok(line.length <= 80 || line.includes(";epoch="), line);
});

test("a full disk is told in one line", { skip: !existsSync("/dev/full") }, () => {
  const { stderr } = run(["gen", "--node", "1"], { stdout: openSync("/dev/full", "w"), code: 1 });
  assert.match(stderr, /^snowmint: .*ENOSPC[^\n]*\n$/);
});

test("headlines are bold on a terminal that wants it", { skip: !existsSync("/usr/bin/script") }, () => {
  // script gives its program a terminal.
  const shown = (env) =>
    execFileSync("/usr/bin/script", ["-qec", `${process.execPath} ${COMMAND} layouts`, "/dev/null"], {
      env: { ...process.env, NO_COLOR: "", TERM: "xterm", ...env },
      encoding: "utf8",
    });
  assert.match(shown({}), BOLD);
  assert.doesNotMatch(shown({ NO_COLOR: "1" }), BOLD);
  assert.doesNotMatch(shown({ TERM: "dumb" }), BOLD);
});

test("help and version are there", () => {
  for (const args of [["--help"], ["gen", "-h"], ["inspect", "--help"], ["layouts", "--help"]]) {
    const shown = lines(args);
    assert.match(shown[0], /^usage: snowmint/);
    assert.ok(shown.every((line) => line.length <= 80));
  }
  assert.match(lines(["--version"])[0], /^snowmint \d+\.\d+\.\d+$/);
});
