// The vectors of tests/vectors/ against any build of the package, in any host: nothing here needs Node.

/** The names of the files. */
export const FILES = ["decode", "encode", "errors", "generate", "id_range", "inspect", "layouts", "scatter", "text"];

/**
 * Runs every case of every file.
 *
 * @param {typeof import("snowmint")} snowmint
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
  layouts(given, { Layout }) {
    const layout = expecting(given.error, () => layoutOf(Layout, given.layout));
    if (!layout) return;
    same("canonical", String(layout), given.canonical);
    same("canonical again", String(Layout.parse(given.canonical)), given.canonical);
    same("bits", layout.bits, given.bits);
    same("epoch_ms", layout.epochMs, given.epoch_ms);
    same("tick_ms", layout.tickMs, given.tick_ms);
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
    same("timestamp", parts.timestamp.getTime(), dateMs(given.timestamp_ms) ?? NaN);
    same("node", integer(parts.node), given.node);
    same("sequence", integer(parts.sequence), given.sequence);
    const fields = Object.entries(parts.fields).map(([name, value]) => [name, integer(value)]);
    same("fields", JSON.stringify(fields), JSON.stringify(Object.entries(given.fields)));
    same("encoded again", layout.encode(parts), BigInt.asUintN(64, id));
  },

  encode(given, { Layout }) {
    const node = given.node && typeof given.node === "object" ? bigints(given.node) : bigint(given.node);
    const [sequence, random] = [bigint(given.sequence), bigint(given.random)];
    const parts = { timestampMs: given.timestamp_ms, node, sequence, random };
    const present = Object.fromEntries(Object.entries(parts).filter(([, value]) => value !== undefined));
    const id = expecting(given.error, () => layoutOf(Layout, given.layout).encode(present));
    if (id !== undefined) same("id", id, BigInt(given.id));
  },

  id_range(given, { Layout }) {
    const range = expecting(given.error, () => layoutOf(Layout, given.layout).idRange(given.from_ms, given.to_ms));
    if (!range) return;
    same("lowest", range[0], BigInt(given.lowest));
    same("highest", range[1], BigInt(given.highest));
  },

  text(given, { text }) {
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
    const told = candidates.map(({ kind, layout, form, timestampMs, reason }) => {
      return JSON.stringify({ kind, layout, form, timestamp_ms: timestampMs, reason });
    });
    same("candidates", told.join("\n"), given.candidates.map((row) => JSON.stringify(row)).join("\n"));
    for (const { layout, parts, timestamp, timestampMs, plausible, reason } of candidates) {
      same("parts are there with a layout", parts !== null, layout !== null);
      if (parts) same("parts", parts.timestampMs, timestampMs);
      if (parts)
        same("encoded again", Layout.preset(layout).decode(Layout.preset(layout).encode(parts)).tick, parts.tick);
      same("timestamp", timestamp?.getTime(), dateMs(timestampMs));
      same("plausible", plausible, !reason.startsWith("unlikely"));
    }
  },

  errors(given, { SnowmintError }) {
    const { code, name, retryAfterMs, byMs } = new SnowmintError(given.code, "why", 7);
    same("code", code, given.code);
    same("name", name, "SnowmintError");
    same("retryAfterMs", retryAfterMs, code === "EXHAUSTED" ? 7 : undefined);
    same("byMs", byMs, code === "CLOCK_BACKWARDS" ? 7 : undefined);
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

const layoutOf = (Layout, text) => (/[:;]/.test(text) ? Layout.parse(text) : Layout.preset(text));
const bigint = (text) => (text === undefined ? undefined : BigInt(text));
const bigints = (texts) => Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, BigInt(text)]));
const integer = (value) => BigInt(value).toString();
const dateMs = (ms) => (ms !== null && Math.abs(ms) <= 8.64e15 ? ms : undefined);
