// What a tab or worker does in tabs.test.mjs.
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

/** What comes of a call, or the code and sentence of its error. */
export async function outcome(call) {
  try {
    return String(await call());
  } catch ({ name, code, message }) {
    return { name, code, message };
  }
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
