// Tab slots of one origin: tabs, workers, reloads, duplicated, frozen, crashed and remembered pages. Real browsers run
// the windows and timers, so scenes wait for windows of 1 to 3 s; several scenes run at the same time.
import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { Layout, Snowflake } from "snowmint";
import { MemoryStore } from "snowmint/stores";
import { serve } from "./chromium.mjs";
import { ALL, goBack, KEEPING_PAGES, until } from "./engines.mjs";

const BODY = `<!doctype html><title>tab</title><script type="module">
  import * as tabs from "/npm/tests/tabs.mjs"; Object.assign(globalThis, tabs); globalThis.ready = true;</script>`;
// A frame, and a page that shows the node that the frame gets, or its error. The frame is always of 127.0.0.1.
const ASKING = `<!doctype html><title>frame</title><script type="module">
  import { lease, outcome } from "/npm/tests/tabs.mjs";
  parent.postMessage(await outcome(() => lease({ node: 3, maxWaitMs: 100 })), "*");</script>`;
const FRAMING = `<!doctype html><title>framing</title><script>
  addEventListener("message", ({ data }) => { globalThis.asked = data; });
  const frame = (attribute) => {
    const frame = Object.assign(document.createElement("iframe"), { src: "http://127.0.0.1:" + location.port + "/asking" });
    if (attribute) frame.setAttribute(attribute, "");
    document.documentElement.append(frame);
  };</script>`;
// A service worker, where modules cannot be loaded on demand.
const SERVICE = `import { lease, outcome, vouch } from "/npm/tests/tabs.mjs";
  const made = ({ node, ...options }) => (node === undefined ? lease(options) : vouch(node));
  addEventListener("message", async ({ source, data }) => source.postMessage(await outcome(() => made(data))));`;
const pages = {
  "/": ["text/html", BODY],
  "/other": ["text/html", "<!doctype html><title>other</title>"],
  "/framed": ["text/html", '<!doctype html><title>framed</title><iframe sandbox="allow-scripts" src="/"></iframe>'],
  "/framing": ["text/html", FRAMING],
  "/asking": ["text/html", ASKING],
  "/service.mjs": ["text/javascript", SERVICE],
  "/nothing": ["text/plain", "", {}, 204],
  "/clear": ["text/html", "<!doctype html><title>clear</title>", { "clear-site-data": '"storage"' }],
};
const SNOWMINT = Layout.preset("snowmint");

/** Stores behind the server, by the first part of the path. "silent" never answers, "away" not while `away` is set. */
const stores = new Map();
let away = false;
async function post(url, body) {
  if (away && url.startsWith("/away/")) throw new Error("away");
  if (url.startsWith("/silent/")) return new Promise(() => {});
  const [, name, verb] = url.split("/");
  if (!stores.has(name)) stores.set(name, new MemoryStore());
  const store = stores.get(name);
  const words = JSON.parse(body);
  if (verb === "write") words[1] = Uint8Array.from(words[1]);
  const plain = (_, value) => (value instanceof Uint8Array ? [...value] : value);
  return JSON.stringify(await store[verb](...words), plain);
}

/** For scenes that only Chromium's driver can play: freeze and crash tabs, lead other names here, cut requests, enter frames. */
const DRIVEN = ["chromium"];

/** What scenes.mjs plays. */
export const scenes = [];
function test(name, body, engines = ALL) {
  const play = async ({ browser, context }, t) => {
    // A port for each scene: the origin is new, and nothing is stored there.
    const server = await serve(pages, {}, post);
    t.after(() => server.close());
    const open = async (path = "/", { origin = server.origin, within = context } = {}) => {
      const page = await within.newPage();
      await page.goto(origin + path);
      return path === "/" ? ready(page) : page;
    };
    const fleet = (name, options = {}) => ({
      url: `${server.origin}/${name}`,
      layout: String(DEVICES),
      namespace: "fleet",
      windowMs: 2000,
      ...options,
    });
    await body({ browser, context, server, open, fleet, tab: (origin) => open("/", { origin }) }, t);
  };
  scenes.push({ name, engines, play });
}

const ready = (page) => until(page, "globalThis.ready");

/** Leases in a page, whose calls wait long enough for a busy machine. */
const lease = (page, options = {}) =>
  page.evaluate((options) => globalThis.lease(options), { maxWaitMs: 20_000, ...options });
const mint = (page, count) => page.evaluate((count) => globalThis.mint(count), count);
const outcome = (page, body) => page.evaluate(`outcome(async () => ${body})`);

/** The records of the origin: key, whether it was given back, and when its window ends. */
const records = (page) =>
  page.evaluate(
    () =>
      new Promise((resolve) => {
        indexedDB.open("snowmint").onsuccess = ({ target: { result: database } }) => {
          const store = database.transaction("records").objectStore("records");
          const [keys, values] = [store.getAllKeys(), store.getAll()];
          values.onsuccess = () => {
            database.close();
            const of = ({ value }) => {
              const view = new DataView(value.buffer, value.byteOffset);
              return { released: view.getUint32(12, true) === 1, endMs: Number(view.getBigInt64(32, true)) };
            };
            const leases = keys.result.map((key, at) => [key, values.result[at]]);
            resolve(Object.fromEntries(leases.flatMap(([key, at]) => (/^leases/.test(key) ? [[key, of(at)]] : []))));
          };
        };
      }),
  );

/** Asserts that no ID is there twice, and counts them. */
function distinct(lists) {
  const ids = lists.flat();
  assert.equal(new Set(ids).size, ids.length, `${ids.length - new Set(ids).size} duplicates`);
  for (const list of lists)
    for (let at = 1; at < list.length; at++) assert.ok(BigInt(list[at]) > BigInt(list[at - 1]), "it increases");
  return ids.length;
}

test("three tabs, a duplicated one, a reload, a worker and a shared worker never mint the same ID", async ({
  tab,
}, t) => {
  const tabs = await Promise.all([tab(), tab(), tab()]);
  const nodes = await Promise.all(tabs.map((page) => lease(page)));
  assert.equal(new Set(nodes).size, 3);
  // A tab that another one opens has its session storage, as a duplicated tab has.
  const opened = new Promise((resolve) => tabs[0].once("popup", resolve));
  await tabs[0].evaluate(() => {
    sessionStorage.setItem("kept", "yes");
    window.open(location.href);
  });
  const twin = await ready(await opened);
  assert.equal(await twin.evaluate(() => sessionStorage.getItem("kept")), "yes");
  const twinNode = await lease(twin);
  assert.ok(!nodes.includes(twinNode));
  const worker = (kind) =>
    tabs[0].evaluate(
      (kind) =>
        new Promise((resolve) => {
          const made = new globalThis[kind]("/npm/tests/tabs.worker.mjs", { type: "module" });
          (made.port ?? made).onmessage = ({ data }) => resolve(data);
          made.onerror = ({ message }) => resolve({ error: message ?? "did not load" });
        }),
      kind,
    );
  const reload = async () => {
    const first = await mint(tabs[1], 5000);
    await tabs[1].reload();
    await ready(tabs[1]);
    await lease(tabs[1]);
    return [first, await mint(tabs[1], 5000)];
  };
  const told = await Promise.all([
    mint(tabs[0], 5000),
    reload(),
    mint(tabs[2], 5000),
    mint(twin, 5000),
    worker("Worker"),
    worker("SharedWorker"),
  ]);
  const [first, reloaded, third, twins, ...workers] = told;
  for (const { error } of workers) assert.equal(error, undefined);
  const held = [nodes[0], nodes[2], twinNode, ...workers.map(({ node }) => node)];
  assert.equal(new Set(held).size, 5);
  const total = distinct([first, ...reloaded, third, twins, ...workers.map(({ ids }) => ids)]);
  t.diagnostic(`${total} IDs`);
  assert.equal(total, 35_000);
  for (const [ids, node] of [
    [first, nodes[0]],
    [twins, twinNode],
  ])
    for (const id of ids) assert.equal(SNOWMINT.decode(id).node, node);
});

test("an ID lies within a window whose end was in IndexedDB before", async ({ tab }) => {
  const page = await tab();
  const node = await lease(page);
  for (let round = 0; round < 5; round++) {
    const id = (await mint(page, 50)).at(-1);
    const there = await records(page);
    const [[key, { endMs, released }]] = Object.entries(there);
    assert.equal(key, `leases/%40snowmint/${node}`);
    assert.equal(released, false);
    assert.ok(SNOWMINT.decode(id).timestampMs < endMs);
    await sleep(600);
  }
  assert.equal(await outcome(page, "gen.close()"), "undefined");
  assert.equal(Object.values(await records(page))[0].released, true);
});

test("a transaction that ended while its thread was busy is no error", async ({ tab }) => {
  const page = await tab();
  // Without the timers that end a slow transaction, which then run after its end.
  const limits = await page.evaluateHandle(() => {
    const [set, clear, limits] = [globalThis.setTimeout, globalThis.clearTimeout, new Map()];
    let last = -1;
    globalThis.setTimeout = (work, ms, ...rest) => {
      if (ms !== 5000) return set(work, ms, ...rest);
      limits.set(last, work);
      return last--;
    };
    globalThis.clearTimeout = (timer) => (limits.has(timer) ? undefined : clear(timer));
    return limits;
  });
  await lease(page);
  await mint(page, 10);
  const count = await limits.evaluate((limits) => {
    for (const work of limits.values()) work();
    return limits.size;
  });
  assert.ok(count > 2, `${count} limits`);
  await mint(page, 10);
});

test("a node that was given back is leased again at once, above its last ID", async ({ tab }) => {
  const page = await tab();
  // Whoever had to wait for the end of the window would be refused.
  const alone = { layout: "time:41,sequence:12;epoch=2025-01-01T00:00:00Z", windowMs: 60_000 };
  const node = await lease(page, alone);
  const before = await mint(page, 3000);
  await outcome(page, "gen.close()");
  assert.equal(await lease(page, alone), node);
  distinct([[...before, ...(await mint(page, 3000))]]);
});

test(
  "a tab that is closed gives its node back, and one that crashes does not keep others from theirs",
  async ({ context, tab }) => {
    const [first, second] = [await tab(), await tab()];
    const nodes = [await lease(first), await lease(second)];
    const ids = [await mint(first, 2000), await mint(second, 2000)];
    await first.close({ runBeforeUnload: false });
    const session = await context.newCDPSession(second);
    session.send("Page.crash").catch(() => {});
    await second.waitForEvent("crash");
    const third = await tab();
    const node = await lease(third);
    ids.push(await mint(third, 2000));
    assert.equal(distinct(ids), 6000);
    const locks = await third.evaluate(async () => (await navigator.locks.query()).held.map(({ name }) => name));
    assert.equal(locks.length, 1, "the locks of tabs that are gone are free");
    assert.ok(locks[0].endsWith(`/${node}`));
    assert.equal(nodes.length, 2);
  },
  DRIVEN,
);

test(
  "a frozen tab keeps its node, mints nothing past its window, and goes on by nextIdAsync",
  async ({ context, tab }) => {
    const [frozen, other] = [await tab(), await tab()];
    const node = await lease(frozen, { windowMs: 1000, maxAheadMs: 0 });
    const before = await mint(frozen, 500);
    const session = await context.newCDPSession(frozen);
    await session.send("Page.setWebLifecycleState", { state: "frozen" });
    await sleep(2500);
    const others = [];
    for (let round = 0; round < 3; round++) {
      assert.notEqual(await lease(other, { windowMs: 1000, maxAheadMs: 0 }, `gen${round}`), node);
      others.push(await mint(other, 500));
    }
    await session.send("Page.setWebLifecycleState", { state: "active" });
    const late = await outcome(frozen, "gen.tryNextId()");
    const after = await mint(frozen, 500);
    assert.equal(await frozen.evaluate(() => globalThis.gen.node), node);
    distinct([[...before, ...(typeof late === "string" ? [late] : []), ...after], ...others.slice(-1)]);
  },
  DRIVEN,
);

test(
  "a page that the back button brings back leases again and repeats nothing",
  async ({ tab, server }, t) => {
    const [page, other] = [await tab(), await tab()];
    await lease(page, { windowMs: 1000 });
    await page.evaluate(() => {
      addEventListener("pageshow", ({ persisted }) => {
        globalThis.persisted = persisted;
      });
    });
    const before = await mint(page, 2000);
    await page.goto(`${server.origin}/other`);
    // Somebody else may get the node meanwhile.
    await lease(other, { windowMs: 1000 });
    const others = await mint(other, 2000);
    await goBack(page, "globalThis.ready");
    const persisted = await page.evaluate(() => globalThis.persisted);
    t.diagnostic(persisted ? "from the cache" : "loaded anew");
    assert.equal(persisted, true, "the lock did not keep the page from the cache");
    const after = await mint(page, 2000);
    distinct([before, others, after]);
    const nodes = new Set(after.map((id) => SNOWMINT.decode(id).node));
    assert.deepEqual([...nodes], [await page.evaluate(() => globalThis.gen.node)]);
    assert.equal(await page.evaluate(() => globalThis.lost), undefined);
  },
  KEEPING_PAGES,
);

test(
  "a page that the back button brings back during a renewal leases again by itself",
  async ({ tab, server }) => {
    const page = await tab();
    await page.evaluate(async () => {
      addEventListener("pageshow", ({ persisted }) => {
        globalThis.persisted = persisted;
      });
      const { Snowflake } = await import("/npm/dist/browser.mjs");
      globalThis.service = globalThis.slowService(1000);
      globalThis.gen = await Snowflake.lease({ store: globalThis.service, namespace: "slow", maxAheadMs: 0 });
      globalThis.service.lag = 700;
      globalThis.renewing = new Promise((resolve) => {
        const { renew } = globalThis.service;
        globalThis.service.renew = (...words) => {
          resolve();
          return renew(...words);
        };
      });
    });
    const [before] = await mint(page, 1);
    await page.evaluate("renewing");
    await page.goto(`${server.origin}/other`);
    await goBack(page, "globalThis.ready");
    assert.equal(await page.evaluate("globalThis.persisted"), true);
    await page.evaluate("service.lag = 0");
    // Only its own timer renews it: no call that waits.
    await until(page, "(() => { try { return (window.after = gen.nextId()) && gen.node > 1 } catch {} })()");
    assert.ok(BigInt(await page.evaluate("String(after)")) > BigInt(before));
  },
  KEEPING_PAGES,
);

test("tabs of a site whose data is cleared, and tabs that are opened then, never mint the same ID", async ({
  browser,
  open,
}, t) => {
  const told = [];
  for (let trial = 0; trial < 2; trial++) {
    const other = await browser.newContext();
    const within = other;
    const old = [await open("/", { within }), await open("/", { within })];
    const begin = (page) => page.evaluate("void (globalThis.stop = minting())");
    for (const page of old) await lease(page);
    for (const page of old) await begin(page);
    await open("/clear", { within });
    const next = await open("/", { within });
    await lease(next);
    await begin(next);
    await sleep(400);
    const pages = [...old, next];
    const lists = await Promise.all(pages.map((page) => page.evaluate("stop()")));
    distinct(lists);
    const nodes = await Promise.all(pages.map((page) => page.evaluate("gen.node")));
    assert.equal(new Set(nodes).size, 3);
    // Nobody has lost anything: whoever lost a node has claimed another.
    for (const page of pages) {
      assert.equal(await page.evaluate("gen.status().lost"), null);
      assert.equal(typeof (await outcome(page, "gen.nextIdAsync()")), "string");
    }
    told.push(lists.map(({ length }) => length).join(" + "));
    await other.close();
  }
  t.diagnostic(`IDs: ${told.join("; ")}`);
});

test("tabs that are closed or loaded anew leave their nodes to the next at once, and nothing repeats", async ({
  tab,
}, t) => {
  const layout = "time:41,node:1,sequence:12;epoch=2025-01-01T00:00:00Z";
  const [page, other] = [await tab(), await tab()];
  for (const how of ["closed", "reloaded"]) {
    const back = [];
    // Firefox on a busy machine loses what a page has left more often than not: then the window runs out by itself.
    for (let trial = 0; back.filter(Boolean).length < 2 && trial < 20; trial++) {
      // Of two nodes a third lease is too early for the length of a window, unless one is given back.
      const options = JSON.stringify({ layout, namespace: `${how}${trial}`, windowMs: 60_000, maxWaitMs: 50 });
      const ids = [];
      for (let round = 0; round < 3; round++) {
        const holder = how === "closed" ? await tab() : page;
        const held = until(
          holder,
          `lease(${options}).then(() => true, ({ code }) => code !== "NODES_EXHAUSTED")`,
          1500,
        );
        if (await held.catch(() => false)) ids.push(await mint(holder, 1000));
        if (how === "closed") {
          await holder.close({ runBeforeUnload: true });
        } else {
          await page.reload();
          await ready(page);
        }
      }
      distinct(ids);
      back.push(ids.length === 3);
    }
    t.diagnostic(`${how}: ${back}`);
    assert.equal(back.filter(Boolean).length, 2, how);
  }
  // Pages that lease take over the records that others left in local storage.
  await lease(page);
  assert.deepEqual(await other.evaluate("Object.keys(localStorage)"), []);
});

/** Begins to leave a page, until the page sees that its lock is `gone`: it takes the lock again after 5 s. */
async function beginToLeave(page, gone = "(await navigator.locks.query()).held.length === 0") {
  const look = `(async () => {
    location.href = "/nothing";
    for (let left = 400; left > 0; left--) {
      if (${gone}) return true;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    return false;
  })()`;
  for (let tries = 0; !(await page.evaluate(look)); tries++) assert.ok(tries < 10, "the page keeps its lock");
}

test("a page that stays after all takes its lock again, and mints all the time", async ({ tab }) => {
  const page = await tab();
  const node = await lease(page, { windowMs: 1000, maxWaitMs: 60_000 });
  const locks = "navigator.locks.query().then(({ held }) => held.length)";
  await beginToLeave(page);
  const before = await mint(page, 1000);
  await until(page, `${locks}.then((count) => count === 1)`);
  const after = await mint(page, 1000);
  distinct([[...before, ...after]]);
  for (const id of [before, after].flat()) assert.equal(SNOWMINT.decode(id).node, node);
});

test("a page that stays after all, and whose node another one took, claims another one", async ({ tab }) => {
  const page = await tab();
  const node = await lease(page, { windowMs: 1000, maxWaitMs: 60_000 });
  const before = await mint(page, 1000);
  // As another page that waits for the lock leaves the record.
  await page.evaluate(async () => {
    const [{ name }] = (await navigator.locks.query()).held;
    const take = () =>
      new Promise((done) => {
        indexedDB.open("snowmint").onsuccess = ({ target: { result: database } }) => {
          const transaction = database.transaction("records", "readwrite");
          transaction.objectStore("records").openCursor(IDBKeyRange.lowerBound("leases/")).onsuccess = ({ target }) => {
            const { value, version } = target.result.value;
            value[40] ^= 1;
            // Not over before the page looks, however busy the machine is.
            new DataView(value.buffer, value.byteOffset).setBigInt64(32, BigInt(Date.now() + 60_000), true);
            target.result.update({ value, version: version + 1 });
          };
          transaction.oncomplete = () => done(database.close());
        };
      });
    void navigator.locks.request(name, take).then(() => (globalThis.taken = true));
  });
  await beginToLeave(page, "globalThis.taken");
  await until(page, `gen.node !== ${node}`);
  distinct([before, await mint(page, 1000)]);
  assert.equal(await page.evaluate("gen.status().lost"), null);
});

test("a lease whose lock is stolen is lost and says so", async ({ tab }) => {
  const page = await tab();
  await lease(page, { windowMs: 1000 });
  await page.evaluate(async () => {
    const [{ name }] = (await navigator.locks.query()).held;
    await navigator.locks.request(name, { steal: true }, () => {});
  });
  await until(page, "globalThis.lost");
  const { code, message } = await page.evaluate(() => globalThis.lost);
  assert.equal(code, "WINDOW_CLOSED");
  assert.match(message, /lock/);
  const refused = await outcome(page, "gen.nextIdAsync()");
  assert.deepEqual(refused, { name: "SnowmintError", code: "WINDOW_CLOSED", message });
  assert.equal(await page.evaluate(() => globalThis.gen.status().lost), message);
});

test("tabs whose records are deleted claim other nodes, and repeat nothing", async ({ tab }) => {
  const pages = [await tab(), await tab()];
  const before = [];
  for (const page of pages) {
    // The timers of a tab that is hidden come once a second.
    await lease(page, { windowMs: 1000, maxWaitMs: 60_000 });
    before.push(await mint(page, 1000));
  }
  const nodes = await Promise.all(pages.map((page) => page.evaluate("gen.node")));
  await pages[0].evaluate(() => new Promise((done) => (indexedDB.deleteDatabase("snowmint").onsuccess = () => done())));
  const after = await Promise.all(pages.map((page) => mint(page, 1000)));
  const all = [...before, ...after].flat();
  assert.equal(new Set(all).size, 4000);
  for (const page of pages) {
    assert.ok(!nodes.includes(await page.evaluate("gen.node")));
    assert.equal(await page.evaluate("globalThis.lost"), undefined);
  }
});

test("a browser whose site data is cleared leases on, also if a tab was closed before", async ({ browser, open }) => {
  for (const how of ["cleared", "deleted"]) {
    const within = await browser.newContext();
    const [first, second] = [await open("/", { within }), await open("/", { within })];
    const before = [];
    for (const page of [first, second]) {
      await lease(page);
      before.push(await mint(page, 1000));
    }
    await first.close();
    if (how === "cleared") await open("/clear", { within });
    else
      await second.evaluate(
        () => new Promise((done) => (indexedDB.deleteDatabase("snowmint").onsuccess = () => done())),
      );
    const third = await open("/", { within });
    for (const namespace of [undefined, "other", undefined]) {
      await lease(third, { namespace });
      before.push(namespace ? [] : await mint(third, 1000));
    }
    distinct([...before, await mint(second, 1000)]);
    for (const page of [second, third]) assert.equal(await page.evaluate("gen.status().renewalError"), null, how);
    await within.close();
  }
});

test("a frame whose storage is apart from that of tabs gets no slot, and one that shares it is seen", async ({
  open,
  server,
  tab,
}) => {
  const page = await tab();
  assert.equal(await lease(page, { node: 3 }), 3);
  const asked = async (origin, attribute = "") => {
    const framing = await open("/framing", { origin });
    await framing.evaluate(`frame(${JSON.stringify(attribute)})`);
    await until(framing, "globalThis.asked");
    return framing.evaluate("asked");
  };
  assert.equal((await asked()).code, "NODES_EXHAUSTED");
  const elsewhere = `http://localhost:${server.port}`;
  const sentence =
    /^the storage of this frame is apart from .*: pass a store, such as an HttpStore of snowmint\/stores, or/;
  unavailable(await asked(elsewhere), sentence, "INVALID_STORE");
  const hasCredentialless = await page.evaluate("'credentialless' in HTMLIFrameElement.prototype");
  if (hasCredentialless) unavailable(await asked(undefined, "credentialless"), sentence, "INVALID_STORE");
});

test(
  "a call that waits in a frame settles when the frame is removed, and so does a later call",
  async ({ tab }) => {
    const page = await tab();
    const told = await page.evaluate(async () => {
      const frame = Object.assign(document.createElement("iframe"), { src: "/" });
      document.body.append(frame);
      while (!frame.contentWindow.ready) await new Promise((resolve) => setTimeout(resolve, 10));
      // A stopped clock keeps the call waiting.
      const gen = await frame.contentWindow.still();
      const settled = (call) =>
        Promise.race([
          call.then(String, ({ code }) => code),
          new Promise((resolve) => setTimeout(resolve, 10_000, "does not settle")),
        ]);
      const waiting = settled(gen.nextIdAsync());
      await new Promise((resolve) => setTimeout(resolve, 50));
      frame.remove();
      return [await waiting, await settled(gen.nextIdAsync())];
    });
    assert.deepEqual(told, ["EXHAUSTED", "EXHAUSTED"]);
  },
  // In Firefox no promise of a removed frame reaches anyone.
  ["chromium", "webkit"],
);

test("two namespaces have nodes of their own, and a layout without room says that all nodes are taken", async ({
  tab,
}) => {
  const page = await tab();
  const layout = "time:41,node:1,sequence:12;epoch=2025-01-01T00:00:00Z";
  const options = (namespace) => ({ layout, namespace, exclude: [0], maxWaitMs: 50 });
  assert.equal(await lease(page, options("a")), 1);
  // Under a separate name: a generator without references gives its node back.
  assert.equal(await page.evaluate((options) => globalThis.lease(options, "second"), options("b")), 1);
  const other = await tab();
  const refused = await outcome(other, `lease(${JSON.stringify(options("a"))})`);
  assert.equal(refused.code, "NODES_EXHAUSTED");
  assert.match(refused.message, /IndexedDB of .*namespace a: all 2 nodes/);
  const wrong = await outcome(other, `lease({ layout: "discord", namespace: "a" })`);
  assert.equal(wrong.code, "INVALID_LAYOUT");
});

test("two leases of a tab share one, and the last to be closed gives it back", async ({ tab }) => {
  const page = await tab();
  const node = await lease(page);
  assert.equal(await page.evaluate(() => globalThis.lease({}, "second")), node);
  const ids = [];
  for (let at = 0; at < 100; at++) ids.push(await outcome(page, at % 2 ? "gen.nextIdAsync()" : "second.nextIdAsync()"));
  distinct([ids]);
  await outcome(page, "gen.close()");
  assert.equal((await outcome(page, "gen.nextId()")).code, "WINDOW_CLOSED");
  assert.equal(typeof (await outcome(page, "second.nextId()")), "string");
  await outcome(page, "second.close()");
  assert.equal(Object.values(await records(page))[0].released, true);
});

test("a node that is leased here cannot be vouched for, and one that is vouched for is not leased", async ({ tab }) => {
  const page = await tab();
  const node = await page.evaluate(async () => {
    const { Snowflake } = await import("/npm/dist/browser.mjs");
    globalThis.vouched = (node) =>
      new Snowflake({ layout: "time:41,node:1,sequence:12;epoch=2025-01-01T00:00:00Z", node });
    const { layout } = globalThis.vouched(0);
    return globalThis.lease({ layout });
  });
  assert.equal(node, 1);
  const refused = await outcome(page, "vouched(1)");
  assert.deepEqual([refused.code, /^pass a node that no other/.test(refused.message)], ["INVALID_NODE", true]);
  await outcome(page, "gen.close()");
  assert.equal(typeof (await outcome(page, "vouched(1).nextId()")), "string");
});

test(
  "where a page has no Web Locks the error says to use the constructor with a node, and that mints",
  async ({ tab, server }) => {
    const page = await tab(`http://plain.test:${server.port}`);
    assert.equal(await page.evaluate(() => navigator.locks), undefined);
    const refused = await outcome(page, "lease({})");
    assert.equal(refused.code, "INVALID_STORE");
    assert.match(refused.message, /Web Locks.*use new Snowflake\(\{ node \}\) with a node/);
    assert.equal(await page.evaluate(() => globalThis.vouch(5)), 5);
  },
  DRIVEN,
);

/** Asserts that it is a STORE_UNAVAILABLE, or an error of another code, that says that. */
function unavailable({ name, code, message }, sentence, wanted = "STORE_UNAVAILABLE") {
  assert.deepEqual([name, code], ["SnowmintError", wanted], message);
  assert.match(message, sentence);
}

test(
  "where the part for leases does not load a lease rejects with the browser's reason, and a node mints",
  async ({ context, server, tab }) => {
    const page = await tab();
    await page.evaluate(async () => {
      await navigator.serviceWorker.register("/service.mjs", { type: "module" });
      const { active } = await navigator.serviceWorker.ready;
      globalThis.inService = (options) =>
        new Promise((resolve) => {
          navigator.serviceWorker.onmessage = ({ data }) => resolve(data);
          active.postMessage(options);
        });
    });
    const inService = (options) => page.evaluate((options) => globalThis.inService(options), options);
    assert.match((await inService({})).message, /^import\(\) is disallowed on ServiceWorkerGlobalScope/);
    assert.equal(await inService({ node: 5 }), "5");
    // As after a new version was deployed.
    await context.route(`${server.origin}/**/browser-tabs.mjs`, (route) => route.abort());
    const late = await tab();
    assert.match((await outcome(late, "lease({})")).message, /dynamically imported module/);
    assert.equal(await late.evaluate(() => globalThis.vouch(5)), 5);
  },
  DRIVEN,
);

test("null is as good as missing, nodes to exclude are no string, and a store as a string is for Node", async ({
  tab,
}) => {
  const page = await tab();
  const nothing = { node: null, store: null, namespace: null, windowMs: null, exclude: null, onLost: null };
  assert.match(String(await outcome(page, `lease(${JSON.stringify(nothing)})`)), /^\d+$/);
  const refused = (options) =>
    outcome(page, `import("/npm/dist/browser.mjs").then(({ Snowflake }) => Snowflake.lease(${options}))`);
  const { name, message } = await refused('{ exclude: "01" }');
  assert.equal(`${name}: ${message}`, "TypeError: exclude is an array of nodes, such as [0, 1], not a string");
  for (const store of ["file:/x", "https://user:secret@ids.example"]) {
    const { name, message } = await refused(JSON.stringify({ store }));
    assert.equal(name, "TypeError");
    assert.match(
      message,
      /^a store as a string is for Node: pass one of snowmint\/stores, such as new HttpStore\(url\)$/,
    );
  }
});

const DEVICES = Layout.parse("unused:1,time:41,device:4,tab:3,sequence:12;epoch=2025-01-01T00:00:00Z");
const fieldsOf = (id) => DEVICES.decode(id).fields;

test("the tabs of a browser share a device of the fleet, another browser has another, and nothing repeats", async ({
  browser,
  open,
  tab,
  fleet,
}) => {
  const options = fleet("fleet", { maxWaitMs: 20_000 });
  const tabs = await Promise.all([tab(), tab(), tab()]);
  await Promise.all(tabs.map((page) => lease(page, options)));
  const elsewhere = await browser.newContext();
  const far = await open("/", { within: elsewhere });
  await lease(far, options);
  const lists = [];
  for (let round = 0; round < 4; round++) {
    lists.push(...(await Promise.all([...tabs, far].map((page) => mint(page, 2000)))));
    await sleep(700);
  }
  const all = lists.flat();
  assert.equal(new Set(all).size, 32_000);
  const seen = tabs.map((_, at) => fieldsOf(lists[at][0]));
  assert.equal(new Set(seen.map(({ device }) => device)).size, 1);
  assert.equal(new Set(seen.map(({ tab }) => tab)).size, 3);
  assert.notEqual(fieldsOf(lists[3][0]).device, seen[0].device);
  assert.deepEqual((await stores.get("fleet").list("leases/fleet/")).map(({ name }) => name).sort(), ["0", "1"]);
  // A new page of the first browser goes on with its device at once.
  await tabs[0].reload();
  await lease(await ready(tabs[0]), options);
  const again = await mint(tabs[0], 1000);
  assert.equal(fieldsOf(again[0]).device, seen[0].device);
  assert.equal(new Set([...all, ...again]).size, 33_000);
  await elsewhere.close();
});

test("a tab that names its node gets that one, once it is free", async ({ tab, fleet }) => {
  const [one, other] = [await tab(), await tab()];
  assert.equal(await lease(one, { node: 5 }), 5);
  const refused = await outcome(other, "lease({ node: 5, maxWaitMs: 100 })");
  assert.equal(refused.code, "NODES_EXHAUSTED");
  await outcome(one, "gen.close()");
  assert.equal(await lease(other, { node: 5 }), 5);
  // Of a layout of devices and tabs the node is both.
  const options = fleet("named", { node: { device: 3, tab: 2 } });
  await lease(one, options);
  const { device, tab: number } = fieldsOf((await mint(one, 10))[0]);
  assert.deepEqual([device, number], [3, 2]);
  // Or a part of both.
  await outcome(one, "gen.close()");
  await lease(one, fleet("named", { node: { device: 5 } }));
  assert.equal(fieldsOf((await mint(one, 10))[0]).device, 5);
  await outcome(one, "gen.close()");
  await lease(one, fleet("named", { node: { tab: 1 } }));
  assert.equal(fieldsOf((await mint(one, 10))[0]).tab, 1);
});

test("a browser whose device was given away takes another one, and repeats nothing", async ({ tab, fleet }) => {
  const options = fleet("taken", { layout: String(DEVICES), maxAheadMs: 0 });
  const page = await tab();
  await lease(page, options);
  const before = await mint(page, 1000);
  const store = stores.get("taken");
  const { value, version } = await store.read("leases/fleet/0");
  // As another browser's claim would leave it.
  const other = value.slice();
  other[40] ^= 1;
  new DataView(other.buffer).setBigInt64(32, BigInt(Date.now() + 60_000), true);
  await store.write("leases/fleet/0", other, version);
  await until(page, "gen.node >= 8");
  const after = await mint(page, 1000);
  assert.equal(fieldsOf(before[0]).device, 0);
  assert.equal(fieldsOf(after[0]).device, 1);
  assert.equal(new Set([...before, ...after]).size, 2000);
  assert.equal(await page.evaluate(() => globalThis.lost), undefined);
});

test("while the fleet's store is away tabs mint to the end of the device's window, and go on when it is back", async ({
  tab,
  fleet,
}) => {
  const options = fleet("away", { maxAheadMs: 0, maxWaitMs: 1000 });
  const page = await tab();
  await lease(page, options);
  const { end } = await page.evaluate(() => globalThis.gen.window);
  away = true;
  try {
    await until(page, "(() => { try { gen.tryNextId(); return false } catch (e) { return e.code } })()");
    assert.ok(Date.now() >= end - 5);
    await until(page, "gen.status().renewalFailures > 0");
    for (const call of ["nextIdAsync", "nextId"]) {
      const { code, cause } = await outcome(page, `gen.${call}()`);
      assert.equal(code, "WINDOW_CLOSED");
      assert.match(cause, /away$/, "it says why it was not renewed");
    }
  } finally {
    away = false;
  }
  await until(page, "gen.nextIdAsync()");
  assert.equal((await mint(page, 100)).length, 100);
});

test(
  "a frame without an origin has no device, and is told why",
  async ({ context, server, fleet }) => {
    const page = await context.newPage();
    await page.goto(`${server.origin}/framed`);
    const frame = page.frames()[1];
    await until(frame, "globalThis.ready");
    unavailable(
      await outcome(frame, `lease(${JSON.stringify(fleet("framed"))})`),
      /Web Locks are refused.*use new Snowflake/,
      "INVALID_STORE",
    );
  },
  DRIVEN,
);

test("a tab that asks a store for the device without end keeps another one for its maxWaitMs only", async ({
  tab,
  server,
  fleet,
}) => {
  const [stuck, other] = [await tab(), await tab()];
  const since = Date.now();
  for (const maxWaitMs of [0, 300]) {
    const options = JSON.stringify(fleet("silent", { maxWaitMs }));
    await stuck.evaluate(`void lease(${options})`);
    await until(stuck, "navigator.locks.query().then(({ held }) => held.length)");
    const sentence = new RegExp(`^another tab .* ${server.origin}/silent .* within ${maxWaitMs} ms.*longer maxWaitMs`);
    unavailable(await outcome(other, `lease(${options})`), sentence);
  }
  assert.ok(Date.now() - since < 60_000);
});

test("a namespace of devices is not one of whole nodes", async ({ tab, fleet }) => {
  const page = await tab();
  await lease(page, fleet("mixed"));
  const layout = JSON.stringify({
    ...fleet("mixed"),
    layout: "unused:1,time:41,node:7,sequence:12;epoch=2025-01-01T00:00:00Z",
  });
  assert.equal((await outcome(page, `lease(${layout})`)).code, "INVALID_LAYOUT");
});

test("a browser has a device of its own at each of two stores, also if they are called the same", async ({
  tab,
  fleet,
}) => {
  for (const called of [undefined, "a store"]) {
    const [a, b] = [`a-${called}`, `b-${called}`].map((name) =>
      fleet(name.replace(" ", "-"), { called, maxWaitMs: 20_000 }),
    );
    // Whose records are older at the other store: a process has the first device there.
    const part = String(DEVICES).replace("tab:", "random:");
    const store = new MemoryStore();
    stores.set(b.url.split("/").at(-1), store);
    const process = await Snowflake.lease({ store, namespace: "fleet", layout: part, windowMs: 2000 });
    const [page, other] = [await tab(), await tab()];
    const at = (page, options, name) =>
      page.evaluate(([options, name]) => globalThis.lease(options, name), [options, name]);
    await at(page, a, "a");
    await at(page, b, "b");
    // A page that is new finds what that one has saved.
    await at(other, a, "a");
    await at(other, b, "b");
    const lists = { a: [], b: [], processes: [] };
    // Over a renewal.
    for (let round = 0; round < 2; round++, await sleep(600)) {
      for (const name of ["a", "b"])
        for (const each of [page, other])
          lists[name].push(await each.evaluate(([count, name]) => globalThis.mint(count, name), [500, name]));
      lists.processes.push(Array.from(process.nextIds(500), String));
    }
    const devices = (lists) => [...new Set(lists.flat().map((id) => fieldsOf(id).device))];
    assert.deepEqual(devices(lists.processes), [0]);
    assert.ok(!devices(lists.b).includes(0), "that of the process");
    // If the store's name decides, all tabs have the same name.
    if (!called) assert.deepEqual([devices(lists.a), devices(lists.b)], [[0], [1]]);
    assert.equal(new Set([...lists.b, ...lists.processes].flat()).size, 2 * 1500);
    await process.close();
    await page.close();
    await other.close();
  }
});
