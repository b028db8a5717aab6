import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { after, test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { layouts } from "snowmint";

const workers = [];
after(() => Promise.all(workers.map((worker) => worker.kill("SIGINT") && once(worker, "exit"))));

async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  await once(server, "close");
  return port;
}

/** Starts a worker in workerd, and returns its URL when it answers. */
async function start() {
  const port = await freePort();
  const wrangler = ["node_modules/wrangler/bin/wrangler.js", "dev", "--log-level", "error", "--ip", "127.0.0.1"];
  const args = ["--port", port, "--inspector-port", await freePort()];
  args.push("--var", `SNOWMINT_SERVICE:${process.env.SNOWMINT_SERVICE}`);
  const env = { ...process.env, CI: "true", WRANGLER_SEND_METRICS: "false" };
  const worker = spawn(process.execPath, [...wrangler, ...args], { env, stdio: ["ignore", "ignore", "pipe"] });
  let log = "";
  worker.stderr.on("data", (text) => {
    log += text;
  });
  workers.push(worker);
  const url = `http://127.0.0.1:${port}/`;
  for (const deadline = Date.now() + 60_000; ; await setTimeout(100)) {
    const answer = await fetch(url).catch(() => undefined);
    if (answer?.ok) return url;
    assert.ok(Date.now() < deadline && worker.exitCode === null, (await answer?.text()) ?? log);
  }
}

test("two workers mint different IDs", { timeout: 150_000 }, async () => {
  const urls = await Promise.all([start(), start()]);
  const mint = async (url) => (await (await fetch(url)).json()).id;
  const ids = await Promise.all(urls.flatMap((url) => Array.from({ length: 200 }, () => mint(url))));

  assert.ok(ids.every((id) => typeof id === "string"));
  assert.equal(new Set(ids).size, 400);
  const nodesOf = (some) => [...new Set(some.map((id) => layouts.SNOWMINT.decode(id).node))];
  const [first, second] = [nodesOf(ids.slice(0, 200)), nodesOf(ids.slice(200))];
  assert.deepEqual([first.length, second.length], [1, 1]);
  assert.notEqual(first[0], second[0]);
});
