import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { after, before, test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { chromium } from "playwright-core";
import { layouts } from "snowmint";

const url = `http://127.0.0.1:${process.env.PORT}/`;
const vite = ["node_modules/vite/bin/vite.js"];
let server;
let browser;

before(async () => {
  const built = spawnSync(process.execPath, [...vite, "build"], { stdio: "inherit" });
  assert.equal(built.status, 0);
  const args = ["preview", "--host", "127.0.0.1", "--port", process.env.PORT, "--strictPort"];
  server = spawn(process.execPath, [...vite, ...args], { stdio: "inherit" });
  for (const deadline = Date.now() + 60_000; ; await setTimeout(50)) {
    const answer = await fetch(url).catch(() => undefined);
    if (answer?.ok) break;
    assert.ok(Date.now() < deadline && server.exitCode === null, "vite preview does not answer");
  }
  const flags = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking"];
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: flags });
});

after(async () => {
  await browser?.close();
  server?.kill();
});

test("two tabs and a reloaded tab mint different IDs", { timeout: 120_000 }, async () => {
  const context = await browser.newContext();
  const tabs = [await context.newPage(), await context.newPage()];
  const mint = async (tab) => {
    await tab.getByRole("button").click({ clickCount: 20 });
    await tab.locator("li:nth-child(200)").waitFor();
    return tab.locator("li").allTextContents();
  };

  await Promise.all(tabs.map((tab) => tab.goto(url)));
  const lists = await Promise.all(tabs.map(mint));
  await tabs[0].reload();
  lists.push(await mint(tabs[0]));

  const ids = lists.flat();
  assert.equal(ids.length, 600);
  assert.equal(new Set(ids).size, 600);
  const nodes = lists.map((list) => [...new Set(list.map((id) => layouts.SNOWMINT.decode(id).node))].join());
  assert.notEqual(nodes[0], nodes[1]);
  assert.equal(await tabs[0].locator("#node").textContent(), nodes[2]);
  assert.equal(await tabs[1].locator("#node").textContent(), nodes[1]);
});
