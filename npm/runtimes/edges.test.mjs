// Runtimes that refuse to compile bytes: workerd, and Vercel's, which take wasm as files that are imported.
import assert from "node:assert/strict";
import { once } from "node:events";
import { cpSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { basename, join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { EdgeRuntime } from "edge-runtime";
import { build } from "esbuild";
import { start } from "../tests/servers.mjs";
import { assertSeen, NONBLOCKING } from "./seen.mjs";
import { projectOf, version } from "./tools.mjs";
import { bundled, NEWEST, startWorkerd, workerOf } from "./workers.mjs";

const { home } = projectOf({
  "light.mjs": `
    import * as snowmint from "snowmint";
    import { look } from "./checks.mjs";
    addEventListener("fetch", (event) => event.respondWith(look(snowmint).then((seen) => Response.json(seen))));`,
});
const worker = "worker.mjs";
cpSync(join(import.meta.dirname, "workerd.mjs"), join(home, worker));

/** Returns the result of `talk` with a worker, as workerd of that day runs it; by default the answer to one request. */
async function served(folder, files, date, talk = (ask) => ask()) {
  const server = await startWorkerd(home, { main: workerOf(folder, files, date) });
  try {
    return await talk((path) => server.ask("main", path));
  } finally {
    await server.stop();
  }
}

const REFUSED = { lease: "INVALID_STORE" };
// IDs differ even while the clock is stopped.
const IN_WORKER = { ...REFUSED, early: { near: true, different: 20_000 } };

test(`workerd ${version("workerd")} serves a bundle, as its command line makes them`, async () => {
  const files = await bundled(home, worker, "workerd");
  assert.equal(files.filter((name) => name.endsWith(".wasm")).length, 3);
  assertSeen(await served("workerd", files, NEWEST), NONBLOCKING, IN_WORKER);
});

test(`workerd ${version("workerd")} leases from a service`, async (t) => {
  const service = await start("service");
  t.after(() => service.stop());
  writeFileSync(
    join(home, "leasing.mjs"),
    `import * as snowmint from "snowmint";
    import { HttpStore } from "snowmint/stores";
    import { leaseFrom } from "./checks.mjs";
    export default { fetch: async () => Response.json(await leaseFrom(snowmint, new HttpStore("${service.url}"))) };`,
  );
  const told = await served("leasing", await bundled(home, "leasing.mjs", "leasing"), NEWEST);
  assert.deepEqual(told, { node: 0, lost: null, renewed: true, increasing: true });
});

test(`workerd ${version("workerd")} goes on after requests that ended while the service was slow`, async (t) => {
  const service = await start("service");
  t.after(() => service.stop());
  // Between worker and service: while it is slow, nothing is answered.
  let slow = false;
  const between = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray());
    if (slow) return;
    const { method, url, headers } = request;
    const answer = await fetch(service.url + url, {
      method,
      headers: { "content-type": headers["content-type"] },
      body,
    });
    response.writeHead(answer.status, { "content-type": "application/json" }).end(await answer.text());
  });
  between.listen(0, "127.0.0.1");
  await once(between, "listening");
  t.after(() => {
    between.closeAllConnections();
    between.close();
  });
  writeFileSync(
    join(home, "patient.mjs"),
    `import { Snowflake } from "snowmint";
    import { HttpStore } from "snowmint/stores";
    const store = new HttpStore("http://127.0.0.1:${between.address().port}");
    const leases = {};
    export default { async fetch(request) {
      const [, name, giveUpMs] = new URL(request.url).pathname.split("/");
      const mint = async () => {
        leases[name] ??= await Snowflake.lease({ store, namespace: name, windowMs: 1000, maxAheadMs: 0 });
        return { id: String(await leases[name].nextIdAsync()), node: leases[name].node };
      };
      const giveUp = new Promise((resolve) => setTimeout(() => resolve("gave up"), giveUpMs));
      return Response.json(await Promise.race([mint(), giveUp]).catch(({ name, code }) => ({ name, code })));
    } };`,
  );
  await served("patient", await bundled(home, "patient.mjs", "patient"), NEWEST, async (ask) => {
    const ids = { renewed: [], claimed: [] };
    const mint = async (name) => {
      const told = await ask(`${name}/10000`);
      assert.equal(told.node, 0, JSON.stringify(told));
      ids[name].push(told.id);
    };
    await mint("renewed");
    await sleep(1100);
    slow = true;
    assert.deepEqual(await ask("renewed/10000"), { name: "SnowmintError", code: "WINDOW_CLOSED" });
    assert.equal(await ask("claimed/100"), "gave up");
    slow = false;
    // Both at once, twice.
    for (let round = 0; round < 2; round++) await Promise.all([mint("renewed"), mint("claimed"), mint("claimed")]);
    assert.deepEqual([new Set(ids.renewed).size, new Set(ids.claimed).size], [3, 4]);
  });
});

for (const date of ["2022-11-30", NEWEST])
  test(`workerd ${version("workerd")} of ${date} serves the package's files as they are`, async () => {
    const { exports } = JSON.parse(readFileSync(join(home, "node_modules/snowmint/package.json"), "utf8"));
    const dist = join(home, "node_modules/snowmint/dist");
    const names = readdirSync(dist).filter((name) => /^edge(-tabs|-chunk-\w+)?\.mjs$|\.wasm$/.test(name));
    assert.equal(basename(exports["."].workerd), "edge.mjs");
    const glue = readdirSync(join(dist, "wasm")).filter((name) => name.endsWith("-glue.mjs"));
    names.push(...glue.map((name) => `wasm/${name}`));
    for (const name of names) cpSync(join(dist, name), join(home, name));
    assertSeen(await served(".", [worker, "checks.mjs", ...names], date), NONBLOCKING, IN_WORKER);
  });

test(`edge-runtime ${version("edge-runtime")} runs a bundle where bytes are not compiled`, async () => {
  // As bundlers for it do: a module in a file becomes a name that the runtime knows.
  const modules = {};
  const setup = ({ onResolve, onLoad }) => {
    onResolve({ filter: /\.wasm\?module$/ }, ({ path, resolveDir }) => ({
      path: join(resolveDir, path.replace("?module", "")),
      namespace: "wasm",
    }));
    onLoad({ filter: /./, namespace: "wasm" }, ({ path }) => {
      const name = `wasm_${basename(path, ".wasm")}`;
      modules[name] = new WebAssembly.Module(readFileSync(path));
      return { contents: `module.exports = ${name};` };
    });
  };
  const { outputFiles } = await build({
    absWorkingDir: home,
    entryPoints: ["light.mjs"],
    bundle: true,
    format: "iife",
    target: "es2022",
    conditions: ["edge-light", "browser"],
    plugins: [{ name: "wasm", setup }],
    write: false,
    logLevel: "silent",
  });
  assert.equal(Object.keys(modules).length, 3);
  const runtime = new EdgeRuntime({
    initialCode: outputFiles[0].text,
    codeGeneration: { strings: false, wasm: false },
    extend: (context) => Object.assign(context, modules),
  });
  assert.throws(() => runtime.evaluate("new WebAssembly.Module(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]))"));
  const response = await runtime.dispatchFetch("http://localhost/");
  assertSeen(await response.json(), NONBLOCKING, REFUSED);
});
