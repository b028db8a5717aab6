// The name of a store in messages, and listeners for errors outside of calls.

/** Returns the engine and its place without user and password, as far as the options or the URL contain them. */
export function placeOf(
  engine: string,
  { host, port, database, url }: { host?: unknown; port?: unknown; database?: unknown; url?: unknown },
): string {
  const parsed = typeof url === "string" && URL.canParse(url) ? new URL(url) : undefined;
  const server = parsed?.hostname || host;
  if (typeof server !== "string" || !server) return engine;
  const number = parsed?.port || port;
  const name = parsed?.pathname.slice(1) || database;
  return `${engine} at ${server}${number ? `:${number}` : ""}${name ? `/${name}` : ""}`;
}

/** A listener of errors that calls reject with as well. Without one, an emitter would end the process. */
export const quiet = (): void => {};

/** An object that emits errors. */
export interface Emitter {
  on(event: "error", listener: () => void): unknown;
  removeListener(event: "error", listener: () => void): unknown;
}

/**
 * Listens to the errors of a connection, with which calls reject too. Call it before anything else is read from the connection.
 * Returns a function that stops listening unless there was an error: a connection that closes may emit more errors.
 */
export function hushed(connection: Emitter): () => void {
  let failed = false;
  const listener = (): void => {
    failed = true;
  };
  connection.on("error", listener);
  return () => {
    if (!failed) connection.removeListener("error", listener);
  };
}

/** Returns the part of a store's name for the prefix of its keys. A reservation on disk is found by the name. */
export const prefixed = (prefix: string): string => (prefix === "snowmint" ? "" : ` with prefix ${prefix}`);
