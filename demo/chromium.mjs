// Two tabs of headless Chromium.
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";

const root = new URL("..", import.meta.url);
const { chromium } = createRequire(new URL("npm/package.json", root))("playwright-core");

const PAGE = `<!doctype html><meta charset="utf-8"><script type="module">
  import * as snowmint from "/npm/dist/browser.mjs";
  import { decoded } from "/demo/decode.mjs";
  const generator = await snowmint.Snowflake.lease();
  globalThis.decoded = (publicIds) => decoded(snowmint, publicIds);
  globalThis.mint = async (count) => {
    const ids = [];
    while (ids.length < count) ids.push(await generator.nextIdAsync());
    return ids.map(String);
  };
</script>`;

/** Serves a page that leases a node, and calls `play` with a function that opens the page in a new tab. */
export async function inChromium(play) {
  const server = createServer(({ url }, response) => {
    response.setHeader("content-type", url === "/" ? "text/html" : "text/javascript");
    try {
      response.end(url === "/" ? PAGE : readFileSync(new URL(`.${url}`, root)));
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  const args = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"];
  args.push("--disable-component-update", "--disable-sync");
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args });
  try {
    const context = await browser.newContext();
    return await play(async () => {
      const tab = await context.newPage();
      tab.on("pageerror", (error) => console.error(error));
      await tab.goto(`http://127.0.0.1:${server.address().port}/`);
      await tab.waitForFunction(() => "mint" in window, undefined, { timeout: 20_000 });
      return tab;
    });
  } finally {
    await browser.close();
    server.close();
  }
}
