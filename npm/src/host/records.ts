// A store of this thread that the addon asks: reservations and their files are the addon's.
import { SnowmintError } from "../errors.js";
import { CheckedStore } from "../lease/checked-store.js";
import type { LeaseStore } from "../lease/store.js";
import type { Addon, Question, Records, Reply } from "./addon.js";

/** The stores that the addon knows. */
const known = new WeakMap<LeaseStore, Records>();

/** Returns the object by which the addon calls a store. */
export function recordsOf(native: Addon, store: LeaseStore): Records {
  let records = known.get(store);
  if (!records) {
    const checked = new CheckedStore(store);
    records = new native.Records(String(store), (question) => void answer(checked, question));
    known.set(store, records);
  }
  return records;
}

async function answer(store: CheckedStore, question: Question): Promise<void> {
  let reply: Reply;
  try {
    reply = { records: [], ...(await ask(store, question)), risk: store.standbyRisk() ?? undefined };
  } catch (error) {
    const { message } = Object(error) as Error;
    reply = { records: [], code: error instanceof SnowmintError ? error.code : "", message: message ?? String(error) };
  }
  question.answer(reply);
}

async function ask(store: CheckedStore, { verb, key, value, expected }: Question): Promise<Partial<Reply>> {
  switch (verb) {
    case "read": {
      const found = await store.read(key);
      return found ? { records: [{ name: key, ...found }] } : {};
    }
    case "write":
      return { version: (await store.write(key, value, expected)) ?? undefined };
    case "list":
      return { records: await store.list(key) };
    case "clockMs": {
      const ms = await store.clockMs();
      return Number.isNaN(ms) ? {} : { ms };
    }
    case "refuseStandby":
      await store.refuseStandby();
      return {};
  }
}
