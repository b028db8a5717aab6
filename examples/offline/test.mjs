import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { after, before, test } from "node:test";
import { setTimeout } from "node:timers/promises";
import pg from "pg";
import { chromium } from "playwright-core";
import { Layout } from "snowmint";

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });
const layout = Layout.parse("unused:1,time:41,device:12,tab:3,sequence:7;epoch=2025-01-01T00:00:00Z");
let server;
let browser;

before(async () => {
  const built = spawnSync("npm", ["run", "--silent", "build"], { stdio: "inherit" });
  assert.equal(built.status, 0);
  server = spawn(process.execPath, ["server.js"], { stdio: ["ignore", "pipe", "inherit"] });
  await once(server.stdout, "data", { signal: AbortSignal.timeout(60_000) });
  const args = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking"];
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args });
});

after(async () => {
  await browser?.close();
  server?.kill();
  await pool.end();
});

const rows = async () => (await pool.query("SELECT id, pg_typeof(id)::text AS type, text FROM notes")).rows;

async function add(tab, texts) {
  for (const text of texts) {
    await tab.getByLabel("Note").fill(text);
    await tab.getByLabel("Note").press("Enter");
    await tab.getByRole("listitem").getByText(text, { exact: true }).waitFor();
  }
}

test("two browsers mint offline, and their IDs never meet", { timeout: 180_000 }, async () => {
  // Two profiles: neither sees the storage of the other one.
  const profiles = [await browser.newContext(), await browser.newContext()];
  const tabs = [];
  for (const profile of [profiles[0], profiles[0], profiles[1], profiles[1]]) {
    const tab = await profile.newPage();
    await tab.goto(`http://127.0.0.1:${process.env.PORT}/`);
    await tab.locator("button:enabled").waitFor();
    tabs.push(tab);
  }

  for (const profile of profiles) await profile.setOffline(true);
  const texts = tabs.map((_, tab) => Array.from({ length: 25 }, (_, note) => `tab ${tab}, note ${note}`));
  await Promise.all(tabs.map((tab, at) => add(tab, texts[at])));
  assert.deepEqual(await rows(), []);

  for (const profile of profiles) await profile.setOffline(false);
  for (const deadline = Date.now() + 60_000; (await rows()).length < 100; await setTimeout(50))
    assert.ok(Date.now() < deadline, `only ${(await rows()).length} notes have arrived`);

  const notes = await rows();
  assert.deepEqual(notes.map(({ text }) => text).toSorted(), texts.flat().toSorted());
  assert.ok(notes.every(({ type }) => type === "bigint"));
  const fieldsOf = (name, tab) =>
    new Set(notes.filter(({ text }) => texts[tab].includes(text)).map(({ id }) => layout.decode(id).fields[name]));
  const devices = tabs.map((_, tab) => [...fieldsOf("device", tab)]);
  assert.deepEqual(devices[0], devices[1]);
  assert.deepEqual(devices[2], devices[3]);
  assert.notDeepEqual(devices[0], devices[2]);
  assert.notDeepEqual([...fieldsOf("tab", 0)], [...fieldsOf("tab", 1)]);
  for (const tab of tabs) await tab.getByText("0 to send").waitFor();
});
