// The work of a tab or worker in tab-scenes.mjs.
import { Snowflake } from "/npm/dist/browser.mjs";
import { HttpStore } from "/npm/dist/stores.browser.mjs";

/** Leases a node under a name, over a store behind a URL (which may be called something else) or a service, and answers it. */
export async function lease({ url, called = url, service, ...options }, name = "gen") {
  globalThis[name] = await Snowflake.lease({
    ...options,
    ...(url && { store: served(url, called) }),
    ...(service && { store: new HttpStore(service) }),
    onLost: ({ code, message }) => {
      globalThis.lost = { code, message };
    },
  });
  return globalThis[name].node;
}

/** Makes a generator of a node without a lease, and returns the node. */
export const vouch = (node) => new Snowflake({ node }).node;

/** Makes a generator with a stopped clock, and uses up its tick. */
export function still() {
  const gen = new Snowflake({
    layout: "time:41,node:10,sequence:1;epoch=0",
    node: 5,
    clock: () => 5,
    maxWaitMs: 60_000,
    maxAheadMs: 0,
  });
  gen.nextIds(2);
  return gen;
}

/** Mints by single calls and batches; a tab that is hidden has to wait for a renewal now and then. */
export async function mint(count, name = "gen") {
  const gen = globalThis[name];
  const ids = [];
  while (ids.length < count) {
    ids.push(await gen.nextIdAsync());
    try {
      ids.push(...gen.nextIds(Math.min(500, count - ids.length)), gen.nextId());
    } catch (error) {
      if (!["WINDOW_CLOSED", "EXHAUSTED"].includes(error.code)) throw error;
    }
  }
  return ids.slice(0, count).map(String);
}

/** Returns the result of a call, or the code and sentence of its error. */
export async function outcome(call) {
  try {
    return String(await call());
  } catch ({ name, code, message, cause }) {
    return { name, code, message, ...(cause && { cause: cause.message }) };
  }
}

/** Mints all the time, and returns a call that ends that and answers the IDs. */
export function minting(name = "gen") {
  const ids = [];
  const timer = setInterval(() => {
    try {
      ids.push(...globalThis[name].nextIds(100));
    } catch (error) {
      if (!["WINDOW_CLOSED", "EXHAUSTED"].includes(error.code)) throw error;
    }
  }, 10);
  return () => {
    clearInterval(timer);
    return ids.map(String);
  };
}

/** A service whose renewals take `lag` ms and whose claims get the next node. */
export function slowService(windowMs) {
  let node = 0;
  const granted = (node) => {
    const serviceMs = Date.now();
    return { node, window: { start: serviceMs, end: serviceMs + windowMs }, serviceMs, windowMs };
  };
  const service = {
    lag: 0,
    claim: async () => granted(++node),
    async renew(_, node) {
      await new Promise((resolve) => setTimeout(resolve, service.lag));
      return granted(node);
    },
    release: async () => {},
  };
  return service;
}

/** A store behind a server: each verb is a request. */
export function served(url, called = url) {
  const ask = async (verb, ...words) => {
    const response = await fetch(`${url}/${verb}`, { method: "POST", body: JSON.stringify(words) });
    if (!response.ok) throw new Error(await response.text());
    return response.json();
  };
  const found = (record) => record && { ...record, value: Uint8Array.from(record.value) };
  return {
    read: async (key) => found(await ask("read", key)),
    write: (key, value, expected) => ask("write", key, [...value], expected),
    list: async (prefix) => (await ask("list", prefix)).map(found),
    clockMs: () => ask("clockMs"),
    toString: () => called,
  };
}
