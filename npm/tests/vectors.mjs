// The vectors of tests/vectors/ against any build of the package, in any host: nothing here needs Node.

/** The names of the files. */
export const FILES = [
  "decode",
  "encode",
  "errors",
  "formatted",
  "generate",
  "given",
  "id_range",
  "inspect",
  "ksuid",
  "layouts",
  "mask",
  "mint",
  "object_id",
  "options",
  "prefix",
  "scatter",
  "text",
  "ulid",
  "uuid",
  "xid",
];

/**
 * Runs every case of every file.
 *
 * @param {typeof import("snowmint") & typeof import("snowmint/numbers")} snowmint the exports of both entries
 * @param {Record<string, { _comment: string, cases: object[] }>} files the parsed files by name
 * @returns {{ passed: number, failures: string[] }}
 */
export function runVectors(snowmint, files) {
  const missing = FILES.filter((name) => !(name in files));
  const failures = missing.map((name) => `${name}.json is missing`);
  let passed = 0;
  for (const [file, { cases }] of Object.entries(files)) {
    for (const given of cases) {
      const read = new Set(["name"]);
      // A key that no check has asked for is one that this runner does not know.
      const watched = new Proxy(given, { get: (target, key) => read.add(key) && target[key] });
      try {
        if (!(file in checks)) throw new Error("no check for this file");
        checks[file](watched, snowmint);
        const unread = Object.keys(given).filter((key) => !read.has(key));
        same("keys left over", unread.join(), "");
        passed++;
      } catch (error) {
        failures.push(`${file}.json: ${given.name}: ${error.message}`);
      }
    }
  }
  return { passed, failures };
}

const checks = {
  layouts(given, { Layout, Snowflake }) {
    const layout = expecting(given.error, () => layoutOf(Layout, given.layout));
    if (!layout) return;
    same("canonical", String(layout), given.canonical);
    same("canonical again", String(Layout.parse(given.canonical)), given.canonical);
    same("bits", layout.bits, given.bits);
    same("epoch_ms", layout.epochMs, given.epoch_ms);
    same("tick_ms", Math.floor(layout.tickMs), given.tick_ms);
    same("tick_us", Math.round(layout.tickMs * 1000), given.tick_us);
    // A clock at the epoch: some layouts have ended.
    const open = () => new Snowflake({ layout, node: 0, clock: () => layout.epochMs });
    expecting(given.mintable ? undefined : "INVALID_LAYOUT", open);
    same("ends_at_ms", layout.endsAtMs, given.ends_at_ms);
    same("endsAt", layout.endsAt?.getTime(), dateMs(given.ends_at_ms));
    same("signed_until_ms", layout.signedUntilMs, given.signed_until_ms);
    same("signedUntil", layout.signedUntil?.getTime(), dateMs(given.signed_until_ms));
    same("js_safe", layout.jsSafe, given.js_safe);
    same("nodes", layout.nodes, Number(given.nodes));
    same("ids_per_tick", layout.idsPerTick, Number(given.ids_per_tick));
    same("ids_per_second", layout.idsPerSecond, Number(given.ids_per_second));
    same("fields", JSON.stringify(Object.entries(layout.fields)), JSON.stringify(given.fields));
  },

  decode(given, { Layout }) {
    const layout = layoutOf(Layout, given.layout);
    const id = BigInt(given.id);
    expecting(given.error, () => layout.decode(given.id));
    const parts = expecting(given.error, () => layout.decode(id));
    if (!parts) return;
    same("tick", parts.tick, BigInt(given.tick));
    same("timestamp_ms", parts.timestampMs, given.timestamp_ms);
    same("timestamp_us", parts.timestampUs, Number(given.timestamp_us));
    same("timestamp", parts.timestamp.getTime(), dateMs(given.timestamp_ms) ?? NaN);
    same("node", integer(parts.node), given.node);
    same("sequence", integer(parts.sequence), given.sequence);
    const fields = Object.entries(parts.fields).map(([name, value]) => [name, integer(value)]);
    same("fields", JSON.stringify(fields), JSON.stringify(Object.entries(given.fields)));
    same("encoded again", layout.encode(parts), BigInt.asUintN(64, id));
  },

  encode(given, { Layout }) {
    const node = given.node && typeof given.node === "object" ? bigints(given.node) : bigint(given.node);
    const [sequence, random, opaque] = [bigint(given.sequence), bigint(given.random), bigint(given.opaque)];
    // Where the ms are not exact.
    const { timestamp_ms: ms, timestamp_us: us } = given;
    const time = us === undefined ? { timestampMs: ms } : { timestampUs: Number(us) };
    const parts = { ...time, node, sequence, random, opaque };
    const present = Object.fromEntries(Object.entries(parts).filter(([, value]) => value !== undefined));
    const id = expecting(given.error, () => layoutOf(Layout, given.layout).encode(present));
    if (id !== undefined) same("id", id, BigInt(given.id));
  },

  given(given, { Layout }) {
    const layout = layoutOf(Layout, given.layout);
    const { of, timestamp_ms: ms, timestamp_us: us, node, sequence, random, opaque } = given;
    const numbers = { timestampMs: ms && Number(ms), timestampUs: us && Number(us) };
    const parts = { ...numbers, node: typeof node === "object" ? bigints(node) : bigint(node) };
    Object.assign(parts, { sequence: bigint(sequence), random: bigint(random), opaque: bigint(opaque) });
    const present = Object.fromEntries(Object.entries(parts).filter(([, value]) => value !== undefined));
    const id = expecting(given.error, () => layout.encode({ ...(of && layout.decode(of)), ...present }));
    if (id !== undefined) same("id", id, BigInt(given.id));
  },

  options({ option, value, taken, error }, { Snowflake }) {
    const name = option.replace(/_./g, ([, letter]) => letter.toUpperCase());
    const isStart = option === "sequence_start";
    const options = { [name]: isStart ? value : Number(value), node: 1, clock: () => 2e12 };
    const status = expecting(error, () => new Snowflake(options).status());
    if (status) same("taken", isStart ? status[name] : integer(status[name]), taken);
  },

  id_range(given, { Layout }) {
    const ends = [given.from_ms, given.to_ms].map(Number);
    const range = expecting(given.error, () => layoutOf(Layout, given.layout).idRange(...ends));
    if (!range) return;
    same("lowest", range[0], BigInt(given.lowest));
    same("highest", range[1], BigInt(given.highest));
  },

  text(given, { text }) {
    const { write, form } = given;
    if (write !== undefined) return expecting(given.error, () => text.encode(BigInt(write), form));
    const id = expecting(given.error, () => text.decode(given.text, given.form));
    if (id === undefined) return;
    same("id", id, BigInt(given.id));
    same("encodes to the text", text.encode(given.id, given.form) === given.text, !given.decode_only);
  },

  scatter(given, { scatter }) {
    const [there, back] = scatterPairs(scatter)[given.function];
    const by = given.by === undefined ? [] : [BigInt(given.by)];
    const scattered = expecting(given.error, () => there(BigInt(given.id), ...by));
    if (scattered === undefined) return;
    same("scattered", scattered, BigInt(given.scattered));
    same("had back", back(given.scattered, ...by), BigInt(given.id));
  },

  inspect(given, { inspect, Layout }) {
    const value = given.value ?? BigInt(given.integer);
    const candidates = inspect(value, { now: given.now_ms });
    const told = candidates.map(({ kind, layout, form, timestampMs, confidence, reason }) => {
      return JSON.stringify({ kind, layout, form, timestamp_ms: timestampMs, confidence, reason });
    });
    same("candidates", told.join("\n"), given.candidates.map((row) => JSON.stringify(row)).join("\n"));
    for (const { layout, layoutText, parts, timestamp, timestampMs, plausible, reason } of candidates) {
      // IDs of Pinterest have no time.
      same("parts are there with a layout", parts !== null, layout !== null && layout !== "pinterest");
      if (parts) same("parts", parts.timestampMs, timestampMs);
      // Not every system has a preset.
      const of = parts && Layout.parse(layoutText);
      if (parts) same("encoded again", of.decode(of.encode(parts)).tick, parts.tick);
      same("timestamp", timestamp?.getTime(), dateMs(timestampMs));
      same("plausible", plausible, !reason.startsWith("unlikely"));
    }
  },

  uuid(given, { uuid }) {
    const { function: name, error } = given;
    if (name === "range") {
      const range = expecting(error, () => uuid.v7Range(given.from_ms, given.to_ms));
      same("range", range?.join(), range && [given.lowest, given.highest].join());
      return;
    }
    const check = uuidChecks[name];
    if (!check) throw new Error(`no check for ${name}`);
    // What takes no parts, as these are the realm's own or bytes, cannot be given any that do not fit.
    if (error && name !== "read" && name !== "short") return same("a part does not fit", unfit(given), true);
    const told = expecting(error, () => check(given, uuid));
    if (told !== undefined) same("uuid", told, given.uuid);
  },

  ulid(given, { ulid }) {
    const { text, timestamp_ms: ms, randomness, bytes } = given;
    if (text === undefined) {
      expecting(given.error, () => ulid.fromParts(ms, BigInt(randomness)));
      return;
    }
    const read = expecting(given.error, () => ulid.toBytes(text));
    if (!read) return;
    same("bytes", hex(read), bytes);
    same("timestamp_ms", ulid.timestampMs(text), ms);
    same("randomness", String(ulid.randomness(text)), randomness);
    const written = ulid.fromParts(ms, BigInt(randomness));
    same("written as it was read", written === text, !given.read_only);
    same("of its bytes", ulid.fromBytes(read), written);
    same("of its UUID", ulid.fromUuid(ulid.toUuid(text)), written);
  },

  object_id(given, { objectId }) {
    const { text, timestamp_ms: ms, random, counter } = given;
    const make = () => objectId.fromParts(ms, BigInt(random), BigInt(counter));
    if (text === undefined) {
      expecting(given.error, make);
      return;
    }
    const read = expecting(given.error, () => objectId.toBytes(text));
    if (!read) return;
    same("timestamp_ms", objectId.timestampMs(text), ms);
    same("written as it was read", make() === text, !given.read_only);
    same("bytes", hex(read), make());
    same("of its bytes", objectId.fromBytes(read), make());
  },

  ksuid(given, { ksuid }) {
    const { text, timestamp_ms: ms, payload } = given;
    if (text === undefined) {
      expecting(given.error, () => ksuid.fromParts(ms, bytesOf(payload)));
      return;
    }
    const read = expecting(given.error, () => ksuid.toBytes(text));
    if (!read) return;
    same("timestamp_ms", ksuid.timestampMs(text), ms);
    same("payload", hex(ksuid.payload(text)), payload);
    same("of its parts", ksuid.fromParts(ms, bytesOf(payload)), text);
    same("of its bytes", ksuid.fromBytes(read), text);
  },

  xid(given, { xid }) {
    const { text, timestamp_ms: ms, random, counter } = given;
    const make = () => xid.fromParts(ms, BigInt(random), BigInt(counter));
    if (text === undefined) {
      expecting(given.error, make);
      return;
    }
    const read = expecting(given.error, () => xid.toBytes(text));
    if (!read) return;
    same("timestamp_ms", xid.timestampMs(text), ms);
    same("random", (BigInt(xid.machine(text)) << 16n) | BigInt(xid.process(text)), BigInt(random));
    same("counter", xid.counter(text), Number(counter));
    same("of its parts", make(), text);
    same("of its bytes", xid.fromBytes(read), text);
  },

  prefix(given, { prefix, typeId }) {
    const { prefix: start, id, uuid, text, error } = given;
    if (start === undefined) return expecting(error, () => typeId.parts(text));
    if (given.as) return expecting(error, () => prefix.decode(start, text, given.as));
    const value = id === undefined ? uuid : BigInt(id);
    const written = expecting(error, () => prefix.encode(start, value));
    if (written === undefined) return;
    same("text", written, text);
    same("decoded", prefix.decode(start, text), value);
    const kind = (uuid ? typeId : prefix).of(start);
    same("decoded by its kind", kind.decode(kind.encode(value)), value);
    same("checked", kind.parse(text), text);
    same("is of its kind", [kind.is(text), kind.is(`${text} `), kind.is(undefined)].join(), "true,false,false");
    if (uuid) same("parts", JSON.stringify(typeId.parts(text)), JSON.stringify({ prefix: start, uuid }));
  },

  mask(given, { Mask, UuidMask }) {
    const { key, digits, id, uuid, masked, error } = given;
    const make = (key) =>
      masked?.includes("-") || uuid
        ? new UuidMask(key)
        : new Mask(key, { tweak: bytesOf(given.tweak ?? ""), ...(digits !== undefined && { digits }) });
    const value = uuid ?? (id && BigInt(id));
    if (value === undefined) {
      expecting(error, () => make(key).decode(masked));
      return;
    }
    for (const each of [key, bytesOf(key)]) {
      const told = expecting(error, () => make(each).encode(value));
      if (told === undefined) continue;
      same("masked", String(told), masked);
      same("unmasked", make(each).decode(told), value);
    }
  },

  mint({ kind, last, calls }, { uuid }) {
    // The realm keeps a minter from its first ID on; scripts have others, of the same class.
    uuid.v4();
    const key = Object.getOwnPropertySymbols(globalThis).find(({ description }) =>
      /snowmint\.minter/.test(description),
    );
    const minter = new globalThis[key].constructor();
    const minted = { uuid1: 1, uuid6: 6, uuid7: 7, ulid: 9, object_id: 10 }[kind];
    if (last) minter.after(minted, last);
    for (const [at, { now_ms, now_100ns, random, id, error, retry_after_ms, ...others }] of calls.entries()) {
      same("other keys of a call", Object.keys(others).join(), "");
      const [ms, more] = now_100ns === undefined ? [now_ms, 0] : msAndMore(BigInt(now_100ns));
      // As many as an ID can take have to be there; those beyond the script's must be left.
      const beyond = [0xa, 0xb, 0xc, 0xd];
      minter.fill(Uint32Array.of(...random, ...beyond));
      const ascii = new Uint8Array(36);
      const length = expecting(error, () => minter.text(minted, ms, more, ascii), { retryAfterMs: retry_after_ms });
      const text = length && String.fromCharCode(...ascii.subarray(0, length));
      if (text !== undefined) same(`call ${at}`, text, id);
      const left = Array.from(minter.room(random.length + beyond.length));
      same(`random numbers after call ${at}`, left.join(), [...random.map(() => 0), ...beyond].join());
    }
  },

  errors(given, { SnowmintError }) {
    const { code, name, retryAfterMs, byMs } = new SnowmintError(given.code, "why", 7);
    same("code", code, given.code);
    same("name", name, "SnowmintError");
    same("retryAfterMs", retryAfterMs, code.endsWith("EXHAUSTED") ? 7 : undefined);
    same("byMs", byMs, code === "CLOCK_BACKWARDS" ? 7 : undefined);
  },

  formatted(given, { Formatted, Sequences }) {
    const { pattern, period, zone, overflow, at_ms: ms, number, text, sequence, date, error } = given;
    // Nothing here asks the store.
    const nothing = async () => null;
    const session = new Sequences({ read: nothing, write: nothing, list: nothing, add: nothing });
    const invoices = session.sequence("invoices");
    const texts = expecting(text === undefined && number === undefined ? error : undefined, () => {
      return new Formatted(invoices, pattern, { period, zone, overflow });
    });
    if (!texts) return;
    const made = number === undefined ? text : expecting(error, () => texts.format(BigInt(number), ms));
    if (made === undefined) return;
    same("text", made, text);
    const reading = expecting(error, () => texts.parse(text));
    if (!reading) return;
    const { number: counter, period: name, ...parts } = reading;
    same("number", counter, BigInt(number));
    same("sequence", name ? `invoices@${name}` : "invoices", sequence);
    const shown = Object.entries(parts).filter(([, value]) => value !== undefined);
    same("date", JSON.stringify(shown.sort()), JSON.stringify(Object.entries(date).sort()));
  },

  generate(given, { Snowflake }) {
    const { max_ahead_ms: maxAheadMs, sequence_start: sequenceStart, ...others } = given.options;
    same("other options", Object.keys(others).join(), "");
    let now = 0;
    const clock = () => now;
    const node = BigInt(given.node);
    const generator = new Snowflake({ layout: given.layout, node, maxAheadMs, maxWaitMs: 0, sequenceStart, clock });
    given.calls.forEach(({ now_ms, n, ids, first, last, error, retry_after_ms, by_ms, ...others }, at) => {
      same("other keys of a call", Object.keys(others).join(), "");
      now = now_ms;
      const call = () => (n === 1 ? [generator.tryNextId()] : Array.from(generator.nextIds(n)));
      const minted = expecting(error, call, { retryAfterMs: retry_after_ms, byMs: by_ms });
      if (!minted) return;
      if (ids) same(`IDs of call ${at}`, minted.join(), ids.join());
      else {
        same(`count of call ${at}`, minted.length, n);
        same(`first of call ${at}`, minted[0], BigInt(first));
        same(`last of call ${at}`, minted.at(-1), BigInt(last));
        const increasing = minted.every((id, i) => i === 0 || id > minted[i - 1]);
        same(`call ${at} increases`, increasing, true);
      }
    });
  },
};

/** Unix ms, and the rest in steps of 100 ns. */
function msAndMore(units) {
  const more = ((units % 10_000n) + 10_000n) % 10_000n;
  return [Number((units - more) / 10_000n), Number(more)];
}

/** By the function: what makes the UUID, or finds in it what it is made of. */
const uuidChecks = {
  uuid1: (given, uuid) => stamped(1, given, uuid),
  uuid6: (given, uuid) => stamped(6, given, uuid),
  uuid3: (given, uuid) => uuid.v3(given.of, given.namespace),
  uuid5: (given, uuid) => uuid.v5(given.of, given.namespace),
  // Random bits cannot be passed: what must be is that its own are in their places.
  uuid4(given, uuid) {
    const own = 0xffffffff_ffff_0fff_3fff_ffffffffffffn;
    same("random", bits(given.uuid) & own, BigInt(`0x${given.random}`) & own);
    return versionOf(4, given, uuid);
  },
  uuid7(given, uuid) {
    same("timestamp_ms", uuid.timestampMs(given.uuid), given.timestamp_ms);
    const low = bits(given.uuid) & ((1n << 76n) - 1n);
    same("random", ((low >> 64n) << 62n) | (low & ((1n << 62n) - 1n)), BigInt(`0x${given.random}`));
    return versionOf(7, given, uuid);
  },
  uuid8(given, uuid) {
    const [a, b, c] = [given.a, given.b, given.c].map(BigInt);
    // The bits at the positions of version and variant do not matter.
    const parts = (rest) => (a << 80n) | (rest << 76n) | (b << 64n) | ((rest & 3n) << 62n) | c;
    const of = (rest) =>
      uuid.v8(Uint8Array.from(parts(rest).toString(16).padStart(32, "0").match(/../g), (each) => `0x${each}`));
    same("with other bits there", of(15n), of(0n));
    versionOf(8, given, uuid);
    return of(0n);
  },
  read: (given, uuid) => uuid.fromBytes(uuid.toBytes(given.text)),
  short(given, uuid) {
    const read = uuid.fromText(given.text, given.form);
    same("written as it was read", uuid.toText(read, given.form) === given.text, !given.read_only);
    return read;
  },
  swap(given, uuid) {
    const bytes = uuid.toMysql(given.uuid, { swap: true });
    same("bytes", hex(bytes), given.bytes);
    return uuid.fromMysql(bytes, { swap: true });
  },
};

/** A version 1 or 6: its parts cannot be passed as arguments. */
function stamped(version, given, uuid) {
  const [time, sequence, node] = [given.time, given.clock_sequence, given.node].map(BigInt);
  const sinceUnix = time - 0x01b2_1dd2_1381_4000n;
  same("time", uuid.timestampMs(given.uuid), msAndMore(sinceUnix)[0]);
  same("clock_sequence", uuid.clockSequence(given.uuid), Number(sequence));
  same("node", uuid.node(given.uuid), Number(node));
  return versionOf(version, given, uuid);
}

function versionOf(version, given, uuid) {
  same("version", uuid.version(given.uuid), version);
  return given.uuid;
}

/** Whether a UUID has no room for one of its parts. */
function unfit({ timestamp_ms: ms, random, time, clock_sequence, node, a, b, c }) {
  if (ms !== undefined) return (ms < 0 || ms >= 2 ** 48) && BigInt(`0x${random}`) >> 74n === 0n;
  const widths = Object.entries({ 60: time, 14: clock_sequence, 48: node ?? a, 12: b, 62: c });
  return widths.some(([width, part]) => part !== undefined && BigInt(part) >> BigInt(width) > 0n);
}

/** The answer of a call, or undefined where it has failed with the code that it should fail with. */
function expecting(code, call, details = {}) {
  let answer;
  try {
    answer = call();
  } catch (error) {
    if (!code || !error.code) throw error;
    same("code", error.code, code);
    for (const [name, value] of Object.entries(details)) same(name, error[name], value);
    return undefined;
  }
  if (code) throw new Error(`${code} was not thrown`);
  return answer;
}

function same(what, got, wanted) {
  if (!Object.is(got, wanted)) throw new Error(`${what}: ${String(got)} in the place of ${String(wanted)}`);
}

/** A function and its inverse by the name in the vectors. */
const scatterPairs = ({ rotateDigits, unrotateDigits, reverseBits, shardHigh, unshardHigh }) => ({
  rotate_digits: [rotateDigits, unrotateDigits],
  unrotate_digits: [unrotateDigits, rotateDigits],
  reverse_bits: [reverseBits, reverseBits],
  shard_high: [shardHigh, unshardHigh],
  unshard_high: [unshardHigh, shardHigh],
});

const bytesOf = (digits) => Uint8Array.from(digits.match(/../g) ?? [], (each) => `0x${each}`);
const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
const bits = (uuid) => BigInt(`0x${uuid.replaceAll("-", "")}`);
const layoutOf = (Layout, text) => (/[:;]/.test(text) ? Layout.parse(text) : Layout.preset(text));
const bigint = (text) => (text === undefined ? undefined : BigInt(text));
const bigints = (texts) => Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, BigInt(text)]));
const integer = (value) => BigInt(value).toString();
const dateMs = (ms) => (ms !== null && Math.abs(ms) <= 8.64e15 ? ms : undefined);
