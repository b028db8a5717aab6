// A worker of workerd over a Durable Object: `suites` runs the tests of every store, `mint/NAMESPACE/OPTIONS` returns some IDs
// of the isolate's lease, `wrong` returns the errors of wrong arguments, `clock/MS` sets the clock of the isolate off.
import { DurableObject } from "cloudflare:workers";
import { Snowflake, SnowmintError } from "snowmint";
import { DurableObjectStore } from "snowmint/stores/cloudflare";

export { SnowmintObject } from "snowmint/stores/cloudflare";

/** An object without the methods of a store. */
export class Other extends DurableObject {}

const leases = {};
let store;

/** Returns IDs of the lease in a namespace, or the refusal. */
async function mint(env, namespace, options) {
  store ??= new DurableObjectStore(env.SNOWMINT, { timeoutMs: 10_000 });
  try {
    leases[namespace] ??= await Snowflake.lease({ store, namespace, windowMs: 1000, maxAheadMs: 0, ...options });
    const gen = leases[namespace];
    const ids = [];
    // Each renews a window that is over: on a busy machine that may be at any moment.
    while (ids.length < 11) ids.push(await gen.nextIdAsync());
    return { node: gen.node, ids: ids.map(String) };
  } catch (error) {
    if (!(error instanceof SnowmintError)) return { error: `${error.stack ?? error}` };
    // As an application that leases again after a loss.
    if (leases[namespace]?.status().lost) delete leases[namespace];
    return { code: error.code, message: error.message };
  }
}

async function wrong(env) {
  const told = [];
  for (const args of [
    [{}],
    [null],
    [env.SNOWMINT, { name: "" }],
    [env.SNOWMINT, { locationHint: 5 }],
    [env.SNOWMINT, { timeoutMs: 0 }],
    [env.SNOWMINT, { prefix: "a" }],
  ]) {
    try {
      told.push(String(new DurableObjectStore(...args)));
    } catch ({ name, message }) {
      told.push(`${name}: ${message}`);
    }
  }
  return [
    ...told,
    await new DurableObjectStore(env.OTHER).read("a/b").catch(({ code, message }) => `${code}: ${message}`),
  ];
}

export default {
  async fetch(request, env) {
    const [, verb, namespace, options] = new URL(request.url).pathname.split("/");
    if (verb === "mint")
      return Response.json(await mint(env, namespace, JSON.parse(decodeURIComponent(options ?? "{}"))));
    if (verb === "clock") {
      // workerd does not start under libfaketime.
      const { now } = Date;
      Date.now = () => now() + Number(namespace);
      return Response.json(Date.now());
    }
    if (verb === "wrong") return Response.json(await wrong(env));
    const { suites } = await import("./suites.mjs");
    const separate = async () => new DurableObjectStore(env.SNOWMINT, { timeoutMs: 30_000 });
    return Response.json(await suites(separate));
  },
};
