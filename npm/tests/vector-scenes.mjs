// The package in Chromium, Firefox and WebKit: unbundled, in a page and a module worker; bundled, in a classic worker;
// and under a policy that forbids wasm.
import assert from "node:assert/strict";
import { join } from "node:path";
import { build } from "esbuild";
import { root, serve } from "./chromium.mjs";
import { ALL, until } from "./engines.mjs";

const MODULES = `import * as main from "/npm/dist/browser.mjs"; import * as numbers from "/npm/dist/numbers.browser.mjs";
  import { inRealm } from "/npm/tests/browser.mjs"; const snowmint = { ...main, ...numbers };`;
const BUNDLED = `import * as main from "snowmint"; import * as numbers from "snowmint/numbers";
  import { inRealm } from "./browser.mjs"; const snowmint = { ...main, ...numbers };`;
const FROM_PAGE = "globalThis.outcome = inRealm(snowmint).catch((error) => ({ error: error.stack }));";
const FROM_WORKER = "inRealm(snowmint).catch((error) => ({ error: error.stack })).then((told) => postMessage(told));";
const WATCHED = `globalThis.failures = [];
  for (const type of ["error", "unhandledrejection"])
    addEventListener(type, ({ message, reason }) => failures.push(String(message ?? reason)));`;
const FORBIDDEN = `import { Snowflake } from "/npm/dist/browser.mjs";
  try { new Snowflake({ node: 5 }); globalThis.outcome = "minted" }
  catch ({ name, code, message, cause }) { globalThis.outcome = { name, code, message, cause: cause.name } }`;

const pages = {
  "/": ["text/html", `<!doctype html><title>empty</title><script>${WATCHED}</script>`],
  "/page": [
    "text/html",
    `<!doctype html><script>${WATCHED}</script><script type="module">${MODULES}${FROM_PAGE}</script>`,
  ],
  "/worker.mjs": ["text/javascript", MODULES + FROM_WORKER],
  "/classic.js": ["text/javascript", "importScripts('/bundle.js');"],
  "/forbidden": [
    "text/html",
    '<!doctype html><script src="/watched.js"></script><script type="module" src="/forbidden.mjs"></script>',
  ],
  "/watched.js": ["text/javascript", WATCHED],
  "/forbidden.mjs": ["text/javascript", FORBIDDEN],
};
const policies = { "/forbidden": "script-src 'self'" };

let bundled;
async function bundle() {
  const stdin = { contents: BUNDLED + FROM_WORKER, resolveDir: join(root, "npm/tests") };
  const { outputFiles } = await build({ stdin, bundle: true, format: "iife", platform: "browser", write: false });
  pages["/bundle.js"] = ["text/javascript", outputFiles[0].text];
}

/** Opens a page and returns the value of a function in it. */
async function inPage(context, t, path, body, argument) {
  bundled ??= bundle();
  await bundled;
  const server = await serve(pages, policies);
  t.after(() => server.close());
  const page = await context.newPage();
  await page.goto(server.origin + path);
  await until(page, "globalThis.failures");
  const told = await page.evaluate(body, argument);
  assert.deepEqual(await page.evaluate("failures"), []);
  return told;
}

/** Scenes that run in every realm of a browser. */
function check(t, { error, vectors, skewMs, ...told }) {
  assert.equal(error, undefined);
  t.diagnostic(`${vectors.passed} cases`);
  assert.deepEqual(vectors.failures, []);
  assert.ok(vectors.passed > 500);
  assert.ok(skewMs < 20_000, `${skewMs}`);
  const wanted = { maxAheadMs: 1000, maxWaitMs: 0, increasing: true, node: 5, refused: "EXHAUSTED", waited: "bigint" };
  assert.deepEqual(told, wanted);
}

const worker = ([url, type]) =>
  new Promise((resolve) => {
    const worker = new Worker(url, { type });
    worker.onmessage = ({ data }) => resolve(data);
    worker.onerror = ({ message }) => resolve({ error: message });
  });

/** What scenes.mjs plays. */
export const scenes = [];
const test = (name, play) => scenes.push({ name, engines: ALL, play });

test("every vector holds in a page, by <script type=module> and without a bundler", async ({ context }, t) => {
  check(t, await inPage(context, t, "/page", () => globalThis.outcome));
});

test("every vector holds in a module worker", async ({ context }, t) => {
  check(t, await inPage(context, t, "/", worker, ["/worker.mjs", "module"]));
});

test("every vector holds in a classic worker, bundled", async ({ context }, t) => {
  check(t, await inPage(context, t, "/", worker, ["/classic.js", "classic"]));
});

test("under a policy without wasm-unsafe-eval importing works, and the first use names it", async ({ context }, t) => {
  const told = await inPage(context, t, "/forbidden", () => globalThis.outcome);
  assert.deepEqual([told.name, told.code], ["SnowmintError", "WASM_FORBIDDEN"], JSON.stringify(told));
  assert.match(told.message, /^WebAssembly does not start: .*; allow 'wasm-unsafe-eval' in the page's CSP$/s);
  assert.match(told.cause, /^(CompileError|EvalError)$/);
});
