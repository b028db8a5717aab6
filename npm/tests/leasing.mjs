// A process that leases over a store: leasing.mjs KIND URL NAMESPACE LEDGER OPTIONS. Sends its node, or the code and the
// message of a refusal, and mints until it ends or loses its lease. It writes each ID to the ledger before it mints the next. A message stops it by SIGSTOP: outside
// of a transaction, with which it would lock a file for all others.
import { openSync, writeSync } from "node:fs";
import { Snowflake } from "snowmint";
import { SqliteStore } from "snowmint/stores";
import { LEASED } from "./clients.mjs";

const [kind, url, namespace, ledger, options] = process.argv.slice(2);
const { allowStandby, ...terms } = JSON.parse(options ?? "{}");
async function storeOf(kind) {
  if (kind === "slots") return `file:${url}`;
  if (kind !== "better-sqlite3")
    return new LEASED[kind].Store((await LEASED[kind].connect(url))[0], allowStandby && { allowStandby });
  const { default: Database } = await import("better-sqlite3");
  return new SqliteStore(new Database(url));
}
const onLost = ({ message }) => {
  process.send?.({ lost: message });
  process.exit(1);
};
const refused = ({ code, message }) => {
  if (!process.send) throw new Error(message);
  process.send({ code, message }, () => process.exit(1));
  return new Promise(() => {});
};
const gen = await Snowflake.lease({
  store: await storeOf(kind),
  namespace,
  onLost,
  maxWaitMs: 20_000,
  ...terms,
}).catch(refused);
const file = openSync(ledger, "a");
const mint = () => {
  try {
    writeSync(file, `${gen.nextIds(20).join("\n")}\n`);
  } catch (error) {
    if (error.code !== "WINDOW_CLOSED") throw error;
  }
  setTimeout(mint, 10);
};
mint();
process.on("message", () => process.kill(process.pid, "SIGSTOP"));
process.send?.({ node: gen.node });
