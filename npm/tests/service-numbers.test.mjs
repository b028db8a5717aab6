// Numbers of a real service over HTTP: from this process, and from pages of Chromium.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { Formatted, Segments, Sequences, Tickets, users } from "snowmint/numbers";
import { fresh, increasing, refusal, until } from "./asserting.mjs";
import { launch, missing, serve } from "./chromium.mjs";
import { refused, WAIT } from "./number-places.mjs";
import { start } from "./servers.mjs";
import { HttpStore, MemoryStore } from "./stores.mjs";
import { folder } from "./support.mjs";

const upTo = (count) => Array.from({ length: count }, (_, i) => BigInt(i + 1));

let pages;
/** The service of all tests that leave it alone. */
let service;
before(async () => {
  const body = '<!doctype html><title>page</title><script type="module">globalThis.ready = true;</script>';
  pages = await serve({ "/": ["text/html", body] });
  service = await start("service", { options: ["--allow-origin", pages.origin] });
});
after(async () => {
  pages.close();
  await service.stop();
});

const store = (options, { url } = service) => new HttpStore(url, { timeoutMs: 60_000, ...options });

/** A service with the tag `orders`, which only operators make. */
async function serviceWithTag(t) {
  const program = process.env.SNOWMINT_SERVER ?? new URL("../../target/debug/snowmint", import.meta.url).pathname;
  const url = `sqlite:${join(folder(t), "ids.db")}`;
  execFileSync(program, ["segment", "create", "orders", "--store", url]);
  const words = ["serve", "--http", "127.0.0.1:0", "--redis", "127.0.0.1:0", "--store", url, "--max-wait-ms", "20000"];
  const child = spawn(program, [...words, "--allow-origin", pages.origin], { stdio: ["ignore", "pipe", "pipe"] });
  t.after(() => child.kill());
  let said = "";
  const place = () => /http="([\d.:]+)"/.exec(said)?.[1];
  for (const output of [child.stdout, child.stderr])
    output.on("data", (chunk) => {
      said += chunk;
    });
  await until(place, "the service");
  return { url: `http://${place()}` };
}

/** A store that notes its requests. `lost` names the requests whose answers are lost, as by a connection that breaks. */
function watched(lost = () => false) {
  const sent = [];
  const get = async (url, init) => {
    const path = new URL(url).pathname;
    sent.push(`${init.method} ${path}`);
    const answer = await fetch(url, init);
    if (lost(path, sent.length)) throw new Error("the connection broke");
    return answer;
  };
  return { sent, store: store({ fetch: get }) };
}

/** A store of a service that gives this answer. */
const answering = (status, answer) =>
  store({ fetch: async () => ({ status, ok: status < 300, text: async () => JSON.stringify(answer) }) });

describe("numbers of a service", { concurrency: 4 }, () => {
  test("segments of a tag that the service has", async (t) => {
    const over = store({}, await serviceWithTag(t));
    const [first, second] = [new Segments(over, "orders", WAIT), new Segments(over, "orders", WAIT)];
    const taken = await Promise.all(Array.from({ length: 3000 }, (_, i) => (i % 2 ? first : second).next()));
    assert.equal(new Set(taken).size, 3000);
    const { start, end } = await first.nextBlock(500_000);
    assert.equal(end - start, 500_000n);
    assert.ok(!taken.some((number) => number >= start && number < end));
    assert.equal(await first.close(), 0n);
    await assert.rejects(new Segments(over, fresh(), WAIT).next(), {
      code: "INVALID_TEXT",
      message: /there is no segment tag .*create it/,
    });
  });

  test("sequences with the session of each object", async () => {
    const name = fresh();
    const [first, second] = [new Sequences(store(), WAIT), new Sequences(store(), WAIT)];
    assert.deepEqual(
      [
        await first.create(name, { start: 10n, increment: 5, max: 100, dialect: "mariadb" }),
        await first.create(name, { start: 10n, increment: 5, max: 100, dialect: "mariadb" }),
        await second.create(name),
      ],
      [true, false, false],
    );
    await refused("INVALID_ID", () => first.last());
    assert.deepEqual([await first.next(name), await second.next(name)], [10n, 15n]);
    assert.deepEqual([await first.current(name), await first.last(), await second.last()], [10n, 10n, 15n]);
    assert.equal(await first.set(name, 50), 50n);
    // MariaDB ignores a set back.
    assert.equal(await first.set(name, 20), null);
    assert.ok((await second.next(name)) > 50n);
    await refused("EXHAUSTED", async () => {
      for (;;) await first.next(name);
    });
    await refused("INVALID_ID", () => first.create(fresh(), { increment: 0 }));
    await refused("INVALID_TEXT", () => first.next("a\n"));
    await refused("INVALID_TEXT", () => first.next("x".repeat(129)));
    assert.equal(await first.next("ä/b c"), 1n);
  });

  test("calls at once share requests, in their order", async () => {
    const { sent, store } = watched();
    const session = new Sequences(store, WAIT);
    const name = fresh();
    assert.deepEqual(await Promise.all(upTo(1500).map(() => session.next(name))), upTo(1500));
    const tickets = new Tickets(store, name, WAIT);
    assert.deepEqual(await Promise.all(upTo(2500).map(() => tickets.next())), upTo(2500));
    // The first call goes alone, and no answer has more than 1000 numbers.
    assert.equal(sent.length, 3 + 4);
  });

  test("lost answers skip numbers and repeat none, and a set is sent once", async () => {
    const name = fresh();
    const { store } = watched((_, count) => count % 3 === 1);
    const [session, tickets, messages] = [
      new Sequences(store, WAIT),
      new Tickets(store, name, WAIT),
      users(store, name, WAIT),
    ];
    for (const take of [() => session.next(name), () => tickets.next(), () => messages.next(7)]) {
      const taken = [];
      for (let i = 0; i < 10; i++) taken.push(await take());
      increasing(taken);
    }
    const setting = watched((path) => path.endsWith("/set"));
    await refused("STORE_UNAVAILABLE", () => new Sequences(setting.store, WAIT).set(name, 1000));
    assert.equal(setting.sent.length, 1);
  });

  test("numbers increase over kills of the service", async (t) => {
    const own = await start("service");
    t.after(() => own.stop());
    const name = fresh();
    const over = store({}, own);
    const [session, tickets] = [new Sequences(over, WAIT), new Tickets(over, name, WAIT)];
    const texts = new Formatted(session.sequence(`${name}-texts`), "{yyyy}-{000}", { period: "year" });
    const [values, taken, numbers] = [[], [], []];
    for (let round = 0; round < 3; round++) {
      const take = async () => {
        for (let i = 0; i < 5; i++) {
          values.push(await session.next(name));
          taken.push(await tickets.next());
          numbers.push(texts.parse(await texts.next()).number);
        }
      };
      await take();
      await own.kill();
      await refused("STORE_UNAVAILABLE", () => session.next(name));
      await own.restart();
    }
    for (const each of [values, taken, numbers]) {
      assert.equal(each.length, 15);
      increasing(each);
    }
  });

  test("formatted numbers with the service's sequences and clock", async () => {
    const name = fresh();
    const { sent, store } = watched();
    const session = new Sequences(store, WAIT);
    const texts = new Formatted(session.sequence(name), "INV-{yyyy}-{000}", { period: "year" });
    const year = new Date().getUTCFullYear();
    assert.deepEqual([await texts.next(), await texts.next()], [`INV-${year}-001`, `INV-${year}-002`]);
    const path = `/v1/sequences/${name}%40${year}`;
    assert.deepEqual(sent, ["GET /v1/status", `GET ${path}`, `POST ${path}/next`, `POST ${path}/next`]);
    const tens = new Formatted(session.sequence(`${name}-tens`), "{000}", { start: 100, increment: 10 });
    assert.deepEqual([await tens.next(), await tens.next()], ["100", "110"]);
    await session.create(`${name}-round`, { max: 3, cycle: true });
    await refused("INVALID_ID", () => new Formatted(session.sequence(`${name}-round`), "{000}").next());
  });

  test("users are in the service's sections", async () => {
    const set = fresh();
    const [first, second] = [users(store(), set, WAIT), users(store(), set, WAIT)];
    assert.deepEqual([await first.next(7), await second.next(7), await first.next(8n)], [1n, 2n, 1n]);
    assert.equal(await first.next(2n ** 64n - 1n), 1n);
    for (const wrong of [-1, 2n ** 64n]) await refused("INVALID_ID", () => first.next(wrong));
    await first.close();
    await refused("WINDOW_CLOSED", () => first.next(7));
    for (const options of [{ size: 5 }, { step: 5 }, { windowMs: 5000 }, { label: "a" }])
      assert.throws(() => users(store(), set, options), TypeError);
    const problem = { code: "WRONG_SERVER", detail: "user 7 is served by http://b:8080", server: "http://b:8080" };
    await assert.rejects(users(answering(421, problem)).next(7), {
      code: "STORE_UNAVAILABLE",
      message: /served by http:\/\/b:8080/,
    });
  });

  test("a service has several stores of tickets itself", () => {
    for (const stores of [
      [store(), store()],
      [store(), new MemoryStore()],
    ])
      assert.throws(() => new Tickets(stores, "photos"), /TypeError.*HttpStore alone/);
    refusal("INVALID_TEXT", () => new Tickets(store(), ""));
  });

  test("answers that no service of snowmint gives are refused", async () => {
    const odd = [{}, { ids: ["1", "2"] }, { ids: [1] }, { id: "1.5", ids: ["x"], start: "1", end: "5" }];
    for (const answer of odd) {
      const over = answering(200, answer);
      const calls = [
        () => new Segments(over, "orders").next(),
        () => new Sequences(over).next("orders"),
        () => new Tickets(over, "photos").next(),
        () => users(over).next(7),
        () => new Formatted(new Sequences(over).sequence("a"), "{yyyy}{0}").next(),
      ];
      for (const call of calls)
        await assert.rejects(call, { code: "STORE_UNAVAILABLE", message: /not an answer|snowmint/ });
    }
  });

  test("a page takes segments, sequences and ranges by name", { skip: missing, timeout: 240_000 }, async (t) => {
    const browser = await launch();
    t.after(() => browser.close());
    const page = await browser.newPage();
    await page.goto(pages.origin);
    await page.waitForFunction("globalThis.ready");
    const { url } = await serviceWithTag(t);
    const taken = await page.evaluate(async (url) => {
      const { HttpStore } = await import("/npm/dist/stores.browser.mjs");
      const { Formatted, Segments, Sequences, sequence } = await import("/npm/dist/numbers.browser.mjs");
      const store = new HttpStore(url);
      const orders = new Segments(store, "orders", { maxWaitMs: 20_000 });
      const session = new Sequences(store, { maxWaitMs: 20_000 });
      const texts = new Formatted(session.sequence("invoices"), "A-{000}");
      const segments = await Promise.all(Array.from({ length: 100 }, () => orders.next()));
      const values = [await session.next("invoices"), await session.next("invoices"), await session.last()];
      const text = await texts.next();
      const refused = await new Segments(store, "missing").next().catch(({ code }) => code);
      const range = [...sequence.virtual("seq_1_to_15_step_3")].join();
      return { segments: segments.map(String), values: values.map(String), text, refused, range };
    }, url);
    assert.equal(new Set(taken.segments).size, 100);
    assert.equal(taken.range, "1,4,7,10,13");
    assert.deepEqual([taken.values, taken.text, taken.refused], [["1", "2", "2"], "A-003", "INVALID_TEXT"]);
    const outside = await new Segments(store({}, { url }), "orders", WAIT).next();
    assert.ok(!taken.segments.includes(String(outside)));
  });
});
