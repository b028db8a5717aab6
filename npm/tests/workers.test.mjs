// Many workers of one page: Chromium gives a process 124 memories of WebAssembly, and each module of a worker takes one.
import assert from "node:assert/strict";
import { test } from "node:test";
import { launch, missing, serve } from "./chromium.mjs";
import { until } from "./engines.mjs";

const WORKERS = 60;
const WORKER = `import { Snowflake } from "/npm/dist/browser.mjs";
  try {
    const gen = await Snowflake.lease({ maxWaitMs: 60_000 });
    postMessage({ node: gen.node, id: gen.nextId() });
  } catch ({ code, message }) {
    postMessage({ code, message });
  }`;
const PAGE = `<!doctype html><title>workers</title><script type="module">
  globalThis.answers = [];
  globalThis.workers = Array.from({ length: ${WORKERS} }, () => {
    const worker = new Worker("/worker.mjs", { type: "module" });
    worker.onmessage = ({ data }) => answers.push(data);
    return worker;
  });</script>`;

test("sixty workers of one page have a lease each", { skip: missing }, async (t) => {
  const server = await serve({ "/": ["text/html", PAGE], "/worker.mjs": ["text/javascript", WORKER] });
  t.after(() => server.close());
  const browser = await launch();
  t.after(() => browser.close());
  const page = await browser.newPage();
  await page.goto(server.origin);
  await until(page, `globalThis.answers?.length === ${WORKERS}`);
  const answers = await page.evaluate("answers.map(({ node, code, message }) => node ?? [code, message].join(': '))");
  assert.equal(new Set(answers).size, WORKERS, answers.join());
  assert.ok(answers.every(Number.isInteger), answers.join());
});
