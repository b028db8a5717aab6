// How the package is loaded: every kind of module and every copy is one in its process, and loading never fails.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import { inPage } from "./runners.mjs";
import { increasing, refusal, slow } from "./support.mjs";

const here = new URL(".", import.meta.url).pathname;
const dist = join(here, "./node_modules/snowmint/dist");

/** A folder that is removed after the test. */
function folder(t) {
  const path = mkdtempSync(join(tmpdir(), "snowmint-"));
  t.after(() => rmSync(path, { recursive: true }));
  return path;
}

/** Returns the output of a script in a separate Node process. */
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
  byTurns([...copies, await import("./node_modules/snowmint/dist/browser.mjs")], { node: 1, clock });
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

test("an error of a subclass is one of the package's, and no other error is one of the subclass", async () => {
  const other = createRequire(import.meta.url)("snowmint");
  for (const { SnowmintError, Layout } of [
    await import("snowmint"),
    await import("./node_modules/snowmint/dist/browser.mjs"),
  ]) {
    class QuotaError extends SnowmintError {
      name = "QuotaError";
    }
    const [ours, theirs] = [
      refusal("INVALID_LAYOUT", () => Layout.preset("?")),
      new QuotaError("EXHAUSTED", "no more", 5),
    ];
    assert.ok(ours instanceof SnowmintError && !(ours instanceof QuotaError));
    assert.ok(theirs instanceof QuotaError && theirs instanceof SnowmintError && theirs instanceof Error);
    assert.ok(!(refusal("INVALID_LAYOUT", () => other.Layout.preset("?")) instanceof QuotaError));
    for (const none of [new Error("no"), "QuotaError", null, undefined]) assert.ok(!(none instanceof QuotaError));
  }
});

test("enumerable properties of Object.prototype do no harm to loading and minting", () => {
  const script = `Object.prototype.polluted = 5;
    import { createRequire } from "node:module";
    const require = createRequire("${here}");
    for (const name of ["snowmint", "snowmint/stores", "snowmint/sql", "./node_modules/snowmint/dist/browser.cjs", "./node_modules/snowmint/dist/stores.browser.cjs"])
      for (const loaded of [require(name), await import(name)]) {
        const { Snowflake, layouts, SqliteStore, decodeSql } = loaded.default ?? loaded;
        if (decodeSql) decodeSql("twitter", "postgres", "id");
        if (!Snowflake) continue;
        const gen = new Snowflake({ layout: "twitter", node: { datacenter: 1, worker: 5 }, maxAheadMs: 5 });
        const { fields, node } = gen.layout.decode(gen.nextId());
        console.log(node, Object.keys(fields).join());
      }`;
  const told = Array(4).fill("37 time,datacenter,worker,sequence").join("\n");
  assert.equal(run(script), told);
});

test("jest's jsdom, which has no TextEncoder, mints and reads all kinds of IDs", async () => {
  const page = await inPage();
  const { Layout, Snowflake, inspect, objectId, scatter, text, ulid, uuid } = page.exports;
  assert.equal(page.run("typeof TextEncoder + typeof TextDecoder"), "undefinedundefined");
  const gen = new Snowflake({
    layout: "time:42,worker:10,sequence:12;epoch=2025-01-01T00:00:00Z",
    node: { worker: 5 },
  });
  const id = gen.nextId();
  assert.equal(gen.layout.decode(id).fields.worker, 5);
  assert.equal(text.decode(text.encode(id, "base62"), "base62"), id);
  assert.equal(scatter.unrotateDigits(scatter.rotateDigits(id, 3), 3), id);
  assert.equal(inspect("1541815603606036480")[0].layout, "twitter");
  assert.equal(uuid.v5("www.example.com", uuid.DNS), "2ed6657d-e927-568b-95e1-2665a8aea6a2");
  assert.equal(uuid.v5("ä€😀", uuid.DNS), (await import("snowmint")).uuid.v5("ä€😀", uuid.DNS));
  for (const minted of [uuid.v7(), ulid(), objectId()]) assert.equal(typeof minted, "string");
  for (const layout of ["é:1", "\ud800"]) refusal("INVALID_LAYOUT", () => Layout.parse(layout));
  await page.close();
});

test("a lease in jest's jsdom is had over a store", async () => {
  const page = await inPage();
  const stores = await inPage("stores.browser");
  const [{ Snowflake }, { MemoryStore }] = [page.exports, stores.exports];
  const store = new MemoryStore();
  const gen = await Snowflake.lease({ store, namespace: "orders" });
  assert.equal(typeof gen.nextId(), "bigint");
  assert.equal((await store.list("leases/orders/")).length, 1);
  await gen.close();
  await Promise.all([page.close(), stores.close()]);
});

test("why an addon does not load is told where it is needed", (t) => {
  const path = folder(t);
  cpSync(dist, join(path, "dist"), { recursive: true });
  const script = `const { Snowflake } = await import("${path}/dist/node.mjs");
    new Snowflake({ node: 5 }).nextId();
    const { code, message, cause } = await Snowflake.lease().catch((error) => error);
    console.log(JSON.stringify({ code, message, cause: [cause.code, cause.message] }));`;
  const { SNOWMINT_NODE, SNOWMINT_STORE, ...env } = process.env;
  const told = () => JSON.parse(run(script, { env: { ...env, SNOWMINT_STATE_DIR: join(path, "slots") } }));
  const missing = told();
  assert.equal(missing.code, "INVALID_STORE");
  assert.match(missing.message, /addon for \S+, which is not installed: install the optional dependencies/);
  assert.equal(missing.cause[0], "MODULE_NOT_FOUND");
  for (const suffix of ["-gnu", "-musl", "-msvc", ""]) {
    const name = `snowmint-${process.platform}-${process.arch}${suffix}`;
    mkdirSync(join(path, "node_modules", name), { recursive: true });
    writeFileSync(join(path, "node_modules", name, "index.node"), "no library");
    writeFileSync(join(path, "node_modules", name, "package.json"), '{ "main": "index.node" }');
  }
  const broken = told();
  assert.equal(broken.code, "INVALID_STORE");
  assert.equal(broken.cause[0], "ERR_DLOPEN_FAILED");
  assert.ok(broken.message.includes(`which does not load (${broken.cause[1]}): install the optional`), broken.message);
});

test("a node that one version of snowmint mints by is refused to another version in the same process", async (t) => {
  const path = folder(t);
  cpSync(dist, join(path, "dist"), { recursive: true });
  const { version } = JSON.parse(readFileSync(join(here, "../package.json"), "utf8"));
  for (const file of readdirSync(dist).filter((name) => /^node.*\.mjs$/.test(name))) {
    const ours = readFileSync(join(dist, file), "utf8");
    writeFileSync(join(path, "dist", file), ours.replaceAll(`"${version}"`, '"0.0.1"'));
  }
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
    assert.match(run(script), /^WebAssembly does not start: ReferenceError/, file);
  }
});

test("an addon that is missing, broken or forbidden is no error: the wasm module mints", (t) => {
  const path = folder(t);
  cpSync(dist, join(path, "dist"), { recursive: true });
  const script = `const { Snowflake } = await import("${path}/dist/node.mjs");
    const gen = new Snowflake({ node: 5 });
    console.log(gen.layout.decode(gen.nextId()).node, Object.getOwnPropertySymbols(globalThis).map(String)
      .filter((name) => name.includes("snowmint.addon")).map((name) => globalThis[Symbol.for(name.slice(7, -1))].addon).join());`;
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
  const { outputs } = metafile;
  const [[name]] = Object.entries(outputs).filter(([, { entryPoint }]) => entryPoint?.endsWith("/bundle.mjs"));
  const first = [
    name,
    ...outputs[name].imports.filter(({ kind }) => kind === "import-statement").map(({ path }) => path),
  ];
  const inputs = first.flatMap((output) => Object.keys(outputs[output].inputs));
  const modules = inputs.map((input) => basename(input)).filter((_, at) => inputs[at].includes("/wasm/"));
  assert.deepEqual(modules, ["mint.mjs", "mint-glue.mjs"]);
  assert.equal(
    first.flatMap((output) => outputs[output].imports).filter(({ kind }) => kind === "dynamic-import").length,
    1,
  );
  const { Snowflake } = await import(pathToFileURL(join(path, basename(name))).href);
  const gen = new Snowflake({ layout: "twitter", node: { datacenter: 11, worker: 26 } });
  const parts = gen.layout.decode(gen.nextId());
  assert.deepEqual([parts.node, parts.fields.datacenter, parts.fields.worker], [378, 11, 26]);
  assert.equal(gen.layout.decode(gen.layout.encode(parts)).timestampMs, parts.timestampMs);
  assert.equal(gen.layout.idRange(parts.timestampMs, parts.timestampMs)[0] <= gen.layout.encode(parts), true);
  assert.match(String(gen.layout), /^unused:1,time:41,datacenter:5,/);
});
