// The inspector: it reads an ID, shows code that leases, and mints.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { serve } from "./chromium.mjs";
import { ALL, until } from "./engines.mjs";

const TWEET = "1541815603606036480";
const html = readFileSync(new URL("../site/dist/index.html", import.meta.url));

const forbidden = { "content-security-policy": "script-src 'unsafe-inline'" };

async function play({ context }, t) {
  const server = await serve({ "/": ["text/html", html], "/forbidden": ["text/html", html, forbidden] });
  t.after(() => server.close());
  const page = await context.newPage();
  await page.goto(`${server.origin}/#id=${TWEET}`);
  await until(page, "document.querySelector('#verdict').textContent.startsWith('Most likely: X/Twitter.')");
  assert.equal(await page.evaluate("document.querySelector('#service').textContent"), "");
  for (const [language, leases] of Object.entries({
    python: /Snowflake\(layout="snowmint"\)/,
    javascript: /await Snowflake\.lease\(/,
    rust: /Snowflake::lease\(/,
  })) {
    await page.evaluate(`document.querySelector("input[value=${language}]").click()`);
    const code = await page.evaluate("document.querySelector('#code').textContent");
    assert.match(code, leases);
    assert.doesNotMatch(code, /node\s*[:=]/);
  }
  await page.evaluate("document.querySelector('#start').click()");
  await until(page, "Number(document.querySelector('#total').textContent.replaceAll(',', '')) > 1000");
  await page.evaluate("document.querySelector('#start').click()");
  assert.equal(await page.evaluate("document.querySelectorAll('#recent li').length"), 8);
  // A press counts also while the lease of an earlier choice is on its way.
  await page.evaluate(() => {
    for (const wanted of ["5", "6"]) {
      document.querySelector("#node").value = wanted;
      document.querySelector("#node").dispatchEvent(new Event("input"));
      document.querySelector("#one").click();
    }
  });
  await until(page, "document.querySelector('#total').textContent === '1'");
  assert.equal(await page.evaluate("document.documentElement.scrollWidth - innerWidth <= 0"), true);
  await page.goto(`${server.origin}/forbidden`);
  await until(page, "document.querySelector('#failure').textContent.includes(\"'wasm-unsafe-eval'\")");
}

/** What scenes.mjs plays. */
export const scenes = [{ name: "the inspector reads an ID, shows code that leases, and mints", engines: ALL, play }];
