import type { SnowmintError } from "../errors.js";
import { type Owner, read } from "../input.js";
import type { Listed, Store, Versioned } from "../lease/store.js";
import { failure, messageOf, unavailable } from "./shared/failure.js";
import { checkedTimeout } from "./shared/options.js";
import { prefixed } from "./shared/place.js";
import { checkedFetch, type Fetch, isLate, parsed, send } from "./shared/requests.js";
import { checkAdd, full, MAX_COUNT, raised } from "./shared/values.js";

/** The options of `EtcdStore`. */
export interface EtcdStoreOptions {
  /** How long a call may take over all members, ms, more than 0; 5000 if missing. */
  timeoutMs?: number | undefined;
  /** The function that sends each request once and follows its options; the host's `fetch` if missing. */
  fetch?: Fetch | undefined;
}

const OPTIONS: Owner = {
  of: "EtcdStore",
  names: Object.keys({ timeoutMs: 0, fetch: 0 } satisfies Record<keyof EtcdStoreOptions, 0>),
};

/** The most records of an answer. */
const PAGE = 1000;
const AUTHENTICATE = "auth/authenticate";
// Codes of gRPC: INVALID_ARGUMENT, PERMISSION_DENIED, FAILED_PRECONDITION, UNAUTHENTICATED.
const [WRONG_USER, FORBIDDEN, NO_USERS, TOKEN_OVER] = [3, 7, 9, 16];
/** The message about a token from before the users were changed. */
const OTHER_USERS = "etcdserver: revision of auth store is old";

/** An answer, which leaves out empty fields. */
interface Answer {
  header: { revision: string };
  kvs?: { key: string; value?: string; mod_revision: string }[];
  more?: boolean;
  succeeded?: boolean;
  token?: string;
  code?: number;
  message?: string;
}

/** A key with its value, and the revision of the cluster that wrote it. */
interface Pair {
  key: string;
  value: Uint8Array;
  revision: string;
}

/** No key has this revision. */
const NEVER: Pair = { key: "", value: new Uint8Array(), revision: `${MAX_COUNT}` };

/**
 * Records and counters on an etcd cluster, by its JSON gateway, over `fetch` and without a client package.
 *
 * The URL is `etcd://USER:PASSWORD@HOST:PORT,HOST:PORT`, or `etcds://` for TLS, which trusts whom the host's `fetch`
 * trusts; the port is 2379 if missing. Write special characters in the user and the password as %XX. Keys begin with
 * `snowmint/`, or with the name in `?prefix=NAME`.
 *
 * Members are asked one after the other, beginning with the one that answered last. Reads are linearizable, and each write
 * compares the record that it replaces. Members must not run with `--unsafe-no-fsync`, which can lose confirmed writes and
 * which a client cannot see, nor with `--enable-grpc-gateway=false`. A user needs the right to read and write the keys that
 * begin with `snowmint/`, or with another prefix and a slash. The store has no clock.
 *
 * Throws TypeError for a URL of another form.
 *
 * @example
 * const store = new EtcdStore("etcd://etcd1,etcd2,etcd3");
 * await using gen = await Snowflake.lease({ store, namespace: "orders" });
 */
export class EtcdStore implements Store {
  readonly #members: string[];
  readonly #scheme: string;
  readonly #user: { name: string; password: string } | undefined;
  readonly #prefix: string;
  readonly #timeoutMs: number;
  readonly #fetch: Fetch;
  /** The member that answered last. */
  #first = 0;
  #token: string | undefined;

  /** Over the cluster at that URL. */
  constructor(url: string, options: EtcdStoreOptions = {}) {
    const { timeoutMs, fetch: given } = read(options, OPTIONS);
    const { members, scheme, user, prefix } = partsOf(url);
    this.#members = members;
    this.#scheme = scheme;
    this.#user = user;
    this.#prefix = prefix;
    this.#timeoutMs = checkedTimeout(timeoutMs);
    this.#fetch = checkedFetch(given);
  }

  /** As `Store.read`. */
  async read(key: string): Promise<Versioned | null> {
    const found = await this.#get(this.#key("records", key), this.#deadline());
    return found ? { value: found.value, version: await versionOf(found) } : null;
  }

  /** As `Store.write`. */
  async write(key: string, value: Uint8Array, expectedVersion: number): Promise<number | null> {
    const place = this.#key("records", key);
    // A copy: the caller may write over its bytes meanwhile.
    const own = value.slice();
    const deadline = this.#deadline();
    const found = await this.#get(place, deadline);
    if (found && (await versionOf(found)) !== expectedVersion) return null;
    // Even without a record the request is sent, because it shows whether the members accept writes.
    const revision = await this.#put(place, found ?? (expectedVersion ? NEVER : undefined), own, deadline);
    return revision === null ? null : versionOf({ value: own, revision });
  }

  /** As `Store.list`. */
  async list(prefix: string): Promise<Listed[]> {
    const directory = this.#key("records", prefix);
    const deadline = this.#deadline();
    // The prefix ends in a slash, after which comes a 0.
    const question = { range_end: encoded(`${directory.slice(0, -1)}0`), limit: PAGE };
    const listed: Listed[] = [];
    let [start, revision] = [directory, "0"];
    for (;;) {
      const answer = await this.#ask("kv/range", { ...question, key: encoded(start), revision }, deadline);
      const page = pairsOf(answer);
      for (const pair of page) {
        const name = pair.key.slice(directory.length);
        if (!name.includes("/")) listed.push({ name, value: pair.value, version: await versionOf(pair) });
      }
      if (!answer.more) return listed;
      // All pages show one revision.
      if (start === directory) revision = answer.header.revision;
      start = `${page.at(-1)!.key}\0`;
    }
  }

  /** As `Store.add`. */
  async add(counter: string, delta: bigint, start: bigint): Promise<bigint> {
    checkAdd(this, counter, delta, start);
    const place = this.#key("counters", counter);
    const deadline = this.#deadline();
    for (;;) {
      const found = await this.#get(place, deadline);
      const digits = found ? String.fromCharCode(...found.value) : `${start}`;
      if (!/^\d+$/.test(digits)) throw unavailable(this, new Error(`the value at ${place} is not a number`));
      const count = raised(BigInt(digits), delta);
      if (count === undefined) throw full(this, counter);
      // Otherwise another client was faster.
      if ((await this.#put(place, found, `${count}`, deadline)) !== null) return count;
    }
  }

  /** As `Store.lower`. */
  async lower(counter: string, end: bigint, start: bigint): Promise<boolean> {
    const place = this.#key("counters", counter);
    const deadline = this.#deadline();
    const found = await this.#get(place, deadline);
    if (!found || String.fromCharCode(...found.value) !== `${end}`) return false;
    // A second copy of the request would change nothing, as it compares the revision of the key too.
    return (await this.#put(place, found, `${start}`, deadline)) !== null;
  }

  /** As `Store.clockMs`. */
  async clockMs(): Promise<null> {
    return null;
  }

  /** Its name in messages. */
  toString(): string {
    return `etcd at ${this.#members}${prefixed(this.#prefix)}`;
  }

  #key(kind: string, name: string): string {
    return `${this.#prefix}/${kind}/${name}`;
  }

  #deadline(): number {
    return performance.now() + this.#timeoutMs;
  }

  async #get(key: string, deadline: number): Promise<Pair | undefined> {
    return pairsOf(await this.#ask("kv/range", { key: encoded(key) }, deadline))[0];
  }

  /**
   * Replaces the pair that was found. Returns the new revision, or null if the key has another pair by now. Sends the
   * request once, to the member that has just answered: if the answer is lost, the write may be done.
   */
  async #put(
    place: string,
    found: Pair | undefined,
    value: Uint8Array | string,
    deadline: number,
  ): Promise<string | null> {
    const key = encoded(place);
    const compared = { key, result: "EQUAL" };
    const step = {
      compare: [
        { ...compared, target: "MOD", mod_revision: found?.revision ?? "0" },
        // A restored backup may count to the same revision.
        ...(found ? [{ ...compared, target: "VALUE", value: encoded(found.value) }] : []),
      ],
      success: [{ request_put: { key, value: encoded(value) } }],
    };
    const answer = await this.#askMember(this.#first, "kv/txn", step, deadline, false);
    return answer.succeeded ? answer.header.revision : null;
  }

  /** Asks the members one after the other. Only for requests that may be repeated. */
  async #ask(path: string, question: object, deadline: number): Promise<Answer> {
    const count = this.#members.length;
    let member = this.#first;
    for (let left = count; ; left--) {
      const now = performance.now();
      try {
        const answer = await this.#askMember(member, path, question, now + (deadline - now) / left, true);
        this.#first = member;
        return answer;
      } catch (error) {
        if (left === 1 || (error as SnowmintError).code !== "STORE_UNAVAILABLE") throw error;
        member = (member + 1) % count;
      }
    }
  }

  async #askMember(member: number, path: string, question: object, deadline: number, again: boolean): Promise<Answer> {
    const answered = (token: string | undefined) => this.#send(member, path, question, deadline, token, again);
    if (!this.#user) return this.#checked(member, await answered(undefined), [WRONG_USER, FORBIDDEN]);
    let answer = await answered(this.#token ?? (await this.#authenticate(member, deadline)));
    // Nothing was changed.
    if (answer.code === TOKEN_OVER || answer.message === OTHER_USERS)
      answer = await answered(await this.#authenticate(member, deadline));
    return this.#checked(member, answer, [WRONG_USER, FORBIDDEN]);
  }

  async #authenticate(member: number, deadline: number): Promise<string | undefined> {
    const answer = await this.#send(member, AUTHENTICATE, this.#user!, deadline, undefined, true);
    this.#token = this.#checked(member, answer, [WRONG_USER, FORBIDDEN, NO_USERS]).token;
    return this.#token;
  }

  #checked(member: number, answer: Answer, invalid: (number | undefined)[]): Answer {
    if (answer.code === undefined) return answer;
    const code = invalid.includes(answer.code) ? "INVALID_STORE" : "STORE_UNAVAILABLE";
    throw failure(code, this, `${this.#members[member]}: ${answer.message}`);
  }

  /** Returns the answer, which has a code if it is a refusal. */
  async #send(
    member: number,
    path: string,
    question: object,
    deadline: number,
    token: string | undefined,
    again: boolean,
  ): Promise<Answer> {
    const place = this.#members[member];
    const headers = {
      "content-type": "application/json",
      // A member without its cluster refuses at once instead of waiting.
      "grpc-metadata-hasleader": "true",
      ...(token && { authorization: token }),
    };
    const request = { method: "POST", headers, body: JSON.stringify(question) };
    const leftMs = Math.max(Math.ceil(deadline - performance.now()), 0);
    try {
      const { status, ok, text } = await send(
        this.#fetch,
        `${this.#scheme}://${place}/v3/${path}`,
        request,
        leftMs,
        again,
      );
      const answer = parsed(text) as Answer | undefined;
      return ok && answer ? answer : { code: -1, message: `status ${status}`, ...answer! };
    } catch (error) {
      const { cause = error } = Object(error) as { cause?: unknown };
      const why = isLate(error) ? `no answer within ${leftMs} ms` : messageOf(cause);
      throw unavailable(this, new Error(`${place}: ${why}`, { cause: error }));
    }
  }
}

const encoded = (data: Uint8Array | string): string => Buffer.from(data as string).toString("base64");

/** Returns the keys in an answer. */
const pairsOf = ({ kvs = [] }: Answer): Pair[] =>
  kvs.map(({ key, value = "", mod_revision }) => ({
    key: String(Buffer.from(key, "base64")),
    value: Uint8Array.from(Buffer.from(value, "base64")),
    revision: mod_revision,
  }));

/** Returns a hash of revision and value, 1 to 2^53-1: a restored backup counts the same revisions again. */
async function versionOf({ value, revision }: Omit<Pair, "key">): Promise<number> {
  const hashed = Buffer.concat([Buffer.from(`${revision}:`), value]);
  const digest = new DataView(await crypto.subtle.digest("SHA-256", hashed));
  return Number(digest.getBigUint64(0) % (2n ** 53n - 1n)) + 1;
}

/** Reads a URL. */
function partsOf(url: string) {
  const [, scheme, user, places = "", prefix = "snowmint"] =
    /^(etcds?):\/\/(?:((?:[^?%]|%[\da-fA-F]{2})*)@)?([^?@]*?)\/?(?:\?prefix=([\w-][\w.-]{0,63}))?$/.exec(String(url)) ??
    [];
  const members = places.split(",").map((place) => /^(\[[\da-f:.]+\]|[^\s:/#[\]]+)(:\d{1,5})?$/i.exec(place));
  if (!scheme || members.includes(null))
    // The message shows no part of the URL, as it may be of the password.
    throw new TypeError(
      "EtcdStore needs a URL etcd://USER:PASSWORD@HOST:PORT,HOST:PORT?prefix=NAME, or etcds:// for TLS: write what is " +
        "special in user and password as %XX, and a name with a-z A-Z 0-9 . _ -",
    );
  const [name = "", password = ""] = user?.split(/:(.*)/s, 2).map(decodeURIComponent) ?? [];
  return {
    scheme: scheme === "etcds" ? "https" : "http",
    members: members.map((member) => `${member![1]}${member![2] ?? ":2379"}`),
    user: user ? { name, password } : undefined,
    prefix,
  };
}
