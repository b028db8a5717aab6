// How the package is loaded: every kind of module and every copy is one in its process, and loading never fails.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import { increasing, refusal, slow } from "./support.mjs";

const here = new URL(".", import.meta.url).pathname;
const dist = join(here, "../dist");

/** A folder that goes away with the test. */
function folder(t) {
  const path = mkdtempSync(join(tmpdir(), "snowmint-"));
  t.after(() => rmSync(path, { recursive: true }));
  return path;
}

/** What a script prints in a Node process of its own. */
function run(script, { env = {}, cwd = here } = {}) {
  const options = { cwd, encoding: "utf8", env: { ...process.env, NODE_OPTIONS: "", ...env } };
  return execFileSync(process.execPath, ["--input-type=module", "-e", script], options).trim();
}

/** The IDs of one tick, minted by turns by all given copies of the package, which must share the node's state. */
function byTurns(copies, options) {
  const generators = copies.map(({ Snowflake }) => new Snowflake({ layout: slow(6), maxWaitMs: 0, ...options }));
  increasing(Array.from({ length: 64 }, (_, i) => generators[i % copies.length].tryNextId()));
  for (const gen of generators) refusal("EXHAUSTED", () => gen.tryNextId());
}

test("import, require and a second copy of the package share one state in a process", async (t) => {
  const path = folder(t);
  cpSync(dist, join(path, "dist"), { recursive: true });
  const require = createRequire(import.meta.url);
  const copies = [
    await import("snowmint"),
    require("snowmint"),
    await import(pathToFileURL(join(path, "dist/node.mjs")).href),
    require(join(path, "dist/node.cjs")),
  ];
  assert.equal(new Set(copies.map(({ Snowflake }) => Snowflake)).size, 4);
  byTurns(copies, { node: 1 });
  const clock = () => 1_772_323_200_000;
  byTurns([...copies, await import("../dist/browser.mjs")], { node: 1, clock });
});

test("copies of the package take each other's layouts, and know each other's errors", async () => {
  const [one, other] = [await import("snowmint"), createRequire(import.meta.url)("snowmint")];
  const gen = new one.Snowflake({ layout: other.layouts.TWITTER, node: 7 });
  assert.equal(gen.layout.name, "twitter");
  const error = refusal("INVALID_NODE", () => new other.Snowflake({ layout: one.layouts.TWITTER, node: 1024 }));
  assert.ok(error instanceof one.SnowmintError && error instanceof other.SnowmintError);
  for (const none of [new Error("no"), "SnowmintError", null, undefined])
    assert.ok(!(none instanceof one.SnowmintError));
});

test("a node that one version of snowmint mints by is refused to another version in the same process", async (t) => {
  const path = folder(t);
  cpSync(dist, join(path, "dist"), { recursive: true });
  const ours = readFileSync(join(dist, "node.mjs"), "utf8");
  const { version } = JSON.parse(readFileSync(join(here, "../package.json"), "utf8"));
  writeFileSync(join(path, "dist/node.mjs"), ours.replaceAll(`"${version}"`, '"0.0.1"'));
  const [one, other] = [await import("snowmint"), await import(pathToFileURL(join(path, "dist/node.mjs")).href)];
  new one.Snowflake({ layout: "twitter", node: 11 });
  const { message } = refusal("INVALID_NODE", () => new other.Snowflake({ layout: "twitter", node: 11 }));
  assert.match(message, /^pass a node that no other generator of this layout uses/);
  new other.Snowflake({ layout: "twitter", node: 12 }).nextId();
  refusal("INVALID_NODE", () => new one.Snowflake({ layout: "twitter", node: 12 }));
});

test("loading reads nothing and starts nothing, so it cannot fail", () => {
  const prelude = "delete globalThis.WebAssembly;";
  for (const file of ["node.mjs", "node.cjs", "browser.mjs", "browser.cjs"]) {
    const script = `${prelude} const loaded = await import("${dist}/${file}");
      const { Layout } = loaded.default ?? loaded;
      try { Layout.preset("twitter") } catch (error) { console.log(error.message) }`;
    assert.match(run(script), /wasm-unsafe-eval/, file);
  }
});

test("an addon that is missing, broken or forbidden is no error: the wasm module mints", (t) => {
  const path = folder(t);
  cpSync(dist, join(path, "dist"), { recursive: true });
  const script = `const { Snowflake } = await import("${path}/dist/node.mjs");
    const gen = new Snowflake({ node: 5 });
    console.log(gen.layout.decode(gen.nextId()).node, Object.getOwnPropertySymbols(globalThis).map(String)
      .filter((name) => name.includes("snowmint.addon")).map((name) => globalThis[Symbol.for(name.slice(7, -1))]).join());`;
  assert.equal(run(script), "5");
  for (const name of ["linux-x64-gnu", "linux-arm64-gnu", "darwin-arm64", "win32-x64-msvc"]) {
    writeFileSync(join(path, `snowmint.${name}.node`), "no library");
  }
  assert.equal(run(script), "5");
  assert.equal(run(script, { env: { SNOWMINT_NO_ADDON: "1" } }), "5");
});

test("a bundle for Node mints, in either kind of module", async (t) => {
  const path = folder(t);
  const contents = 'import { Snowflake } from "snowmint"; console.log(typeof new Snowflake({ node: 5 }).nextId());';
  for (const format of ["esm", "cjs"]) {
    const outfile = join(path, `bundle.${format === "esm" ? "mjs" : "cjs"}`);
    const stdin = { contents, resolveDir: here };
    await build({ stdin, outfile, format, bundle: true, platform: "node", logLevel: "error" });
    assert.equal(run(`await import("${outfile}")`, { cwd: path }), "bigint", format);
  }
});

test("a bundle of Snowflake alone has layouts whole, and neither text forms nor inspect nor leases", async (t) => {
  const path = folder(t);
  const stdin = { contents: 'export { Snowflake } from "snowmint";', resolveDir: here, sourcefile: "bundle.mjs" };
  const { metafile } = await build({
    stdin,
    outdir: path,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    // What leases need is loaded on demand.
    splitting: true,
    format: "esm",
    conditions: ["browser"],
    minify: true,
    metafile: true,
  });
  const packed = (name) => readFileSync(join(dist, `${name}.wasm`)).length;
  const [[name, { bytes, imports }]] = Object.entries(metafile.outputs).filter(([, { entryPoint }]) => entryPoint);
  assert.deepEqual(
    imports.map(({ kind }) => kind),
    ["dynamic-import"],
  );
  assert.ok(bytes > packed("mint") && bytes < packed("mint") + packed("forms") + packed("lease"), `${bytes}`);
  const { Snowflake } = await import(pathToFileURL(join(path, basename(name))).href);
  const gen = new Snowflake({ layout: "twitter", node: { datacenter: 11, worker: 26 } });
  const parts = gen.layout.decode(gen.nextId());
  assert.deepEqual([parts.node, parts.fields.datacenter, parts.fields.worker], [378, 11, 26]);
  assert.equal(gen.layout.decode(gen.layout.encode(parts)).timestampMs, parts.timestampMs);
  assert.equal(gen.layout.idRange(parts.timestampMs, parts.timestampMs)[0] <= gen.layout.encode(parts), true);
  assert.match(String(gen.layout), /^unused:1,time:41,datacenter:5,/);
});
