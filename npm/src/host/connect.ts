// Opens the store of a URL by the client that the project has installed.
import module from "node:module";
import { dirname, join } from "node:path";
import { SnowmintError } from "../errors.js";
import {
  DynamoDbStore,
  EtcdStore,
  HttpStore,
  MysqlStore,
  PgStore,
  RedisStore,
  SqliteStore,
  type Store,
  type StoreOptions,
} from "../stores/index.js";
import { failed } from "../stores/shared/durability.js";
import { messageOf, shown, within } from "../stores/shared/failure.js";
import { AwakeStore, TIMEOUT_MS } from "./awake.js";

/** Opens a store: by its URL without the options of this package, and by the options of its class. */
type Open = (url: string, options: StoreOptions) => Store;

const ENGINES: Record<string, Open> = {
  postgres,
  postgresql: postgres,
  mysql,
  mariadb: mysql,
  redis,
  rediss: redis,
  unix: redis,
  sqlite,
  dynamodb,
  etcd,
  etcds: etcd,
};

/** The stores of this thread, by URL. */
const stores = new Map<string, Store | HttpStore>();

/**
 * Returns the store of a URL, one in this thread for each URL; `token` is for a service.
 *
 * Throws `INVALID_STORE` for an unknown scheme, for a URL that is not valid, and where the client is not installed.
 */
export function storeOf(url: string, token: string | undefined): Store | HttpStore {
  let store = stores.get(url);
  if (!store) {
    store = /^https?:/.test(url) ? serviceOf(url, token) : open(url);
    stores.set(url, store);
  }
  return store;
}

/** Returns the service at a URL. */
function serviceOf(url: string, token: string | undefined): HttpStore {
  try {
    return new HttpStore(url, { token });
  } catch (error) {
    throw refused((error as Error).message);
  }
}

/** Opens the store of a URL. */
function open(url: string): Store {
  const [own, options] = withoutOurs(url);
  // A driver after a plus sign is for Python.
  const place = own.replace(/^(\w+)\+\w+:/, "$1:");
  const [scheme] = place.split(":") as [string];
  const engine = Object.hasOwn(ENGINES, scheme) && ENGINES[scheme];
  if (!engine)
    throw refused(
      `no such store: "${scheme}". Give file:DIRECTORY, postgres://HOST/DATABASE, mysql://HOST/DATABASE, redis://HOST, ` +
        "sqlite:PATH, dynamodb://REGION/TABLE, etcd://HOST:PORT or http://HOST:PORT",
    );
  try {
    return engine(place, options);
  } catch (error) {
    if (error instanceof SnowmintError) throw error;
    throw refused(`${scheme}: ${messageOf(error)}`);
  }
}

function postgres(url: string, options: StoreOptions): Store {
  partsOf(url, ["sslmode", "sslrootcert", "sslcert", "sslkey", "ssl", "uselibpqcompat", "application_name", "options"]);
  const { pg } = client("postgres", "pg");
  const pool = { max: 2, connectionTimeoutMillis: TIMEOUT_MS, allowExitOnIdle: true };
  return new AwakeStore(new PgStore(new pg.Pool({ ...pool, connectionString: url }), options));
}

function mysql(url: string, options: StoreOptions): Store {
  partsOf(url, ["ssl", "charset", "socketPath"]);
  const { mysql2 } = client("mysql", "mysql2");
  const uri = url.replace(/^mariadb:/, "mysql:");
  const pool = mysql2.createPool({ uri, connectionLimit: 2, connectTimeout: TIMEOUT_MS });
  pool.on("connection", ({ stream }: { stream: { unref(): void } }) => stream.unref());
  return new AwakeStore(new MysqlStore(pool, options));
}

function redis(url: string, options: StoreOptions): Store {
  const parts = partsOf(url, ["db"]);
  const isPath = parts.protocol === "unix:";
  const database = parts.searchParams.get("db") ?? (isPath ? "" : parts.pathname.slice(1));
  if (!/^\d*$/.test(database)) throw notValid("redis");
  const text = decodeURIComponent;
  const user = { username: text(parts.username) || undefined, password: text(parts.password) || undefined };
  const host = text(parts.hostname).replace(/^\[(.*)\]$/, "$1") || "localhost";
  const place = isPath ? { path: text(parts.pathname) } : { host, port: Number(parts.port || 6379) };
  const hasTls = parts.protocol === "rediss:";
  const { ioredis, redis } = client("redis", "ioredis", "redis");
  // A client that reconnects by itself would keep the process alive while the server is down. So each call connects it.
  if (ioredis) {
    const Redis = ioredis.default ?? ioredis;
    const own = { connectTimeout: TIMEOUT_MS, lazyConnect: true, retryStrategy: null, ...(hasTls && { tls: {} }) };
    const known = new Redis({ ...place, ...user, ...own, db: Number(database) });
    known.on("connect", () => known.stream.unref());
    const isClosed = () => known.status === "wait" || known.status === "end";
    const store = new RedisStore(known, options);
    return new AwakeStore(store, () => isClosed() && connected(store, known));
  }
  const socket = { ...place, connectTimeout: TIMEOUT_MS, reconnectStrategy: false, ...(hasTls && { tls: true }) };
  const known = redis.createClient({ ...user, database: Number(database), socket });
  known.unref();
  const store = new RedisStore(known, options);
  return new AwakeStore(store, () => known.isOpen || connected(store, known));
}

/** Connects a client of Redis. Rejects with the reason, which some clients report as an event only. */
async function connected(
  store: Store,
  client: { connect(): Promise<unknown>; once(event: "error", heard: (error: unknown) => void): unknown },
): Promise<void> {
  let reason: unknown;
  client.once("error", (error) => {
    reason = error;
  });
  try {
    await within(TIMEOUT_MS, () => client.connect());
  } catch (error) {
    throw failed(store, "redis", reason ?? error);
  }
}

function sqlite(url: string, options: StoreOptions): Store {
  const path = url.slice("sqlite:".length).replace(/^\/\//, "");
  if (path.includes("?"))
    throw refused("sqlite:PATH takes the options allow_unsafe and allow_standby, and no other option");
  const { "better-sqlite3": Database } = client("sqlite", "better-sqlite3");
  return new SqliteStore(new Database(path), options);
}

function dynamodb(url: string, options: StoreOptions): Store {
  const name = "@aws-sdk/client-dynamodb";
  const { hostname, pathname, searchParams } = partsOf(url, ["endpoint_url"]);
  const { DynamoDB } = client("dynamodb", name)[name];
  const known = new DynamoDB({
    region: hostname || undefined,
    endpoint: searchParams.get("endpoint_url") ?? undefined,
    requestHandler: { connectionTimeout: TIMEOUT_MS, requestTimeout: TIMEOUT_MS },
  });
  const table = decodeURIComponent(pathname.slice(1)) || undefined;
  return new AwakeStore(new DynamoDbStore(known, { ...options, table }));
}

function etcd(url: string): Store {
  return new EtcdStore(url);
}

/**
 * Reads the URL of a server. Throws for an option that the client would ignore, because it may be about TLS. Throws for
 * a URL whose password is not encoded, because messages would show a part of it as the database.
 */
function partsOf(url: string, known: readonly string[]): URL {
  const parts = URL.canParse(url) && new URL(url);
  if (!parts || parts.hash || `${parts.pathname}${parts.search}`.includes("@")) throw notValid(url.split(":")[0]!);
  for (const name of parts.searchParams.keys())
    if (!known.includes(name))
      throw refused(
        `the client of ${parts.protocol} has no option ${name}: a URL takes ${known.join(", ")}, allow_unsafe and allow_standby`,
      );
  return parts;
}

/** Splits the options of this package from a URL. */
function withoutOurs(url: string): [url: string, options: StoreOptions] {
  const [place, options = ""] = url.split(/\?(.*)/s);
  const given = options.split("&").filter(Boolean);
  const others = given.filter((option) => !/^allow_(unsafe|standby)=(true|false)$/.test(option));
  const accepted = {
    allowUnsafe: given.includes("allow_unsafe=true"),
    allowStandby: given.includes("allow_standby=true"),
  };
  return [others.length ? `${place}?${others.join("&")}` : place!, accepted];
}

/** Makes the error of a URL. The message does not show it, because a part may be of the password. */
const notValid = (scheme: string): SnowmintError =>
  refused(`the URL after ${scheme}: is not valid: write what is special in user and password as %XX`);

const refused = (why: string): SnowmintError => new SnowmintError("INVALID_STORE", shown(why));

/** The packages of the project, which this one does not know. */
// biome-ignore lint/suspicious/noExplicitAny: as above
type Packages = Record<string, any>;

/** Loads the first of these packages that the project has installed. Returns it under its name. */
function client(scheme: string, ...names: string[]): Packages {
  for (const name of names)
    for (const from of folders())
      try {
        return { [name]: module.createRequire(from)(name) };
      } catch (error) {
        if ((Object(error) as { code?: unknown }).code === "MODULE_NOT_FOUND") continue;
        throw refused(`${scheme} needs the package ${name}, which does not load: ${(Object(error) as Error).message}`);
      }
  throw refused(
    `${scheme} needs the package ${names.join(" or ")}, which is not installed in ${process.cwd()}: npm install ${names[0]}`,
  );
}

/** Returns where packages are looked for: from the program, from the working directory, and from this package. */
function folders(): (string | URL)[] {
  const program = process.argv[1] ? [join(dirname(process.argv[1]), "package.json")] : [];
  // Code that esbuild turns into CommonJS has no URL.
  return [...program, join(process.cwd(), "package.json"), import.meta.url ?? __filename];
}
