// The vectors in Node: as an ES module, by require, in the builds for browsers and for edge runtimes.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import { FILES, runVectors } from "./vectors.mjs";

const here = new URL(".", import.meta.url);
const files = Object.fromEntries(
  FILES.map((name) => [name, JSON.parse(readFileSync(new URL(`../../tests/vectors/${name}.json`, here), "utf8"))]),
);
const total = Object.values(files).reduce((sum, { cases }) => sum + cases.length, 0);

function run(t, ...entries) {
  const { passed, failures } = runVectors(Object.assign({}, ...entries), files);
  t.diagnostic(`${passed} of ${total} cases`);
  assert.deepEqual(failures, []);
  assert.equal(passed, total);
}

const require = createRequire(import.meta.url);
const DIST = "./node_modules/snowmint/dist";

test("every vector holds for import", async (t) => run(t, await import("snowmint"), await import("snowmint/numbers")));

test("every vector holds for require", (t) => run(t, require("snowmint"), require("snowmint/numbers")));

test("every vector holds for the module that browsers load", async (t) =>
  run(t, await import(`${DIST}/browser.mjs`), await import(`${DIST}/numbers.browser.mjs`)));

test("every vector holds for the CommonJS module of bundlers for browsers", (t) =>
  run(t, require(`${DIST}/browser.cjs`), require(`${DIST}/numbers.browser.cjs`)));

test("every vector holds where wasm is imported as a module, as edge runtimes do", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "snowmint-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const outfile = join(folder, "edge.mjs");
  // Such a runtime hands out a compiled module; Node does not yet.
  const asModule = ({ path }) => ({
    contents: `export default new WebAssembly.Module(Uint8Array.from([${readFileSync(path).join()}]))`,
  });
  const plugins = [{ name: "wasm", setup: (host) => host.onLoad({ filter: /\.wasm$/ }, asModule) }];
  const contents = `export * from "${DIST}/edge.mjs"; export * from "${DIST}/numbers.edge.mjs";`;
  const stdin = { contents, resolveDir: here.pathname };
  await build({ stdin, outfile, bundle: true, format: "esm", plugins });
  run(t, await import(pathToFileURL(outfile).href));
});

test("the runner refuses files, keys and answers that it does not expect", async () => {
  const snowmint = { ...(await import("snowmint")), ...(await import("snowmint/numbers")) };
  const [first] = files.decode.cases;
  const failures = (name, cases) => runVectors(snowmint, { ...files, [name]: { cases } }).failures;
  assert.match(failures("decode", [{ ...first, colour: "blue" }]).join(), /keys left over: colour/);
  assert.match(failures("decode", [{ ...first, tick: "1" }]).join(), /tick/);
  assert.match(failures("decode", [{ ...first, error: "INVALID_ID" }]).join(), /was not thrown/);
  assert.match(failures("colours", [{ name: "blue" }]).join(), /no check/);
  assert.match(runVectors(snowmint, {}).failures.join(), /text.json is missing/);
});
