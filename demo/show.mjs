// Runs the four, compares them, and prints one table and a picture of a layout's bits.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import * as snowmint from "../npm/dist/node.mjs";
import { demo } from "./demo.mjs";

const require = createRequire(new URL("../npm/package.json", import.meta.url));
const { chromium } = require("playwright-core");
const root = new URL("..", import.meta.url);
const publicIds = JSON.parse(readFileSync(new URL("demo/public_ids.json", root), "utf8"));
const run = (command, ...args) => JSON.parse(execFileSync(new URL(command, root).pathname, args, { encoding: "utf8" }));

/** The same in a page of a real browser, with the package served as files and no bundler. */
async function inChromium(node) {
  const page = `<!doctype html><meta charset="utf-8"><script type="module">
    import * as snowmint from "/npm/dist/browser.mjs";
    import { demo } from "/demo/demo.mjs";
    window.result = demo(snowmint, ${JSON.stringify(publicIds)}, ${node});
  </script>`;
  const server = createServer((request, response) => {
    const isPage = request.url === "/";
    response.setHeader("content-type", isPage ? "text/html" : "text/javascript");
    try {
      response.end(isPage ? page : readFileSync(new URL(`.${new URL(request.url, "http://localhost").pathname}`, root)));
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
  });
  try {
    const tab = await browser.newPage();
    tab.on("pageerror", (error) => console.error(error));
    await tab.goto(`http://127.0.0.1:${server.address().port}/`);
    await tab.waitForFunction(() => "result" in window, undefined, { timeout: 20_000 });
    return { language: `Chromium ${browser.version().split(".")[0]}`, ...(await tab.evaluate(() => window.result)) };
  } finally {
    await browser.close();
    server.close();
  }
}

const results = [
  run("target/optimised/snowmint-demo", "1"),
  run(".venv/bin/python", new URL("demo/demo.py", root).pathname, "2"),
  { language: `Node ${process.versions.node.split(".")[0]}`, ...demo(snowmint, publicIds, 3) },
  await inChromium(4),
];

/** Lines up columns; the first row is the head. */
function table(rows) {
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)));
  const line = (row) => row.map((cell, column) => cell.padEnd(widths[column])).join("  ").trimEnd();
  return [line(rows[0]), widths.map((width) => "-".repeat(width)).join("  "), ...rows.slice(1).map(line)].join("\n");
}

/** A layout's bits as a picture, with the bits of an ID. */
function picture(layout, id) {
  const bits = BigInt(id).toString(2).padStart(layout.bits, "0");
  const fields = String(layout).split(";")[0].split(",").map((field) => field.split(":"));
  const rows = ["", "", "", ""];
  const values = layout.decode(id).fields;
  let from = 0;
  for (const [name, width] of fields) {
    const to = from + Number(width);
    const value = name === "unused" ? "" : String(values[name]);
    const room = Math.max(to - from, name.length + width.length + 1, value.length, String(layout.bits - 1 - from).length + 3);
    const [high, low] = [`${layout.bits - 1 - from}`, `${layout.bits - to}`];
    rows[0] += `${high === low ? high.padEnd(room) : high.padEnd(room - low.length) + low}   `;
    rows[1] += bits.slice(from, to).padEnd(room) + " | ";
    rows[2] += `${name} ${width}`.padEnd(room) + " | ";
    rows[3] += value.padEnd(room) + " | ";
    from = to;
  }
  return rows.map((row) => `  ${row.replace(/[ |]+$/, "")}`).join("\n");
}

const agree = publicIds.map((_, i) => new Set(results.map((result) => result.decoded[i])).size === 1);
console.log("\nPublic IDs, decoded in Rust, Python, Node and Chromium\n");
console.log(
  table([
    ["layout", "id", "decodes to", "all four", "from"],
    ...publicIds.map(({ layout, id, from }, i) => [layout, id, results[0].decoded[i], agree[i] ? "agree" : "DIFFER", from]),
  ]),
);

console.log("\nFive IDs minted in each, layout twitter\n");
const { TWITTER } = snowmint.layouts;
const node = (id) => TWITTER.decode(id).node;
console.log(
  table([
    ["in", "node", "first", "time of the first", "unique and increasing"],
    ...results.map(({ language, minted }) => {
      const increasing = minted.every((id, i) => i === 0 || BigInt(minted[i - 1]) < BigInt(id));
      const sameNode = minted.every((id) => node(id) === node(minted[0]));
      return [language, String(node(minted[0])), minted[0], TWITTER.decode(minted[0]).timestamp.toISOString(), increasing && sameNode ? "yes" : "NO"];
    }),
  ]),
);

console.log(`\nThe bits of ${results[0].minted[0]}: ${TWITTER}\n`);
console.log(picture(TWITTER, results[0].minted[0]));
console.log(`\n  ends ${TWITTER.endsAt.toISOString()}, ${TWITTER.nodes} nodes, ${TWITTER.idsPerSecond} IDs a second each\n`);

const distinct = new Set(results.flatMap((result) => result.minted)).size === 20;
const increasing = results.every(({ minted }) => minted.every((id, i) => i === 0 || BigInt(minted[i - 1]) < BigInt(id)));
const nodes = results.every(({ minted }, i) => minted.every((id) => node(id) === i + 1));
if (!agree.every(Boolean) || !distinct || !increasing || !nodes) {
  console.error("the four do not agree");
  process.exit(1);
}
