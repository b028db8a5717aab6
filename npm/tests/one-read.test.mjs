// Errors that arrive in one read with the data before them: only a listener gets them in time.
import assert from "node:assert/strict";
import { once } from "node:events";
import net from "node:net";
import { describe, test } from "node:test";
import { shared } from "./servers.mjs";
import { SERVED } from "./stores.mjs";
import { exitOf } from "./support.mjs";

test("a server that says ready and fatal in one packet ends no process", async (t) => {
  const message = (type, body) => {
    const bytes = Buffer.from(`${type}0000${body}`, "latin1");
    bytes.writeUInt32BE(bytes.length - 1, 1);
    return bytes;
  };
  const greeting = Buffer.concat([
    message("R", "\0\0\0\0"),
    message("Z", "I"),
    message("E", "SFATAL\0C57P01\0Mterminating connection due to administrator command\0\0"),
  ]);
  const server = net.createServer((socket) => socket.on("error", () => {}).once("data", () => socket.end(greeting)));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  const { port } = server.address();
  const { code, stdout, stderr } = await exitOf(`
    import pg from "pg";
    import { PgStore } from "snowmint/stores";
    const pool = new pg.Pool({ host: "127.0.0.1", port: ${port}, user: "app", database: "app" });
    const store = new PgStore(pool, { timeoutMs: 5000 });
    for (let call = 0; call < 20; call++) {
      const error = await store.read("a/b").catch((error) => error);
      console.log(error.code, error.message);
    }
    await pool.end();`);
  assert.equal(code, 0, stderr);
  const told = stdout.trim().split("\n");
  assert.equal(told.length, 20);
  for (const line of told) assert.match(line, /^STORE_UNAVAILABLE PostgreSQL at 127\.0\.0\.1:\d+\/app: /);
});

// Version 4 of node-redis throws in its own listener, so no caller can catch the error.
const KINDS = ["pg", "mysql2", "mysql2/promise", "ioredis, RESP3", "ioredis 5", "redis, RESP3", "redis, a pool"];
// They wait for answers that never come.
describe("errors of real servers", { concurrency: 4 }, () => {
  for (const kind of KINDS)
    test(`an error behind any answer ends no process: ${kind}`, async () => {
      const { engine } = SERVED[kind];
      const { url } = await shared(engine);
      const { code, signal, stdout, stderr } = await exitOf("one-read.mjs", { KIND: kind, URL: url });
      assert.equal(signal ?? code, 0, stderr);
      const told = JSON.parse(stdout);
      assert.equal(told.length, 16);
      const all = told.flat();
      for (const each of all) assert.match(each, /^(answered|STORE_UNAVAILABLE)$/);
      assert.ok(all.includes("STORE_UNAVAILABLE") && all.includes("answered"), stdout);
    });
});
