// Runs page.mjs in headless Chromium.
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));
const { chromium } = createRequire(join(root, "npm/package.json"))("playwright-core");

function serve({ url }, response) {
  const allowed = /^\/(npm\/dist(\/wasm)?|benches\/js)\/[\w.-]+\.mjs$/.test(url);
  response.writeHead(url === "/" || allowed ? 200 : 404, {
    "content-type": allowed ? "text/javascript" : "text/html",
    // An isolated page has a finer clock to measure with.
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-embedder-policy": "require-corp",
  });
  response.end(allowed ? readFileSync(join(root, url)) : "<!doctype html><title>empty</title>");
}

/** Calls `body` with a function that runs an export of page.mjs, by its name, in a new page, and returns the result. */
export async function inChromium(body) {
  const server = createServer(serve).listen(0, "127.0.0.1");
  await once(server, "listening");
  // Without a sandbox, because Chromium has none for root, and without requests to its makers.
  const args = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"];
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args });
  try {
    await body(async (name) => {
      const page = await browser.newPage();
      await page.goto(`http://127.0.0.1:${server.address().port}/`);
      const table = await page.evaluate(async (name) => {
        if (!crossOriginIsolated) throw new Error("the page is not isolated");
        return (await import("/benches/js/page.mjs"))[name]();
      }, name);
      await page.close();
      return table;
    });
  } finally {
    await browser.close();
    server.close();
  }
}
