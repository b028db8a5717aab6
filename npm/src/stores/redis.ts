import { redisAdd, redisWrite } from "../generated/scripts.js";
import type { Found, Listed, ServerSettings, Store } from "../store.js";
import { checkAdd, full, raised } from "./counts.js";
import { failed, settingsOf, unsafe } from "./durability.js";
import { sentence } from "./failure.js";
import { Findings } from "./findings.js";
import { within } from "./limit.js";
import { ownerOf, type StoreOptions, settled } from "./options.js";
import { placeOf, quiet } from "./place.js";

/** A client of `ioredis`. */
export interface IoredisClient {
  callBuffer(...args: never[]): unknown;
}

/** A client of `redis` (node-redis). */
export interface NodeRedisClient {
  sendCommand(...args: never[]): unknown;
  readonly isOpen: boolean;
}

/** What `RedisStore` takes. */
export interface RedisStoreOptions extends StoreOptions {
  /** What keys begin with; `"snowmint"` if missing. */
  prefix?: string;
}

type Word = string | Uint8Array;
/** Sends a command, whose answer has bytes instead of texts. */
type Send = (words: Word[]) => Promise<unknown>;

/**
 * Records and counters on one Redis server, over a client of `ioredis` or of `redis` (node-redis), which has to be
 * connected.
 *
 * A server that can lose confirmed writes is refused with `UNSAFE_STORE`: it needs `appendonly yes` and
 * `appendfsync always`, and must not evict. That is looked at at first, and before each write. Replicas and Sentinel, whose
 * failover can lose confirmed writes, are refused at first and by each claim, unless `allowStandby`; leases that are held
 * go on, and `status().standbyRisk` and a warning of the process say so. Errors that the client emits, which without a
 * listener would end the process, are left to the calls that they fail.
 *
 * Throws TypeError for any other client, for one of a cluster or of Sentinel, one that is subscribed or monitors, and one
 * of ioredis with `keyPrefix`, as fleets share these keys: they have the option `prefix`.
 *
 * @example
 * const store = new RedisStore(new Redis("redis://ids")); // ioredis
 * const store = new RedisStore(await createClient({ url: "redis://ids" }).connect()); // redis
 */
export class RedisStore implements Store {
  readonly #send: Send;
  readonly #name: string;
  readonly #prefix: string;
  readonly #allowUnsafe: boolean;
  readonly #timeoutMs: number;
  readonly #sentinel: boolean;
  readonly #findings: Findings;
  #checked = false;

  /** Over a client, which stays the caller's. */
  constructor(client: IoredisClient | NodeRedisClient, options?: RedisStoreOptions) {
    const {
      prefix = "snowmint",
      allowUnsafe,
      allowStandby,
      timeoutMs,
    } = settled(options, ownerOf("RedisStore", ["prefix"]));
    this.#findings = new Findings("redis", allowStandby);
    if (typeof prefix !== "string") throw new TypeError("prefix is a string");
    const known = clientOf(client);
    this.#send = known.send;
    this.#name = known.name;
    this.#sentinel = known.sentinel;
    this.#prefix = prefix;
    this.#allowUnsafe = allowUnsafe;
    this.#timeoutMs = timeoutMs;
  }

  /** As `Store.read`. */
  async read(key: string): Promise<Found | null> {
    return this.#call(async (ask) => {
      if (!this.#checked) await this.#check(ask);
      const stored = await ask("HGET", ...this.#record(key));
      return stored === null ? null : found(key, stored);
    });
  }

  /** As `Store.write`. */
  async write(key: string, value: Uint8Array, expectedVersion: number): Promise<number | null> {
    const version = expectedVersion + 1;
    const stored = Buffer.concat([Buffer.from(`${version}:`), value]);
    const [directory, field] = this.#record(key);
    return this.#call(async (ask) => {
      await this.#check(ask);
      const written = await ask("EVAL", redisWrite, "1", directory, field, `${expectedVersion}`, stored);
      return Number(written) === 1 ? version : null;
    });
  }

  /** As `Store.list`. */
  async list(prefix: string): Promise<Listed[]> {
    return this.#call(async (ask) => {
      if (!this.#checked) await this.#check(ask);
      const stored = pairs(await ask("HGETALL", this.#record(prefix)[0]));
      return stored.map(([field, value]) => ({ name: String(field), ...found(prefix + field, value) }));
    });
  }

  /** As `Store.add`. */
  async add(counter: string, delta: bigint, start: bigint): Promise<bigint> {
    checkAdd(this, counter, delta, start);
    // Nothing: it is not to be made.
    const first = raised(start, delta) ?? "";
    const key = `${this.#prefix}:counters:${counter}`;
    const count = await this.#call(async (ask) => {
      await this.#check(ask);
      return ask("EVAL", redisAdd, "1", key, `${delta}`, `${first}`);
    });
    if (count === null) throw full(this, counter);
    return BigInt(String(count));
  }

  /** As `Store.clockMs`. */
  async clockMs(): Promise<number> {
    return this.#call(async (ask) => {
      const [seconds, micros] = (await ask("TIME")) as unknown[];
      return Number(seconds) * 1000 + Math.floor(Number(micros) / 1000);
    });
  }

  /** As `Store.refuseStandby`. */
  async refuseStandby(): Promise<void> {
    if (this.#allowUnsafe) return;
    await this.#call((ask) => this.#check(ask));
    this.#findings.refuseStandby();
  }

  /** As `Store.settings`. */
  async settings(): Promise<ServerSettings> {
    const found = await this.#call((ask) => this.#settings(ask));
    const values = settingsOf("redis").flatMap((name) => (found.has(name) ? [[name, found.get(name)!] as const] : []));
    return { engine: "redis", values: new Map(values) };
  }

  /** As `Store.standbyRisk`. */
  standbyRisk(): string | null {
    return this.#findings.risk;
  }

  /** What sentences call it. */
  toString(): string {
    return this.#name;
  }

  async #call<T>(work: (ask: (...words: Word[]) => Promise<unknown>) => Promise<T>): Promise<T> {
    try {
      return await within(this.#timeoutMs, () => work((...words) => this.#send(words)));
    } catch (error) {
      throw failed(this, "redis", error);
    }
  }

  /** The hash of a record, and its field there. */
  #record(key: string): [string, string] {
    const slash = key.lastIndexOf("/");
    return [`${this.#prefix}:records:${key.slice(0, Math.max(slash, 0))}`, key.slice(slash + 1)];
  }

  async #check(ask: (...words: Word[]) => Promise<unknown>): Promise<void> {
    if (this.#allowUnsafe) return;
    // The kind of client is known without a look.
    if (this.#sentinel) this.#findings.note(this, new Map([["sentinel", "yes"]]));
    this.#findings.judge(this, await this.#settings(ask));
    this.#checked = true;
  }

  async #settings(ask: (...words: Word[]) => Promise<unknown>): Promise<Map<string, string>> {
    const told = async (...words: string[]) => {
      try {
        return await ask(...words);
      } catch (error) {
        // Other refusals pass: the server loads its data, or has too many clients at the moment.
        if (!/^(NOPERM|ERR(?! max number of clients))\b/.test(sentence(error))) throw error;
        const found = `${words.join(" ")} is refused (${sentence(error)}), and without it nobody knows whether writes are synced`;
        throw unsafe(this, found, "allow this user INFO and CONFIG GET");
      }
    };
    const lines = String(await told("INFO")).split("\r\n");
    const found = new Map(lines.map((line) => line.split(/:(.*)/s, 2) as [string, string]));
    found.set("sentinel", this.#sentinel ? "yes" : "no");
    const others = settingsOf("redis").filter((name) => !found.has(name));
    const answers = await Promise.all(others.map((name) => told("CONFIG", "GET", name)));
    for (const [name, value] of answers.flatMap(pairs)) found.set(String(name), String(value));
    return found;
  }
}

/** The stored form of a record: the version, a colon, the bytes. */
function found(key: string, stored: unknown): Found {
  const bytes = stored as Uint8Array;
  const colon = bytes.indexOf(58);
  const version = String.fromCharCode(...bytes.subarray(0, Math.max(colon, 0)));
  if (!/^[1-9]\d{0,15}$/.test(version)) throw new Error(`the value at ${key} is not a record of snowmint`);
  // A copy: the client may have cut it out of a larger buffer.
  return { value: Uint8Array.from(bytes.subarray(colon + 1)), version: Number(version) };
}

/** Names and values of what one protocol answers as a row and the other as a map. */
function pairs(answer: unknown): [unknown, unknown][] {
  if (!Array.isArray(answer)) return answer instanceof Map ? [...answer] : Object.entries(answer as object);
  return Array.from({ length: answer.length / 2 }, (_, at) => [answer[2 * at], answer[2 * at + 1]]);
}

/** The properties by which a client is recognised. */
interface Known {
  callBuffer?: unknown;
  sendCommand?: (words: Word[], options: object) => Promise<unknown>;
  isOpen?: unknown;
  isCluster?: boolean;
  isPubSubActive?: boolean;
  mode?: string;
  getSlotMaster?: unknown;
  getMasterNode?: unknown;
  options?: {
    host?: string;
    port?: number;
    path?: string | null;
    url?: string;
    socket?: { host?: string; port?: number; path?: string };
    keyPrefix?: string;
    sentinels?: unknown[] | null;
  };
  on(event: "error", listener: () => void): unknown;
  listeners?(event: "error"): unknown[];
}

/** Texts of either protocol as bytes, in the words of version 4 and of those after it: what begins with $, + and =. */
const AS_BYTES = () => ({ returnBuffers: true, typeMapping: { 36: Buffer, 43: Buffer, 61: Buffer } });

function clientOf(client: unknown): { send: Send; name: string; sentinel: boolean } {
  const known = Object(client) as Known;
  const { sendCommand, options = {} } = known;
  const ioredis = typeof known.callBuffer === "function";
  if (known.isCluster || known.getSlotMaster || known.getMasterNode)
    throw new TypeError(
      "RedisStore needs a client of one server, not of a cluster or of Sentinel, whose failover loses writes",
    );
  if (!ioredis && (typeof sendCommand !== "function" || typeof known.isOpen !== "boolean"))
    throw new TypeError(
      'RedisStore needs a client of "ioredis" or of "redis", such as createClient(), not anything else',
    );
  if ((ioredis && known.mode !== "normal") || known.isPubSubActive)
    throw new TypeError(
      "RedisStore needs a client that neither is subscribed nor monitors: give it client.duplicate()",
    );
  if (ioredis && options.keyPrefix)
    throw new TypeError("RedisStore needs a client without keyPrefix: its own keys begin with its option prefix");
  const { host, port, path } = options.socket ?? options;
  const name = placeOf("Redis", { host: path || host, port: path ? "" : port });
  const words = (all: Word[]): Word[] =>
    all.map((word) => (typeof word === "string" ? word : Buffer.from(word.buffer, word.byteOffset, word.length)));
  if (!known.listeners?.("error").includes(quiet)) known.on("error", quiet);
  if (ioredis) {
    // Not by `callBuffer`, which fails while the client pipelines by itself.
    type Methods = Record<string, (...words: Word[]) => Promise<unknown>>;
    const send: Send = async ([command, ...others]) =>
      (known as unknown as Methods)[`${String(command).toLowerCase()}Buffer`]!(...words(others));
    return { send, name, sentinel: Boolean(options.sentinels) };
  }
  return { send: async (all) => sendCommand!.call(known, words(all), AS_BYTES()), name, sentinel: false };
}
