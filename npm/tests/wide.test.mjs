// UUIDs, ULIDs and ObjectIds: unique across realms, in order under any clock, strict about arguments.
import assert from "node:assert/strict";
import { fork } from "node:child_process";
import cluster from "node:cluster";
import { createHash, webcrypto } from "node:crypto";
import { once } from "node:events";
import { createRequire } from "node:module";
import { test } from "node:test";
import { inspect } from "node:util";
import { Worker } from "node:worker_threads";
import { inspect as candidatesOf, objectId, ulid, uuid } from "snowmint";
import { exitOf, increasing, refusal } from "./support.mjs";

const MINT = { v1: uuid.v1, v4: uuid.v4, v6: uuid.v6, v7: uuid.v7, ulid, objectId };
const FORM = {
  v1: /^[\da-f]{8}-[\da-f]{4}-1[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/,
  v4: /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/,
  v6: /^[\da-f]{8}-[\da-f]{4}-6[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/,
  v7: /^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/,
  ulid: /^[0-7][\dA-HJKMNP-TV-Z]{25}$/,
  objectId: /^[\da-f]{24}$/,
};
const EXAMPLE = "123e4567-e89b-12d3-a456-426614174000";

const times = (count, make) => Array.from({ length: count }, make);
const timeOf = { v1: uuid.timestampMs, v6: uuid.timestampMs, v7: uuid.timestampMs, ulid: ulid.timestampMs };

test("every kind is minted in its form, and tells the time of the call", () => {
  for (const [kind, mint] of Object.entries(MINT)) {
    const before = Date.now();
    const id = mint();
    const after = Date.now();
    assert.match(id, FORM[kind]);
    if (timeOf[kind]) assert.ok(before <= timeOf[kind](id) && timeOf[kind](id) <= after, kind);
    assert.equal(candidatesOf(id)[0].kind, kind.replace(/^v/, "uuid").replace("objectId", "object_id"));
  }
  const seconds = objectId.timestampMs(objectId()) / 1000;
  assert.ok(Number.isInteger(seconds) && Math.abs(seconds - Date.now() / 1000) < 5);
});

test("10,000 of each are distinct, and those with a time in front strictly increase", () => {
  for (const [kind, mint] of Object.entries(MINT)) {
    const ids = times(10_000, () => mint());
    assert.equal(new Set(ids).size, ids.length, kind);
    if (["v6", "v7", "ulid"].includes(kind)) increasing(ids);
  }
});

test("a clock that stands still or steps back changes neither uniqueness nor order", (t) => {
  const start = Date.now();
  let now = start;
  t.mock.method(Date, "now", () => now);
  for (const [kind, mint] of Object.entries(MINT)) {
    const ids = [];
    for (now of [start, start - 3_600_000, start - 1, 0, -5, start, start + 5, start + 4, -8.64e15]) {
      ids.push(...times(300, () => mint()));
    }
    assert.equal(new Set(ids).size, ids.length, kind);
    if (["v6", "v7", "ulid"].includes(kind)) increasing(ids);
    if (timeOf[kind]) assert.ok(ids.every((id) => timeOf[kind](id) >= start && timeOf[kind](id) <= start + 6));
  }
});

test("a clock that is past the end of a kind is TIME_OVERFLOW, and the next call goes on", (t) => {
  let now;
  t.mock.method(Date, "now", () => now);
  const { v4, ...timed } = MINT;
  for (const [kind, mint] of Object.entries(timed)) {
    now = 8.64e15;
    refusal("TIME_OVERFLOW", mint);
    now = Date.parse("2026-11-01");
    assert.match(mint(), FORM[kind]);
  }
  now = 8.64e15;
  assert.match(v4(), FORM.v4);
});

test("bytes go into an array of the caller, at an offset", () => {
  for (const [kind, mint] of Object.entries(MINT)) {
    const width = kind === "objectId" ? 12 : 16;
    const { fromBytes, toBytes } = { ulid, objectId }[kind] ?? uuid;
    for (const into of [new Uint8Array(40).fill(0xee), Buffer.alloc(40, 0xee)]) {
      assert.equal(mint(into, 5), into);
      assert.match(fromBytes(into.subarray(5, 5 + width)), FORM[kind]);
      assert.ok([...into.subarray(0, 5), ...into.subarray(5 + width)].every((byte) => byte === 0xee));
    }
    assert.match(fromBytes(mint(new Uint8Array(width))), FORM[kind]);
    const shared = new Uint8Array(new SharedArrayBuffer(width));
    assert.match(fromBytes(mint(shared)), FORM[kind]);
    assert.deepEqual(toBytes(fromBytes(shared)), new Uint8Array(shared));
    for (const wrong of [-1, 1, 0.5, NaN, Infinity, "0", 2 ** 32])
      assert.throws(() => mint(new Uint8Array(width), wrong), RangeError, inspect(wrong));
    assert.throws(() => mint(new Uint8Array(width - 1)), { name: "RangeError", message: /bytes do not fit at 0/ });
    for (const wrong of [
      null,
      {},
      [],
      "x",
      5,
      new ArrayBuffer(16),
      new Uint16Array(16),
      new DataView(new ArrayBuffer(16)),
    ])
      assert.throws(() => mint(wrong), TypeError, inspect(wrong));
  }
  // What calls with an index too.
  assert.equal(new Set(Array.from({ length: 50 }, uuid.v7)).size, 50);
});

test("random bits are fetched once for 256 of a kind or more, and no bit is stuck", (t) => {
  const fetched = t.mock.method(webcrypto.constructor.prototype, "getRandomValues");
  const ids = times(2560, () => uuid.v4());
  assert.ok([10, 11].includes(fetched.mock.callCount()), `${fetched.mock.callCount()}`);
  times(2560, () => [uuid.v7(), objectId()]);
  assert.ok(fetched.mock.callCount() <= 21);
  const bits = ids.map((id) => BigInt(`0x${id.replaceAll("-", "")}`));
  const versionAndVariant = (0xfn << 76n) | (3n << 62n);
  for (let bit = 0n; bit < 128n; bit++) {
    if ((versionAndVariant >> bit) & 1n) continue;
    const ones = bits.filter((id) => (id >> bit) & 1n).length;
    // Ten standard deviations.
    assert.ok(Math.abs(ones - 1280) < 260, `bit ${bit}: ${ones}`);
  }
});

const OUTCOME =
  "const outcome = (call) => { try { return call() } catch ({ code, message }) { return code ?? message } };";

test("loading reads no clock, fetches no random bits and compiles nothing", async () => {
  const script = `${OUTCOME}
    const refuse = () => { throw new Error("not at module scope") };
    crypto.getRandomValues = Date.now = WebAssembly.Module = refuse;
    const { uuid, ulid, objectId } = await import("snowmint");
    console.log([uuid.v7, ulid, objectId, () => uuid.toBytes(uuid.NIL)].map(outcome).join());`;
  const { stdout, stderr } = await exitOf(script);
  assert.equal(stdout, `${times(4, () => "WASM_FORBIDDEN").join()}\n`, stderr);
});

test("where random bits are refused the error is the host's, and the next call asks again", async () => {
  const script = `${OUTCOME}
    const { uuid } = await import("snowmint");
    crypto.getRandomValues = () => { throw new Error("not at module scope") };
    console.log([uuid.v4, uuid.v7].map(outcome).join());
    delete crypto.getRandomValues;
    console.log([uuid.v4(), uuid.v7()].map(uuid.version).join());`;
  const { stdout, stderr } = await exitOf(script);
  assert.equal(stdout, "not at module scope,not at module scope\n4,7\n", stderr);
});

/** Asserts that each realm reported different IDs. */
function unique(told) {
  assert.equal(told.length, 4);
  for (const kind of Object.keys(MINT)) {
    const ids = told.flatMap((realm) => realm[kind]);
    assert.equal(ids.length, 8000);
    assert.equal(new Set(ids).size, 8000, kind);
  }
  const of = (part) => new Set(told.map(part)).size;
  assert.equal(
    of(({ v1 }) => uuid.node(v1[0])),
    4,
    "nodes",
  );
  assert.equal(
    of(({ v1, v6 }) => uuid.node(v1[0]) === uuid.node(v6[0])),
    1,
    "one node a realm",
  );
  assert.equal(
    of(({ objectId }) => objectId[0].slice(8, 18)),
    4,
    "random numbers of ObjectIds",
  );
  for (const { v6, v7, ulid } of told) for (const ids of [v6, v7, ulid]) increasing(ids);
}

const MINTING = new URL("./wide.minting.mjs", import.meta.url);

test("four threads mint 8,000 of each kind, all distinct", async () => {
  unique(await Promise.all(times(4, async () => (await once(new Worker(MINTING), "message"))[0])));
});

test("four processes mint 8,000 of each kind, all distinct", async () => {
  unique(await Promise.all(times(4, async () => (await once(fork(MINTING), "message"))[0])));
});

test("four workers of a cluster mint 8,000 of each kind, all distinct", async () => {
  cluster.setupPrimary({ exec: MINTING.pathname });
  unique(await Promise.all(times(4, async () => (await once(cluster.fork(), "message"))[0])));
});

test("import, require and the module for browsers go on from each other in one process", async () => {
  const required = createRequire(import.meta.url)("snowmint");
  const browser = await import("./node_modules/snowmint/dist/browser.mjs");
  const copies = [{ uuid, ulid }, required, browser];
  assert.equal(new Set(copies.map(({ uuid }) => uuid.v7)).size, 3);
  increasing(times(3000, (_, i) => copies[i % 3].uuid.v7()));
  increasing(times(3000, (_, i) => copies[i % 3].ulid()));
  assert.equal(new Set(copies.map(({ uuid }) => uuid.node(uuid.v1()))).size, 1);
});

/** The version 3 or 5 by the definition. */
function hashed(version, name, namespace) {
  const hash = createHash(version === 3 ? "md5" : "sha1");
  const bytes = hash.update(uuid.toBytes(namespace)).update(name).digest().subarray(0, 16);
  bytes[6] = (bytes[6] & 0x0f) | (version << 4);
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  return uuid.fromBytes(bytes);
}

test("names of any length are hashed as texts and as bytes, and minting goes on after long ones", () => {
  const names = [
    "",
    "a",
    "é€😀",
    "\0",
    "x".repeat(63),
    "x".repeat(1025),
    "é".repeat(50_000),
    "y".repeat(3_000_000),
    "b",
  ];
  for (const name of names) {
    for (const namespace of [uuid.DNS, uuid.URL, uuid.OID, uuid.X500, uuid.NIL, `urn:uuid:${uuid.MAX}`]) {
      assert.equal(uuid.v3(name, namespace), hashed(3, name, namespace));
      assert.equal(uuid.v5(name, namespace), hashed(5, name, namespace));
      assert.equal(uuid.v5(new TextEncoder().encode(name), namespace), uuid.v5(name, namespace));
    }
    increasing(times(300, () => uuid.v7()));
    assert.equal(uuid.version(uuid.fromBytes(uuid.v4(new Uint8Array(16)))), 4);
  }
  for (const half of ["\ud800", "a\udc00b", "\ud800\ud800"]) refusal("INVALID_TEXT", () => uuid.v5(half, uuid.DNS));
  for (const name of [undefined, null, 5, {}, []])
    assert.throws(() => uuid.v5(name, uuid.DNS), TypeError, inspect(name));
  for (const namespace of ["", "dns", undefined, null, 5])
    refusal("INVALID_TEXT", () => uuid.v3("www.example.com", namespace));
});

test("a UUID is read in every form that it is written in, and told in one", () => {
  const hex = EXAMPLE.replaceAll("-", "");
  for (const text of [EXAMPLE, EXAMPLE.toUpperCase(), `{${EXAMPLE}}`, `URN:uuid:${EXAMPLE}`, hex])
    assert.equal(uuid.fromBytes(uuid.toBytes(text)), EXAMPLE);
  for (const [text, byte] of [
    [uuid.NIL, 0],
    [uuid.MAX, 255],
  ]) {
    assert.deepEqual(uuid.toBytes(text), new Uint8Array(16).fill(byte));
    assert.deepEqual(
      [uuid.version(text), uuid.timestampMs(text), uuid.node(text), uuid.local(text)],
      times(4, () => null),
    );
  }
  assert.deepEqual(uuid.local("000003e8-0e1f-21ec-8001-005056219395"), { domain: 1, id: 1000 });
  assert.equal(uuid.clockSequence("c232ab00-9414-11ec-b3c8-9f6bdeced846"), 13_256);
  // Before 1970.
  assert.equal(uuid.timestampMs("00000000-0000-1000-8000-000000000000"), -12_219_292_800_000);
});

test("what is no text of an ID is INVALID_TEXT, wherever one is read", () => {
  const { toBytes, toMysql, version, timestampMs, clockSequence, node, local } = uuid;
  const readers = [toBytes, toMysql, version, timestampMs, clockSequence, node, local];
  readers.push(ulid.toBytes, ulid.toUuid, ulid.fromUuid, ulid.timestampMs, ulid.randomness);
  readers.push(objectId.toBytes, objectId.timestampMs);
  const garbage = ["", "x", " ", "é".repeat(36), "\ud800".repeat(24), "0".repeat(25), "g".repeat(24), "z".repeat(2000)];
  garbage.push(`${EXAMPLE} `, `{${EXAMPLE}`, `8${"Z".repeat(25)}`, "-".repeat(36), "\0".repeat(26), "0".repeat(1024));
  for (const read of readers) {
    for (const text of garbage) refusal("INVALID_TEXT", () => read(text));
    for (const text of [undefined, null, 5, 5n, {}, [], true, Symbol("x"), () => EXAMPLE]) {
      assert.throws(
        () => read(text),
        (error) => error instanceof TypeError || error.code === "INVALID_TEXT",
        inspect(text),
      );
    }
    assert.throws(() => read(Object.create(null)), TypeError);
  }
});

test("bytes of another length are INVALID_ID, and what is no Uint8Array is a TypeError", () => {
  const { fromBytes, fromMysql, v8 } = uuid;
  for (const read of [fromBytes, fromMysql, v8, ulid.fromBytes, objectId.fromBytes]) {
    const wanted = read === objectId.fromBytes ? 12 : 16;
    for (const length of [0, 1, 11, 13, 15, 17, 5000]) {
      const { message } = refusal("INVALID_ID", () => read(new Uint8Array(length)));
      assert.equal(message, `${wanted} bytes are needed, not ${length}`);
    }
    for (const wrong of [undefined, null, EXAMPLE, 5, {}, times(16, () => 0), new ArrayBuffer(16), new Uint16Array(16)])
      assert.throws(() => read(wrong), { name: "TypeError", message: /Uint8Array/ }, inspect(wrong));
  }
});

test("parts that do not fit are refused, never masked", () => {
  for (const bits of [2n ** 80n, -1n, 2n ** 128n, 2n ** 144n, -(2n ** 80n), -(2n ** 64n), 1.5, 2 ** 53, NaN, "x"])
    refusal("INVALID_ID", () => ulid.fromParts(0, bits));
  for (const random of [2n ** 40n, -1, 2n ** 64n, 10n ** 40n, 0.5])
    refusal("INVALID_ID", () => objectId.fromParts(0, random));
  for (const counter of [2 ** 24, -1, 2 ** 32, 2n ** 64n, 0.5])
    refusal("INVALID_ID", () => objectId.fromParts(0, 0, counter));
  for (const make of [ulid.fromParts, objectId.fromParts]) {
    refusal("BEFORE_EPOCH", () => make(-1));
    refusal("BEFORE_EPOCH", () => make(-Number.MAX_VALUE));
    refusal("TIME_OVERFLOW", () => make(Number.MAX_VALUE));
    for (const time of [undefined, null, NaN, "2026-11-01", 5n, new Date(NaN)])
      assert.throws(() => make(time), TypeError, inspect(time));
  }
  assert.equal(ulid.fromParts(new Date(1_469_918_176_385), 2n ** 80n - 1n), "01ARYZ6S41ZZZZZZZZZZZZZZZZ");
  assert.equal(ulid.randomness(ulid.fromParts(5, 2n ** 63n)), 2n ** 63n);
  assert.equal(objectId.fromParts(new Date(1_350_508_407_999)), "507f1f770000000000000000");
});

test("what MySQL's manual shows of UUID_TO_BIN is what comes out", () => {
  const text = "6ccd780c-baba-1026-9564-5b8c656024db";
  const swap = { swap: true };
  assert.equal(Buffer.from(uuid.toMysql(text)).toString("hex"), "6ccd780cbaba102695645b8c656024db");
  assert.equal(Buffer.from(uuid.toMysql(text, swap)).toString("hex"), "1026baba6ccd780c95645b8c656024db");
  for (const option of [undefined, swap])
    for (const id of [text, ...times(500, () => uuid.v4())])
      assert.equal(uuid.fromMysql(uuid.toMysql(id, option), option), id);
  // In order of time, which the texts of version 1 are not.
  const texts = ["ffffffff-0000-1000-8000-000000000000", "00000000-0001-1000-8000-000000000000"];
  increasing(texts.map((id) => Buffer.from(uuid.toMysql(id, swap)).toString("hex")));
});

test("a ULID of a version 7 is in the same order, and comes back", () => {
  const uuids = times(500, () => uuid.v7());
  increasing(uuids.map(ulid.fromUuid));
  assert.deepEqual(uuids.map(ulid.fromUuid).map(ulid.toUuid), uuids);
});

test("what is exported does not change", () => {
  for (const frozen of [uuid, ulid, objectId]) assert.ok(Object.isFrozen(frozen));
});
