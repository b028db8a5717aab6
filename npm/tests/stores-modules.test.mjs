// How the stores are loaded: beside the package of the same kind of host and module, whose errors they throw.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createRequire } from "node:module";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import { exitOf, folder } from "./support.mjs";

const here = new URL(".", import.meta.url).pathname;
const dist = join(here, "./node_modules/snowmint/dist");
const NAMES = [
  "DynamoDbStore",
  "EtcdStore",
  "HttpStore",
  "MemoryStore",
  "MysqlStore",
  "PgStore",
  "RedisStore",
  "SqliteStore",
];

/** What refuses a database in memory, with an error of the package's class. */
const PROGRAM = `
  const refused = async ({ SnowmintError }, { SqliteStore }, Database) => {
    const error = await new SqliteStore(new Database(":memory:")).read("a/b").catch((error) => error);
    if (!(error instanceof SnowmintError) || error.code !== "UNSAFE_STORE") throw error;
  };`;

test("the stores throw errors of the class that the package beside them has, by import and by require", async () => {
  const require = createRequire(import.meta.url);
  const loaded = [
    [await import("snowmint"), await import("snowmint/stores")],
    [require("snowmint"), require("snowmint/stores")],
    [
      await import("./node_modules/snowmint/dist/browser.mjs"),
      await import("./node_modules/snowmint/dist/stores.browser.mjs"),
    ],
    [require("./node_modules/snowmint/dist/browser.cjs"), require("./node_modules/snowmint/dist/stores.browser.cjs")],
  ];
  assert.equal(new Set(loaded.map(([{ SnowmintError }]) => SnowmintError)).size, 4);
  const Database = require("better-sqlite3");
  for (const [{ SnowmintError }, stores] of loaded) {
    assert.deepEqual(
      Object.keys(stores)
        .filter((name) => name !== "default")
        .sort(),
      NAMES,
    );
    const error = await new stores.SqliteStore(new Database(":memory:")).read("a/b").catch((error) => error);
    assert.ok(error instanceof SnowmintError, error.stack);
    assert.equal(error.code, "UNSAFE_STORE");
    await assert.rejects(new stores.SqliteStore(new Database(":memory:").close()).read("a/b"), SnowmintError);
  }
});

test("loading them compiles nothing and starts nothing", async () => {
  for (const file of ["stores.node.mjs", "stores.node.cjs", "stores.browser.mjs", "stores.browser.cjs"]) {
    const script = `delete globalThis.WebAssembly;
      const loaded = await import("${dist}/${file}");
      const { MemoryStore, SqliteStore } = loaded.default ?? loaded;
      const db = { prepare: () => db, pragma() {}, inTransaction: false, exec() {}, safeIntegers: () => db, raw: () => db, all: () => [[2]] };
      console.log(await new MemoryStore().write("a/b", new Uint8Array(1), 0));
      console.log(await new SqliteStore(db).read("a/b").catch(({ code }) => code));`;
    const { stdout, stderr } = await exitOf(script);
    assert.equal(stdout, "1\nWASM_FORBIDDEN\n", file + stderr);
  }
});

test("a bundle for Node has them, in either kind of module, with errors of one class", async (t) => {
  for (const format of ["esm", "cjs"]) {
    const outfile = join(folder(t), `bundle.${format === "esm" ? "mjs" : "cjs"}`);
    const contents = `import { createRequire } from "node:module";
      import * as snowmint from "snowmint"; import * as stores from "snowmint/stores"; ${PROGRAM}
      const Database = createRequire("${here}")("better-sqlite3");
      refused(snowmint, stores, Database).then(() => console.log("refused"));`;
    const stdin = { contents, resolveDir: here };
    await build({ stdin, outfile, format, bundle: true, platform: "node", minify: true, logLevel: "error" });
    assert.equal(execFileSync(process.execPath, [outfile], { encoding: "utf8" }), "refused\n", format);
  }
});

test("a bundle for browsers that has a memory store has nothing else", async (t) => {
  const outfile = join(folder(t), "bundle.mjs");
  const stdin = { contents: 'export { MemoryStore } from "snowmint/stores";', resolveDir: here };
  const options = { conditions: ["browser"], minify: true, metafile: true, format: "esm", bundle: true };
  const { metafile } = await build({ stdin, outfile, logLevel: "error", ...options });
  const { bytes } = Object.values(metafile.outputs)[0];
  assert.ok(bytes < 2000, `${bytes}`);
  const { MemoryStore } = await import(pathToFileURL(outfile).href);
  assert.equal(await new MemoryStore().add("a", 1n, 5n), 6n);
});

test("where wasm is imported as a module, as edge runtimes do, the stores look at settings and keep leases", async (t) => {
  const path = folder(t);
  const wasmModule = ({ onResolve, onLoad }) => {
    onResolve({ filter: /\.wasm$/ }, ({ path: name }) => ({ path: join(dist, name), namespace: "module" }));
    onLoad({ filter: /./, namespace: "module" }, ({ path: file }) => ({
      contents: `import { readFileSync } from "node:fs"; export default new WebAssembly.Module(readFileSync("${file}"));`,
    }));
  };
  const outfile = join(path, "edge.mjs");
  const contents = `export * from "snowmint"; export * from "snowmint/stores";`;
  await build({
    stdin: { contents, resolveDir: here },
    outfile,
    bundle: true,
    format: "esm",
    conditions: ["workerd"],
    external: ["node:fs"],
    plugins: [{ name: "wasm-module", setup: wasmModule }],
    logLevel: "error",
  });
  const { MemoryStore, Snowflake, SnowmintError, SqliteStore } = await import(pathToFileURL(outfile).href);
  const Database = createRequire(import.meta.url)("better-sqlite3");
  const error = await new SqliteStore(new Database(":memory:")).read("a/b").catch((error) => error);
  assert.ok(error instanceof SnowmintError && error.code === "UNSAFE_STORE", error.stack);
  const refused = await Snowflake.lease({ namespace: "orders" }).catch((error) => error);
  assert.ok(refused instanceof SnowmintError && refused.code === "INVALID_STORE", refused.stack);
  assert.match(
    refused.message,
    /^there are no tabs here .*: pass a store, such as an HttpStore .*, or use new Snowflake\(\{ node \}\)/,
  );
  await assert.rejects(Snowflake.lease({ node: 5 }), { code: "INVALID_STORE", message: /there are no tabs here/ });
  const gen = await Snowflake.lease({ store: new MemoryStore(), node: 5 });
  assert.equal(gen.node, 5);
  gen.nextId();
  await gen.close();
});

test("the clients that applications have are those that the declarations allow", () => {
  const npm = join(here, "..");
  try {
    execFileSync("node_modules/.bin/tsc", ["-p", "tests/clients.tsconfig.json"], { cwd: npm, encoding: "utf8" });
  } catch ({ stdout }) {
    assert.fail(stdout);
  }
});
