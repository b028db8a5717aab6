// Requests to the service that has sent the page. The token is kept for this tab only, and is in no address.

/** The answer to `GET /v1/status`. */
export interface Status {
  version: string;
  store: string;
  leases: number;
  namespaces: number;
}

/** The answer to `GET /v1/namespaces/{ns}/leases`: all nodes that were ever leased. */
export interface Leases {
  leases: { node: number; window: { end: number }; label: string; released: boolean }[];
  server_time_ms: number;
}

/** How many nodes of a namespace are leased, and how many are free. */
export interface Nodes {
  held: number;
  free: number;
}

const KEY = "snowmint-token";

/** Keeps a token for this tab, until the tab is closed. */
export function keepToken(token: string): void {
  sessionStorage.setItem(KEY, token);
}

export function forgetToken(): void {
  sessionStorage.removeItem(KEY);
}

export function hasToken(): boolean {
  return sessionStorage.getItem(KEY) !== null;
}

/** A request that failed; the message is a sentence for the user. */
export class Refusal extends Error {
  /** `status` is that of the answer, 0 without an answer. */
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

/**
 * Sends a request to the service, with the token if there is one.
 *
 * Throws a `Refusal` if the service refuses the request or is unreachable.
 */
export async function ask(path: string): Promise<Response> {
  const token = sessionStorage.getItem(KEY);
  // A header has no other characters.
  if (token && /[^ -~]/.test(token)) throw new Refusal(401, "A token has ASCII characters only.");
  const headers: HeadersInit = token ? { authorization: `Bearer ${token}` } : {};
  const response = await fetch(path, { headers }).catch(() => {
    throw new Refusal(0, `${location.host} is unreachable. Check that the service runs, then refresh.`);
  });
  if (response.ok) return response;
  const { status } = response;
  if (status === 401 && token) throw new Refusal(status, "401: the service does not know this token.");
  // Something else than the service may have answered, such as a proxy.
  const { detail } = await response.json().catch(() => ({ detail: "the answer has no reason" }));
  throw new Refusal(status, `${status}: ${detail}.`);
}

/** Reads the nodes of each namespace from the text of `GET /metrics`. */
export function nodesOf(metrics: string): Map<string, Nodes> {
  const found = new Map<string, Nodes>();
  for (const [, name, state, count] of metrics.matchAll(
    /^snowmint_nodes{namespace="(.+)",state="(held|free)"} (\d+)$/gm,
  )) {
    const nodes = found.get(name!) ?? { held: 0, free: 0 };
    found.set(name!, { ...nodes, [state!]: Number(count) });
  }
  return found;
}
