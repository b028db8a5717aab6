// How generators behave, with the addon where there is one; without-addon.test.mjs runs this again without.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Layout, Snowflake, text } from "snowmint";
import { freshNode, increasing, refusal, slow } from "./support.mjs";

const NOW = 1_772_323_200_000;

/** A generator with a separate node, on a clock that the test sets. */
function scripted(options = {}) {
  const clock = { ms: NOW };
  return { clock, gen: new Snowflake({ node: freshNode(), maxWaitMs: 0, clock: () => clock.ms, ...options }) };
}

/** A clock that the test sets, and that counts who looks at it: a wait that sleeps looks seldom. */
const counted = (clock) => () => {
  clock.reads++;
  return clock.ms;
};

/** A generator with a separate node, on the system's clock, that waits as long as a busy machine takes. */
const patientOne = () => new Snowflake({ node: freshNode(), maxWaitMs: 20_000 });

test("IDs strictly increase over all ways to mint", () => {
  const gen = patientOne();
  const ids = [];
  for (let round = 0; round < 5000; round++) {
    ids.push(gen.nextId(), ...gen.nextIds(3), gen[Symbol.iterator]().next().value, ...gen.fill(new BigUint64Array(2)));
  }
  increasing(ids);
});

test("IDs tell their node and the time of their minting", () => {
  const gen = new Snowflake({ layout: "twitter", node: { datacenter: 3, worker: 9 } });
  const before = Date.now();
  const { node, fields, timestampMs } = gen.layout.decode(gen.nextId());
  assert.equal(node, 105);
  assert.equal(fields.datacenter, 3);
  assert.equal(fields.worker, 9);
  assert.ok(before <= timestampMs && timestampMs <= Date.now());
});

const clocks = {
  "the system's clock": { layout: slow(6) },
  "a frozen clock": { layout: "time:41,node:10,sequence:6;epoch=0", clock: () => NOW },
};
for (const [clockName, options] of Object.entries(clocks)) {
  const make = () => new Snowflake({ node: freshNode(), maxAheadMs: 0, maxWaitMs: 0, ...options });

  test(`a tick of ${clockName} holds exactly idsPerTick IDs`, () => {
    const gen = make();
    const ids = Array.from({ length: gen.layout.idsPerTick }, () => gen.tryNextId());
    increasing(ids);
    assert.equal(ids.length, 64);
    const { retryAfterMs, byMs, message } = refusal("EXHAUSTED", () => gen.tryNextId());
    assert.ok(retryAfterMs >= 1);
    assert.equal(byMs, undefined);
    assert.match(message, new RegExp(` ${retryAfterMs} ms`));
    refusal("EXHAUSTED", () => gen.nextId());
    refusal("EXHAUSTED", () => gen.nextIds(1));
  });

  test(`a batch that does not fit a tick of ${clockName} is refused whole and takes nothing`, () => {
    const gen = make();
    const first = gen.nextId();
    const ids = new BigUint64Array(64).fill(7n);
    refusal("EXHAUSTED", () => gen.fill(ids));
    assert.ok(ids.every((id) => id === 7n));
    refusal("EXHAUSTED", () => gen.nextIds(64));
    assert.equal(gen.layout.decode(gen.nextIds(63)[0]).sequence, gen.layout.decode(first).sequence + 1);
  });
}

test("maxAheadMs borrows from the future, so many ms and no more", () => {
  const { gen } = scripted({ layout: "time:41,node:10,sequence:2;epoch=0", maxAheadMs: 3 });
  const ids = Array.from({ length: 16 }, () => gen.tryNextId());
  increasing(ids);
  assert.equal(gen.layout.decode(ids.at(-1)).timestampMs, NOW + 3);
  assert.equal(refusal("EXHAUSTED", () => gen.tryNextId()).retryAfterMs, 1);
});

test("a clock that goes back is refused by how much, and one within maxAheadMs is outlived", () => {
  const node = freshNode();
  const clock = { ms: NOW };
  const read = () => clock.ms;
  const strict = new Snowflake({ node, maxWaitMs: 0, clock: read });
  const lenient = new Snowflake({ node, maxWaitMs: 0, maxAheadMs: 5000, clock: read });
  const before = strict.tryNextId();
  clock.ms -= 5000;
  const { byMs, retryAfterMs } = refusal("CLOCK_BACKWARDS", () => strict.tryNextId());
  assert.equal(byMs, 5000);
  assert.equal(retryAfterMs, undefined);
  assert.ok(lenient.tryNextId() > before);
  clock.ms -= 1;
  assert.equal(refusal("CLOCK_BACKWARDS", () => lenient.tryNextId()).byMs, 5001);
});

test("generators of one node share the state where one has run ahead of the system's clock", () => {
  // Two IDs a ms, so that a minute of them takes no time.
  const own = { layout: "time:41,node:10,sequence:1;epoch=2025-01-01T00:00:00Z", node: freshNode(), maxWaitMs: 0 };
  const ahead = new Snowflake({ ...own, maxAheadMs: 120_000 });
  const strict = new Snowflake(own);
  const last = ahead.nextIds(2 * 60_000).at(-1);
  const { byMs } = refusal("CLOCK_BACKWARDS", () => strict.tryNextId());
  assert.ok(byMs > 0 && byMs <= 60_000, `${byMs}`);
  assert.ok(ahead.tryNextId() > last);
});

test("a clock before the epoch is refused", () => {
  const { gen, clock } = scripted();
  clock.ms = Layout.preset("snowmint").epochMs - 1;
  refusal("BEFORE_EPOCH", () => gen.tryNextId());
  clock.ms++;
  assert.equal(gen.layout.decode(gen.tryNextId()).tick, 0n);
});

test("a layout that has ended is refused, when made where the clock is the system's and else when used", () => {
  const { message } = refusal("TIME_OVERFLOW", () => new Snowflake({ layout: "baidu", node: 1 }));
  assert.match(message, /after the layout's last tick, 2024-11-20T13:24:15.000Z/);
  const { gen } = scripted({ layout: "baidu" });
  refusal("TIME_OVERFLOW", () => gen.tryNextId());
});

test("nextId ends by its deadline where the clock stands still, and sleeps meanwhile", () => {
  const layout = "time:41,node:10,sequence:1;epoch=0";
  const clock = { ms: NOW, reads: 0 };
  const gen = new Snowflake({ node: freshNode(), maxWaitMs: 200, layout, clock: counted(clock) });
  gen.nextIds(2);
  const since = performance.now();
  const { retryAfterMs } = refusal("EXHAUSTED", () => gen.nextId());
  assert.ok(retryAfterMs >= 1);
  assert.ok(performance.now() - since >= 195);
  assert.ok(clock.reads < 1000, `${clock.reads} looks at the clock`);
});

test("the waits of a batch are at most maxWaitMs together, however slowly the clock runs", () => {
  const since = performance.now();
  const clock = () => NOW + Math.floor((performance.now() - since) / 200);
  const gen = new Snowflake({ node: freshNode(), maxWaitMs: 100, clock });
  refusal("EXHAUSTED", () => gen.nextIds(4096 * 50));
});

test("a batch that cannot be complete by the deadline is refused at once", () => {
  // If the call waited first, the run would end this test by its limit.
  const gen = new Snowflake({ layout: slow(4), node: freshNode(), maxWaitMs: 3_000_000 });
  refusal("EXHAUSTED", () => gen.nextIds(17));
});

test("nextId, nextIds and fill wait for ticks to come", () => {
  const layout = "time:41,node:10,sequence:2;epoch=1735689600000";
  // The default wait may be over on a busy machine.
  const gen = new Snowflake({ layout, node: freshNode(), maxWaitMs: 30_000 });
  const ids = [
    ...gen.nextIds(100),
    ...Array.from({ length: 40 }, () => gen.nextId()),
    ...gen.fill(new BigUint64Array(30)),
  ];
  assert.equal(ids.length, 170);
  increasing(ids);
});

test("nextIdAsync waits without blocking, and ends by its deadline", async () => {
  const node = freshNode();
  const make = (maxWaitMs, clock) =>
    new Snowflake({ layout: "time:41,node:10,sequence:1;epoch=0", node, maxWaitMs, clock });
  const clock = { ms: NOW, reads: 0 };
  const [patient, strict] = [30_000, 500].map((maxWaitMs) => make(maxWaitMs, counted(clock)));
  patient.nextIds(2);
  let turns = 0;
  const turning = setInterval(() => turns++, 1);
  setTimeout(() => clock.ms++, 50);
  const id = await patient.nextIdAsync();
  assert.equal(patient.layout.decode(id).timestampMs, NOW + 1);
  clearInterval(turning);
  assert.ok(turns > 0, `${turns}`);
  strict.nextIds(2);
  const since = performance.now();
  clock.reads = 0;
  await assert.rejects(strict.nextIdAsync(), { code: "EXHAUSTED" });
  assert.ok(performance.now() - since >= 495);
  assert.ok(clock.reads < 2500, `${clock.reads} looks at the clock`);
});

test("errors name options as they are called here", async () => {
  const layout = "time:41,node:10,sequence:1;epoch=2025-01-01T00:00:00Z;tick=1s";
  for (const clock of [undefined, () => NOW]) {
    const gen = new Snowflake({ layout, node: freshNode(), maxWaitMs: 0, clock });
    const { message } = refusal("EXHAUSTED", () => {
      for (;;) gen.nextId();
    });
    assert.match(message, /raise maxWaitMs or maxAheadMs$/);
  }
});

test("fill writes in place, and only where a view lets it", () => {
  const gen = patientOne();
  const ids = new BigUint64Array(10).fill(7n);
  const view = ids.subarray(3, 6);
  assert.equal(gen.fill(view), view);
  increasing(view);
  assert.ok(view.every((id) => id > 7n));
  assert.equal(ids.filter((id) => id === 7n).length, 7);
  const offset = new BigUint64Array(new ArrayBuffer(48), 16, 2);
  gen.fill(offset);
  assert.deepEqual(
    [...new BigUint64Array(offset.buffer)].map((id) => id > 0n),
    [false, false, true, true, false, false],
  );
});

test("fill takes arrays of every length and kind of memory, and nothing else", () => {
  const gen = patientOne();
  assert.equal(gen.fill(new BigUint64Array(0)).length, 0);
  increasing(gen.fill(new BigUint64Array(10_000)));
  const shared = new BigUint64Array(new SharedArrayBuffer(8 * 5000), 8, 4998);
  increasing(gen.fill(shared));
  assert.ok(shared.every((id) => id > 0n));
  assert.equal(new BigUint64Array(shared.buffer)[0], 0n);
  const growing = new BigUint64Array(new ArrayBuffer(80, { maxByteLength: 800 }));
  growing.buffer.resize(160);
  assert.ok(gen.fill(growing).every((id) => id > 0n) && growing.length === 20);
  const gone = new BigUint64Array(3);
  structuredClone(gone, { transfer: [gone.buffer] });
  assert.equal(gen.fill(gone).length, 0);
  for (const wrong of [undefined, null, 5, [1n], new BigInt64Array(3), new Float64Array(3), new ArrayBuffer(8), {}]) {
    assert.throws(() => gen.fill(wrong), TypeError);
  }
});

test("nextIds gives as many IDs as it was asked for", () => {
  const gen = patientOne();
  for (const count of [0, 1, 2, 4096, 5000, 20_000]) {
    const ids = gen.nextIds(count);
    assert.ok(ids instanceof BigUint64Array);
    assert.equal(ids.length, count);
    increasing(ids);
  }
});

test("fill takes arrays of subclasses", () => {
  const gen = patientOne();
  const other = Object.assign(new BigUint64Array(5), { subarray: () => new BigUint64Array(0) });
  const Species = class extends BigUint64Array {
    static get [Symbol.species]() {
      return Array;
    }
  };
  for (const ids of [other, new Species(5)]) {
    assert.equal(gen.fill(ids), ids);
    increasing(Array.from(ids));
    assert.ok(ids[0] > 0n);
  }
  assert.throws(() => gen.fill(Object.create(BigUint64Array.prototype)), TypeError);
});

test("a generator is an endless iterable", () => {
  const gen = patientOne();
  const ids = [];
  for (const id of gen) if (ids.push(id) === 5000) break;
  increasing(ids);
});

test("close ends one generator and leaves others of its node", async () => {
  const node = freshNode();
  const [one, other] = [new Snowflake({ node }), new Snowflake({ node })];
  const id = one.nextId();
  assert.equal(one.status().closed, false);
  await one.close();
  await one.close();
  assert.equal(one.status().closed, true);
  for (const call of [
    () => one.tryNextId(),
    () => one.nextId(),
    () => one.nextIds(1),
    () => one.fill(new BigUint64Array(1)),
  ]) {
    refusal("WINDOW_CLOSED", call);
  }
  await assert.rejects(one.nextIdAsync(), { code: "WINDOW_CLOSED" });
  assert.ok(other.nextId() > id);
  assert.ok(new Snowflake({ node }).nextId() > id);
});

test("generators of one node share a state, whatever the names of layout and fields", () => {
  const node = freshNode();
  const named = (name) => `time:20,${name}:20,sequence:4;epoch=1735689600000;tick=3600000s`;
  const generators = [named("rack"), named("shelf"), named("rack")].map(
    (layout) => new Snowflake({ layout, node, maxWaitMs: 0 }),
  );
  const ids = Array.from({ length: 16 }, (_, i) => generators[i % 3].tryNextId());
  increasing(ids);
  for (const gen of generators) refusal("EXHAUSTED", () => gen.tryNextId());
});

test("twitter and leaf, which make the same IDs, share the states of their nodes", () => {
  const node = freshNode();
  const [twitter, leaf] = ["twitter", "leaf"].map((layout) => new Snowflake({ layout, node, maxAheadMs: 60_000 }));
  const last = twitter.nextIds(4096 * 500).at(-1);
  assert.ok(leaf.nextId() > last);
});

test("generators of different options, but one node, share its state", () => {
  const node = freshNode();
  const make = (options) => new Snowflake({ layout: slow(8), node, maxWaitMs: 0, ...options });
  const generators = [make({}), make({ sequenceStart: "carry" }), make({ maxAheadMs: 1 }), make({ maxAheadMs: 0.5 })];
  increasing(Array.from({ length: 256 }, (_, i) => generators[i % 4].tryNextId()));
  refusal("EXHAUSTED", () => generators[3].tryNextId());
});

test("different nodes and different clocks share nothing", () => {
  const [node, clock] = [freshNode(), () => NOW];
  const make = (options) => new Snowflake({ maxWaitMs: 0, ...options });
  const once = make({ node, clock });
  assert.equal(once.tryNextId() + 1n, make({ node, clock }).tryNextId());
  assert.equal(make({ node, clock: () => NOW }).tryNextId() + 1n, once.tryNextId() - 1n);
  assert.notEqual(make({ node: freshNode(), clock }).tryNextId(), make({ node, clock }).tryNextId());
});

test("sequenceStart says where a tick begins", () => {
  const sequences = (sequenceStart) => {
    const { gen, clock } = scripted({ sequenceStart });
    return Array.from({ length: 40 }, () => {
      clock.ms++;
      return gen.layout.decode(gen.tryNextId()).sequence;
    });
  };
  assert.ok(sequences("zero").every((sequence) => sequence === 0));
  assert.deepEqual(sequences("carry").slice(0, 3), [0, 1, 2]);
  const random = sequences("random");
  assert.ok(random.every((sequence) => sequence < 2048) && new Set(random).size > 20);
  const system = new Snowflake({ layout: slow(20), node: freshNode(), sequenceStart: "random" });
  assert.notEqual(system.layout.decode(system.nextId()).sequence, 0);
});

test("what a caller's clock throws comes through unchanged", async () => {
  const boom = new Error("boom");
  const { gen } = scripted({
    maxWaitMs: 50,
    clock: () => {
      throw boom;
    },
  });
  const same = (error) => error === boom;
  for (const call of [
    () => gen.tryNextId(),
    () => gen.nextId(),
    () => gen.nextIds(3),
    () => gen.fill(new BigUint64Array(3)),
  ]) {
    assert.throws(call, same);
  }
  await assert.rejects(gen.nextIdAsync(), same);
});

test("a clock that gives no time is a TypeError", () => {
  for (const reading of [NaN, Infinity, -Infinity, undefined, null, "soon", 5n, {}]) {
    const { gen } = scripted({ clock: () => reading });
    assert.throws(() => gen.tryNextId(), TypeError, String(reading));
    assert.throws(() => gen.nextIds(2), TypeError, String(reading));
  }
});

test("the clock of a caller is read once a call, in fractions of ms too, and not before", () => {
  let reads = 0;
  const { gen } = scripted({ clock: () => NOW + 0.75 + reads++ });
  assert.equal(reads, 0);
  assert.equal(gen.layout.decode(gen.tryNextId()).timestampMs, NOW);
  assert.equal(gen.layout.decode(gen.nextIds(3)[0]).timestampMs, NOW + 1);
  assert.equal(reads, 2);
});

test("status tells what the generator is doing", () => {
  const node = freshNode();
  const layout = Layout.parse(slow(3));
  assert.deepEqual(new Snowflake({ layout, node, maxAheadMs: 12, maxWaitMs: 34 }).status(), {
    layout: slow(3),
    node,
    window: null,
    namespace: null,
    reserved: null,
    lost: null,
    skipped: [],
    renewalFailures: 0,
    renewalError: null,
    standbyRisk: null,
    skewMs: null,
    disorderMs: null,
    maxAheadMs: 12,
    maxWaitMs: 34,
    sequenceStart: "zero",
    closed: false,
  });
  const { maxAheadMs, maxWaitMs } = new Snowflake({ node }).status();
  assert.deepEqual([maxAheadMs, maxWaitMs], [0, 100]);
});

test("nextString and nextText give the next ID as text, and an unknown form takes no ID", () => {
  const { gen } = scripted();
  const ids = [BigInt(gen.nextString()), text.decode(gen.nextText("base62"), "base62")];
  refusal("INVALID_TEXT", () => gen.nextText("base61"));
  ids.push(gen.nextId());
  increasing(ids);
  assert.equal(ids[2] - ids[0], 2n);
});
