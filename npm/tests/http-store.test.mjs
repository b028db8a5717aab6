// Leases of a real service over HTTP: from this process, from others, and from pages of Chromium.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { inspect } from "node:util";
import { Layout, Snowflake } from "snowmint";
import { keepsPages, launch, missing, serve } from "./chromium.mjs";
import { start } from "./servers.mjs";
import { HttpStore } from "./stores.mjs";
import { answerOf, exitOf, FAKETIME, fakeClock, folder, hold, increasing, refusal, until } from "./support.mjs";

const ONE_NODE = "time:41,sequence:12;epoch=2025-01-01T00:00:00Z";
const BODY = `<!doctype html><title>page</title><script type="module">
  import * as tabs from "/npm/tests/tabs.mjs"; Object.assign(globalThis, tabs); globalThis.ready = true;</script>`;
const OTHER = "<!doctype html><title>other</title>";

let pages;
/** The service of all tests that leave it alone. */
let service;
before(async () => {
  pages = await serve({ "/": ["text/html", BODY], "/other": ["text/html", OTHER] });
  service = await start("service", { options: ["--allow-origin", pages.origin] });
});
after(async () => {
  pages.close();
  await service.stop();
});

/** A service that a test kills or stops. */
async function ownService(t, options) {
  const service = await start("service", options);
  t.after(() => service.stop());
  return service;
}

let numbers = 0;
/** A namespace that no other test has. */
const fresh = () => `test-${process.pid}-${numbers++}`;
const lease = (options, { url } = service) =>
  Snowflake.lease({ store: new HttpStore(url), windowMs: 1000, ...options });
/** The leases of a namespace: the node, the end of the window, and whether it was given back. */
const held = async (namespace, { url } = service) =>
  (await (await fetch(`${url}/v1/namespaces/${namespace}/leases`)).json()).leases;
/** Asks the service as any client may. */
const ask = (method, path, body) =>
  fetch(`${service.url}/v1/namespaces/${path}`, {
    method,
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
/** Within that many ms a busy machine does anything; the clocks that are wrong here are so by a minute and more. */
const NEAR_MS = 25_000;

/** Mints until the test stops it; after a window's end it waits for the next. */
function minting(gen) {
  const ids = [];
  let over = false;
  const run = async () => {
    for (; !over; await sleep(1)) {
      try {
        ids.push(...gen.nextIds(50));
      } catch (error) {
        if (error.code !== "WINDOW_CLOSED" || gen.status().lost) throw error;
      }
    }
    return ids;
  };
  const running = run();
  return {
    ids,
    stop: () => {
      over = true;
      return running;
    },
  };
}

// Most of them wait: for windows of real services and real pages, whose clocks cannot be scripted.
describe("leases of a service", { concurrency: 4 }, () => {
  test("while the service is down generators go on within their windows, and renew when it is back on its data", async (t) => {
    const namespace = fresh();
    const service = await ownService(t);
    const gens = await Promise.all([1, 2, 3].map(() => lease({ namespace, windowMs: 3000 }, service)));
    assert.deepEqual(gens.map(({ node }) => node).sort(), [0, 1, 2]);
    const mints = gens.map(minting);
    for (let round = 0; round < 2; round++) {
      await service.kill();
      const counts = mints.map(({ ids }) => ids.length);
      await until(() => gens.every((gen) => gen.status().renewalFailures > 0), "failed renewals");
      for (const [at, { ids }] of mints.entries()) assert.ok(ids.length > counts[at], "none waits for the service");
      await service.restart();
      await until(() => gens.every((gen) => gen.status().renewalFailures === 0), "renewals");
    }
    // Others that come get other nodes.
    const late = await lease({ namespace }, service);
    assert.equal(late.node, 3);
    const lists = await Promise.all([...mints, minting(late)].map(({ stop }) => stop()));
    lists.forEach(increasing);
    const ids = lists.flat();
    assert.ok(ids.length > 1000);
    assert.equal(new Set(ids).size, ids.length);
    for (const gen of gens) assert.equal(gen.status().lost, null);
    for (const gen of [...gens, late]) await gen.close();
    assert.ok((await held(namespace, service)).every(({ released }) => released));
  });

  test("a node that is named is leased, and another holder hears whose it is", async () => {
    const options = { namespace: fresh(), node: 5, windowMs: 30_000 };
    const first = await lease(options);
    assert.deepEqual([first.node, first.window !== null], [5, true]);
    await assert.rejects(lease({ ...options, maxWaitMs: 50 }), { code: "NODES_EXHAUSTED", message: /node 5 is held/ });
    const last = first.nextId();
    await first.close();
    const second = await lease(options);
    assert.equal(second.node, 5);
    assert.ok((await second.nextIdAsync()) > last);
    await second.close();
  });

  test("a service that hangs is given up after timeoutMs, by claims and by renewals", async (t) => {
    const service = await ownService(t);
    const store = new HttpStore(service.url, { timeoutMs: 200 });
    let gen;
    const leased = async () => (gen = await lease({ store, namespace: fresh(), windowMs: 12_000 }).catch(() => null));
    await until(leased, "an answer within 200 ms");
    await service.pause();
    try {
      const error = { code: "STORE_UNAVAILABLE", message: `the service at ${service.url}: no answer within 200 ms` };
      await assert.rejects(lease({ store, namespace: fresh() }), error);
      await until(() => gen.status().renewalFailures > 1, "failed renewals");
      gen.nextId();
    } finally {
      await service.resume();
    }
    await until(() => gen.status().renewalFailures === 0, "a renewal");
    await gen.close();
  });

  test("a claim without an answer keeps the process alive until timeoutMs", async () => {
    // As Node's own fetch over a connection that was reset: it holds nothing open, and settles only when it is aborted.
    const { code, stdout } = await exitOf(`
      import { Snowflake } from "snowmint";
      import { HttpStore } from "snowmint/stores";
      const fetch = (_, { signal }) =>
        new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
      const store = new HttpStore("http://127.0.0.1:1", { timeoutMs: 200, fetch });
      await Snowflake.lease({ store }).catch(({ code }) => console.log(code));
    `);
    assert.deepEqual([code, stdout], [0, "STORE_UNAVAILABLE\n"]);
  });

  test("a service without its token leases nothing, and no sentence tells the token", async (t) => {
    const file = join(folder(t), "token");
    writeFileSync(file, "open-sesame-open-sesame\n");
    const guarded = await ownService(t, { options: ["--token-file", file] });
    for (const token of [undefined, "wrong-wrong-wrong-wrong"]) {
      const store = new HttpStore(guarded.url, { token });
      await assert.rejects(lease({ store }), (error) => {
        assert.equal(error.code, "INVALID_STORE");
        assert.match(error.message, new RegExp(`${guarded.url}.*token`));
        assert.doesNotMatch(inspect([error, store], { depth: 9 }), /wrong/);
        return true;
      });
    }
    const store = new HttpStore(new URL(guarded.url), { token: "open-sesame-open-sesame" });
    assert.doesNotMatch(inspect(store, { depth: 9, showHidden: true }) + store + JSON.stringify(store), /sesame/);
    const gen = await lease({ store });
    assert.equal(gen.node, 0);
    await gen.close();
    // A namespace is made by an administrator.
    const namespace = fresh();
    const made = { code: "INVALID_STORE", message: new RegExp(`namespace ${namespace} is new.*--admin-token-file`) };
    await assert.rejects(lease({ store, namespace }), made);
  });

  const noFaketime = FAKETIME ? false : "libfaketime is not installed";
  test("a process whose clock is wrong by hours, and jumps, mints in the service's time", {
    skip: noFaketime,
  }, async (t) => {
    const clock = fakeClock(t);
    clock.set(-5 * 3600);
    const child = hold(
      t,
      `import { Snowflake } from "snowmint";
    import { HttpStore } from "snowmint/stores";
    const gen = await Snowflake.lease({ store: new HttpStore("${service.url}"), namespace: "${fresh()}", windowMs: 1000, maxWaitMs: 20_000 });
    process.on("message", async () => process.send({ id: await gen.nextIdAsync(), skewMs: gen.status().skewMs }));
    process.send({ wall: Date.now() });`,
      clock.env,
    );
    const { wall } = await answerOf(child);
    assert.ok(Math.abs(Date.now() - 5 * 3_600_000 - wall) < 60_000, "its clock is wrong");
    const ids = [];
    for (const seconds of [-5 * 3600, 7 * 3600, -60]) {
      clock.set(seconds);
      const mint = async () => {
        const answer = new Promise((resolve) => child.once("message", resolve));
        child.send("mint");
        const { id, skewMs } = await answer;
        ids.push(id);
        const { timestampMs } = Layout.preset("snowmint").decode(id);
        assert.ok(timestampMs <= Date.now() && timestampMs > Date.now() - NEAR_MS, `${timestampMs - Date.now()}`);
        return Math.abs(skewMs - seconds * 1000) < NEAR_MS;
      };
      await mint();
      // After a renewal, too.
      await until(mint, "the clock's error");
    }
    increasing(ids);
  });

  test("generators follow the service's clock wherever it goes, and repeat nothing", {
    skip: noFaketime,
  }, async (t) => {
    const clock = fakeClock(t);
    const hours = 2 * 3_600_000;
    // A third of the smallest step.
    const ERROR_MS = 500;
    const lagOf = (gen, id, aheadMs) => Date.now() + aheadMs - gen.layout.decode(id).timestampMs;
    clock.set(hours / 1000);
    const elsewhere = await ownService(t, { env: clock.env });
    const gen = await lease({ store: new HttpStore(elsewhere.url), maxWaitMs: 20_000 });
    const ids = [];
    for (const stepMs of [0, -1500, 3_600_000]) {
      clock.set((hours + stepMs) / 1000);
      await until(() => Math.abs(gen.status().skewMs + hours + stepMs) < ERROR_MS, "a renewal");
      // Where the clock went back, it has to come to the last ID first.
      ids.push(await gen.nextIdAsync());
      const lag = lagOf(gen, ids.at(-1), hours + stepMs);
      assert.ok(lag > -ERROR_MS && lag < NEAR_MS, `${lag}`);
    }
    increasing(ids);
    await gen.close();
  });

  test("however long answers take, no ID is ahead of the service's clock", async () => {
    const slowly = async (url, init) => {
      await sleep(Math.random() * 150);
      const response = await fetch(url, init);
      await sleep(Math.random() * 150);
      return response;
    };
    const gen = await lease({
      store: new HttpStore(service.url, { fetch: slowly }),
      namespace: fresh(),
      maxWaitMs: 20_000,
    });
    const first = gen.window;
    const lags = [];
    while (gen.window.end < first.end + 2000) {
      const id = await gen.nextIdAsync();
      lags.push(Date.now() - gen.layout.decode(id).timestampMs);
      await sleep(1);
    }
    assert.ok(Math.min(...lags) >= 0, `${Math.min(...lags)}`);
    assert.ok(Math.max(...lags) < NEAR_MS, `${Math.max(...lags)}`);
    await gen.close();
  });

  test("a claim whose answer is lost is sent again, and gets the same node", async () => {
    const namespace = fresh();
    let lost = 0;
    const unheard = async (url, init) => {
      const response = await fetch(url, init);
      if (init.method === "POST" && !lost++) throw new TypeError("the connection broke");
      return response;
    };
    const gen = await lease({ store: new HttpStore(service.url, { fetch: unheard }), namespace });
    assert.equal(lost, 2);
    assert.equal(gen.node, 0);
    assert.equal((await held(namespace)).length, 1);
    await gen.close();
  });

  test("who finds all nodes taken waits for the first that is free, as long as it may", async () => {
    const namespace = fresh();
    const nonce = "0123456789abcdef0123456789abcdef";
    // Of a holder that is gone without a word.
    const { status } = await ask("POST", `${namespace}/leases`, { nonce, layout: ONE_NODE, window_ms: 6000 });
    assert.equal(status, 201);
    const options = { namespace, layout: ONE_NODE };
    await assert.rejects(lease({ ...options, maxWaitMs: 20 }), (error) => {
      assert.equal(error.code, "NODES_EXHAUSTED");
      assert.match(error.message, new RegExp(`^the service at ${service.url}: .*${namespace}`));
      assert.ok(error.retryAfterMs > 0 && error.cause.status === 503);
      return true;
    });
    const gen = await lease({ ...options, maxWaitMs: 60_000 });
    assert.equal(gen.node, 0);
    await gen.close();
  });

  test("a lease that is not held any more is lost: onLost is told once, and every call says why", async () => {
    const namespace = fresh();
    let nonce;
    const watched = (url, init) => {
      nonce = JSON.parse(init.body).nonce;
      return fetch(url, init);
    };
    const errors = [];
    const store = new HttpStore(service.url, { fetch: watched });
    const gen = await lease({ store, namespace, onLost: (error) => errors.push(error) });
    const given = await ask("DELETE", `${namespace}/leases/0`, { nonce, unused_from_ms: Date.now() + 500 });
    assert.equal(given.status, 200);
    await until(() => errors.length > 0, "onLost");
    assert.match(
      errors[0].message,
      new RegExp(`lease of node 0 was lost: the service at ${service.url}: .*has another holder now`),
    );
    assert.equal(refusal("WINDOW_CLOSED", () => gen.nextId()).message, errors[0].message);
    await assert.rejects(gen.nextIdAsync(), { code: "WINDOW_CLOSED", message: errors[0].message });
    await gen.close();
    assert.equal(errors.length, 1);
  });

  test("without a namespace a lease is of the one that the service itself mints in", async () => {
    const gen = await lease({ namespace: undefined });
    assert.equal(gen.status().namespace, "@snowmint");
    const { ids } = await (await fetch(`${service.url}/v1/ids?count=1`)).json();
    assert.notEqual(gen.layout.decode(ids[0]).node, gen.node);
    const nodes = (await held(encodeURIComponent(gen.status().namespace))).filter(({ released }) => !released);
    assert.equal(nodes.length, 2);
    await gen.close();
  });

  test("the service cuts windows that are longer than it grants, and what no window can be is refused", async () => {
    const namespace = fresh();
    const gen = await lease({ namespace, windowMs: 3_600_000 });
    assert.equal(gen.window.end - gen.window.start, 300_000);
    await gen.close();
    const refused = [
      [{ windowMs: 999 }, { code: "INVALID_LAYOUT", message: /at least 1000/ }],
      [{ windowMs: 1e12 }, { code: "INVALID_LAYOUT", message: /at most 3600000 with maxAheadMs/ }],
      [{ maxAheadMs: 60_001 }, { name: "RangeError", message: /max_ahead_ms must be 0 to 60000/ }],
      [{ maxAheadMs: 2 ** 63 }, { code: "INVALID_LAYOUT", message: /at most 3600000 with maxAheadMs/ }],
      [{ layout: "twitter" }, { code: "INVALID_LAYOUT", message: new RegExp(`namespace ${namespace} is of layout`) }],
      [{ layout: "baidu", windowMs: 5000 }, { code: "TIME_OVERFLOW" }],
      [{ layout: "time:41,sequence:12;epoch=2100-01-01T00:00:00Z" }, { code: "BEFORE_EPOCH" }],
      [{ clock: () => Date.now() }, { name: "TypeError", message: /goes by the clock there: pass no clock/ }],
      [
        { node: 5, exclude: [5] },
        { code: "INVALID_NODE", message: /both asked for and excluded/ },
      ],
      [{ namespace: "../a" }, { code: "INVALID_NODE", message: /a namespace is 1 to 64/ }],
    ];
    for (const [options, error] of refused) await assert.rejects(lease({ namespace, ...options }), error);
  });

  test("a service that cuts windows after the claim is asked again before they end", async () => {
    let renewals = 0;
    // As if it had been started anew with --max-window-ms 1000: the claim was told of windows of 10 minutes.
    const cut = async (url, { body, ...init }) => {
      renewals += init.method === "PUT" ? 1 : 0;
      const asked = { ...JSON.parse(body), ...(init.method !== "DELETE" && { window_ms: 1000 }) };
      const response = await fetch(url, { ...init, body: JSON.stringify(asked) });
      const answer = await response.json();
      return Response.json({ ...answer, ...(answer.window_ms && { window_ms: 600_000 }) }, response);
    };
    const store = new HttpStore(service.url, { fetch: cut });
    const gen = await lease({ store, namespace: fresh(), windowMs: 600_000 });
    await until(() => renewals >= 3, "the third renewal", 60_000);
    assert.equal(gen.status().renewalFailures, 0);
    await gen.close();
  });

  test("what is no URL of a service is refused, and so are options that make no sense", () => {
    const urls = [
      "",
      "ids.example",
      "ftp://ids.example",
      "/v1",
      5,
      null,
      undefined,
      {},
      "http://",
      "file:/var/lib/ids",
    ];
    for (const url of urls) assert.throws(() => new HttpStore(url), { name: "TypeError", message: /https:/ }, `${url}`);
    for (const url of ["https://me:secret@ids.example", "https://ids.example?a=secret", "https://ids.example#secret"])
      assert.throws(
        () => new HttpStore(url),
        ({ name, message }) => name === "TypeError" && !message.includes("secret"),
      );
    const url = "https://ids.example/here/";
    assert.equal(`${new HttpStore(url)}`, "the service at https://ids.example/here");
    for (const token of ["", 5, "two words", "new\nline", "é"])
      assert.throws(() => new HttpStore(url, { token }), { name: "TypeError", message: /token/ });
    for (const timeoutMs of [0, -1, Number.NaN, "5", 2 ** 31])
      assert.throws(() => new HttpStore(url, { timeoutMs }), { name: "RangeError", message: /timeoutMs/ });
    assert.throws(() => new HttpStore(url, { fetch: "curl" }), { name: "TypeError", message: /fetch/ });
  });

  test("where no service of ours answers the error names the URL and says what came", async (t) => {
    let answer = [200, "hello"];
    const other = createServer((_, response) => response.writeHead(answer[0]).end(answer[1]));
    await new Promise((resolve) => other.listen(0, "127.0.0.1", resolve));
    t.after(() => other.close());
    const url = `http://127.0.0.1:${other.address().port}`;
    const cases = [
      [[200, "hello"], /it answers status 200 without JSON, as no service of snowmint does/],
      [[200, "null"], /it answers status 200 without JSON/],
      [[201, '{"node": "5"}'], /it answers start undefined, /],
      [[201, '{"node": 5, "window": {"start": 1, "end": 1e99}, "server_time_ms": 1}'], /it answers end 1e\+99, /],
      [[502, "<h1>Bad Gateway</h1>"], /it answers status 502, as no/],
      [[404, "{}"], /it answers status 404, as no/],
      [[500, '{"code": "WHATEVER", "detail": "all is lost"}'], /all is lost/],
    ];
    for (const [each, message] of cases) {
      answer = each;
      await assert.rejects(lease({ store: new HttpStore(url) }), (error) => {
        assert.equal(error.code, "STORE_UNAVAILABLE");
        assert.ok(error.message.startsWith(`the service at ${url}: `), error.message);
        assert.match(error.message, message);
        return true;
      });
    }
    other.close();
    other.closeAllConnections();
    await assert.rejects(lease({ store: new HttpStore(url) }), {
      code: "STORE_UNAVAILABLE",
      message: new RegExp(`${url}: .*ECONNREFUSED`),
    });
  });

  test("what a service says is shown without control characters", async (t) => {
    const { cases } = JSON.parse(readFileSync(new URL("../../tests/vectors/shown.json", import.meta.url), "utf8"));
    assert.ok(cases.length >= 30);
    let detail;
    const other = createServer((_, response) =>
      response.writeHead(503).end(JSON.stringify({ code: "NODES_EXHAUSTED", detail })),
    );
    await new Promise((resolve) => other.listen(0, "127.0.0.1", resolve));
    t.after(() => other.close());
    const url = `http://127.0.0.1:${other.address().port}`;
    const store = new HttpStore(url);
    for (const { name, text, shown } of cases) {
      detail = text;
      const message = `the service at ${url}: ${shown}`;
      await assert.rejects(store.check("orders"), { code: "NODES_EXHAUSTED", message }, name);
    }
  });

  describe("pages of Chromium", { skip: missing, timeout: 120_000, concurrency: 3 }, () => {
    const SNOWMINT = Layout.preset("snowmint");
    const WHOLE = "unused:1,time:41,device:4,tab:3,sequence:12;epoch=2025-01-01T00:00:00Z";
    const DEVICES = Layout.parse(WHOLE);
    let browser;
    before(async () => {
      // As in the browser of a user: pages are remembered for the back button. The other name leads here too.
      const words = ["--host-resolver-rules=MAP other.localhost 127.0.0.1"];
      browser = await launch(words, ["--disable-back-forward-cache"]);
    });
    after(() => browser?.close());

    /** A page of a browser profile whose clock is off by `wrongMs`. */
    async function page(context, { origin = pages.origin, wrongMs = 0 } = {}) {
      const page = await context.newPage();
      await page.addInitScript((wrongMs) => {
        const { now } = Date;
        Date.now = () => now() + wrongMs;
      }, wrongMs);
      await page.goto(`${origin}/`);
      await page.waitForFunction("globalThis.ready");
      return page;
    }
    async function profile(t) {
      const context = await browser.newContext();
      t.after(() => context.close());
      return context;
    }
    const leased = (page, options) =>
      page.evaluate((options) => globalThis.lease(options), { service: service.url, ...options });
    const mint = (page, count) => page.evaluate((count) => globalThis.mint(count), count);
    const outcome = (page, options) =>
      page.evaluate((options) => globalThis.outcome(() => globalThis.lease(options)), {
        service: service.url,
        ...options,
      });

    test("a page of an origin that is allowed leases, and one of another is refused with a sentence that says so", async (t) => {
      const context = await profile(t);
      const namespace = fresh();
      const allowed = await page(context);
      assert.equal(await leased(allowed, { namespace }), 0);
      const ids = await mint(allowed, 5000);
      increasing(ids.map(BigInt));
      const origin = `http://other.localhost:${pages.port}`;
      const other = await page(context, { origin });
      const { code, message } = await outcome(other, { namespace });
      assert.equal(code, "STORE_UNAVAILABLE");
      assert.ok(message.startsWith(`the service at ${service.url}: `), message);
      assert.ok(message.endsWith(`--allow-origin ${origin}`), message);
      assert.equal((await held(namespace)).length, 1);
    });

    test("a page whose clock is wrong by hours mints in the service's time", async (t) => {
      const context = await profile(t);
      for (const wrongMs of [-5 * 3_600_000, 3 * 3_600_000]) {
        const wrong = await page(context, { wrongMs });
        await leased(wrong, { namespace: fresh(), windowMs: 1000 });
        for (let round = 0; round < 3; round++, await sleep(600)) {
          const [id] = await mint(wrong, 1);
          const lag = Date.now() - SNOWMINT.decode(id).timestampMs;
          assert.ok(lag >= 0 && lag < NEAR_MS, `${lag}`);
        }
        const { skewMs, window } = await wrong.evaluate(() => globalThis.gen.status());
        assert.ok(Math.abs(skewMs - wrongMs) < NEAR_MS, `${skewMs}`);
        assert.ok(Math.abs(window.end - Date.now()) < NEAR_MS);
      }
    });

    test("a page that is closed gives its node back", async (t) => {
      const service = await ownService(t, { options: ["--allow-origin", pages.origin] });
      const context = await profile(t);
      const namespace = fresh();
      const first = await page(context);
      const options = { namespace, service: service.url };
      const node = await leased(first, options);
      const isReleased = async () => (await held(namespace, service)).find((each) => each.node === node).released;
      assert.equal(await isReleased(), false);
      const early = await mint(first, 1000);
      // The request that it sends then outlives it.
      await service.pause();
      await first.close({ runBeforeUnload: false });
      await sleep(300);
      await service.resume();
      await until(isReleased, "the release of a page that is closed");
      // Its rest is free at once.
      const second = await page(context);
      assert.equal(await leased(second, options), node);
      const late = await mint(second, 1000);
      assert.ok(BigInt(late[0]) > BigInt(early.at(-1)));
    });

    const skip = !keepsPages && "this browser keeps no pages for its back button";
    test("a page that is left gives its node back, and leases anew when it comes back", { skip }, async (t) => {
      const context = await profile(t);
      const [left, other] = [await page(context), await page(context)];
      const options = { namespace: fresh(), service: service.url };
      await leased(left, options);
      const before = await mint(left, 1000);
      await left.goto(`${pages.origin}/other`);
      await leased(other, options);
      const others = await mint(other, 1000);
      await left.goBack({ waitUntil: "commit" });
      await left.waitForFunction("globalThis.ready");
      const after = await mint(left, 1000);
      assert.equal(new Set([...before, ...others, ...after]).size, 3000);
      assert.equal(await left.evaluate(() => globalThis.lost), undefined);
    });

    test("devices without a namespace have one of their own, which is not that of whole nodes", async (t) => {
      const tab = await page(await profile(t));
      await leased(tab, { layout: WHOLE });
      const gen = await lease({ layout: WHOLE, namespace: undefined });
      const { namespace } = await tab.evaluate(() => globalThis.gen.status());
      assert.match(namespace, /^@[0-9a-f-]+$/);
      assert.notEqual(namespace, gen.status().namespace);
      assert.equal((await held(encodeURIComponent(namespace))).length, 1);
      await gen.close();
    });

    test("a device gets windows as long as each tab asks for, whatever tabs before it asked for", async (t) => {
      const context = await profile(t);
      const options = { namespace: fresh(), layout: WHOLE, maxAheadMs: 0, maxWaitMs: 20_000 };
      const leftMs = (page) => page.evaluate(() => globalThis.gen.window.end - Date.now());
      const early = await page(context);
      await leased(early, { ...options, windowMs: 1000 });
      assert.ok((await leftMs(early)) <= 1000);
      await early.close();
      const late = await page(context);
      await leased(late, { ...options, windowMs: 240_000 });
      assert.ok((await leftMs(late)) > 240_000 - NEAR_MS, `${await leftMs(late)}`);
      // A page that asks for less, such as one from a cache, takes nothing from the others.
      const deviceEnd = async () => (await held(options.namespace))[0].window.end;
      const end = await deviceEnd();
      const short = await page(context);
      await leased(short, { ...options, windowMs: 1000 });
      assert.ok((await leftMs(short)) <= 1000);
      assert.ok((await deviceEnd()) >= end);
      await late.reload();
      await late.waitForFunction("globalThis.ready");
      await leased(late, { ...options, windowMs: 240_000 });
      assert.ok((await leftMs(late)) > 240_000 - NEAR_MS, `${await leftMs(late)}`);
      assert.ok((await deviceEnd()) >= end);
    });

    test("a tab renews before the window of its device ends, which the service has cut", async (t) => {
      const options = ["--allow-origin", pages.origin, "--max-window-ms", "2000"];
      const service = await ownService(t, { options });
      const tab = await page(await profile(t));
      const terms = { service: service.url, namespace: fresh(), layout: WHOLE, windowMs: 300_000, maxAheadMs: 0 };
      await leased(tab, { ...terms, maxWaitMs: 20_000 });
      const { start, end } = await tab.evaluate(() => globalThis.gen.window);
      assert.ok(end - start <= 2000 + NEAR_MS, "it shows the window that was granted");
      // Nothing asks for an ID, so only its timer renews it.
      await tab.waitForFunction((end) => globalThis.gen.window.end > end, end + 4000, { timeout: 60_000 });
      assert.equal((await tab.evaluate(() => globalThis.gen.status())).renewalFailures, 0);
    });

    test("a fleet of browsers with tabs, and of processes, holds distinct nodes and repeats nothing", async (t) => {
      const service = await ownService(t, { options: ["--allow-origin", pages.origin] });
      const namespace = fresh();
      const options = { service: service.url, namespace, layout: WHOLE, windowMs: 2000, maxWaitMs: 20_000 };
      const profiles = await Promise.all([profile(t), profile(t), profile(t)]);
      // One of them has a wrong clock, which tabs share.
      const all = profiles.map((context, at) => [1, 2, 3].map(() => page(context, { wrongMs: at && at * 3_600_000 })));
      const tabs = await Promise.all(all.flat());
      await Promise.all(tabs.map((tab) => leased(tab, options)));
      // Those without tabs have the bits of all tabs of a device.
      const part = String(DEVICES).replace("tab:", "random:");
      const gens = await Promise.all(
        [1, 2].map(() => lease({ namespace, layout: part, windowMs: 2000, maxWaitMs: 20_000 }, service)),
      );
      const mints = gens.map(minting);
      const lists = tabs.map(() => []);
      const round = () => Promise.all(tabs.map(async (tab, at) => lists[at].push(...(await mint(tab, 1000)))));
      await round();
      await service.kill();
      await sleep(300);
      await service.restart();
      await round();
      await sleep(1200);
      await round();
      for (const list of lists) increasing(list.map(BigInt));
      const ids = [...lists.flat().map(BigInt), ...(await Promise.all(mints.map(({ stop }) => stop()))).flat()];
      assert.ok(ids.length > 27_000);
      assert.equal(new Set(ids).size, ids.length);
      const fields = lists.map((list) => DEVICES.decode(list.at(-1)).fields);
      assert.equal(new Set(fields.map(({ device, tab }) => `${device},${tab}`)).size, 9);
      const devices = fields.map(({ device }) => device);
      const own = (await Promise.all(gens.map((gen) => gen.nextIdAsync()))).map(
        (id) => DEVICES.decode(id).fields.device,
      );
      assert.equal(new Set([...devices, ...own]).size, 5);
      for (const at of [0, 3, 6]) assert.equal(new Set(devices.slice(at, at + 3)).size, 1, "tabs share a device");
      assert.equal((await held(namespace, service)).length, 5);
      for (const list of lists) {
        const lag = Date.now() - DEVICES.decode(list.at(-1)).timestampMs;
        assert.ok(lag > -1100 && lag < 20_000, `${lag}`);
      }
      // A new page of a browser goes on with its device.
      await tabs[0].reload();
      await tabs[0].waitForFunction("globalThis.ready");
      await leased(tabs[0], options);
      const again = await mint(tabs[0], 1000);
      assert.equal(DEVICES.decode(again[0]).fields.device, devices[0]);
      assert.equal(new Set([...ids, ...again.map(BigInt)]).size, ids.length + 1000);
      for (const gen of gens) await gen.close();
    });
  });
});
