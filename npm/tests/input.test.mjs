// What callers may hand in by mistake: each is an error of a known kind, never a masked or rounded number.
import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import threads from "node:worker_threads";
import * as snowmint from "snowmint";
import { json, Layout, layouts, Snowflake, SnowmintError, scatter, text } from "snowmint";
import { increasing, refusal } from "./support.mjs";

const NO_INTEGER_TEXTS = ["abc", "", " 5", "5 ", "0x10", "1e3", "5.0", "--5"];
const NOT_INTEGERS = [2 ** 53, -(2 ** 53), 1.5, NaN, Infinity, true, ...NO_INTEGER_TEXTS];
const NOT_EVEN_NUMBERS = [null, {}, [], [5], () => 5, Symbol("5"), new Date()];
const HUGE = [10n ** 40n, -(10n ** 40n), 2n ** 64n, `1${"0".repeat(40)}`];

/** An error of that code, or a TypeError for a value that cannot be read as a number. */
function refused(code, value, call) {
  try {
    call();
  } catch (error) {
    if (!(error instanceof TypeError)) assert.equal(error.code, code, `${inspect(value)}: ${error.stack}`);
    return;
  }
  assert.fail(`${inspect(value)} was taken`);
}

test("an ID that is no 64-bit integer is INVALID_ID", () => {
  for (const id of [...NOT_INTEGERS, ...HUGE, -(2n ** 63n) - 1n]) {
    refusal("INVALID_ID", () => layouts.MASTODON.decode(id));
    refusal("INVALID_ID", () => text.encode(id, "hex"));
  }
  for (const id of [undefined, ...NOT_EVEN_NUMBERS]) {
    refused("INVALID_ID", id, () => layouts.MASTODON.decode(id));
    refused("INVALID_ID", id, () => text.encode(id, "hex"));
  }
});

test("a key of a state that the package keeps is not a layout", () => {
  const gen = new Snowflake({ node: 77, clock: () => 1_800_000_000_000 });
  gen.nextId();
  const versions = Object.values(threads[Symbol.for("snowmint")]);
  const kept = versions.flatMap((shared) => Object.values(shared)).filter((value) => value instanceof Map);
  const keys = kept.flatMap((map) => [...map.keys()]);
  assert.ok(keys.length > 0);
  for (const key of keys) refusal("INVALID_LAYOUT", () => Layout.parse(key));
});

test("what is no layout is refused with the presets and a text to go by", () => {
  for (const layout of ["Twitter", "twitter ", "", 5, {}, [], true]) {
    const { message } = refusal("INVALID_LAYOUT", () => new Snowflake({ layout, node: 5 }));
    assert.match(
      message,
      /^no such preset: choose snowmint, twitter, .* or write a layout such as time:41,node:10,/,
      inspect(layout),
    );
  }
});

test("Date.now as the clock is no clock of the caller's: generators share the state of the node", () => {
  const ids = [{}, { clock: Date.now }, {}].map((clock) => new Snowflake({ node: 78, ...clock }).nextId());
  increasing(ids);
  assert.equal(new Set(ids).size, 3);
});

test("an ID may be a bigint, a safe number, a decimal string or a signed 64-bit integer", () => {
  for (const id of [5n, 5, "5", "0005"]) assert.equal(layouts.SNOWMINT.decode(id).sequence, 5);
  assert.equal(layouts.MASTODON.decode(-1).sequence, 65_535);
  assert.equal(text.encode(-1n, "hex"), "ffffffffffffffff");
  refusal("INVALID_ID", () => layouts.SNOWMINT.decode(-1));
});

test("a node that the layout does not have is INVALID_NODE", () => {
  const of = (worker) => ({ datacenter: 1, worker });
  const fields = [{ worker: 1 }, { ...of(1), rack: 1 }, of(32), of(-1), of("x"), of(1.5), of(undefined), of(2 ** 53)];
  const texts = ["worker=1", "datacenter=0,worker=99", "datacenter=0;worker=1", "1024", "-1"];
  const numbers = [1024, 1024n, -1, 2n ** 32n, ...HUGE];
  for (const node of [...numbers, ...texts, ...fields, ...NOT_INTEGERS, ...NOT_EVEN_NUMBERS]) {
    refused("INVALID_NODE", node, () => new Snowflake({ layout: "twitter", node }));
    refused("INVALID_NODE", node, () => layouts.TWITTER.encode({ timestampMs: 1_772_323_200_000, node }));
  }
  assert.match(refusal("INVALID_NODE", () => new Snowflake({ node: 1024 })).message, /1024 .* 0 to 1023/);
});

test("a node may be a number, a bigint, text or fields", () => {
  const fields = [
    { datacenter: 1, worker: 5 },
    { worker: 5n, datacenter: "1" },
  ];
  for (const node of [37, 37n, "37", "datacenter=1,worker=5", ...fields]) {
    assert.equal(new Snowflake({ layout: "twitter", node }).node, 37, inspect(node));
  }
});

test("without a node, SNOWMINT_NODE counts; without either the error says so", (t) => {
  t.after(() => delete process.env.SNOWMINT_NODE);
  assert.match(refusal("INVALID_NODE", () => new Snowflake()).message, /SNOWMINT_NODE/);
  process.env.SNOWMINT_NODE = "37";
  assert.equal(new Snowflake().node, 37);
  assert.equal(new Snowflake({ node: 5 }).node, 5);
  process.env.SNOWMINT_NODE = "datacenter=1,worker=6";
  assert.equal(new Snowflake({ layout: "twitter" }).node, 38);
  for (const wrong of ["", "x", "-1", "5 ", "4096"]) {
    process.env.SNOWMINT_NODE = wrong;
    refusal("INVALID_NODE", () => new Snowflake());
  }
});

test("a layout that is none is INVALID_LAYOUT", () => {
  const names = ["", "?", "TWITTER", "twitter ", "nope", "x".repeat(5000)];
  const texts = ["time:41", "time:41;epoch=", "a:1;epoch=0", "time:65;epoch=0", "é:1", "time:4;epoch=0;".repeat(500)];
  for (const layout of [...names, ...texts]) {
    refusal("INVALID_LAYOUT", () => new Snowflake({ layout, node: 1 }));
    refusal("INVALID_LAYOUT", () => Layout.parse(layout));
    refusal("INVALID_LAYOUT", () => Layout.preset(layout));
  }
  refusal("INVALID_LAYOUT", () => Layout.parse("twitter"));
  refusal("INVALID_LAYOUT", () => Layout.preset("time:41,node:10,sequence:12;epoch=0"));
  for (const layout of [5, {}, [], true]) refused("INVALID_LAYOUT", layout, () => new Snowflake({ layout, node: 1 }));
  for (const layout of [undefined, 5, null, {}]) {
    refused("INVALID_LAYOUT", layout, () => Layout.parse(layout));
    refused("INVALID_LAYOUT", layout, () => Layout.preset(layout));
  }
});

test("a count that is none, or absurd, is INVALID_ID before any memory is taken", () => {
  const gen = new Snowflake({ node: 1 });
  const before = process.memoryUsage().arrayBuffers;
  for (const count of [-1, -1n, 2 ** 24 + 1, 2 ** 32, 2 ** 32 + 1, 2 ** 40, 2 ** 53 - 1, ...HUGE, ...NOT_INTEGERS]) {
    refusal("INVALID_ID", () => gen.nextIds(count));
  }
  for (const count of [undefined, ...NOT_EVEN_NUMBERS]) refused("INVALID_ID", count, () => gen.nextIds(count));
  assert.ok(process.memoryUsage().arrayBuffers - before < 1e6);
});

test("options that mean nothing are refused", () => {
  const make = (options) => () => new Snowflake({ node: 1, ...options });
  for (const sequenceStart of ["x", "", "ZERO", 0, null])
    assert.equal(refusal("INVALID_TEXT", make({ sequenceStart })).message, "sequenceStart is zero, random or carry");
  for (const name of ["maxAheadMs", "maxWaitMs"]) {
    for (const value of [-1, -Infinity, Infinity, 2 ** 64, NaN, "x", {}]) {
      const { message } = refusal("INVALID_ID", make({ [name]: value }));
      assert.equal(message, `${name} is a number of ms, 0 to 2^64-1`, inspect(value));
    }
    assert.equal(make({ [name]: 2 ** 60 })().status()[name], 2 ** 60);
    assert.equal(make({ [name]: undefined })().status()[name], name === "maxWaitMs" ? 100 : 0);
  }
  for (const clock of [5, "now", {}]) assert.throws(() => make({ clock })().tryNextId(), TypeError, inspect(clock));
});

test("a time that is none is refused, and one that the layout lacks is of a known kind", () => {
  for (const time of [undefined, null, NaN, Infinity, "2026-01-01", new Date(NaN), 5n, {}]) {
    assert.throws(() => layouts.TWITTER.idRange(time, 1_772_323_200_000), TypeError, inspect(time));
    if (time !== undefined)
      assert.throws(() => layouts.TWITTER.encode({ timestampMs: time }), TypeError, inspect(time));
  }
  assert.match(refusal("INVALID_ID", () => layouts.TWITTER.encode({ timestampMs: undefined })).message, /needs a time/);
  refusal("BEFORE_EPOCH", () => layouts.TWITTER.encode({ timestampMs: -Number.MAX_VALUE }));
  refusal("TIME_OVERFLOW", () => layouts.TWITTER.encode({ timestampMs: Number.MAX_VALUE }));
  for (const tick of [-1, -1n, -(2n ** 70n)]) refusal("BEFORE_EPOCH", () => layouts.TWITTER.encode({ tick }));
  for (const tick of [2n ** 41n, 2n ** 70n]) refusal("TIME_OVERFLOW", () => layouts.TWITTER.encode({ tick }));
  refusal("TIME_OVERFLOW", () => layouts.TWITTER.idRange(1_772_323_200_000, 1e300));
  refusal("BEFORE_EPOCH", () => layouts.TWITTER.idRange(new Date(0), new Date()));
});

test("parts that do not fit are refused, never masked", () => {
  const encode = (parts) => () => layouts.SNOWMINT.encode({ timestampMs: 1_772_323_200_000, ...parts });
  for (const sequence of [4096, -1, ...HUGE, ...NOT_INTEGERS]) refusal("INVALID_ID", encode({ sequence }));
  for (const random of [1, -1]) refusal("INVALID_ID", encode({ random }));
  for (const tick of [2n ** 41n, 10n ** 40n, -1n, 2n ** 64n]) {
    assert.throws(() => layouts.SNOWMINT.encode({ tick }), { name: "SnowmintError" }, inspect(tick));
  }
});

test("encode takes a part from its field, and refuses a field that contradicts its part", () => {
  const { TWITTER, SNOWMINT } = layouts;
  const id = 1541815603606036480n + 5n;
  const { timestampMs, fields, tick } = TWITTER.decode(id);
  assert.deepEqual(fields, { time: Number(tick), datacenter: 11, worker: 26, sequence: 5 });
  assert.equal(TWITTER.encode({ timestampMs, fields: { datacenter: 11, worker: 26 }, sequence: 5 }), id);
  assert.equal(TWITTER.encode({ fields }), id);
  assert.equal(TWITTER.encode({ tick, node: 378, fields: { sequence: 5n } }), id);
  for (const other of [{ node: 7 }, { sequence: 1 }, { tick: tick + 1n }, { timestampMs: timestampMs + 9 }])
    assert.match(
      refusal("INVALID_ID", () => TWITTER.encode({ ...TWITTER.decode(id), ...other })).message,
      /given twice, with different values/,
    );
  assert.equal(TWITTER.encode({ timestampMs, tick, node: "datacenter=11,worker=26", fields }), id);
  for (const node of ["5\n", "5\ns7", "5\n7"]) refusal("INVALID_NODE", () => SNOWMINT.encode({ tick, node }));
  for (const wrong of [
    { worker: 5 },
    { datacenter: 1, worker: 32 },
    { datacenter: 1, worker: 5, rack: 1 },
    { node: 5 },
  ])
    refusal("INVALID_NODE", () => TWITTER.encode({ timestampMs, fields: wrong }));
  assert.equal(SNOWMINT.decode(SNOWMINT.encode({ timestampMs: 1_772_323_200_000, fields: { node: 5 } })).node, 5);
});

test("a part of another name is refused, and told what was meant", () => {
  const encode = (parts) => () => layouts.TWITTER.encode({ timestampMs: 1_772_323_200_000, ...parts });
  assert.throws(encode({ timestamp_ms: 5 }), {
    name: "TypeError",
    message: /no part timestamp_ms: did you mean timestampMs\?/,
  });
  assert.throws(encode({ worker: 5 }), {
    name: "TypeError",
    message: /encode has no part worker: its parts are timestampMs, /,
  });
  for (const value of [undefined, null, 5, "5"]) assert.throws(() => layouts.TWITTER.encode(value), TypeError);
});

test("a text that is none is INVALID_TEXT, and an unknown form is an error", () => {
  for (const wrong of ["", "x", "é".repeat(16), "0".repeat(15), "0".repeat(17), "g".repeat(16), "f".repeat(2000)]) {
    refusal("INVALID_TEXT", () => text.decode(wrong, "hex"));
  }
  // The error states the length of long texts.
  for (const [long, length] of [
    ["a".repeat(5000), 5000],
    ["ä".repeat(600), 600],
  ])
    assert.match(refusal("INVALID_TEXT", () => text.decode(long, "base62")).message, new RegExp(`, not ${length}$`));
  for (const wrong of [undefined, null, 5, {}, []]) refused("INVALID_TEXT", wrong, () => text.decode(wrong, "hex"));
  for (const form of ["HEX", "", undefined, "base64", 1, "toString"]) {
    assert.throws(() => text.encode(5n, form), { message: /form|INVALID/i }, inspect(form));
    assert.throws(() => text.decode("0".repeat(16), form), { message: /form|INVALID/i }, inspect(form));
  }
});

test("what cannot be scattered is INVALID_ID", () => {
  const functions = Object.values(scatter);
  assert.equal(functions.length, 5);
  for (const call of functions) {
    for (const id of [-1, 2n ** 63n, ...HUGE, ...NOT_INTEGERS]) refusal("INVALID_ID", () => call(id, 0));
    for (const id of [undefined, ...NOT_EVEN_NUMBERS]) refused("INVALID_ID", id, () => call(id, 0));
    if (call === scatter.reverseBits) continue;
    for (const by of [-1, 64, 2 ** 32, ...HUGE, ...NOT_INTEGERS]) refusal("INVALID_ID", () => call(12345, by));
    for (const by of [undefined, ...NOT_EVEN_NUMBERS]) refused("INVALID_ID", by, () => call(12345, by));
  }
  const sentence = (call) => refusal("INVALID_ID", call).message;
  assert.equal(
    sentence(() => scatter.rotateDigits(12345, 5)),
    "cannot move more than 4 digits of a 5-digit ID",
  );
  assert.equal(
    sentence(() => scatter.rotateDigits(2n ** 63n - 1n, 1)),
    "the result 9722337203685477580 is above 2^63-1",
  );
  assert.equal(
    sentence(() => scatter.reverseBits(2n ** 63n)),
    "ID 9223372036854775808 cannot be scattered: it is above 2^63-1",
  );
  assert.equal(
    sentence(() => scatter.shardHigh(5, 64)),
    "a shard number has 0 to 63 bits",
  );
});

test("an ID to scatter may be a bigint, a safe number or a decimal string", () => {
  for (const id of [1234567, 1234567n, "1234567"]) assert.equal(scatter.rotateDigits(id, 2n), 1672345n);
});

test("of garbage inspect makes an empty list, and what is no text and no integer is refused", () => {
  const garbage = ["", " ", "garbage", "1".repeat(21), "é", "x".repeat(5000), "0".repeat(1025), "\0", "0x", "--5"];
  for (const value of garbage) assert.deepEqual(snowmint.inspect(value), [], inspect(value));
  for (const value of [2n ** 64n, -(2n ** 63n) - 1n, 10n ** 40n]) assert.deepEqual(snowmint.inspect(value), []);
  for (const value of [2 ** 53, 1.5, NaN, Infinity, true]) refusal("INVALID_ID", () => snowmint.inspect(value));
  for (const value of [undefined, ...NOT_EVEN_NUMBERS]) refused("INVALID_ID", value, () => snowmint.inspect(value));
  for (const now of [NaN, "2026-11-01", 5n, new Date(NaN)]) {
    assert.throws(() => snowmint.inspect(5n, { now }), TypeError, inspect(now));
  }
});

test("inspect tells of a tweet what it would be, when and why", () => {
  const [first, ...others] = snowmint.inspect("1541815603606036480", { now: new Date(1_790_000_000_000) });
  assert.deepEqual(first, {
    kind: "snowflake",
    layout: "twitter",
    layoutText: String(layouts.TWITTER),
    parts: layouts.TWITTER.decode("1541815603606036480"),
    form: "decimal",
    timestampMs: 1_656_432_460_105,
    timestampUs: 1_656_432_460_105_000,
    timestamp: new Date(1_656_432_460_105),
    confidence: "high",
    plausible: true,
    reason: "time 2022-06-28, 4.2 years before now; sequence 0",
  });
  assert.ok(others.some(({ plausible, reason }) => !plausible && reason.startsWith("unlikely")));
  const [uuid] = snowmint.inspect("{8C45583A-0E1F-11EC-804D-005056219395}");
  assert.deepEqual([uuid.kind, uuid.form, uuid.layout, uuid.parts], ["uuid1", "uuid_braces", null, null]);
  const [random] = snowmint.inspect("f47ac10b-58cc-4372-a567-0e02b2c3d479");
  assert.deepEqual([random.kind, random.timestampMs, random.timestamp], ["uuid4", null, null]);
  assert.equal(snowmint.inspect(1541815603606036480n)[0].form, "integer");
  const id = new Snowflake({ node: 5 }).nextId();
  assert.equal(snowmint.inspect(id)[0].layout, "snowmint");
  assert.equal(snowmint.inspect(text.encode(id, "base62"))[0].layout, "snowmint");
});

test("JSON has IDs as strings, wherever they stand, and the rest as ever", () => {
  const ids = new BigUint64Array([1n, 2n ** 64n - 1n]);
  const row = { id: 2n ** 63n, ids, list: [5n, 5, "5", null], at: new Date(0) };
  const told = `{"id":"9223372036854775808","ids":["1","18446744073709551615"],"list":["5",5,"5",null],"at":"1970-01-01T00:00:00.000Z"}`;
  assert.equal(json.stringify(row), told);
  assert.equal(JSON.stringify(row, json.replacer), told);
  assert.equal(json.stringify({ id: 1n }, 1), '{\n "id": "1"\n}');
  const read = JSON.parse('{"id":"1541815603606036480","ids":["1","-2"],"name":"5"}', json.reviver("id", "ids"));
  assert.deepEqual(read, { id: 1541815603606036480n, ids: [1n, -2n], name: "5" });
  assert.deepEqual(JSON.parse('{"id":"","ids":[null]}', json.reviver("id", "ids")), { id: "", ids: [null] });
});

test("a number that JSON has rounded is refused under a named key, and exact where its digits are known", () => {
  const text = '{"id":1541815603606036481,"ids":[[-9007199254740993],2],"other":1541815603606036481}';
  const passesText = JSON.parse("1", (_key, _value, context) => context?.source === "1");
  const revive = () => JSON.parse(text, json.reviver("id", "ids"));
  if (passesText) {
    assert.deepEqual(revive(), {
      id: 1541815603606036481n,
      ids: [[-9007199254740993n], 2],
      other: 1541815603606036500,
    });
  } else {
    assert.throws(revive, (error) => {
      assert.equal(error.code, "INVALID_ID");
      assert.equal(
        error.message,
        'the number 1541815603606036500 under "id" is beyond 2^53 and has lost digits: the sender has to write IDs as strings',
      );
      return true;
    });
  }
  // Some engines pass the source text to the reviver, others do not.
  const [reviver, rounded, list] = [json.reviver("id"), 1541815603606036500, [1541815603606036500, 5]];
  assert.equal(reviver.call({}, "id", rounded, { source: "1541815603606036481" }), 1541815603606036481n);
  reviver.call(list, "0", rounded, { source: "1541815603606036481" });
  assert.deepEqual(reviver.call({}, "id", list, {}), [1541815603606036481n, 5]);
  for (const [value, source] of [[1e20, "1e20"], [rounded, undefined], [[rounded], undefined]]) // biome-ignore format: a table
    assert.throws(() => reviver.call({}, "id", value, { source }), { code: "INVALID_ID" });
  for (const value of [5, 1.5, 2 ** 53 - 1, -(2 ** 53) + 1, true, null])
    assert.equal(reviver.call({}, "id", value, { source: String(value) }), value);
  assert.equal(reviver.call({}, "other", rounded), rounded);
});

test("a text takes its form before its ID, once the ID is an integer", () => {
  for (const id of [-(2n ** 64n), 2n ** 65n, "1".repeat(99)])
    assert.throws(() => text.encode(id, "base99"), { code: "INVALID_TEXT" });
  for (const id of [1541815603606036500, "x"]) assert.throws(() => text.encode(id, "base99"), { code: "INVALID_ID" });
});

test("a layout of 53 bits mints numbers too, and a wider one says so", () => {
  const gen = new Snowflake({ layout: "safe53", node: 5 });
  const numbers = Array.from({ length: 1000 }, () => gen.nextNumber());
  increasing(numbers);
  assert.ok(numbers.every(Number.isSafeInteger));
  assert.equal(gen.layout.decode(numbers[0]).node, 5);
  assert.match(refusal("INVALID_LAYOUT", () => new Snowflake({ node: 2 }).nextNumber()).message, /53 bits.*safe53/);
});

test("the package still mints after all of this, and its errors are its own", () => {
  const error = refusal("INVALID_NODE", () => new Snowflake({ node: -1 }));
  assert.ok(error instanceof SnowmintError && error instanceof Error);
  assert.ok(new Snowflake({ node: 1 }).nextId() > 0n);
});
