// The declarations, as the compilers of users find them. The sources are the package's test of types.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { executable, projectOf, version } from "./tools.mjs";

const sources = join(import.meta.dirname, "../tests");
const read = (name) => readFileSync(join(sources, name), "utf8");
const { home, run } = projectOf({
  "types.ts": read("types.ts"),
  "types.cts": read("types.cts"),
  "module/package.json": '{ "type": "module" }',
  "module/types.ts": read("types.ts"),
});
const cloudflare = `
import { Snowflake } from "snowmint";
import { DurableObjectStore, SnowmintObject } from "snowmint/stores/cloudflare";
export { SnowmintObject };
class Own extends SnowmintObject {
  async count(): Promise<number> {
    return (await this.ctx.storage.list()).size;
  }
}
interface Bindings {
  SNOWMINT: DurableObjectNamespace<SnowmintObject>;
  PLAIN: DurableObjectNamespace;
  OWN: DurableObjectNamespace<Own>;
  OTHER: KVNamespace;
}
export default {
  async fetch(_request, env) {
    const stores = [env.SNOWMINT, env.PLAIN, env.OWN].map((binding) => new DurableObjectStore(binding));
    new DurableObjectStore(env.SNOWMINT, { name: "orders", locationHint: "weur", timeoutMs: 1000 });
    // @ts-expect-error Workers KV has no conditional writes
    new DurableObjectStore(env.OTHER);
    const gen = await Snowflake.lease({ store: stores[0]!, namespace: "orders" });
    return new Response(String(await gen.nextIdAsync()));
  },
} satisfies ExportedHandler<Bindings>;
`;
const deno = `
import { Snowflake } from "snowmint";
import { DenoKvStore } from "snowmint/stores/deno";
const store = new DenoKvStore(await Deno.openKv(), { prefix: "ids" });
const gen: Snowflake = await Snowflake.lease({ store, namespace: "orders" });
const id: bigint = await gen.nextIdAsync();
// @ts-expect-error a path is not a database
new DenoKvStore("ids.kv");
console.log(id);
`;

// An older compiler, which most users have, and the compiler of the package.
const folders = [import.meta.dirname, join(import.meta.dirname, "..")];
const options = {
  target: "es2022",
  lib: ["es2022"],
  types: [],
  strict: true,
  exactOptionalPropertyTypes: true,
  noEmit: true,
};

for (const folder of folders)
  for (const [module, moduleResolution, ...files] of [
    ["nodenext", "nodenext", "types.ts", "types.cts", "module/types.ts"],
    ["esnext", "bundler", "types.ts"],
    ["preserve", "bundler", "types.ts", "types.cts"],
  ])
    test(`TypeScript ${version("typescript", folder)} finds the declarations: ${module}, ${moduleResolution}`, async () => {
      const compilerOptions = { ...options, module, moduleResolution };
      writeFileSync(join(home, "tsconfig.json"), JSON.stringify({ compilerOptions, files }));
      await run(process.execPath, join(folder, "node_modules/typescript/bin/tsc"), "-p", ".").catch(({ stdout }) => {
        throw new Error(stdout);
      });
    });

test(`TypeScript ${version("typescript")} takes the bindings of @cloudflare/workers-types ${version("@cloudflare/workers-types")}`, async () => {
  writeFileSync(join(home, "worker.ts"), cloudflare);
  const types = [join(import.meta.dirname, "node_modules/@cloudflare/workers-types")];
  const compilerOptions = { ...options, module: "esnext", moduleResolution: "bundler", types };
  writeFileSync(join(home, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["worker.ts"] }));
  const compiler = join(import.meta.dirname, "node_modules/typescript/bin/tsc");
  await run(process.execPath, compiler, "-p", ".").catch(({ stdout }) => {
    throw new Error(stdout);
  });
});

test(`Deno ${version("deno")} takes its Kv, as its compiler checks`, async () => {
  writeFileSync(join(home, "kv.ts"), deno);
  await run(executable("@deno", "deno"), "check", "--unstable-kv", "kv.ts").catch(({ stderr }) => {
    throw new Error(stderr);
  });
});
