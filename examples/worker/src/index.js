import { env } from "cloudflare:workers";
import { json, Snowflake } from "snowmint";
import { HttpStore } from "snowmint/stores";

// One store for the isolate: requests that lease at the same time over one store get the same node.
const store = new HttpStore(env.SNOWMINT_SERVICE, { token: env.SNOWMINT_TOKEN });
let generator;

export default {
  async fetch() {
    // Keep the generator and not its promise: a promise ends with the request that made it.
    generator ??= await Snowflake.lease({ store, namespace: "worker" });
    // Timers of a worker end with a request, so this call renews the lease if it is over.
    const id = await generator.nextIdAsync();
    return new Response(json.stringify({ id }), { headers: { "content-type": "application/json" } });
  },
};
