// Code that the processes in Node share: the installed packages, stores over the usual clients, and ledgers.
import { openSync, writeSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

/** Loads a package of the folder npm/, which SNOWMINT_NPM names. */
export const require = createRequire(
  join(process.env.SNOWMINT_NPM ?? new URL("../../npm", import.meta.url).pathname, "tests/"),
);

/** The monotonic clock, which all processes share, ns. */
export const now = () => process.hrtime.bigint();

/** Makes the store of a URL. */
export async function storeOf(url) {
  const stores = require("snowmint/stores");
  const [scheme] = url.split(":", 1);
  const [place, options = ""] = url.slice(scheme.length + 1).split("?");
  const allowUnsafe = options.includes("allow_unsafe=true");
  switch (scheme) {
    case "file":
      return url;
    case "sqlite":
      return new stores.SqliteStore(new (require("better-sqlite3"))(place), { allowUnsafe });
    case "postgres": {
      const pool = new (require("pg").Pool)({ connectionString: url });
      // The pool reports unused connections that break.
      pool.on("error", () => {});
      return new stores.PgStore(pool);
    }
    case "mysql":
      return new stores.MysqlStore(require("mysql2/promise").createPool(url));
    case "redis": {
      const client = new (require("ioredis"))(url);
      client.on("error", () => {});
      return new stores.RedisStore(client);
    }
    case "http":
      return new stores.HttpStore(url);
  }
  throw new Error(`${scheme} has no store in Node`);
}

/** Opens the ledger of a kind of numbers. Returns the function that adds numbers of a session or user to it. */
export function takes(directory, kind) {
  const book = openSync(join(directory, `${kind}.${process.pid}`), "a");
  return (whose, numbers, call, back) => {
    const entries = numbers.map((number) => {
      const entry = Buffer.alloc(40);
      [whose, number, 0, call, back].forEach((word, at) => entry.writeBigUInt64LE(BigInt(word), 8 * at));
      return entry;
    });
    writeSync(book, Buffer.concat(entries));
  };
}
