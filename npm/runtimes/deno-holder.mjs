// A process of Deno that leases over Deno KV: deno-holder.mjs DATABASE NAMESPACE LEDGER OPTIONS. Prints its node, or the code
// and the message of a refusal, and mints into the ledger until it ends or loses its lease. SIGUSR1 stops it by SIGSTOP:
// outside of a transaction, with which it would lock the database for all others.
import { Snowflake } from "snowmint";
import { DenoKvStore } from "snowmint/stores/deno";

const [database, namespace, ledger, options] = Deno.args;
let calls = 0;
class CountedStore extends DenoKvStore {
  async write(...args) {
    calls++;
    try {
      return await super.write(...args);
    } finally {
      calls--;
    }
  }
}
const store = new CountedStore(await Deno.openKv(database), { timeoutMs: 30_000 });
const tell = (told) => console.log(JSON.stringify(told));
const ended = ({ code, message }) => {
  tell({ code, message });
  Deno.exit(1);
};
const gen = await Snowflake.lease({
  store,
  namespace,
  windowMs: 1000,
  maxWaitMs: 20_000,
  onLost: ended,
  ...JSON.parse(options),
}).catch(ended);
const stop = () => (calls ? setTimeout(stop, 1) : Deno.kill(Deno.pid, "SIGSTOP"));
Deno.addSignalListener("SIGUSR1", stop);
const mint = () => {
  try {
    Deno.writeTextFileSync(ledger, `${gen.nextIds(20).join("\n")}\n`, { append: true });
  } catch (error) {
    if (error.code !== "WINDOW_CLOSED") throw error;
  }
};
tell({ node: gen.node });
mint();
setInterval(mint, 10);
