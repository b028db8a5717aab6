// The simulated fleet of the inspector, in headless Chromium.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { after, before, test as declare } from "node:test";
import { pathToFileURL } from "node:url";
import { launch, missing as skip } from "./chromium.mjs";

const file = new URL("../site/dist/index.html", import.meta.url).pathname;
/** How long a fleet may take to show that a check is missing, ms. */
const PATIENCE = { timeout: 60_000 };

let browser;
before(async () => {
  if (skip) return;
  assert.ok(existsSync(file), "scripts/build-site.sh makes the page");
  browser = await launch();
});
after(() => browser?.close());

/** A test on a page, which must report nothing. */
function test(name, body) {
  declare(name, { skip }, async () => {
    const page = await browser.newPage();
    const troubles = [];
    page.on("pageerror", ({ message }) => troubles.push(message));
    page.on("console", (message) => ["error", "warning"].includes(message.type()) && troubles.push(message.text()));
    await page.goto(pathToFileURL(file).href);
    await page.waitForSelector("#fleet-picture svg");
    await page.selectOption("#fleet-speed", "200");
    await body(page);
    assert.deepEqual(troubles, []);
    await page.close();
  });
}

const number = async (page, id) => Number((await page.textContent(`#${id}`)).replaceAll(",", ""));
const atLeast = (page, id, least) =>
  page.waitForFunction(
    ([id, least]) => Number(document.getElementById(id).textContent.replaceAll(",", "")) >= least,
    [id, least],
    PATIENCE,
  );

test("a fleet with all checks repeats no ID over 500 faults", async (page) => {
  await page.click("#fleet-run");
  await atLeast(page, "fleet-count", 500);
  assert.ok((await number(page, "fleet-ids")) > 20_000);
  assert.equal(await number(page, "fleet-twice"), 0);
  assert.equal(await page.textContent("#fleet-status"), "");
});

test("each check left out shows an ID that was minted twice", async (page) => {
  const checks = await page.locator("#fleet-check option").evaluateAll((all) => all.map(({ value }) => value));
  assert.ok(checks.length >= 7);
  await page.click("#fleet-remove");
  for (const check of checks) {
    await page.selectOption("#fleet-check", check);
    if ((await page.textContent("#fleet-run")) !== "Pause") await page.click("#fleet-run");
    await atLeast(page, "fleet-twice", 1);
    assert.match(await page.textContent("#fleet-status"), /^ID \d+ of node \d was minted by process \d/, check);
    assert.equal(await page.locator("#fleet-picture .twice-words").textContent(), "minted twice");
  }
  // The same seed with the check in place.
  await page.click("#fleet-remove");
  await atLeast(page, "fleet-count", 100);
  assert.equal(await number(page, "fleet-twice"), 0);
});

test("without faults no fault happens", async (page) => {
  await page.locator("#fleet-faults input").evaluateAll((all) => {
    for (const input of all) {
      input.value = "0";
      input.dispatchEvent(new Event("input"));
    }
  });
  await page.fill("#fleet-seed", "2");
  await page.press("#fleet-seed", "Enter");
  await page.click("#fleet-run");
  await atLeast(page, "fleet-ids", 20_000);
  assert.equal(await number(page, "fleet-count"), 0);
});
