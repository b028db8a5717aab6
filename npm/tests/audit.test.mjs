// snowmint/audit, and `npx snowmint audit`.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import { test } from "node:test";
import { build } from "esbuild";
import { Layout, layouts, prefix, SnowmintError, text } from "snowmint";
import { AuditFinding, AuditReport, audit, auditAsync } from "snowmint/audit";
import { exitOf, folder } from "./support.mjs";

const here = new URL(".", import.meta.url).pathname;
const dist = join(here, "./node_modules/snowmint/dist");
const root = join(here, "../..");
const COMMAND = join(root, "npm/dist/cli.mjs");
// 2026-03-01
const NOW_MS = 1_772_323_200_000;
const TWO = [176477214392320000n, 176477214392320001n];

/** The IDs of a node: `each` of a ms, from `from` to before `to`. */
function idsOf(node, from, to, { each = 1, layout = layouts.SNOWMINT } = {}) {
  const first = layout.encode({ timestampMs: NOW_MS, node, sequence: 0 });
  const tick = layout.encode({ timestampMs: NOW_MS + 1, node, sequence: 0 }) - first;
  const ids = [];
  for (let at = BigInt(from); at < to; at++)
    for (let number = 0n; number < each; number++) ids.push(first + tick * at + number);
  return ids;
}

const byTime = (ids) => ids.sort((a, b) => Number((a >> 22n) - (b >> 22n)));
const kinds = (ids, layout) => audit(ids, layout).findings.map(({ kind, node }) => [kind, node]);

/** The layout and IDs of each prepared fault, and the findings. */
function faults() {
  const shared = byTime([...idsOf(3, 0, 1000, { each: 2 }), ...idsOf(3, 0, 1000).filter((_, at) => at % 3 === 0)]);
  const wrapped = Array.from({ length: 50 }, (_, tick) =>
    idsOf(5, tick, tick + 1, { each: 1024, layout: layouts.INSTAGRAM }),
  ).flat();
  wrapped.push(...idsOf(5, 49, 50, { each: 700, layout: layouts.INSTAGRAM }));
  const forked = [...idsOf(7, 0, 200), ...idsOf(7, 200, 900, { each: 3 }).flatMap((id) => [id, id])];
  const short = "time:31,node:10,sequence:12;epoch=2026-01-01T00:00:00Z";
  const ended = Array.from({ length: 1000 }, (_, tick) => BigInt((2 ** 31 - 500 + tick) % 2 ** 31) << 22n);
  const truncated = idsOf(3, 0, 9000).map((id, at) => BigInt(Number(id + BigInt(at % 4096))));
  return {
    shared_node: ["snowmint", shared, 3],
    clock_back: ["snowmint", [...idsOf(3, 0, 1000), ...idsOf(3, 500, 2000)], 3],
    wrapped: ["instagram", wrapped, 5],
    forked: ["snowmint", forked, 7],
    layout_ended: [short, ended, null],
    truncated: ["snowmint", truncated, null],
  };
}

test("a clean log has no finding", () => {
  const other = idsOf(2, 0, 5000);
  const ids = idsOf(1, 0, 5000).flatMap((id, at) => [id, other[at]]);
  const report = audit(ids);
  assert.deepEqual([report.findings, report.order, report.ids], [[], "ascending", 10_000]);
  const span = { ids: 5000, fromMs: NOW_MS, toMs: NOW_MS + 4999, idsPerSecond: 1000 };
  assert.deepEqual(report.nodes, [
    { node: 1, ...span },
    { node: 2, ...span },
  ]);
  assert.ok(String(report).endsWith("\nno finding\n"));
});

test("each prepared fault is found", () => {
  for (const [kind, [layout, ids, node]] of Object.entries(faults())) {
    const [first, ...others] = kinds(ids, layout);
    assert.deepEqual(first, [kind, node]);
    assert.ok(
      others.every(([other]) => other === "duplicates"),
      `${kind}: ${others}`,
    );
  }
});

test("a finding has numbers, a sentence and a cure", () => {
  const report = audit([...idsOf(3, 0, 1000), ...idsOf(3, 500, 2000)]);
  const [clock, duplicates] = report.findings;
  assert.ok(report instanceof AuditReport && clock instanceof AuditFinding);
  const { node, times, byMs, line, repeated, id, fromMs, cure, told } = clock;
  assert.deepEqual([node, times, byMs, line, repeated], [3, 1, 499, 1001, 500]);
  assert.deepEqual([id, fromMs], [idsOf(3, 500, 501)[0], NOW_MS + 999]);
  assert.match(told, /^the clock of node 3 stepped back by 499 ms at 2026-03-01T00:00:00\.999Z \(line 1001\)/);
  assert.equal(String(clock), told);
  assert.match(cure, /CLOCK_BACKWARDS/);
  assert.deepEqual([duplicates.ids, duplicates.times, duplicates.node], [500, 500, null]);
  const json = JSON.parse(JSON.stringify(report));
  assert.deepEqual([json.layout, json.nodes[0].from_ms, json.findings[0].by_ms], ["snowmint", NOW_MS, 499]);
  assert.deepEqual(
    json.findings.map(({ id }) => id),
    report.findings.map(({ id }) => String(id)),
  );
  assert.deepEqual(JSON.parse(JSON.stringify(duplicates)), json.findings[1]);
  assert.match(report.svg(), /prefers-color-scheme:dark/);
});

test("iterables and arrays are read alike", async () => {
  const ids = [...idsOf(3, 0, 30_000), ...idsOf(3, 29_000, 31_000)];
  const expected = String(audit(ids));
  const unsigned = BigUint64Array.from(ids);
  for (const other of [ids.values(), ids.map(String), unsigned, new BigInt64Array(unsigned.buffer)])
    assert.equal(String(audit(other)), expected);
  const within = new BigUint64Array(ids.length + 2);
  within.set(ids, 1);
  assert.equal(String(audit(within.subarray(1, -1))), expected);
  const stream = Readable.from(ids.map((id) => `${id}\n`));
  assert.equal(String(await auditAsync(createInterface({ input: stream }))), expected);
  assert.equal(String(await auditAsync(ids)), expected);
  assert.equal(String(await auditAsync(unsigned)), expected);
  assert.deepEqual(audit([]).findings, []);
  assert.deepEqual(audit(new BigUint64Array(0)).nodes, []);
});

test("a negative ID is the signed form of the same bits, also beside others", () => {
  const layout = "time:42,node:10,sequence:12;epoch=0";
  const unsigned = [2n ** 63n + 5n, 7n, 2n ** 64n - 1n];
  const signed = unsigned.map((id) => BigInt.asIntN(64, id));
  assert.equal(String(audit(signed, layout)), String(audit(unsigned, layout)));
  assert.equal(String(audit(BigInt64Array.from(signed), layout)), String(audit(unsigned, layout)));
});

test("what is no ID is refused with its value", async () => {
  for (const id of [2n ** 64n, -(2n ** 63n) - 1n, 2n ** 200n, "18446744073709551616"])
    assert.throws(() => audit([5n, id]), { code: "INVALID_ID", message: /2\^64/ });
  for (const id of [2 ** 53, 1.5, "5x", "", null, undefined, {}])
    assert.throws(() => audit([id]), { code: "INVALID_ID", message: /is not a safe integer: pass a bigint/ });
  for (const ids of ["123", 5, 5n, null, undefined, {}])
    assert.throws(() => audit(ids), { name: "TypeError", message: /^audit takes an iterable of IDs/ });
  await assert.rejects(auditAsync("123"), TypeError);
  await assert.rejects(auditAsync(Readable.from(["x"])), { code: "INVALID_ID" });
  const broken = (async function* () {
    yield 5n;
    throw new RangeError("the cursor is closed");
  })();
  await assert.rejects(auditAsync(broken), RangeError);
  assert.throws(() => audit([5n], "none"), { code: "INVALID_LAYOUT", message: /no such preset/ });
  assert.throws(() => audit([5n], "time:41"), SnowmintError);
  assert.throws(() => audit([5n], "twitter", { jitterMs: -1 }), { code: "INVALID_ID", message: /^jitterMs / });
  assert.throws(() => audit([5n], "twitter", { jitter: 1 }), /audit has no option jitter: did you mean jitterMs\?/);
  assert.throws(() => audit([5n], "twitter", { since: "2026" }), TypeError);
});

test("the time of the system is an argument", () => {
  const ids = idsOf(3, 0, 1000);
  const report = audit(ids, layouts.SNOWMINT, { since: new Date(NOW_MS + 500), until: NOW_MS + 899 });
  assert.deepEqual(
    report.findings.map(({ kind, ids }) => [kind, ids]),
    [
      ["before_begin", 500],
      ["future", 100],
    ],
  );
  const late = [...ids.slice(0, 20), ids[5], ...ids.slice(20)];
  assert.deepEqual(kinds(late), [
    ["clock_back", 3],
    ["duplicates", null],
  ]);
  const found = audit(late, Layout.preset("snowmint"), { jitterMs: 1000, unordered: true }).findings;
  assert.deepEqual(
    found.map(({ kind }) => kind),
    ["duplicates"],
  );
});

test("an audit gives its memory back", async () => {
  const { stdout, stderr } = await exitOf(`
    const { audit } = await import("${dist}/audit.node.mjs");
    const ids = BigUint64Array.from({ length: 500_000 }, (_, at) => 176477214392320000n + (BigInt(at) << 22n));
    for (let round = 0; round < 100; round++) audit(ids);
    console.log(process.resourceUsage().maxRSS);`);
  assert.ok(Number(stdout) < 400_000, `${stdout} kB, where all audits together take 800 MB ${stderr}`);
});

test("it throws errors of the class that the package beside it has, by import and by require", async () => {
  const require = createRequire(import.meta.url);
  for (const [main, one] of [
    [{ SnowmintError }, { audit }],
    [require("snowmint"), require("snowmint/audit")],
    [
      await import("./node_modules/snowmint/dist/browser.mjs"),
      await import("./node_modules/snowmint/dist/audit.browser.mjs"),
    ],
    [require("./node_modules/snowmint/dist/browser.cjs"), require("./node_modules/snowmint/dist/audit.browser.cjs")],
  ]) {
    assert.throws(() => one.audit([2n ** 64n]), main.SnowmintError);
    assert.equal(one.audit(TWO, main.layouts?.SNOWMINT).findings.length, 0);
  }
});

test("loading it compiles nothing", async () => {
  for (const file of ["audit.node.mjs", "audit.node.cjs", "audit.browser.mjs", "audit.browser.cjs"]) {
    const { stdout, stderr } = await exitOf(`delete globalThis.WebAssembly;
      const loaded = await import("${dist}/${file}");
      try { (loaded.default ?? loaded).audit([]) } catch ({ code }) { console.log(code) }`);
    assert.equal(stdout, "WASM_FORBIDDEN\n", file + stderr);
  }
});

test("it works where wasm is imported as a module, as edge runtimes do", async (t) => {
  const wasmModule = ({ onResolve, onLoad }) => {
    onResolve({ filter: /\.wasm$/ }, ({ path: name }) => ({ path: join(dist, name), namespace: "module" }));
    onLoad({ filter: /./, namespace: "module" }, ({ path: file }) => ({
      contents: `import { readFileSync } from "node:fs"; export default new WebAssembly.Module(readFileSync("${file}"));`,
    }));
  };
  const outfile = join(folder(t), "edge.mjs");
  await build({
    stdin: { contents: `export * from "snowmint/audit";`, resolveDir: here },
    outfile,
    bundle: true,
    format: "esm",
    conditions: ["workerd"],
    external: ["node:fs"],
    plugins: [{ name: "wasm-module", setup: wasmModule }],
  });
  const edge = await import(outfile);
  assert.equal(String(edge.audit([...TWO, TWO[1]])), String(audit([...TWO, TWO[1]])));
});

// The command line

/** The result of `snowmint audit`. */
function run(args, input = "") {
  const options = { input, encoding: "utf8", timeout: 60_000 };
  const { status, stdout, stderr } = spawnSync(process.execPath, [COMMAND, "audit", ...args], options);
  return { status, stdout, stderr };
}

const python = join(root, ".venv/bin/python");
const noPython =
  spawnSync(python, ["-m", "snowmint", "--version"]).status === 0 ? false : "scripts/build-python.sh was not run";
const lines = (ids) => ids.map((id) => `${id}\n`).join("");

test("the command line prints the report of the function", (t) => {
  for (const [kind, [layout, ids]] of Object.entries(faults())) {
    const { status, stdout, stderr } = run(["--layout", layout], lines(ids));
    assert.deepEqual([status, stderr], [1, ""], kind);
    assert.equal(stdout, String(audit(ids, layout)));
  }
  const clean = run([], lines(TWO));
  assert.deepEqual([clean.status, clean.stderr], [0, ""]);
  const svg = join(folder(t), "a.svg");
  const { status, stdout } = run(["--json", "--svg", svg], lines([...TWO, TWO[1]]));
  assert.equal(status, 1);
  const report = audit([...TWO, TWO[1]]);
  assert.deepEqual(JSON.parse(stdout), JSON.parse(JSON.stringify(report)));
  assert.equal(readFileSync(svg, "utf8"), report.svg());
});

test("a file is read in pieces", (t) => {
  const ids = idsOf(3, 0, 50_000);
  const file = join(folder(t), "ids");
  writeFileSync(file, lines(ids));
  const { status, stdout } = run([file]);
  assert.deepEqual([status, stdout], [0, String(audit(ids))]);
  const crlf = lines(ids).replaceAll("\n", "\r\n");
  writeFileSync(file, `\ufeffnote,id\r\n${crlf.replace(/^/gm, "a,")}`);
  assert.equal(run(["--column", "id", file]).stdout, stdout);
});

test("IDs are read in every text form, and with a prefix", () => {
  for (const form of text.FORMS)
    assert.equal(run(["--format", form], lines(TWO.map((id) => text.encode(id, form)))).status, 0);
  const named = lines([...TWO.map((id) => prefix.encode("user", id)), prefix.encode("team", TWO[0])]);
  const { status, stderr } = run(["--prefix", "user"], named);
  assert.equal(status, 2);
  assert.match(stderr, /^snowmint: line 3: "team_\w{13}": the prefix of the ID is/);
});

test("wrong lines are reported and passed over", () => {
  const input = Buffer.from(`${TWO[0]}\n\nid\n\xff\n-1\n ${TWO[0]} \r\n${"x\n".repeat(20)}`, "latin1");
  const { status, stdout, stderr } = run(["--json"], input);
  assert.equal(status, 2);
  const { ids, unreadable, findings } = JSON.parse(stdout);
  assert.deepEqual([ids, unreadable, findings.at(-1).kind, findings.at(-1).line], [3, 22, "duplicates", 1]);
  const told = stderr.split("\n");
  assert.equal(
    told[0],
    'snowmint: line 3: "id": an ID is an integer from -2^63 to 2^64-1; --format names another form',
  );
  assert.match(told[1], /^snowmint: line 4: "\ufffd": an ID is/);
  assert.deepEqual(told.slice(10), ["snowmint: 12 more lines are no ID", ""]);
});

test("an input that cannot be read at all is told in one line", (t) => {
  const parquet = join(folder(t), "ids.parquet");
  writeFileSync(parquet, "PAR1....PAR1");
  for (const [args, input, sentence] of [
    [[], "", /there is no ID: give one ID per line, or a file/],
    [
      [],
      "id\n",
      /no line is an ID, the first is line 1: "id": an ID is an integer.*, or --column names a column of CSV/,
    ],
    [[], "no ID\n".repeat(500_000), /no line is an ID/],
    [["--column", "no"], "id,note\n5,a\n", /there is no column "no": --column takes one of "id", "note"/],
    [["--column", "id", parquet], "", /Parquet file.*python -m snowmint audit.*snowmint-server.*CSV/],
    [["/no/such/file"], "", /^snowmint: \/no\/such\/file: ENOENT: no such file or directory$/m],
    [["--layout", "none"], "5\n", /no such preset/],
    [["--since", "yesterday"], "5\n", /--since: write the time in RFC 3339, .* \(see snowmint audit --help\)/],
    [["--until", "2026-01-01T00:00:00"], "5\n", /--until: write the time/],
    [["--jitter-ms", "-1"], "5\n", /--jitter-ms: write a whole number/],
    [["--prefix", "user", "--format", "hex"], "5\n", /--prefix: not allowed with argument --format/],
    [["a", "b"], "", /one file at a time: a and b/],
    [["--bogus"], "", /--bogus/],
  ]) {
    const { status, stdout, stderr } = run(args, input);
    assert.deepEqual([status, stdout], [2, ""], stderr);
    assert.match(stderr, sentence);
    assert.match(stderr, /^snowmint: [^\n]+\n$/);
  }
  const full = run(["--svg", "/no/such/directory/a.svg"], lines(TWO));
  assert.deepEqual([full.status, full.stdout], [1, ""]);
  assert.match(full.stderr, /^snowmint: \/no\/such\/directory\/a\.svg: ENOENT[^\n]*\n$/);
});

test("both command lines print the same", { skip: noPython }, () => {
  const rows = `id,note\n"${TWO[0]}","a-b\nc"\n${TWO[1]},\n,\nx,y\nz\n${TWO[1]},z\n`;
  for (const [args, input] of [
    [[], lines([...TWO, TWO[0]])],
    [["--json"], `id\n\n${lines(TWO)}-1\n`],
    [["--json", "--unordered", "--jitter-ms", "5"], lines(TWO)],
    [["--since", "2027-01-01T00:00:00Z", "--until", "1830297600000"], lines(TWO)],
    ...[",", ";", "\t"].map((delimiter) => [["--column", "id"], rows.replaceAll(",", delimiter)]),
    [["--column", "no"], rows],
    [["--format", "hex"], "0272f8000c7a0000\nzz\n"],
    [[], ""],
    [[], "no ID\n".repeat(5000)],
  ]) {
    const options = { input, encoding: "utf8", env: { ...process.env, PYTHONUTF8: "1" } };
    const { status, stdout, stderr } = spawnSync(python, ["-m", "snowmint", "audit", ...args], options);
    assert.deepEqual(run(args, input), { status, stdout, stderr });
  }
});

test("every list of the vectors has its findings", () => {
  const { cases } = JSON.parse(readFileSync(join(root, "tests/vectors/audit.json"), "utf8"));
  for (const { name, layout, ids, findings, ...rest } of cases) {
    const found = audit(ids, layout).findings.map(({ kind, node, ids, repeated }) => ({
      kind,
      node: node === null ? null : String(node),
      ids,
      repeated,
    }));
    assert.deepEqual([found, rest], [findings, {}], name);
  }
});

test("help names every option, and fits into 80 columns", () => {
  const { status, stdout } = run(["--help"]);
  assert.equal(status, 0);
  for (const option of [
    "layout",
    "format",
    "prefix",
    "column",
    "since",
    "until",
    "jitter-ms",
    "unordered",
    "svg",
    "json",
  ])
    assert.ok(stdout.includes(`  --${option}`), option);
  assert.ok(stdout.split("\n").every((line) => line.length <= 80));
});

test("an interrupt ends an audit that waits for lines", async () => {
  const child = spawn(process.execPath, [COMMAND, "audit"], { stdio: ["pipe", "pipe", "pipe"] });
  let told = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (bytes) => (told += bytes));
  // More than a pipe holds, so the command has begun to read when all is written.
  await new Promise((resolve) => child.stdin.write(lines(TWO).repeat(50_000), resolve));
  child.kill("SIGINT");
  const code = await new Promise((resolve) => child.once("close", resolve));
  assert.deepEqual([code, told], [130, ""]);
});

test("a terminal shows the progress, and then the report alone", { skip: !existsSync("/usr/bin/script") }, (t) => {
  const file = join(folder(t), "ids");
  writeFileSync(file, lines(idsOf(3, 0, 400_000)));
  const words = ["-qec", `${process.execPath} ${COMMAND} audit ${file}`, "/dev/null"];
  const { stdout } = spawnSync("/usr/bin/script", words, { encoding: "utf8", env: { ...process.env, TERM: "xterm" } });
  const shown = stdout.replaceAll("\x1b[K", "<rest of the line cleared>");
  assert.match(shown, /\r[█░]{40} \d+\.\d MB of \d+\.\d MB {2}\d+\.\d MB\/s {2}\d+s left<rest/);
  assert.match(shown, /\r<rest of the line cleared>400,000 IDs of snowmint/);
});
