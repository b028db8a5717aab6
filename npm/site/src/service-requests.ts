// Requests to the service that has sent the page. Only this tab and copies of it keep the token; no address has it.

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

let kept: string | null = null;

/** Keeps a token until the tab is closed; only for this page where the browser refuses storage. */
export function keepToken(token: string | null): void {
  kept = token;
  try {
    if (token === null) sessionStorage.removeItem(KEY);
    else sessionStorage.setItem(KEY, token);
  } catch {
    // The page has it.
  }
}

/** Returns the token, if there is one. */
export function tokenOf(): string | null {
  try {
    return sessionStorage.getItem(KEY) ?? kept;
  } catch {
    return kept;
  }
}

/** A request that failed; the message is a sentence for the user. */
export class Refusal extends Error {
  /** `status` is the HTTP status of the answer, 0 without an answer. */
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

/**
 * Sends a request to the service, with the token if there is one, and reads the answer. The path is relative: a proxy may have
 * put the service under a path.
 *
 * Throws a `Refusal` if the service refuses the request or is unreachable.
 */
export async function ask(path: string): Promise<string> {
  const token = tokenOf();
  // A header has no other characters.
  if (token && /[^ -~]/.test(token)) throw new Refusal(401, "A token has ASCII characters only.");
  const headers: HeadersInit = token ? { authorization: `Bearer ${token}` } : {};
  const answered = fetch(path, { headers }).then(async (response) => ({ response, text: await response.text() }));
  const { response, text } = await answered.catch(() => {
    throw new Refusal(0, `${location.host} is unreachable. Check that the service runs, then refresh.`);
  });
  if (response.ok) return text;
  const { status } = response;
  if (status === 401 && token) throw new Refusal(status, "401: the service does not know this token.");
  throw new Refusal(status, `${status}: ${read<{ detail?: string }>(text)?.detail ?? "the answer has no reason"}.`);
}

/**
 * Sends a request whose answer is JSON.
 *
 * Throws as `ask`, and a `Refusal` if something else has answered, such as a proxy.
 */
export async function askJson<T>(path: string): Promise<T> {
  const answer = read<T>(await ask(path));
  if (answer) return answer;
  throw new Refusal(0, `${location.host}/${path} is no answer of snowmint. A proxy may have answered.`);
}

function read<T>(text: string): T | null {
  try {
    return JSON.parse(text) as T | null;
  } catch {
    return null;
  }
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
