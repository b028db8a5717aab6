// The inspector in headless Chromium, from a server that counts what is asked of it and from the disk.
import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { after, before, test as declare } from "node:test";
import { pathToFileURL } from "node:url";
import { inspect as candidates, Layout, layouts, text } from "snowmint";
import { launch, missing as skip } from "./chromium.mjs";
import { exitOf, folder } from "./support.mjs";

const file = new URL("../site/dist/index.html", import.meta.url).pathname;
const axe = readFileSync(new URL("../node_modules/axe-core/axe.min.js", import.meta.url), "utf8");

const TWEET = "1541815603606036480";
const PHONE = { viewport: { width: 360, height: 740 } };

const server = createServer(({ url }, response) => {
  const policy = url === "/forbidden" && { "content-security-policy": "script-src 'unsafe-inline'" };
  response.writeHead(200, { "content-type": "text/html", ...policy });
  response.end(readFileSync(file));
});
let browser;
/** A profile of the browser. */
let shared;
let origin;

before(async () => {
  if (skip) return;
  assert.ok(existsSync(file), "scripts/build-site.sh makes the page");
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  origin = `http://127.0.0.1:${server.address().port}/`;
  // Pages of a host name other than localhost have no Web Locks over plain HTTP.
  browser = await launch(["--host-resolver-rules=MAP plain.test 127.0.0.1"]);
  shared = await browser.newContext();
});

after(async () => {
  await browser?.close();
  server.close();
});

/** A test on an open page, which must ask for nothing but itself and report nothing. */
function test(name, body, { path = "", from, ...options } = {}) {
  declare(name, { skip }, async (t) => {
    // The page keeps nothing, so tests of its default form share a profile: to make one takes longer than most of them.
    const own = from !== undefined || Object.keys(options).length > 0;
    const context = own ? await browser.newContext(options) : shared;
    const page = await context.newPage();
    const troubles = [];
    const requests = [];
    page.on("pageerror", ({ message }) => troubles.push(message));
    page.on("console", (message) => ["error", "warning"].includes(message.type()) && troubles.push(message.text()));
    page.on("request", (request) => requests.push(request.url()));
    const url = from ?? origin;
    await page.goto(url + path);
    await body(page, t);
    assert.deepEqual(troubles, []);
    const asked = requests.filter((request) => !request.startsWith("data:")).map((request) => request.split("#")[0]);
    assert.deepEqual([...new Set(asked)], [url]);
    await (own ? context : page).close();
  });
}

const inspect = (page, id) => page.locator("#id").fill(id);
const first = (page) => page.locator("#candidates > li").first();
const verdict = (page) => page.locator("#verdict").textContent();
const layoutText = (page) => page.locator("#layout").inputValue();
/** The page's description of a layout, by term. */
const facts = async (page) =>
  Object.fromEntries(
    await page
      .locator("#facts > div")
      .evaluateAll((rows) => rows.map((row) => [...row.children].map((e) => e.innerText)))
      .then((rows) => rows.map(([term, value, more]) => [term, `${value} ${more}`])),
  );

const refusal = (layout) => {
  try {
    Layout.parse(layout);
  } catch (error) {
    return error.message;
  }
  return assert.fail(`${layout} is a layout`);
};

/** The facts that the page must state about a layout. */
async function agrees(page, layout) {
  const told = await facts(page);
  const ended = layout.endsAtMs < Date.now();
  const day = (date) => date.toISOString().split("T")[0].replace(/^\+0*/, "");
  assert.equal(await layoutText(page), String(layout));
  assert.ok(told[ended ? "Ended" : "Ends"].includes(day(layout.endsAt)), JSON.stringify(told));
  const signed = layout.signedUntil ? `negative from ${day(layout.signedUntil)}` : "never negative";
  assert.ok(told["In a signed 64-bit column"].includes(signed), JSON.stringify(told));
  assert.equal(told["As a JavaScript number"].startsWith("safe"), layout.jsSafe);
  const number = (name) => Number(told[name].split(" ")[0].replaceAll(",", ""));
  assert.equal(number("Nodes"), layout.nodes);
  assert.equal(number("IDs of a node"), layout.idsPerTick);
  assert.equal(number("IDs of all nodes"), layout.nodes * layout.idsPerSecond);
  assert.equal(await page.locator("#layout-error").textContent(), "");
}

/** What axe finds wrong, as rules and places. */
async function violations(page) {
  await page.evaluate(axe);
  const { violations, passes } = await page.evaluate(() => globalThis.axe.run());
  assert.ok(passes.length > 20, `only ${passes.length} rules had something to look at`);
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target).join(", ")}`);
}

test("a pasted tweet is Twitter's first, with its date, its worker and its text forms", async (page) => {
  await inspect(page, TWEET);
  assert.equal(await first(page).locator("summary strong").textContent(), "X/Twitter");
  assert.equal(await first(page).locator("time").getAttribute("datetime"), "2022-06-28T16:07:40.105Z");
  assert.match(await first(page).locator(".reason").textContent(), /^\d\.\d years before now; sequence 0$/);
  const more = candidates(TWEET).filter(({ plausible }) => plausible).length - 1;
  assert.equal(
    await verdict(page),
    `Most likely: X/Twitter. All else fits far worse. ${more} more could have minted it.`,
  );
  const worker = first(page).locator("tbody tr", { hasText: "worker" });
  assert.deepEqual(await worker.locator("td span").allTextContents(), ["26", "11010"]);
  const forms = await first(page).locator("dd > span").allTextContents();
  assert.deepEqual(forms, [TWEET, ...text.FORMS.map((form) => text.encode(TWEET, form))]);
});

test("the page opens with an example, which typing replaces", async (page) => {
  assert.equal(await page.locator("#id").inputValue(), TWEET);
  assert.equal(await page.locator("#example").textContent(), "Example: a tweet");
  assert.equal(await first(page).locator("summary strong").textContent(), "X/Twitter");
  assert.equal(await page.evaluate(() => location.hash), "");
  await page.locator("#id").click();
  await page.keyboard.type("175928847299117063");
  assert.equal(await page.locator("#id").inputValue(), "175928847299117063");
  assert.equal(await page.locator("#example").isVisible(), false);
  assert.match(await verdict(page), /Discord/);
  // An ID of the user stays where a click puts the caret.
  await page.locator("#id").click();
  await page.keyboard.press("End");
  await page.keyboard.type("9");
  assert.equal(await page.locator("#id").inputValue(), "1759288472991170639");
  await page.locator("#examples button", { hasText: "a ULID" }).click();
  assert.equal(await page.locator("#example").textContent(), "Example: a ULID");
});

test("every candidate opens, and its drawing has the bits of the ID", async (page) => {
  await inspect(page, TWEET);
  await page.locator("#unlikely > summary").click();
  for (const summary of await page.locator(".candidates summary").all()) {
    const open = await summary.evaluate((element) => element.parentElement.open);
    if (!open) await summary.click();
  }
  const able = candidates(TWEET).filter(({ layout }) => layout !== null);
  // The click creates the content.
  await page.waitForFunction((count) => document.querySelectorAll(".candidates .bar").length === count, able.length);
  const drawings = await page
    .locator(".candidates .bar")
    .evaluateAll((bars) =>
      bars.map((bar) => [...bar.querySelectorAll("i")].map((i) => (i.className ? 1 : 0)).join("")),
    );
  for (const drawing of drawings) assert.equal(BigInt(`0b${drawing}`), BigInt(TWEET));
});

test("fields are drawn to scale", async (page) => {
  await inspect(page, TWEET);
  const widths = await first(page)
    .locator(".bar > .field")
    .evaluateAll((fields) => fields.map((field) => field.getBoundingClientRect().width));
  const bit = widths.reduce((sum, width) => sum + width) / 64;
  assert.deepEqual(
    widths.map((width) => Math.round(width / bit)),
    [1, 41, 5, 5, 12],
  );
});

test("narrow fields are named upright, within the bar", async (page) => {
  await inspect(page, TWEET);
  const names = await first(page)
    .locator(".bar .name")
    .evaluateAll((spans) =>
      spans.map((span) => ({
        name: span.textContent,
        mode: getComputedStyle(span).writingMode,
        fits: span.scrollHeight <= span.clientHeight && span.scrollWidth <= span.parentElement.clientWidth,
      })),
    );
  assert.deepEqual(names, [
    { name: "unused", mode: "vertical-rl", fits: true },
    { name: "time", mode: "horizontal-tb", fits: true },
    { name: "datacenter", mode: "vertical-rl", fits: true },
    { name: "worker", mode: "vertical-rl", fits: true },
    { name: "sequence", mode: "horizontal-tb", fits: true },
  ]);
});

test("unused bits are named at every width, and for every layout", async (page) => {
  for (const width of [320, 390, 800, 1400]) {
    await page.setViewportSize({ width, height: 900 });
    for (const name of ["snowmint", "twitter", "safe53", "sonyflake", "instagram"]) {
      await page.locator("#preset").selectOption(name);
      const { fields } = layouts.all()[name];
      const bits = 64 - Object.values(fields).reduce((sum, bits) => sum + bits, 0);
      const named = await page.evaluate(() => {
        const inBar = document.querySelector("#picture .unused .name");
        const isRead = (element) =>
          element.checkVisibility() && Number.parseFloat(getComputedStyle(element).fontSize) > 0;
        const below = [...document.querySelectorAll("#picture .small-fields > span")].filter(isRead);
        const names = below.map(({ textContent }) => textContent);
        return { block: inBar && isRead(inBar) ? inBar.textContent : null, names };
      });
      if (bits === 0) assert.deepEqual(named, { block: null, names: [] }, `${name} at ${width}`);
      else if (named.block) assert.deepEqual(named, { block: "unused", names: [] }, `${name} at ${width}`);
      else assert.deepEqual(named.names, [`unused, ${bits} bit${bits === 1 ? "" : "s"}`], `${name} at ${width}`);
    }
  }
});

test("each preset is shown by the name that people use", async (page) => {
  const shown = await page.locator("#preset option").allTextContents();
  assert.equal(shown.length, Object.keys(layouts.all()).length + 1);
  assert.deepEqual(shown.slice(1, 4), ["snowmint", "X/Twitter", "Discord"]);
});

test("each example is read, most of them for sure", async (page) => {
  const buttons = await page.locator("#examples button").all();
  assert.ok(buttons.length >= 16);
  let sure = 0;
  for (const button of buttons) {
    await button.click();
    assert.match(await verdict(page), /^(Most|Equally) likely: /, await button.textContent());
    sure += Number((await verdict(page)).startsWith("Most"));
  }
  assert.ok(sure > buttons.length - 4);
});

test("systems that explain an ID equally well are shown side by side", async (page) => {
  await inspect(page, "440322224407314432");
  assert.equal(await verdict(page), "Equally likely: X/Twitter, Discord.");
  assert.equal(await page.locator("#candidates > li").count(), 2);
});

test("UUIDs, ULIDs and ObjectIds are told with their time", async (page) => {
  for (const [id, kind, time] of [
    ["8c45583a-0e1f-11ec-804d-005056219395", "UUID, version 1", "2021-09-05T08:02:00.177Z"],
    ["017F22E2-79B0-7CC3-98C4-DC0C0C07398F", "UUID, version 7", "2022-02-22T19:22:22.000Z"],
    ["01ARZ3NDEKTSV4RRFFQ69G5FAV", "ULID", "2016-07-30T23:54:10.259Z"],
    ["507f1f77bcf86cd799439011", "ObjectId", "2012-10-17T21:13:27.000Z"],
  ]) {
    await inspect(page, id);
    assert.equal(await first(page).locator("summary strong").textContent(), kind);
    assert.equal(await first(page).locator("time").getAttribute("datetime"), time);
  }
  await inspect(page, "919108f7-52d1-4320-9bac-f847db4148a8");
  assert.match(await first(page).locator("summary").textContent(), /UUID, version 4.*no time in it/);
});

test("garbage gives a kind sentence, and nothing throws", async (page) => {
  const marks = '<img src=x onerror="document.title=1">';
  for (const garbage of ["garbage", "🦆", "-", "0x", marks, "1541815603606036480x"]) {
    await inspect(page, garbage);
    assert.match(await verdict(page), /^No system known here writes IDs like that\./, garbage);
    assert.equal(await page.locator(".candidates li").count(), 0);
  }
  await inspect(page, "  ");
  assert.equal(await verdict(page), "");
  await inspect(page, "5");
  assert.match(await verdict(page), /^Nothing fits well\./);
  await inspect(page, "-1");
  assert.ok((await first(page).textContent()).includes("signed-1"));
  assert.equal(await page.title(), "snowmint inspector");
});

test("an ID is taken out of what is pasted with it", async (page) => {
  for (const pasted of [
    `${TWEET},`,
    `"${TWEET}"`,
    `'${TWEET}';`,
    `${TWEET}n`,
    `"${TWEET}n",`,
    `\u200b${TWEET}\u200b`,
    "1,541,815,603,606,036,480",
    "1_541_815_603_606_036_480n,",
    "1 541 815 603 606 036 480",
    `https://x.com/user/status/${TWEET}`,
    `https://x.com/user/status/${TWEET}/photo/1?s=20#top`,
    `x.com/mastodonian/status/${TWEET}/`,
  ]) {
    await inspect(page, pasted);
    assert.match(await verdict(page), new RegExp(`^Taken from it: ${TWEET}\\. Most likely: X/Twitter\\.`), pasted);
  }
  await page.waitForFunction((id) => location.hash === `#id=${id}`, TWEET);
  await inspect(page, '"8c45583a-0e1f-11ec-804d-005056219395",');
  assert.match(
    await verdict(page),
    /^Taken from it: 8c45583a-0e1f-11ec-804d-005056219395\. Most likely: UUID, version 1/,
  );
  // Names that are readable as they are stay unquoted.
  await inspect(page, `\ufeff${TWEET}`);
  assert.match(await verdict(page), /^Most likely: X\/Twitter/);
  await inspect(page, "https://www.instagram.com/p/DW1nTDiDvnF/?img_index=1");
  assert.match(await verdict(page), /^Taken from it: DW1nTDiDvnF\. Most likely: Instagram\./);
  await inspect(page, "1234567890n");
  assert.match(await verdict(page), /^Taken from it: 1234567890\. Nothing fits well/);
  await inspect(page, "https://x.com/garbage");
  assert.match(await verdict(page), /^No system known here/);
});

test("an integer beyond 64 bits is told to be", async (page) => {
  const beyond = ["18446744073709551616", "99999999999999999999", "-9223372036854775809", "1".repeat(5000)];
  for (const id of [...beyond, "00018446744073709551616n", "18,446,744,073,709,551,616"]) {
    await inspect(page, id);
    assert.match(await verdict(page), /That is beyond 64 bits: .* 18446744073709551615\.$/, id);
    assert.equal(await page.locator(".candidates li").count(), 0);
  }
  await inspect(page, "18446744073709551615");
  assert.match(await verdict(page), /^(Most likely|Nothing fits well)/);
});

test("a layout of one bit has 1 bit", async (page) => {
  await page.locator("#layout").fill("time:1;epoch=2025-01-01T00:00:00Z");
  assert.match((await facts(page))["As a JavaScript number"], /^safe 1 bit, 53 are exact$/);
  assert.match(await page.locator("#picture .bar").getAttribute("aria-label"), /^1 bit, high to low/);
});

test(
  "the address says what is shown, and shows what it says",
  async (page) => {
    assert.equal(await page.locator("#id").inputValue(), TWEET);
    assert.equal(await first(page).locator("summary strong").textContent(), "X/Twitter");
    await agrees(page, layouts.SONYFLAKE);
    await inspect(page, "175928847299117063");
    await page.waitForFunction(() => location.hash === "#id=175928847299117063&layout=sonyflake");
    await page.evaluate(() => {
      location.hash = "#layout=time%3A42%2Csequence%3A11%3Bepoch%3D0";
    });
    await page.waitForFunction(() => document.querySelector("#layout").value.startsWith("time:42"));
    assert.equal(await page.locator("#facts dd").nth(6).textContent(), "1");
  },
  { path: `#id=${TWEET}&layout=sonyflake` },
);

test("the link of a decoded ID shows just this ID in this layout", async (page) => {
  await inspect(page, "440322224407314432");
  const links = page.locator("#candidates .share a");
  await page.locator("#candidates summary").nth(1).click();
  await links.nth(1).waitFor();
  assert.deepEqual(await links.evaluateAll((all) => all.map((link) => link.hash)), [
    "#id=440322224407314432&as=twitter",
    "#id=440322224407314432&as=discord",
  ]);
  const address = await links.nth(1).evaluate(({ href }) => href);
  await page.goto("about:blank");
  await page.goto(address);
  assert.equal(await verdict(page), "Decoded by one layout: Discord.");
  assert.equal(await page.locator(".candidates li").count(), 1);
  assert.equal(await page.locator("#example").isVisible(), false);
  await page.locator("#only").click();
  assert.equal(await verdict(page), "Equally likely: X/Twitter, Discord.");
  assert.equal(await page.locator("#only").isVisible(), false);
  await page.waitForFunction(() => location.hash === "#id=440322224407314432");
});

test("the link of a minted ID shows it in the layout that minted it", async (page) => {
  const own = Layout.parse("time:40,region:4,worker:6,sequence:10;epoch=2025-01-01T00:00:00Z");
  await page.locator("#layout").fill(String(own));
  await page.locator("#one").click();
  const link = page.locator("#recent a");
  await link.waitFor();
  const id = await link.textContent();
  await link.click();
  await page.locator("#verdict", { hasText: "Decoded by one layout" }).waitFor();
  assert.equal(await verdict(page), "Decoded by one layout: a layout of your own.");
  const told = Object.entries(own.decode(id).fields).map(([name, value]) => `${name} ${value}`);
  const rows = await first(page)
    .locator("tbody tr")
    .evaluateAll((all) => all.map((row) => [row.cells[0], row.querySelector("td .code")].map((e) => e.textContent)));
  assert.deepEqual(
    rows.map(([name, value]) => `${name} ${value.replaceAll(",", "")}`),
    told,
  );
  // The heading is in sight, from the other end of the page.
  const top = await page.locator("#inspect-title").evaluate((title) => title.getBoundingClientRect().top);
  assert.ok(top >= 0 && top < 200, `${top}`);
});

test("a link whose layout cannot decode the ID says why", async (page) => {
  const go = (hash) =>
    page.evaluate((hash) => {
      location.hash = hash;
      return new Promise((resolve) => addEventListener("hashchange", () => resolve(), { once: true }));
    }, hash);
  await go(`#id=${TWEET}&as=time:41`);
  assert.equal(await verdict(page), `The layout of this link does not decode the ID: ${refusal("time:41")}.`);
  await go(`#id=${TWEET}&as=safe53`);
  assert.match(await verdict(page), /^The layout of this link does not decode the ID: .* it sets other bits/);
  await go("#id=8c45583a-0e1f-11ec-804d-005056219395&as=twitter");
  assert.equal(await verdict(page), "No layout decodes this text, as it is not a 64-bit ID.");
  assert.equal(await page.locator(".candidates li").count(), 0);
});

test("the link of a layout shows this layout", async (page) => {
  await page.locator("#layout").fill("time:40,region:4,worker:6,sequence:10;epoch=2025-01-01T00:00:00Z");
  const own = await page.locator("#layout-link a").evaluate(({ href }) => href);
  await page.locator("#preset").selectOption("discord");
  assert.equal(await page.locator("#layout-link a").evaluate(({ hash }) => hash), "#layout=discord");
  await page.goto("about:blank");
  await page.goto(own);
  await agrees(page, Layout.parse("time:40,region:4,worker:6,sequence:10;epoch=2025-01-01T00:00:00Z"));
  const top = await page.locator("#design-title").evaluate((title) => title.getBoundingClientRect().top);
  assert.ok(top >= 0 && top < 200, `${top}`);
  await page.locator("#layout").fill("time:41");
  assert.equal(await page.locator("#layout-link").isVisible(), false);
});

test(
  "it works from the disk without a network",
  async (page) => {
    await page.context().setOffline(true);
    await inspect(page, TWEET);
    assert.match(await verdict(page), /^Most likely: X\/Twitter/);
    await page.waitForFunction(() => location.hash.startsWith("#id=1541"));
    await page.locator("#one").click();
    await page.locator("#recent li").waitFor();
    assert.match(await page.locator("#window-node").textContent(), /^Node \d+ is leased to this tab$/);
  },
  { from: pathToFileURL(file).href },
);

test("sliders, moved by keys, change the text and what follows as Layout tells", async (page) => {
  await agrees(page, layouts.SNOWMINT);
  const press = async (name, key, times) => {
    await page.locator(`#bits-${name}`).focus();
    for (let i = 0; i < times; i++) await page.keyboard.press(key);
  };
  await press("time", "ArrowLeft", 2);
  await agrees(page, Layout.parse("unused:1,time:39,node:10,sequence:12;epoch=1735689600000"));
  await press("sequence", "ArrowLeft", 4);
  await press("unused", "ArrowLeft", 1);
  await agrees(page, Layout.parse("time:39,node:10,sequence:8;epoch=1735689600000"));
  await press("node", "ArrowRight", 7);
  await agrees(page, Layout.parse("time:39,node:17,sequence:8;epoch=1735689600000"));
  await press("node", "Home", 1);
  await agrees(page, Layout.parse("time:39,sequence:8;epoch=1735689600000"));
  await page.locator("#tick").selectOption("1000");
  await page.locator("#epoch").fill("2020-01-01");
  await agrees(page, Layout.parse("time:39,sequence:8;epoch=2020-01-01T00:00:00Z;tick=1s"));
});

test("each preset is shown as Layout tells", async (page) => {
  for (const [name, layout] of Object.entries(layouts.all())) {
    await page.locator("#preset").selectOption(name);
    await agrees(page, layout);
    assert.equal(await page.locator("#preset").inputValue(), name);
  }
});

test("a typed layout moves the sliders, and becomes canonical when left", async (page) => {
  await page.locator("#layout").fill("time:40,region:4,worker:6,sequence:13,random:1;epoch=2025-01-01T00:00:00Z");
  assert.equal(await page.locator("#bits-region").inputValue(), "4");
  assert.equal(await page.locator("#bits-random").inputValue(), "1");
  assert.equal(await page.locator("#preset").inputValue(), "");
  await page.locator("#layout").press("Tab");
  await agrees(page, Layout.parse("time:40,region:4,worker:6,sequence:13,random:1;epoch=1735689600000;tick=1ms"));
});

test("an invalid layout shows the library's sentence, and cannot mint", async (page) => {
  for (const wrong of ["time:41", "time:65;epoch=0", "node:10;epoch=0", "time:41,node:33;epoch=0", "", "🦆"]) {
    await page.locator("#layout").fill(wrong);
    assert.equal(await page.locator("#layout-error").textContent(), refusal(wrong));
    assert.equal(await page.locator("#layout").getAttribute("aria-invalid"), "true");
    assert.equal(await page.locator("#start").isDisabled(), true);
    assert.equal(await page.locator("#facts").isVisible(), false);
  }
  await page.locator("#preset").selectOption("snowmint");
  await agrees(page, layouts.SNOWMINT);
  await page.locator("#bits-time").press("ArrowRight");
  const over = "unused:1,time:42,node:10,sequence:12;epoch=1735689600000;tick=1ms";
  assert.equal(await layoutText(page), over);
  assert.equal(await page.locator("#layout-error").textContent(), refusal(over));
  assert.equal(await page.locator("#sum").textContent(), "65 bits of 64: 1 too many.");
});

test("minted IDs strictly increase, are of the node, and are counted", async (page) => {
  await page.locator("#preset").selectOption("twitter");
  await page.locator("#node").fill("37");
  const ids = () => page.locator("#recent strong").allTextContents();
  await page.locator("#one").click();
  await page.locator("#recent li").waitFor();
  await page.locator("#one").click();
  await page.waitForFunction(() => document.querySelectorAll("#recent strong").length >= 2);
  const seen = (await ids()).reverse().map(BigInt);
  assert.equal(seen.length, 2);
  await page.locator("#start").click();
  for (let i = 0; i < 3; i++) {
    const newest = (await ids())[0];
    await page.waitForFunction((id) => document.querySelector("#recent strong").textContent !== id, newest);
    seen.push(...(await ids()).reverse().map(BigInt));
  }
  assert.equal(await page.locator("#one").isDisabled(), true);
  const rate = Number((await page.locator("#rate").textContent()).replaceAll(",", ""));
  assert.ok(rate > 0, `${rate} a second`);
  await page.locator("#start").click();
  assert.match(await page.locator("#mint-status").textContent(), /^Stopped after [\d,]+ IDs\.$/);
  for (let i = 1; i < seen.length; i++) assert.ok(seen[i] > seen[i - 1], `${seen[i]} after ${seen[i - 1]}`);
  assert.ok(seen.length > 20);
  for (const id of seen) {
    const { node, timestampMs } = layouts.TWITTER.decode(id);
    assert.equal(node, 37);
    assert.ok(Math.abs(timestampMs - Date.now()) < 60_000);
  }
  const total = Number((await page.locator("#total").textContent()).replaceAll(",", ""));
  assert.ok(total > 1000, `${total}`);
});

test("a node that does not fit, and a layout that is over, are told in the library's sentences", async (page) => {
  await page.locator("#node").fill("1024");
  await page.locator("#one").click();
  await page.waitForFunction(
    (told) => document.querySelector("#mint-status").textContent === told,
    "node 1024 does not fit this layout: it takes 0 to 1023",
  );
  await page.locator("#preset").selectOption("baidu");
  await page.locator("#start").click();
  await page.waitForFunction(() =>
    document.querySelector("#mint-status").textContent.includes("after the layout's last tick"),
  );
  assert.equal(await page.locator("#start").textContent(), "Start minting");
});

test("a slow layout mints what it has, and goes on", async (page) => {
  await page.locator("#layout").fill("time:40,node:4,sequence:1;epoch=2025-01-01T00:00:00Z;tick=200ms");
  await page.locator("#start").click();
  await page.waitForFunction(() => document.querySelectorAll("#recent li").length >= 6);
  const ids = (await page.locator("#recent strong").allTextContents()).map(BigInt);
  for (let i = 1; i < ids.length; i++) assert.ok(ids[i] < ids[i - 1]);
});

test("the window of the lease is drawn around the present, and gets a later end before it is over", async (page) => {
  assert.equal(await page.locator("#window").isVisible(), false);
  await page.locator("#node").fill("7");
  await page.locator("#one").click();
  await page.locator("#window").waitFor();
  assert.equal(await page.locator("#window-node").textContent(), "Node 7 is leased to this tab");
  /** Reads start, end and present from the drawing, as Unix ms. */
  const drawn = async () => {
    const label = await page.locator(".timeline").getAttribute("aria-label");
    const times = [...label.matchAll(/\d{4}-\d\d-\d\d [\d:.]+/g)].map(([time]) => Date.parse(`${time}Z`));
    return { start: times[0], end: times[1], now: times[2] };
  };
  const granted = await drawn();
  assert.ok(granted.start <= granted.now && granted.now < granted.end, JSON.stringify(granted));
  // At once, since the page draws the line anew all the time.
  const [block, line] = await page.evaluate(() =>
    [".granted", ".line"].map((place) => document.querySelector(place).getBoundingClientRect().toJSON()),
  );
  const middle = line.x + line.width / 2;
  assert.ok(block.x < middle && middle < block.x + block.width, JSON.stringify({ block, line }));
  const label = await page.locator(".timeline .end").textContent();
  await page.waitForFunction((label) => document.querySelector(".timeline .end").textContent !== label, label);
  assert.ok((await drawn()).end > granted.end);
  await page.locator("#preset").selectOption("discord");
  assert.equal(await page.locator("#window").isVisible(), false);
});

test("a node that another tab has leased is told to be taken", async (page) => {
  const other = await page.context().newPage();
  await other.goto(origin);
  for (const tab of [other, page]) {
    await tab.locator("#node").fill("9");
    await tab.locator("#one").click();
    if (tab === other) await other.locator("#window").waitFor();
  }
  await page.waitForFunction(() =>
    document.querySelector("#mint-status").textContent.includes("another process or tab has it"),
  );
  await other.close();
});

test("the JavaScript that is shown leases a node and mints", async (page, t) => {
  const env = { SNOWMINT_STATE_DIR: folder(t) };
  for (const [layout, shown] of [
    ["twitter", "twitter"],
    ["time:40,node:4,sequence:1;epoch=1735689600000;tick=1ms", null],
  ]) {
    await (shown ? page.locator("#preset").selectOption(shown) : page.locator("#layout").fill(layout));
    await page.locator("input[value=javascript]").check();
    const code = await page.locator("#code").textContent();
    const told = await exitOf(`${code}\nconsole.log(typeof id, String(gen.layout), gen.window.end > 0);`, env);
    assert.equal(told.code, 0, told.stderr);
    assert.equal(told.stdout.trim(), `bigint ${shown ? Layout.preset(shown) : layout} true`);
    for (const language of ["python", "rust"]) {
      await page.locator(`input[value=${language}]`).check();
      assert.ok((await page.locator("#code").textContent()).includes(`"${layout}"`));
    }
  }
});

test("everything can be done by keys, and the focus is seen", async (page) => {
  const focused = () =>
    page.evaluate(() => {
      const { id, textContent, tagName, name, parentElement } = document.activeElement;
      const { outlineStyle, outlineWidth } = getComputedStyle(document.activeElement);
      const seen = outlineStyle !== "none" && outlineWidth !== "0px";
      return { what: id || name || textContent || tagName, seen, open: parentElement.open };
    });
  const seen = [];
  const tabTo = async (what) => {
    for (let i = 0; i < 80; i++) {
      await page.keyboard.press("Tab");
      const now = await focused();
      seen.push(now.what);
      assert.ok(now.seen, `${now.what} has no visible focus`);
      if (now.what.startsWith(what)) return;
    }
    assert.fail(`no way to ${what} by Tab, but to ${seen}`);
  };
  await tabTo("id");
  await page.keyboard.type(TWEET);
  assert.match(await verdict(page), /^Most likely: X\/Twitter/);
  await tabTo("Copy");
  // The other candidates, and the first of them.
  for (const what of [`${candidates(TWEET).length - 1} more`, ""]) {
    await tabTo(what);
    await page.keyboard.press("Enter");
    assert.equal((await focused()).open, true);
  }
  await tabTo("preset");
  await page.keyboard.press("ArrowDown");
  await agrees(page, layouts.TWITTER);
  await tabTo("bits-sequence");
  await page.keyboard.press("ArrowLeft");
  assert.equal(
    await page.locator("#layout").inputValue(),
    String(layouts.TWITTER).replace("sequence:12", "sequence:11"),
  );
  await tabTo("language");
  await page.keyboard.press("ArrowRight");
  assert.match(await page.locator("#code").textContent(), /from "snowmint"/);
  await tabTo("node");
  await page.keyboard.press("ArrowUp");
  await tabTo("start");
  await tabTo("one");
  await page.keyboard.press("Space");
  assert.match(await page.locator("#recent li").textContent(), /worker 1 · sequence 0/);
});

test(
  "copying puts the text on the clipboard, and says so",
  async (page) => {
    await inspect(page, TWEET);
    await page.getByRole("button", { name: "Copy base62" }).click();
    await page.waitForFunction(() => document.querySelector("#announcer").textContent === "Copied base62");
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), "1ptWyK4WgZU");
  },
  { permissions: ["clipboard-read", "clipboard-write"] },
);

// Each look costs seconds, and colours do not depend on the width.
for (const [name, options] of Object.entries({
  light: { colorScheme: "light" },
  "dark on a phone": { ...PHONE, colorScheme: "dark" },
})) {
  test(
    `axe finds nothing, ${name}`,
    async (page) => {
      assert.deepEqual(await violations(page), []);
      await inspect(page, TWEET);
      await page.locator("#unlikely > summary").click();
      await page.locator("#one").click();
      assert.deepEqual(await violations(page), []);
      await inspect(page, "garbage");
      await page.locator("#layout").fill("time:40,region:4,worker:6,sequence:10,random:4;epoch=0");
      assert.deepEqual(await violations(page), []);
      await page.locator("#bits-time").press("End");
      assert.deepEqual(await violations(page), []);
    },
    options,
  );
}

test(
  "a phone never scrolls sideways",
  async (page) => {
    const overflow = () => page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.equal(await overflow(), 0);
    for (const id of [TWEET, "-1", "8c45583a-0e1f-11ec-804d-005056219395", "507f1f77bcf86cd799439011"]) {
      await inspect(page, id);
      for (const summary of await page.locator("#candidates summary").all()) await summary.click();
      assert.equal(await overflow(), 0, id);
    }
    for (const name of Object.keys(layouts.all())) {
      await page.locator("#preset").selectOption(name);
      assert.equal(await overflow(), 0, name);
    }
    await page.locator("#layout").fill("time:40,a_name_as_long_as_it_is:4,worker:6,sequence:10;epoch=0");
    await page.locator("#one").click();
    assert.equal(await overflow(), 0);
  },
  PHONE,
);

for (const [width, height] of [
  [390, 844],
  [1400, 900],
])
  test(
    `a link at the top leads to the fleet, at ${width} px`,
    async (page) => {
      const isSeen = (selector) =>
        page.locator(selector).evaluate((element) => {
          const { top, bottom, left, right } = element.getBoundingClientRect();
          return top >= 0 && bottom <= innerHeight && left >= 0 && right <= innerWidth;
        });
      await page.waitForSelector("#fleet-picture svg");
      assert.equal(await isSeen("nav a[href='#fleet']"), true);
      await page.locator("nav a[href='#fleet']").click();
      for (const part of ["#fleet-title", "#fleet-check", "#fleet-run", "#fleet-remove", "#fleet-picture"])
        assert.equal(await isSeen(part), true, part);
    },
    { viewport: { width, height }, reducedMotion: "reduce" },
  );

test("no choice of a list is cut off", async (page) => {
  await page.waitForSelector("#fleet-picture svg");
  for (const width of [320, 390, 1400]) {
    await page.setViewportSize({ width, height: 844 });
    const cut = await page.locator("select").evaluateAll((all) =>
      all
        .filter((select) => {
          const { width } = select.getBoundingClientRect();
          // As wide as its longest choice.
          select.style.width = "max-content";
          const needed = select.getBoundingClientRect().width;
          select.style.width = "";
          return needed > width;
        })
        .map(({ id }) => id),
    );
    assert.deepEqual(cut, [], `at ${width} px`);
    const outside = await page.evaluate(() =>
      [...document.querySelectorAll("input, select, button, a, svg")]
        .filter((element) => element.getBoundingClientRect().right > innerWidth)
        .map(({ id, textContent }) => id || textContent),
    );
    assert.deepEqual(outside, [], `at ${width} px`);
  }
});

test(
  "with reduced motion nothing glides",
  async (page) => {
    assert.equal(await page.evaluate(() => getComputedStyle(document.documentElement).scrollBehavior), "auto");
  },
  { reducedMotion: "reduce" },
);

test("the policy permits nothing but the page itself", async (page) => {
  const policy = await page.locator("meta[http-equiv]").getAttribute("content");
  assert.match(policy, /^default-src 'none'; script-src 'sha256-[^']+' 'wasm-unsafe-eval'; style-src 'sha256-[^']+';/);
  assert.doesNotMatch(policy, /unsafe-inline|'unsafe-eval'|https?:|\*/);
});

declare(
  "a page of plain HTTP says why it cannot lease, and mints with a node that the user vouches for",
  { skip },
  async () => {
    const page = await browser.newPage();
    await page.goto(origin.replace("127.0.0.1", "plain.test"));
    await page.locator("#node").fill("11");
    await page.locator("#one").click();
    await page.locator("#recent li").waitFor();
    assert.match(
      await page.locator("#vouched").textContent(),
      /^No lease: there are no Web Locks here .*\. Here you vouch that no other generator uses node 11\.$/,
    );
    assert.equal(await page.locator("#window").isVisible(), false);
    assert.equal(layouts.SNOWMINT.decode(await page.locator("#recent strong").textContent()).node, 11);
    await page.close();
  },
);

declare("where a server forbids wasm, the page says what to allow", { skip }, async () => {
  const page = await browser.newPage();
  await page.goto(`${origin}forbidden`);
  assert.match(await page.locator("#failure").textContent(), /'wasm-unsafe-eval'/);
  assert.equal(await page.locator("section").first().isVisible(), false);
  await page.close();
});
