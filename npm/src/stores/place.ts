// How a store is called in sentences, and what errors that nobody asked for are met with.

/** The engine and where it is, without user and password: as far as the options or the URL tell. */
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

/** What tells of errors. */
export interface Emitter {
  on(event: "error", listener: () => void): unknown;
  removeListener(event: "error", listener: () => void): unknown;
}

/**
 * Listens to the errors of a connection, which come out of calls too; to be called before anything else can be read from it.
 * What this returns ends that, unless there was an error: a connection that is closed may tell of more.
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
