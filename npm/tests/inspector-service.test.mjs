// The inspector as a page of a real service: the contents with a token, without a token, and after a refusal.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { after, before, test as declare } from "node:test";
import { launch, missing as skip } from "./chromium.mjs";
import { atEnd, folder, until } from "./support.mjs";

const html = readFileSync(new URL("../site/dist/index.html", import.meta.url), "utf8");
const axe = readFileSync(new URL("../node_modules/axe-core/axe.min.js", import.meta.url), "utf8");
const program = process.env.SNOWMINT_SERVER ?? new URL("../../target/debug/snowmint", import.meta.url).pathname;
// Without the variables of this shell, which are defaults of flags.
const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("SNOWMINT_")));
const TOKEN = { metrics: "a-token-that-reads-metrics", mint: "a-token-that-takes-numbers" };
const PHONE = { viewport: { width: 390, height: 844 } };

let browser;
before(async () => {
  if (!skip) browser = await launch();
});
after(() => browser?.close());

/** Starts a service with one leased node of the namespace `@snowmint`. */
async function serve(t, options) {
  const store = `sqlite:${join(folder(t), "ids.db")}`;
  const words = ["serve", "--http", "127.0.0.1:0", "--redis", "off", "--store", store, ...options];
  const child = spawn(program, words, { stdio: ["ignore", "pipe", "pipe"], env });
  atEnd(t, () => child.kill());
  let said = "";
  for (const output of [child.stdout, child.stderr])
    output.on("data", (chunk) => {
      said += chunk;
    });
  await until(() => /http="([\d.:]+)"/.test(said), "the service");
  return `http://${/http="([\d.:]+)"/.exec(said)[1]}`;
}

/** Starts a service that asks for tokens. */
function guarded(t) {
  const options = Object.entries(TOKEN).flatMap(([role, token]) => {
    const file = join(folder(t), "tokens");
    writeFileSync(file, `${role} ${token}\n`, { mode: 0o600 });
    return [role === "mint" ? "--token-file" : "--metrics-token-file", file];
  });
  return serve(t, options);
}

/**
 * Opens the page that was built last, as the service sends it: the program may contain an older one. A server in between passes
 * on all other requests, and notes their addresses. `cut` makes the service unreachable.
 */
async function open(t, service, options = {}) {
  const asked = [];
  let isCut = false;
  const between = createServer(async ({ url, headers }, response) => {
    asked.push(url);
    if (isCut) return response.destroy();
    if (url === "/") {
      response.setHeader("content-type", "text/html");
      return response.end(html.replace("<meta ", '<meta name="snowmint-service">\n<meta '));
    }
    const { authorization } = headers;
    const answer = await fetch(service + url, { headers: authorization ? { authorization } : {} }).catch(() => null);
    if (!answer) return response.destroy();
    response.writeHead(answer.status, { "content-type": answer.headers.get("content-type") });
    response.end(await answer.text());
  });
  between.listen(0, "127.0.0.1");
  await once(between, "listening");
  const context = await browser.newContext(options);
  t.after(async () => {
    await context.close();
    between.close();
  });
  const page = await context.newPage();
  const place = `127.0.0.1:${between.address().port}`;
  await page.goto(`http://${place}/`);
  const cut = (value) => {
    isCut = value;
  };
  return { page, context, place, asked, cut };
}

const test = (name, body) => declare(name, { skip }, body);
const says = (page, id, pattern) =>
  page.waitForFunction(
    ([id, source]) => new RegExp(source).test(document.getElementById(id).textContent),
    [id, pattern.source],
  );
const enter = async (page, token) => {
  await page.locator("#token").fill(token);
  await page.locator("#token").press("Enter");
};
/** Waits for the holders of the first namespace. */
const holders = async (page) => {
  await page.locator("#namespaces td.holder").first().waitFor();
  return page.locator("#namespaces td.holder").allTextContents();
};
const shown = /: snowmint \d+\.\d+\.\d+, store SQLite, 1 node leased in 1 namespace\.$/;

test("a service without tokens shows store, version, leases and free nodes at once", async (t) => {
  const service = await serve(t, []);
  await fetch(`${service}/v1/ids`);
  const { page, place } = await open(t, service, PHONE);
  await says(page, "service", shown);
  assert.ok(
    (await page.locator("#service").textContent()).startsWith(`This page comes from the service at ${place}: `),
  );
  assert.deepEqual(await page.locator("#namespaces summary").allTextContents(), ["@snowmint1 leased, 1,023 free"]);
  assert.match((await holders(page)).join(), /^snowmint:\d+@/);
  assert.equal(await page.locator("#access").isVisible(), false);
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth), 0);
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => globalThis.axe.run("#service-part"));
  assert.deepEqual(violations, []);
});

test("a token shows the service to its tab, and is in no address", async (t) => {
  const service = await guarded(t);
  await fetch(`${service}/v1/ids`, { headers: { authorization: `Bearer ${TOKEN.mint}` } });
  const { page, context, place, asked } = await open(t, service, PHONE);
  await says(page, "service", /, which asks for a token\.$/);
  assert.equal(await page.locator("#service-error").textContent(), "");
  await enter(page, "a-wrong-token");
  await says(page, "service-error", /^401: the service does not know this token\.$/);
  await enter(page, "a token with ü");
  await says(page, "service-error", /^A token has ASCII characters only\.$/);
  await enter(page, TOKEN.mint);
  await says(page, "service", shown);
  assert.equal((await holders(page)).length, 1);
  assert.equal(await page.locator("#service-error").textContent(), "");
  await page.reload();
  await says(page, "service", shown);
  await page.locator("#layout").fill("time:41,node:10;epoch=0");
  await page.waitForFunction(() => location.hash.includes("layout="));
  const links = await page.locator("a").evaluateAll((all) => all.map(({ href }) => href));
  const kept = await page.evaluate(() => JSON.stringify([document.cookie, { ...localStorage }, location.href]));
  for (const text of [...links, ...asked, kept]) assert.ok(!text.includes(TOKEN.mint), text);
  const other = await context.newPage();
  await other.goto(`http://${place}/`);
  await says(other, "service", /, which asks for a token\.$/);
  await page.locator("#forget").click();
  await says(page, "service", /, which asks for a token\.$/);
  assert.equal(await page.locator("#namespaces li").count(), 0);
});

test("a token that may not list holders shows all else", async (t) => {
  const service = await guarded(t);
  await fetch(`${service}/v1/ids`, { headers: { authorization: `Bearer ${TOKEN.mint}` } });
  const { page } = await open(t, service);
  await enter(page, TOKEN.metrics);
  await says(page, "service", shown);
  assert.deepEqual(await page.locator("#namespaces summary").allTextContents(), ["@snowmint1 leased, 1,023 free"]);
  await says(page, "namespaces", /403: this needs the role mint: send a token of --token-file\.$/);
});

test("an unreachable service is named, and shown again when it answers", async (t) => {
  const service = await serve(t, []);
  await fetch(`${service}/v1/ids`);
  const { page, place, cut } = await open(t, service);
  await says(page, "service", shown);
  cut(true);
  await page.locator("#refresh").click();
  await says(page, "service-error", /is unreachable\. Check that the service runs, then refresh\.$/);
  assert.ok((await page.locator("#service-error").textContent()).startsWith(place));
  assert.equal(await page.locator("#namespaces li").count(), 0);
  cut(false);
  await page.locator("#refresh").click();
  await says(page, "service", shown);
  assert.equal(await page.locator("#service-error").textContent(), "");
});
