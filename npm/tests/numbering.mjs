// A process that takes numbers of a store: numbering.mjs KIND URL TERM NAME LEDGER. It writes numbers to the ledger before it takes
// more, until it is killed.
import { openSync, writeSync } from "node:fs";
import { SqliteStore } from "snowmint/stores";
import { LEASED } from "./clients.mjs";
import { TERMS } from "./terms.mjs";

const [kind, url, term, name, ledger] = process.argv.slice(2);
async function storeOf() {
  const { Store, connect } = LEASED[kind] ?? {};
  if (Store) return new Store((await connect(url))[0], { timeoutMs: 30_000 });
  const { default: Database } = await import("better-sqlite3");
  return new SqliteStore(new Database(url), { timeoutMs: 30_000 });
}
const take = TERMS[term](await storeOf(), name);
const file = openSync(ledger, "a");
for (;;) {
  const taken = await Promise.all(Array.from({ length: 20 }, take));
  writeSync(file, `${taken.join("\n")}\n`);
  await new Promise((resolve) => setTimeout(resolve, 2));
}
