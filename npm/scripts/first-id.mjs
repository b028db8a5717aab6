// The time from import to the first ID of a page in Chromium: `first-id.mjs [PACKAGE...]`, folders of unpacked packages, this
// one if none is given, beside the time to import an empty module. The files are in the browser's cache. Prints medians in ms
// of pages that take turns, also with a processor that is throttled 4 times.
import { createServer } from "node:http";
import { dirname, join, resolve } from "node:path";
import { chromium } from "playwright-core";
import { bundle } from "./bundle.mjs";

const ROUNDS = 15;
const packages = process.argv.length > 2 ? process.argv.slice(2) : [join(import.meta.dirname, "..")];

/** Bundles `{ Snowflake }` of a package into one file. */
async function bundled(folder) {
  const contents = `export { Snowflake } from "snowmint"`;
  const files = await bundle(contents, dirname(resolve(folder)), { alias: { snowmint: resolve(folder) } });
  return files.map(({ path, text }) => [path.split("/").at(-1), text]);
}

/** Runs in the page: returns the ms from the import of a module to its first ID. */
async function firstId(url) {
  // The answer is then in the cache.
  await (await fetch(url)).text();
  const start = performance.now();
  const { Snowflake } = await import(url);
  if (Snowflake) new Snowflake({ node: 1 }).nextId();
  return performance.now() - start;
}

const files = new Map([["/0/stdin.js", "export const Snowflake = undefined;"]]);
const names = ["an empty module", ...packages];
for (const [at, folder] of packages.entries())
  for (const [name, text] of await bundled(folder)) files.set(`/${at + 1}/${name}`, text);
const server = createServer(({ url }, response) => {
  const script = files.get(url);
  response.setHeader("content-type", script === undefined ? "text/html" : "text/javascript");
  response.setHeader("cache-control", "max-age=3600");
  response.end(script ?? "<!doctype html>");
});
await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
const origin = `http://127.0.0.1:${server.address().port}`;

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"],
});
const times = names.map(() => ({ 1: [], 4: [] }));
for (let round = 0; round < ROUNDS; round++)
  for (const rate of [1, 4])
    for (const at of names.keys()) {
      const context = await browser.newContext();
      const page = await context.newPage();
      await page.goto(origin);
      const session = await context.newCDPSession(page);
      await session.send("Emulation.setCPUThrottlingRate", { rate });
      times[at][rate].push(await page.evaluate(firstId, `${origin}/${at}/stdin.js`));
      await context.close();
    }
await browser.close();
server.close();

const median = (values) => Number(values.sort((a, b) => a - b)[values.length >> 1].toFixed(1));
console.log(`ms from import to the first ID in Chromium, medians of ${ROUNDS}:`);
const rows = names.map((name, at) => [
  name,
  { unthrottled: median(times[at][1]), "throttled 4 times": median(times[at][4]) },
]);
console.table(Object.fromEntries(rows));
