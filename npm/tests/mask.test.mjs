// Masks and prefixed IDs beyond the vectors.
import assert from "node:assert/strict";
import { test } from "node:test";
import { ksuid, Mask, prefix, typeId, UuidMask, uuid, xid } from "snowmint";

const KEY = "000102030405060708090a0b0c0d0e0f";
const LAST = 2n ** 63n - 1n;
/** How many random IDs to mask: a million in `make prove`. */
const TRIES = Number(process.env.SNOWMINT_TRIES ?? 2000);

function* ids() {
  for (let bit = 0n; bit < 63n; bit++) yield* [(1n << bit) - 1n, 1n << bit, LAST - (1n << bit)];
  const random = new BigUint64Array(1000);
  for (let left = TRIES; left > 0; left -= random.length) {
    crypto.getRandomValues(random);
    for (const id of random.subarray(0, left)) yield id >> 1n;
  }
}

test("random IDs and those at borders come back from their masks", () => {
  const [mask, digits, uuids] = [new Mask(KEY), new Mask(KEY, { digits: 18 }), new UuidMask(KEY)];
  let at = 0;
  for (const id of ids()) {
    const masked = mask.encode(id);
    if (masked < 0n || masked > LAST || mask.decode(masked) !== id) assert.fail(`${id} became ${masked}`);
    const short = id % 10n ** 18n;
    if (digits.decode(digits.encode(short)) !== short) assert.fail(`18 digits: ${short}`);
    if (at++ % 16) continue;
    const v7 = uuid.v7Of(Number(id >> 16n));
    if (uuids.decode(uuids.encode(v7)) !== v7) assert.fail(v7);
  }
});

test("a mask takes its key as it was", () => {
  const key = new Uint8Array(16);
  const mask = new Mask(key);
  const masked = mask.encode(5n);
  key.fill(7);
  assert.equal(mask.decode(masked), 5n);
  assert.notEqual(new Mask(key).encode(5n), masked);
});

test("a bad key, tweak or option is refused by name, and no error shows a key", () => {
  const refused = (make, code, told) => assert.throws(make, (error) => error.code === code && told.test(error.message));
  refused(() => new Mask(new Uint8Array(15)), "INVALID_TEXT", /^a mask key has 16 bytes, not 15/);
  refused(() => new Mask("00".repeat(15)), "INVALID_TEXT", /^a mask key has 32 hexadecimal digits/);
  refused(() => new Mask("g".repeat(32)), "INVALID_TEXT", /^a mask key has 32 hexadecimal digits/);
  refused(() => new UuidMask(new Uint8Array(4000)), "INVALID_TEXT", /^a mask key has 16 bytes/);
  refused(() => new Mask(KEY, { tweak: "é".repeat(33) }), "INVALID_TEXT", /^a tweak has at most 64 bytes, not 66/);
  refused(() => new Mask(KEY, { digits: 5 }), "INVALID_ID", /6 to 18 decimal digits, not 5/);
  refused(() => new Mask(KEY).encode(2n ** 63n), "INVALID_ID", /^9223372036854775808 cannot be masked/);
  refused(() => new UuidMask(KEY).encode(uuid.v4()), "INVALID_ID", /^a UUID of version 7 is needed/);
  refused(() => new UuidMask(KEY).encode("no UUID"), "INVALID_TEXT", /^a UUID has 32/);
  assert.throws(() => new Mask(KEY, { twaek: "a" }), /Mask has no option twaek: did you mean tweak\?/);
  assert.throws(() => new Mask(5), /a mask key is a string or a Uint8Array, not 5/);
});

test("an error of a prefix names both prefixes", () => {
  assert.throws(() => prefix.decode("user", "order_0000000000000"), {
    code: "INVALID_TEXT",
    message: 'the prefix of the ID is "order", and "user" is needed: pass an ID of that kind',
  });
  assert.throws(() => prefix.of("user").decode("organizations_0000000000000"), /is "organiz~", and "user" is/);
  assert.throws(() => prefix.encode("api-key", 5n), /^SnowmintError: a prefix has at most 63 characters/);
  assert.throws(() => prefix.decode("user", "user_g000000000000"), /its first character is at most f$/);
  assert.throws(() => prefix.encode("user", ""), /^SnowmintError: a UUID has 32/);
});

test("TypeIDs increase, and are read by their kind", () => {
  const order = typeId.of("order");
  const texts = Array.from({ length: 1000 }, () => order.next());
  assert.deepEqual(texts.toSorted(), texts);
  assert.equal(new Set(texts).size, 1000);
  assert.equal(uuid.version(order.decode(texts[0])), 7);
  assert.match(typeId("user"), /^user_0[0-9a-hjkmnp-tv-z]{25}$/);
  assert.ok(!order.is(typeId("user")) && order.is(texts[5]));
});

test("KSUIDs, xids and versions 7 are of their time", () => {
  const before = Math.floor(Date.now() / 1000) * 1000;
  for (const kind of [ksuid, xid]) {
    const ids = new Set(Array.from({ length: 1000 }, () => kind()));
    assert.equal(ids.size, 1000);
    for (const id of ids) assert.ok(kind.timestampMs(id) >= before && kind.timestampMs(id) <= Date.now() + 1000);
    const bytes = kind(new Uint8Array(kind === ksuid ? 20 : 12));
    assert.deepEqual(kind.toBytes(kind.fromBytes(bytes)), bytes);
  }
  const at = new Date("2022-02-22T19:22:22Z");
  const [lowest, highest] = uuid.v7Range(at, at);
  const of = uuid.v7Of(at);
  assert.ok(lowest < of && of < highest && uuid.timestampMs(of) === Number(at) && uuid.v7Of(at) !== of);
});
