// The site that scripts/docs.sh builds, opened as files in Chromium.
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { after, before, test } from "node:test";

const { chromium } = createRequire(new URL("../../npm/package.json", import.meta.url))("playwright-core");
const SITE = new URL("../../target/docs/site/", import.meta.url);
// Without a sandbox, which root cannot have, and without requests to Chromium's own servers.
const ARGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking"];

let browser;
before(async () => {
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ARGS });
});
after(() => browser.close());

/** Opens a page of the site; the test fails at its end if the page asked the network or had an error. */
async function open(t, page, options = {}) {
  const context = await browser.newContext(options);
  const opened = await context.newPage();
  const faults = [];
  opened.on("request", (request) => {
    if (!/^(file|data|blob):/.test(request.url())) faults.push(request.url());
  });
  opened.on("pageerror", (error) => faults.push(String(error)));
  t.after(async () => {
    await context.close();
    assert.deepEqual(faults, []);
  });
  await opened.goto(new URL(page, SITE).href);
  return opened;
}

test("a reader finds a word of a guide without a network", async (t) => {
  const page = await open(t, "index.html");
  await page.keyboard.press("/");
  await page.keyboard.type("fence");
  await page.getByText("After a failover or a restored backup").first().waitFor();
});

test("every page is as wide as its window, light and dark", async (t) => {
  const pages = readdirSync(SITE).filter((name) => name.endsWith(".html") && name !== "404.html");
  assert.ok(pages.includes("moving.html"), String(pages));
  for (const [width, colorScheme] of [
    [360, "dark"],
    [1600, "light"],
  ])
    for (const name of pages) {
      const page = await open(t, name, { viewport: { width, height: 800 }, colorScheme });
      assert.ok(await page.locator("article h1").isVisible(), name);
      const spare = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(spare <= 0, `${name} is ${spare} px too wide for ${width} px`);
    }
});

test("the inspector is a page of the site and reads an ID", async (t) => {
  const page = await open(t, "inspector/index.html#id=1541815603606036480");
  await page.getByText("X/Twitter").first().waitFor();
});

test("the references name the generator of each language", async (t) => {
  for (const [name, word] of [
    ["reference/python/snowmint.html", "next_id"],
    ["reference/javascript/index.html", "Snowflake"],
    ["reference/rust/snowmint/struct.Snowflake.html", "next_id"],
  ]) {
    const page = await open(t, name);
    await page.getByText(word).first().waitFor({ state: "attached" });
  }
});
