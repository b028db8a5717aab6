// Requests over HTTP, for the stores that need no client package.

/** A function that sends a request: the part of `fetch` that the stores use. */
export type Fetch = (url: string, init: object) => Promise<{ status: number; ok: boolean; text(): Promise<string> }>;

/** Returns the function that sends requests: by default the host's `fetch`. */
export function checkedFetch(given: Fetch | undefined): Fetch {
  if (given !== undefined && typeof given !== "function") throw new TypeError("fetch is a function like that of hosts");
  return given ?? ((url, init) => fetch(url, init));
}

/** An answer. */
export interface Answered {
  status: number;
  ok: boolean;
  text: string;
}

/** Sends a request, and `again` if a connection breaks: one that was kept may have ended meanwhile. */
export async function send(
  fetch: Fetch,
  url: string,
  request: object,
  timeoutMs: number,
  again: boolean,
): Promise<Answered> {
  const signal = AbortSignal.timeout(timeoutMs);
  // In Node neither the signal nor a request over a connection that was reset keeps the process alive: while a caller waits
  // for the answer, the process would end.
  const awake = setTimeout(() => {}, timeoutMs);
  try {
    const response = await fetch(url, { ...request, signal });
    return { status: response.status, ok: response.ok, text: await response.text() };
  } catch (error) {
    if (again && !signal.aborted) return await send(fetch, url, request, timeoutMs, false);
    throw error;
  } finally {
    clearTimeout(awake);
  }
}

/** Returns whether a request was given up because of its timeout. */
export const isLate = (error: unknown): boolean => (Object(error) as { name?: unknown }).name === "TimeoutError";

/** Returns the object in a text of JSON, if there is one. */
export function parsed(text: string): { readonly [name: string]: unknown } | undefined {
  try {
    const value = JSON.parse(text);
    return Object(value) === value ? value : undefined;
  } catch {
    return;
  }
}
