// Deno and Bun: programs of a project with the packages in node_modules, with the addon and without it.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { start } from "../tests/servers.mjs";
import { assertSeen, BLOCKING } from "./seen.mjs";
import { executable, projectOf, version } from "./tools.mjs";

const FILES = {
  "look.mjs": `
    import * as snowmint from "snowmint";
    import { look } from "./checks.mjs";
    console.log(JSON.stringify(await look(snowmint)));`,
  "look.cjs": `
    const snowmint = require("snowmint");
    const { look } = require("./checks.mjs");
    look(snowmint).then((seen) => console.log(JSON.stringify(seen)));`,
  "worker.mjs": `
    import * as snowmint from "snowmint";
    import { mintForAWhile } from "./checks.mjs";
    onmessage = () => postMessage(mintForAWhile(snowmint));
    postMessage("ready");`,
  "workers.mjs": `
    const workers = [1, 2].map(() => new Worker(new URL("./worker.mjs", import.meta.url), { type: "module" }));
    const told = (worker) => new Promise((resolve, reject) => {
      worker.onerror = ({ message }) => reject(new Error(message));
      worker.onmessage = ({ data }) => resolve(data);
    });
    await Promise.all(workers.map(told));
    for (const worker of workers) worker.postMessage("mint");
    const [one, other] = await Promise.all(workers.map(told));
    for (const worker of workers) worker.terminate();
    const ids = [...one.ids, ...other.ids];
    console.log(JSON.stringify({
      refused: [one.refused, other.refused],
      atOnce: one.ids[0] < other.ids.at(-1) && other.ids[0] < one.ids.at(-1),
      repeated: ids.length - new Set(ids).size,
    }));`,
  "service.mjs": `
    import * as snowmint from "snowmint";
    import { HttpStore } from "snowmint/stores";
    import { leaseFrom } from "./checks.mjs";
    console.log(JSON.stringify(await leaseFrom(snowmint, new HttpStore(process.argv[2]))));`,
  "errors.mjs": `
    import { Snowflake, SnowmintError } from "snowmint";
    const told = async (call) => {
      try {
        await call();
      } catch (error) {
        return [error instanceof SnowmintError, error.code, error.message];
      }
    };
    console.log(JSON.stringify([await told(() => new Snowflake()), await told(() => Snowflake.lease())]));`,
};
const withAddon = projectOf(FILES);
const without = projectOf(FILES, { addon: false });
const REFUSED = { lease: "INVALID_STORE" };

const deno = executable("@deno", "deno");
const bun = executable("@oven", "bin/bun");
const PERMITTED = ["--allow-env", "--allow-ffi"];
const inDeno = async ({ run }, permissions, ...words) =>
  JSON.parse(await run(deno, "run", "--no-prompt", ...permissions, ...words));
const inBun = async ({ run }, ...words) => JSON.parse(await run(bun, ...words));

let service;
before(async () => (service = await start("service")));
after(() => service.stop());
const LEASED = { node: 0, lost: null, renewed: true, increasing: true };

test(`Deno ${version("deno")} mints and leases by the addon, with --allow-env and --allow-ffi`, async () => {
  assertSeen(await inDeno(withAddon, PERMITTED, "look.mjs"), BLOCKING);
});

test(`Deno ${version("deno")} requires it too`, async () => {
  assertSeen(await inDeno(withAddon, [...PERMITTED, "--allow-read"], "look.cjs"), BLOCKING);
});

test(`Deno ${version("deno")} mints by the wasm module where there is no addon, and says what a lease needs`, async () => {
  assertSeen(await inDeno(without, PERMITTED, "look.mjs"), BLOCKING, REFUSED);
});

test(`Deno ${version("deno")} mints without a permission, and typed errors name those that the rest needs`, async () => {
  assertSeen(await inDeno(withAddon, [], "look.mjs"), BLOCKING, REFUSED);
  const [node, lease] = await inDeno(withAddon, [], "errors.mjs");
  assert.deepEqual(node.slice(0, 2), [true, "INVALID_NODE"]);
  assert.match(node[2], /SNOWMINT_NODE.*--allow-env/);
  assert.deepEqual(lease.slice(0, 2), [true, "INVALID_STORE"]);
  assert.match(lease[2], /--allow-env/);
  const [, unaided] = await inDeno(withAddon, ["--allow-env"], "errors.mjs");
  assert.match(unaided[2], /--allow-ffi/);
});

test(`Bun ${version("bun")} mints and leases by the addon`, async () => {
  assertSeen(await inBun(withAddon, "look.mjs"), BLOCKING);
});

test(`Bun ${version("bun")} requires it too`, async () => {
  assertSeen(await inBun(withAddon, "look.cjs"), BLOCKING);
});

test(`Bun ${version("bun")} mints by the wasm module where there is no addon, and says what a lease needs`, async () => {
  assertSeen(await inBun(without, "look.mjs"), BLOCKING, REFUSED);
});

test(`Deno ${version("deno")} leases from a service with --allow-env and --allow-net, without the addon`, async () => {
  const permissions = ["--allow-env", "--allow-net=127.0.0.1"];
  assert.deepEqual(await inDeno(without, permissions, "service.mjs", service.url), LEASED);
});

test(`Bun ${version("bun")} leases from a service, without the addon`, async () => {
  assert.deepEqual(await inBun(without, "service.mjs", service.url), LEASED);
});

for (const [name, run] of [
  [`Deno ${version("deno")}`, (project) => inDeno(project, [...PERMITTED, "--allow-read"], "workers.mjs")],
  [`Bun ${version("bun")}`, (project) => inBun(project, "workers.mjs")],
]) {
  test(`two web workers of ${name} that mint with one node at once never repeat an ID`, async () => {
    assert.deepEqual(await run(withAddon), { refused: [null, null], atOnce: true, repeated: 0 });
  });

  test(`without the addon a node in a web worker of ${name} is refused`, async () => {
    const { refused } = await run(without);
    assert.deepEqual(refused, ["INVALID_NODE", "INVALID_NODE"]);
  });
}
