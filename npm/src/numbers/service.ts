// Numbers of a service: it has the machines of sequences, tickets and users, and this side only asks.
import { SnowmintError } from "../errors.js";
import type { SegmentTable, Store } from "../lease/store.js";
import type { HttpStore } from "../stores/http.js";
import { numbers } from "../wasm/numbers.js";

/** The most numbers of a sequence, or tickets, in an answer of the service. */
export const MAX_TAKEN = 1000;

/** Returns whether a store is a service. */
export function isService(store: unknown): store is HttpStore {
  const { request, read } = Object(store) as Partial<HttpStore & Store>;
  return typeof request === "function" && typeof read !== "function";
}

/** Reads an integer of 64 bits of an answer. */
function integerOf(store: HttpStore, value: unknown): bigint {
  const integer = typeof value === "string" && /^-?\d{1,20}$/.test(value) ? BigInt(value) : undefined;
  if (integer === BigInt.asUintN(64, integer ?? 0n) || integer === BigInt.asIntN(64, integer ?? 0n)) return integer;
  throw store.odd(`the number ${String(value)}`);
}

/** Takes one number. */
export async function takeOne(store: HttpStore, path: string): Promise<bigint> {
  const { answer } = await store.request("POST", path);
  return integerOf(store, answer.id);
}

/** Takes numbers by a request with their count. */
export async function takeSeveral(
  store: HttpStore,
  method: "GET" | "POST",
  path: string,
  count: number,
): Promise<bigint[]> {
  const { ids } = (await store.request(method, `${path}?count=${count}`)).answer;
  if (!Array.isArray(ids) || ids.length !== count) throw store.odd(`not ${count} numbers`);
  return ids.map((id) => integerOf(store, id));
}

/** Returns the status of a refusal; undefined for another error. */
const statusOf = (error: unknown): unknown => Object((error as SnowmintError).cause).status;

/** Creates a sequence of a definition. Returns false if it exists. */
export async function createSequence(store: HttpStore, path: string, definition: Uint8Array): Promise<boolean> {
  const lines = new TextDecoder().decode(definition).split("\n").slice(1, -1);
  const { kind, cycle, ...options } = Object.fromEntries(lines.map((line) => line.split("=")));
  try {
    const body = { ...options, type: kind, cycle: cycle === "true" };
    return (await store.request("POST", path, body)).status === 201;
  } catch (error) {
    if (statusOf(error) === 409) return false;
    throw error;
  }
}

/** Reads whether a sequence cycles; undefined if the sequence does not exist. */
export async function cycles(store: HttpStore, path: string): Promise<boolean | undefined> {
  try {
    const { cycle } = (await store.request("GET", path)).answer;
    if (typeof cycle === "boolean") return cycle;
    throw store.odd(`cycle ${String(cycle)}`);
  } catch (error) {
    if (statusOf(error) === 404) return undefined;
    throw error;
  }
}

/** Sets a sequence; null if its dialect ignores the set. It is sent once: a second set could give numbers again. */
export async function setSequence(store: HttpStore, path: string, setting: object): Promise<bigint | null> {
  try {
    const { answer } = await store.request("POST", path, setting, { once: true });
    return integerOf(store, answer.id);
  } catch (error) {
    if (statusOf(error) === 409) return null;
    throw error;
  }
}

/** A service as a store of segments with a clock. Its other verbs are never called. */
export function segmentsOf(service: HttpStore): Store {
  const never = (): never => {
    throw new Error(`${service} has no records`);
  };
  const segments: SegmentTable = {
    // Only the service knows the tag. Its first number is not used here.
    tag: async () => {
      const [next, step] = numbers().tagParts(numbers().tagRecord()) as unknown as [bigint, bigint];
      return { next, step };
    },
    create: async () => false,
    async fetch(tag, amount) {
      const path = `${numbers().keyOf("segments/", tag)}?count=${amount}`;
      const { answer } = await service.request("GET", path).catch((error) => {
        const isFull = error instanceof SnowmintError && error.code === "EXHAUSTED" && !error.retryAfterMs;
        throw isFull ? new RangeError(error.message) : error;
      });
      const [start, end] = [answer.start, answer.end].map((value) => integerOf(service, value));
      if (end! - start! === amount) return end!;
      throw service.odd(`not ${amount} numbers`);
    },
    lower: async () => false,
  };
  const clockMs = async () => {
    const { server_time_ms: ms } = (await service.request("GET", "status")).answer;
    if (Number.isSafeInteger(ms)) return ms as number;
    throw service.odd(`server_time_ms ${String(ms)}`);
  };
  const verbs = { read: never, write: never, list: never, add: never };
  return { ...verbs, segments, clockMs, toString: () => String(service) };
}
