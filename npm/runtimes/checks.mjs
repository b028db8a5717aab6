// Checks of the package that run in any host. Their results can be JSON.

/** Records in memory: an object that a caller brings as the store of leases. */
class Records {
  records = new Map();
  async read(key) {
    return this.records.get(key) ?? null;
  }
  async write(key, value, expectedVersion) {
    if ((this.records.get(key)?.version ?? 0) !== expectedVersion) return null;
    this.records.set(key, { value: value.slice(), version: expectedVersion + 1 });
    return expectedVersion + 1;
  }
  async list(prefix) {
    const under = [...this.records].filter(([key]) => key.startsWith(prefix));
    return under.map(([key, record]) => ({ ...record, name: key.slice(prefix.length) }));
  }
  async clockMs() {
    return null;
  }
  toString() {
    return "records of a test";
  }
}

/** Returns the code of the SnowmintError that a call throws. */
async function refusal({ SnowmintError }, call) {
  try {
    await call();
    return "nothing was thrown";
  } catch (error) {
    return error instanceof SnowmintError ? error.code : `${error.stack ?? error}`;
  }
}

/** Returns the results of a lease, or the code of its refusal. */
async function leased(snowmint, options) {
  let told;
  const code = await refusal(snowmint, async () => {
    const gen = await snowmint.Snowflake.lease(options);
    const ids = gen.nextIds(2000);
    const { start, end } = gen.window;
    const inside = ids.every((id) => {
      const { timestampMs, node } = gen.layout.decode(id);
      return start <= timestampMs && timestampMs < end && node === gen.node;
    });
    await gen.close();
    const closed = await refusal(snowmint, () => gen.nextId());
    told = { different: new Set(ids).size, inside, closed };
  });
  return told ?? code;
}

/** Returns the results of a lease whose windows end while it mints, over a store that renews them. */
export async function leaseFrom({ Snowflake }, store) {
  const gen = await Snowflake.lease({ store, windowMs: 1000 });
  const { node } = gen;
  const first = gen.window.end;
  const ids = [];
  for (const since = Date.now(); gen.window.end < first + 500; ) {
    ids.push(await gen.nextIdAsync());
    await new Promise((resolve) => setTimeout(resolve, 5));
    if (Date.now() > since + 10_000) break;
  }
  const { lost } = gen.status();
  const renewed = gen.window.end > first;
  const increasing = ids.every((id, at) => at === 0 || id > ids[at - 1]);
  await gen.close();
  return { node, lost, renewed, increasing };
}

/** Returns the results of the package in this realm. */
export async function look(snowmint) {
  const { Snowflake, SnowmintError, inspect, json, layouts, scatter, text } = snowmint;
  const gen = new Snowflake({ node: 5 });
  const { maxAheadMs, maxWaitMs } = gen.status();
  const ids = Array.from({ length: 10_000 }, () => gen.nextId());
  const filled = gen.fill(new BigUint64Array(5000));
  const all = [...ids, ...filled];
  const parts = gen.layout.decode(all.at(-1));

  // One more than there are in a tick: refused where calls cannot block, and had by waiting for the next tick.
  const strict = new Snowflake({ layout: "time:41,node:10,sequence:1;epoch=0", node: 5, maxAheadMs: 0, maxWaitMs: 0 });
  const refused = await refusal(snowmint, () => {
    for (;;) strict.nextId();
  });
  const waiting = new Snowflake({ layout: strict.layout, node: 5, maxAheadMs: 0 });

  return {
    minted: new Set(all).size,
    increasing: all.every((id, at) => at === 0 || id > all[at - 1]),
    node: parts.node,
    near: Math.abs(Date.now() - parts.timestampMs) <= 2000,
    maxAheadMs,
    maxWaitMs,
    refused,
    waited: (await waiting.nextIdAsync()) > 0n,
    worker: layouts.TWITTER.decode(1541815603606036480n).fields.worker,
    again: gen.layout.encode(parts) === all.at(-1),
    inspected: inspect("1541815603606036480")[0].layout,
    text: text.encode(2n ** 64n - 1n, "base62"),
    back: text.decode(text.encode(2n ** 64n - 1n, "base62"), "base62") === 2n ** 64n - 1n,
    scattered: String(scatter.unrotateDigits(scatter.rotateDigits(1234567890123456789n, 3), 3)),
    json: json.stringify({ id: 2n ** 63n }),
    tooHigh: await refusal(snowmint, () => new Snowflake({ layout: "twitter", node: 1024 })),
    isError: new SnowmintError("EXHAUSTED", "", 1) instanceof Error,
    lease: await leased(snowmint),
    leaseOver: await leased(snowmint, { store: new Records(), namespace: "runtimes" }),
  };
}

/** The IDs of a node that a worker mints for a moment, or the code with which the node is refused. */
export function mintForAWhile({ Snowflake }) {
  const ids = [];
  let refused = null;
  try {
    const gen = new Snowflake({ node: 9 });
    for (const end = Date.now() + 400; Date.now() < end; ) ids.push(gen.nextId());
  } catch (error) {
    refused = error.code ?? `${error}`;
  }
  return { ids, refused };
}
