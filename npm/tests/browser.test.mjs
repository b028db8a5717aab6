// The package in headless Chromium: as it stands, without a bundler, in a page and a module worker; bundled, in a classic
// worker; and under a policy that forbids wasm.
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { build } from "esbuild";
import { launch, missing, root, serve } from "./chromium.mjs";

const MODULES = 'import * as snowmint from "/npm/dist/browser.mjs"; import { inRealm } from "/npm/tests/browser.mjs";';
const BUNDLED = 'import * as snowmint from "snowmint"; import { inRealm } from "./browser.mjs";';
const FROM_PAGE = "globalThis.outcome = inRealm(snowmint).catch((error) => ({ error: error.stack }));";
const FROM_WORKER = "inRealm(snowmint).catch((error) => ({ error: error.stack })).then((told) => postMessage(told));";
const FORBIDDEN = `import { Snowflake } from "/npm/dist/browser.mjs";
  try { new Snowflake({ node: 5 }); globalThis.outcome = "minted" } catch (error) { globalThis.outcome = error.message }`;

const pages = {
  "/": ["text/html", "<!doctype html><title>empty</title>"],
  "/page": ["text/html", `<!doctype html><script type="module">${MODULES}${FROM_PAGE}</script>`],
  "/worker.mjs": ["text/javascript", MODULES + FROM_WORKER],
  "/classic.js": ["text/javascript", "importScripts('/bundle.js');"],
  "/forbidden": ["text/html", '<!doctype html><script type="module" src="/forbidden.mjs"></script>'],
  "/forbidden.mjs": ["text/javascript", FORBIDDEN],
};
const policies = { "/forbidden": "script-src 'self'" };

let server;
let browser;

before(async () => {
  if (missing) return;
  const stdin = { contents: BUNDLED + FROM_WORKER, resolveDir: join(root, "npm/tests") };
  const { outputFiles } = await build({ stdin, bundle: true, format: "iife", platform: "browser", write: false });
  pages["/bundle.js"] = ["text/javascript", outputFiles[0].text];
  server = await serve(pages, policies);
  browser = await launch();
});

after(async () => {
  await browser?.close();
  server?.close();
});

/** Opens a page and answers what a function tells there. */
async function inPage(path, body, argument) {
  const page = await browser.newPage();
  const failures = [];
  page.on("pageerror", (error) => failures.push(error.message));
  await page.goto(server.origin + path);
  const told = await page.evaluate(body, argument);
  await page.close();
  assert.deepEqual(failures, []);
  return told;
}

/** What the package does in every realm of a browser. */
function check(t, { error, vectors, skewMs, ...told }) {
  assert.equal(error, undefined);
  t.diagnostic(`${vectors.passed} cases`);
  assert.deepEqual(vectors.failures, []);
  assert.ok(vectors.passed > 500);
  assert.ok(skewMs < 2000, `${skewMs}`);
  const wanted = { maxAheadMs: 1000, maxWaitMs: 0, increasing: true, node: 5, refused: "EXHAUSTED", waited: "bigint" };
  assert.deepEqual(told, wanted);
}

const worker = ([url, type]) =>
  new Promise((resolve) => {
    const worker = new Worker(url, { type });
    worker.onmessage = ({ data }) => resolve(data);
    worker.onerror = ({ message }) => resolve({ error: message });
  });

test("every vector holds in a page, by <script type=module> and without a bundler", { skip: missing }, async (t) => {
  check(t, await inPage("/page", () => globalThis.outcome));
});

test("every vector holds in a module worker", { skip: missing }, async (t) => {
  check(t, await inPage("/", worker, ["/worker.mjs", "module"]));
});

test("every vector holds in a classic worker, bundled", { skip: missing }, async (t) => {
  check(t, await inPage("/", worker, ["/classic.js", "classic"]));
});

test("under a policy without wasm-unsafe-eval importing works, and the first use names it", {
  skip: missing,
}, async () => {
  assert.match(await inPage("/forbidden", () => globalThis.outcome), /'wasm-unsafe-eval'/);
});
