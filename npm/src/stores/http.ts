import type { ErrorCode, SnowmintError } from "../errors.js";
import { type Owner, read } from "../input.js";
import type { Grant, LeaseTerms, Lessor } from "../lease/store.js";
import { lease } from "../wasm/lease.js";
import { failure, messageOf, shown, unavailable } from "./shared/failure.js";
import { checkedTimeout } from "./shared/options.js";
import { type Answered, checkedFetch, type Fetch, isLate, parsed, send } from "./shared/requests.js";

/** The options of `HttpStore`. */
export interface HttpStoreOptions {
  /** The token of the service, if it wants one. */
  token?: string | undefined;
  /** How long a request may take before it is given up, ms, more than 0; 5000 if missing. */
  timeoutMs?: number | undefined;
  /** The function that sends requests and follows their options; the host's `fetch` if missing. */
  fetch?: Fetch | undefined;
}

const OPTIONS: Owner = {
  of: "HttpStore",
  names: Object.keys({ token: 0, timeoutMs: 0, fetch: 0 } satisfies Record<keyof HttpStoreOptions, 0>),
};

/** An answer of the service. */
interface Answer {
  status: number;
  answer: { readonly [name: string]: unknown };
}

/** A problem document (RFC 9457) of the service. */
interface Problem {
  status: number;
  code?: unknown;
  detail?: unknown;
  retry_after_ms?: unknown;
}

/**
 * Leases and numbers of a service, `snowmint serve`, over HTTP: in Node, Deno, Bun, workers, edge runtimes, and pages, whose origin
 * the service has to allow by `--allow-origin`. The classes of `snowmint/numbers` take it instead of a store.
 *
 * Generators use the service's clock, computed from the monotonic clock of this host, so a wrong wall clock does no harm; they
 * take no `clock`. A claim or renewal that is not answered within `timeoutMs` is a `STORE_UNAVAILABLE`; a token
 * that is refused is an `INVALID_STORE`.
 *
 * Throws TypeError unless it is a URL of http or https without password, query and fragment.
 *
 * @example
 * const store = new HttpStore("https://ids.example", { token });
 * await using gen = await Snowflake.lease({ store, namespace: "orders" });
 */
export class HttpStore implements Lessor {
  /** Without a slash at its end. */
  readonly #url: string;
  readonly #headers: Record<string, string>;
  readonly #timeoutMs: number;
  readonly #fetch: Fetch;

  /** Over the service at that URL, under whose path it has `/v1`. */
  constructor(url: string | { readonly href: string }, options: HttpStoreOptions = {}) {
    const { token, timeoutMs, fetch: given } = read(options, OPTIONS);
    this.#url = urlOf(url);
    this.#timeoutMs = checkedTimeout(timeoutMs);
    // The characters that a header takes. The message does not show the token.
    if (token !== undefined && !(typeof token === "string" && /^[!-~]+$/.test(token)))
      throw new TypeError("token is a text of printable ASCII without spaces");
    this.#headers = { "content-type": "application/json", ...(token && { authorization: `Bearer ${token}` }) };
    this.#fetch = checkedFetch(given);
  }

  /** As `Lessor.claim`. */
  async claim(namespace: string, terms: LeaseTerms): Promise<Grant & { windowMs: number }> {
    const { nonce, layout, windowMs, maxAheadMs, label, node, nodes, lastNode, exclude } = terms;
    const body = {
      nonce,
      layout,
      window_ms: windowMs === undefined ? undefined : whole(windowMs),
      max_ahead_ms: whole(maxAheadMs),
      label,
      node,
      nodes,
      last_node: lastNode,
      exclude,
    };
    const { answer } = await this.request("POST", `namespaces/${namespace}/leases`, body);
    return { ...this.#granted(answer), windowMs: this.#number(answer, "window_ms") };
  }

  /** As `Lessor.renew`. */
  async renew(
    namespace: string,
    node: number,
    terms: { nonce: string; unusedFromMs: number; windowMs: number; maxAheadMs: number },
  ): Promise<Grant> {
    const { nonce, unusedFromMs, windowMs, maxAheadMs } = terms;
    const body = { nonce, unused_from_ms: unusedFromMs, window_ms: windowMs, max_ahead_ms: whole(maxAheadMs) };
    const { answer } = await this.request("PUT", `namespaces/${namespace}/leases/${node}`, body);
    return this.#granted(answer);
  }

  /** As `Lessor.release`; a page that is closed does not cancel the request. */
  async release(
    namespace: string,
    node: number,
    { nonce, unusedFromMs }: { nonce: string; unusedFromMs: number },
  ): Promise<void> {
    await this.request("DELETE", `namespaces/${namespace}/leases/${node}`, { nonce, unused_from_ms: unusedFromMs });
  }

  /** Checks that the service answers for a namespace, and accepts the token. Claims nothing. */
  async check(namespace: string): Promise<void> {
    await this.request("GET", `namespaces/${namespace}/leases`);
  }

  /** Its name in messages. */
  toString(): string {
    return `the service at ${this.#url}`;
  }

  /**
   * @internal Sends a request to a path below `/v1`. Returns the answer of the service, or throws its refusal. If a connection breaks,
   * it sends the request again, unless that would do harm.
   */
  async request(method: string, path: string, body?: object, { once = false } = {}): Promise<Answer> {
    const request = {
      method,
      headers: this.#headers,
      body: body && JSON.stringify(body),
      keepalive: method === "DELETE",
    };
    let answer: Answered;
    try {
      answer = await send(this.#fetch, `${this.#url}/v1/${path}`, request, this.#timeoutMs, !once);
    } catch (error) {
      throw this.#unanswered(error);
    }
    const { status, ok, text } = answer;
    const found = parsed(text);
    if (!ok) throw this.#refusal({ ...found, status });
    if (!found) throw this.odd(`status ${status} without JSON`);
    return { status, answer: found };
  }

  #unanswered(error: unknown): SnowmintError {
    const { cause } = Object(error) as { cause?: unknown };
    if (isLate(error)) return unavailable(this, new Error(`no answer within ${this.#timeoutMs} ms`));
    const origin = globalThis.location?.origin;
    // A page does not learn the reason.
    const hint =
      origin && origin !== new URL(this.#url).origin
        ? `; it is down, or is not started with --allow-origin ${origin}`
        : "";
    const failed = unavailable(this, new Error(messageOf(cause ?? error) + hint));
    failed.cause = error;
    return failed;
  }

  #refusal(problem: Problem): SnowmintError | RangeError {
    const { status, code, detail } = problem;
    if (status !== 401 && typeof detail !== "string") return this.odd(`status ${status}`);
    const why = status === 401 ? lease().tokenRefused() : `${detail}`;
    if (code === "BAD_REQUEST") return new RangeError(shown(`${this}: ${why}`));
    const refused = status === 401 ? "INVALID_STORE" : `${code}`;
    // A retry does not help a token that may not do this.
    const unknown = status === 403 ? "INVALID_STORE" : "STORE_UNAVAILABLE";
    const known = lease().serviceRefusals().includes(refused) ? (refused as ErrorCode) : unknown;
    const error = failure(known, this, why, Number(problem.retry_after_ms ?? 0));
    error.cause = problem;
    return error;
  }

  #granted(answer: object): Grant {
    const window = (answer as { window?: unknown }).window;
    const [start, end] = [this.#number(window, "start"), this.#number(window, "end")];
    return {
      node: this.#number(answer, "node"),
      window: { start, end },
      serviceMs: this.#number(answer, "server_time_ms"),
    };
  }

  #number(answer: unknown, name: string): number {
    const value = (Object(answer) as Record<string, unknown>)[name];
    if (Number.isSafeInteger(value)) return value as number;
    throw this.odd(`${name} ${String(value)}`);
  }

  /** @internal Makes the error of an answer that no service of snowmint gives. */
  odd(answer: string): SnowmintError {
    return unavailable(this, new Error(lease().notSnowmint(answer)));
  }
}

/** The text of a URL, without a slash at its end. */
function urlOf(url: string | { readonly href: string }): string {
  // The message does not show the URL, which may contain a password.
  const { protocol, username, password, search, hash, href } = parsedUrl(url) ?? {};
  if (!href || !/^https?:$/.test(protocol ?? ""))
    throw new TypeError('HttpStore needs a URL of http or https, such as "https://ids.example"');
  if (username || password) throw new TypeError("HttpStore needs a URL without user and password: give { token }");
  if (search || hash) throw new TypeError("HttpStore needs a URL without query and fragment");
  return href.replace(/\/+$/, "");
}

function parsedUrl(url: unknown): URL | undefined {
  try {
    return new URL(String(url));
  } catch {
    return;
  }
}

/** Returns whole ms, within the integers of JSON. */
const whole = (ms: number): number => Math.min(Math.floor(ms), Number.MAX_SAFE_INTEGER);
