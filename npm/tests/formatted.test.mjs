// Formatted numbers: texts with the numbers of a sequence.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Formatted, Sequences } from "snowmint/numbers";
import { MemoryStore } from "snowmint/stores";
import { fresh, increasing, refusal } from "./asserting.mjs";
import { killed, PLACES, passing, refused, WAIT } from "./number-places.mjs";

/** 2026-11-27T12:00:00Z. */
const NOON_MS = 1_795_780_800_000;

/** A store in memory with a clock. */
function clocked(clockMs) {
  const store = new MemoryStore();
  return Object.assign(store, { clockMs: async () => clockMs() });
}

const inYears = (store, options) =>
  new Formatted(new Sequences(store, WAIT).sequence("invoices"), "INV-{yyyy}-{000}", { period: "year", ...options });

describe("formatted numbers over every store", { concurrency: 4 }, () => {
  for (const kind of ["better-sqlite3", "pg"])
    test(`two objects share the numbers of a period, over ${kind}`, async (t) => {
      const at = await PLACES[kind](t);
      const name = fresh();
      const open = async () =>
        new Formatted(new Sequences(await at.store(), WAIT).sequence(name), "RE{yyyy}{MM}-{0000}{luhn}", {
          period: "month",
        });
      const [first, second] = [await open(), await open()];
      const texts = [];
      for (let i = 0; i < 6; i++) texts.push(await (i % 2 ? first : second).next());
      const readings = texts.map((text) => first.parse(text));
      // The month may end during the test.
      const months = new Set(readings.map(({ period }) => period));
      assert.ok(months.size < 3 && [...months].every((month) => /^\d{4}-\d\d$/.test(month)), `${texts}`);
      if (months.size === 1) assert.equal(`${readings.map(({ number }) => number)}`, "1,2,3,4,5,6");
    });

  test("processes that are killed repeat no text", async (t) => {
    for (const numbers of await killed(t, "better-sqlite3", await PLACES["better-sqlite3"](t), "Formatted"))
      increasing(numbers);
  });
});

test("each period has a sequence of its own", async () => {
  let nowMs = NOON_MS;
  const store = clocked(() => nowMs);
  const first = inYears(store);
  assert.deepEqual([await first.next(), await first.next()], ["INV-2026-001", "INV-2026-002"]);
  nowMs -= 365 * 86_400_000;
  // A new object asks for the clock again.
  const second = inYears(store);
  assert.equal(await second.next(), "INV-2025-001");
  assert.equal(await first.next(), "INV-2026-003");
  assert.ok(await store.read("definitions/invoices%402026"));
  assert.equal(await new Sequences(store).next("invoices@2025"), 2n);
});

test("the time is never later than the clock of the store", async () => {
  assert.equal(await inYears(clocked(() => 0)).next(), "INV-1970-001");
  const ahead = await inYears(clocked(() => Date.now() + 400 * 86_400_000)).next();
  assert.equal(ahead.slice(4, 8), String(new Date().getUTCFullYear()));
});

test("another clock can be given", async () => {
  let nowMs = NOON_MS;
  const texts = inYears(new MemoryStore(), { clock: () => nowMs });
  assert.equal(await texts.next(), "INV-2026-001");
  nowMs -= 365 * 86_400_000;
  assert.equal(await texts.next(), "INV-2025-001");
  nowMs = NaN;
  await assert.rejects(texts.next(), TypeError);
  assert.throws(() => inYears(new MemoryStore(), { clock: 5 }), TypeError);
});

test("without its clock a store gives no text that shows a date", async () => {
  const store = passing(new MemoryStore());
  store.clockMs = async () => {
    throw new Error("no route");
  };
  await refused("STORE_UNAVAILABLE", () => inYears(store).next());
  assert.equal(await new Formatted(new Sequences(store).sequence("a"), "{000}").next(), "001");
});

test("without a period the sequence keeps its own definition", async () => {
  const session = new Sequences(new MemoryStore());
  await session.create("articles", { start: 100, increment: 10 });
  const articles = new Formatted(session.sequence("articles"), "A-{0000}", { start: 7 });
  assert.deepEqual([await articles.next(), await articles.next()], ["A-0100", "A-0110"]);
  const others = new Formatted(session.sequence("others"), "A-{0000}", { start: 7, increment: 2n });
  assert.deepEqual([await others.next(), await others.next()], ["A-0007", "A-0009"]);
  assert.equal(await session.current("others"), 9n);
});

test("a number with too many digits is refused, or the text grows", async () => {
  const session = new Sequences(new MemoryStore());
  const [short, long] = ["error", "grow"].map(
    (overflow) => new Formatted(session.sequence("articles"), "A{0}", { overflow, start: 9 }),
  );
  assert.equal(await short.next(), "A9");
  await refused("EXHAUSTED", () => short.next());
  assert.equal(await long.next(), "A11");
});

test("a sequence that cycles would repeat texts", async () => {
  const session = new Sequences(new MemoryStore());
  await session.create("round", { max: 3, cycle: true });
  await refused("INVALID_ID", () => new Formatted(session.sequence("round"), "{000}").next());
});

test("calls at once get different texts", async () => {
  const texts = inYears(clocked(() => NOON_MS));
  const taken = await Promise.all(Array.from({ length: 200 }, () => texts.next()));
  assert.equal(new Set(taken).size, 200);
});

test("a text is read back, and others are refused", () => {
  const texts = inYears(new MemoryStore(), { zone: "+01:00" });
  const { number, period, year, month, day, hour } = texts.parse("INV-2026-042");
  assert.deepEqual([number, period, year, month, day, hour], [42n, "2026", 2026, undefined, undefined, undefined]);
  for (const wrong of ["", "INV-2026-42", "INV-2026-0042", "inv-2026-042"])
    refusal("INVALID_TEXT", () => texts.parse(wrong));
  for (const wrong of [undefined, 5]) assert.throws(() => texts.parse(wrong), TypeError);
  // 2026-12-31T23:30:00Z, which is in 2027 one hour to the east.
  assert.equal(texts.format(42, new Date(1_798_759_800_000)), "INV-2027-042");
});

test("a handle is the sequence of its session", async () => {
  const session = new Sequences(new MemoryStore());
  const orders = session.sequence("orders");
  assert.equal(await orders.next(), 1n);
  assert.deepEqual([await orders.current(), await session.current("orders")], [1n, 1n]);
  assert.equal(await orders.set(41), 41n);
  assert.deepEqual([await session.next("orders"), orders.name], [42n, "orders"]);
  assert.throws(() => session.sequence(5), TypeError);
  refusal("INVALID_TEXT", () => session.sequence(""));
});

test("wrong arguments are refused with types", () => {
  const orders = new Sequences(new MemoryStore()).sequence("orders");
  for (const wrong of [undefined, {}, "orders", new Sequences(new MemoryStore())])
    assert.throws(() => new Formatted(wrong, "{000}"), /TypeError.*takes a sequence/);
  for (const wrong of [undefined, 5]) assert.throws(() => new Formatted(orders, wrong), TypeError);
  assert.throws(() => new Formatted(orders, "{000}", { step: 1 }), TypeError);
  for (const options of [{ period: "week" }, { zone: "Europe/Berlin" }, { overflow: "cut" }, { period: "year" }])
    refusal("INVALID_TEXT", () => new Formatted(orders, "{000}", options));
  for (const options of [{ start: -1 }, { increment: 0 }, { start: 1.5 }])
    refusal("INVALID_ID", () => new Formatted(orders, "{000}", options));
  const long = new Sequences(new MemoryStore()).sequence("i".repeat(124));
  refusal("INVALID_TEXT", () => new Formatted(long, "{yyyy}{000}", { period: "year" }));
});
