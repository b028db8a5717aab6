import { redisAdd, redisLook, redisWrite } from "../generated/scripts.js";
import type { Listed, ServerSettings, Store, Versioned } from "../lease/store.js";
import { Findings, failed, settingsOf, unsafe } from "./shared/durability.js";
import { messageOf, within } from "./shared/failure.js";
import { ownerOf, type StoreOptions, settled } from "./shared/options.js";
import { placeOf, prefixed, quiet } from "./shared/place.js";
import { checkAdd, full, newVersion, raised } from "./shared/values.js";

/** A client of `ioredis`. */
export interface IoredisClient {
  callBuffer(...args: never[]): unknown;
}

/** A client of `redis` (node-redis). */
export interface NodeRedisClient {
  sendCommand(...args: never[]): unknown;
  readonly isOpen: boolean;
}

/** The options of `RedisStore`. */
export interface RedisStoreOptions extends StoreOptions {
  /** The prefix of all keys; `"snowmint"` if missing. */
  prefix?: string | undefined;
}

const LOOK = redisLook
  .trim()
  .split("\n")
  .map((line) => line.split(" "));

type Word = string | Uint8Array;
type Answer = PromiseSettledResult<unknown>;
/** Sends commands in one piece, on one connection, in this order. The answers have bytes instead of texts. */
type Send = (commands: Word[][]) => Promise<Answer[]>;

/**
 * Records and counters on one Redis server, over a client of `ioredis` or of `redis` (node-redis), which has to be
 * connected.
 *
 * A server that can lose confirmed writes is refused with `UNSAFE_STORE`: it needs `appendonly yes` and
 * `appendfsync always`, and must not evict. That is looked at with each request, in the same round trip. Replicas and
 * Sentinel, whose failover can lose confirmed writes, are refused at first and by each claim, unless `allowStandby`; leases that are held
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
    this.#name = known.name + prefixed(prefix);
    this.#sentinel = known.sentinel;
    this.#prefix = prefix;
    this.#allowUnsafe = allowUnsafe;
    this.#timeoutMs = timeoutMs;
  }

  /** As `Store.read`. */
  async read(key: string): Promise<Versioned | null> {
    return this.#ask(["HGET", ...this.#record(key)], (stored) => (stored === null ? null : found(key, stored)));
  }

  /** As `Store.write`. */
  async write(key: string, value: Uint8Array, expectedVersion: number): Promise<number | null> {
    const version = newVersion();
    const stored = Buffer.concat([Buffer.from(`${version}:`), value]);
    const words = ["EVAL", redisWrite, "1", ...this.#record(key), `${expectedVersion}`, stored];
    return this.#ask(words, (written) => (Number(written) === 1 ? version : null));
  }

  /** As `Store.list`. */
  async list(prefix: string): Promise<Listed[]> {
    return this.#ask(["HGETALL", this.#record(prefix)[0]], (stored) =>
      pairs(stored).map(([field, value]) => ({ name: String(field), ...found(prefix + field, value) })),
    );
  }

  /** As `Store.add`. */
  async add(counter: string, delta: bigint, start: bigint): Promise<bigint> {
    checkAdd(this, counter, delta, start);
    // Nothing: it is not to be made.
    const first = raised(start, delta) ?? "";
    const key = `${this.#prefix}:counters:${counter}`;
    const count = await this.#ask(["EVAL", redisAdd, "1", key, `${delta}`, `${first}`], (count) => count);
    if (count === null) throw full(this, counter);
    return BigInt(String(count));
  }

  /** As `Store.clockMs`. */
  async clockMs(): Promise<number> {
    return this.#ask(["TIME"], (time) => {
      const [seconds, micros] = time as unknown[];
      return Number(seconds) * 1000 + Math.floor(Number(micros) / 1000);
    });
  }

  /** As `Store.refuseStandby`. */
  async refuseStandby(): Promise<void> {
    if (this.#allowUnsafe) return;
    await this.#call((send) => this.#look(send));
    this.#findings.refuseStandby();
  }

  /** As `Store.settings`. */
  async settings(): Promise<ServerSettings> {
    const found = await this.#call(async (send) => this.#found(await send(LOOK)));
    const values = settingsOf("redis").flatMap((name) => (found.has(name) ? [[name, found.get(name)!] as const] : []));
    return { engine: "redis", values: new Map(values) };
  }

  /** As `Store.standbyRisk`. */
  standbyRisk(): string | null {
    return this.#findings.risk;
  }

  /** Its name in messages. */
  toString(): string {
    return this.#name;
  }

  /** Sends a command. Its answer counts only if the look at the settings behind it, in the same round trip, passes. */
  #ask<T>(words: Word[], read: (answer: unknown) => T): Promise<T> {
    return this.#call(async (send) => {
      // A server that is refused at first is not written.
      if (!this.#checked) await this.#look(send);
      const [answer, ...looked] = await send([words, ...(this.#allowUnsafe ? [] : LOOK)]);
      if (looked.length) this.#findings.judge(this, this.#found(looked));
      if (answer!.status === "rejected") throw answer!.reason;
      return read(answer!.value);
    });
  }

  /** Looks at the settings alone. */
  async #look(send: Send): Promise<void> {
    if (this.#allowUnsafe) return;
    // The kind of client is known without a look.
    if (this.#sentinel) this.#findings.note(this, new Map([["sentinel", "yes"]]));
    this.#findings.judge(this, this.#found(await send(LOOK)));
    this.#checked = true;
  }

  async #call<T>(work: (send: Send) => Promise<T>): Promise<T> {
    try {
      return await within(this.#timeoutMs, () => work(this.#send));
    } catch (error) {
      throw failed(this, "redis", error);
    }
  }

  /** The hash of a record, and its field there. */
  #record(key: string): [string, string] {
    const slash = key.lastIndexOf("/");
    return [`${this.#prefix}:records:${key.slice(0, Math.max(slash, 0))}`, key.slice(slash + 1)];
  }

  /** The settings in the answers to a look. */
  #found(answers: Answer[]): Map<string, string> {
    const found = new Map([["sentinel", this.#sentinel ? "yes" : "no"]]);
    for (const [at, answer] of answers.entries()) {
      if (answer.status === "rejected") {
        // Other refusals pass: the server loads its data, or has too many clients at the moment.
        if (!/^(NOPERM|ERR(?! max number of clients))\b/.test(messageOf(answer.reason))) throw answer.reason;
        const why = `${LOOK[at]!.join(" ")} is refused (${messageOf(answer.reason)}), and without it nobody knows whether writes are synced`;
        throw unsafe(this, why, "allow this user INFO and CONFIG GET");
      }
      const lines = LOOK[at]![0] === "INFO" ? String(answer.value).split("\r\n").map(setting) : pairs(answer.value);
      for (const [name, value] of lines) found.set(String(name), String(value));
    }
    return found;
  }
}

/** The name and the value in a line of `INFO`. */
const setting = (line: string): [string, string] => line.split(/:(.*)/s, 2) as [string, string];

/** The stored form of a record: the version, a colon, the bytes. */
function found(key: string, stored: unknown): Versioned {
  const bytes = stored as Uint8Array;
  const colon = bytes.indexOf(58);
  const version = String.fromCharCode(...bytes.subarray(0, Math.max(colon, 0)));
  if (!/^[1-9]\d{0,15}$/.test(version)) throw new Error(`the value at ${key} is not a record of snowmint`);
  // A copy: the client may have cut it out of a larger buffer.
  return { value: Uint8Array.from(bytes.subarray(colon + 1)), version: Number(version) };
}

/** Returns the names and values of an answer, which is a list in one protocol and a map in the other. */
function pairs(answer: unknown): [unknown, unknown][] {
  if (!Array.isArray(answer)) return answer instanceof Map ? [...answer] : Object.entries(answer as object);
  return Array.from({ length: answer.length / 2 }, (_, at) => [answer[2 * at], answer[2 * at + 1]]);
}

/** The properties by which a client is recognised. */
interface Known {
  callBuffer?: unknown;
  pipeline?(): { exec(): Promise<[reason: Error | null, value: unknown][]> };
  sendCommand?: (words: Word[], options: object) => Promise<unknown>;
  execute?<T>(work: (client: Known) => Promise<T>): Promise<T>;
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
    db?: number;
    database?: number;
    keyPrefix?: string;
    sentinels?: unknown[] | null;
  };
  on(event: "error", listener: () => void): unknown;
  listeners?(event: "error"): unknown[];
}

/** Asks for texts as bytes: `returnBuffers` for version 4, `typeMapping` for later ones, by the codes of $, + and =. */
const AS_BYTES = () => ({ returnBuffers: true, typeMapping: { 36: Buffer, 43: Buffer, 61: Buffer } });

function clientOf(client: unknown): { send: Send; name: string; sentinel: boolean } {
  const known = Object(client) as Known;
  const { options = {} } = known;
  const ioredis = typeof known.callBuffer === "function";
  if (known.isCluster || known.getSlotMaster || known.getMasterNode)
    throw new TypeError(
      "RedisStore needs a client of one server, not of a cluster or of Sentinel, whose failover loses writes",
    );
  if (!ioredis && (typeof known.sendCommand !== "function" || typeof known.isOpen !== "boolean"))
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
  const database = options.database || options.db || "";
  const name = placeOf("Redis", { host: path || host, port: path ? "" : port, database: database && String(database) });
  const words = (all: Word[]): Word[] =>
    all.map((word) => (typeof word === "string" ? word : Buffer.from(word.buffer, word.byteOffset, word.length)));
  if (!known.listeners?.("error").includes(quiet)) known.on("error", quiet);
  if (ioredis) {
    // An explicit pipeline, because a client with automatic pipelining could reorder the commands.
    const send: Send = async (commands) => {
      const pipeline = known.pipeline!();
      const methods = pipeline as unknown as Record<string, (...words: Word[]) => unknown>;
      for (const [command, ...others] of commands) methods[`${String(command).toLowerCase()}Buffer`]!(...words(others));
      const answers = await pipeline.exec();
      return answers.map(([reason, value]) =>
        reason ? { status: "rejected", reason } : { status: "fulfilled", value },
      );
    };
    return { send, name, sentinel: Boolean(options.sentinels) };
  }
  const on = (client: Known, commands: Word[][]) =>
    Promise.allSettled(commands.map((all) => client.sendCommand!(words(all), AS_BYTES())));
  // A pool has several connections, of which one takes all commands.
  const send: Send = (commands) => (known.execute ? known.execute((one) => on(one, commands)) : on(known, commands));
  return { send, name, sentinel: false };
}
