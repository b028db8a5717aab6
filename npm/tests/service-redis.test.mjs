// The service's Redis protocol, as the clients for Node speak it.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import Ioredis from "ioredis";
import { createClient } from "redis";
import { start } from "./servers.mjs";
import { atEnd } from "./stores.mjs";
import { folder, increasing } from "./support.mjs";

let service;
before(async () => (service = await start("service")));
after(() => service.stop());

/** What sends a command, over a client that is closed with the test; `many` sends all at once. */
const ioredis = (protocol) => async (t, url, password) => {
  const client = new Ioredis(url, { protocol, password, lazyConnect: true, retryStrategy: () => null });
  client.on("error", () => {});
  atEnd(t, () => client.disconnect());
  await client.connect();
  const many = async (commands) => {
    const pipeline = client.pipeline();
    for (const [command, ...words] of commands) pipeline.call(command, ...words);
    return (await pipeline.exec()).map(([error, answer]) => {
      if (error) throw error;
      return answer;
    });
  };
  return { send: (...words) => client.call(...words), many };
};
const nodeRedis = (RESP) => async (t, url, password) => {
  const client = createClient({ url, RESP, password, socket: { reconnectStrategy: false } });
  client.on("error", () => {});
  atEnd(t, () => client.isOpen && client.destroy());
  await client.connect();
  const send = (...words) => client.sendCommand(words);
  // Requests of one turn of the event loop are sent together.
  return { send, many: (commands) => Promise.all(commands.map((words) => send(...words))) };
};
const CLIENTS = {
  "ioredis, RESP2": ioredis(2),
  "ioredis, RESP3": ioredis(3),
  "redis, RESP2": nodeRedis(2),
  "redis, RESP3": nodeRedis(3),
};

let numbers = 0;
/** A key that no other test has. */
const fresh = () => `key-${process.pid}-${numbers++}`;

for (const [kind, connect] of Object.entries(CLIENTS))
  describe(kind, () => {
    test("INCR, GET and INCRBY count, SET raises and DEL deletes, and nothing goes back", async (t) => {
      const { send } = await connect(t, service.redisUrl);
      const key = fresh();
      assert.equal(await send("EXISTS", key), 0);
      assert.equal(await send("GET", key), null);
      assert.equal(await send("INCR", key), 1);
      // The next one, as a text.
      assert.equal(await send("GET", key), "2");
      // As many numbers, of which this is the last.
      assert.equal(await send("INCRBY", key, "10"), 12);
      assert.equal(await send("SET", key, "1000"), "OK");
      assert.ok((await send("INCR", key)) > 1000);
      await assert.rejects(send("SET", key, "5"), /nothing is set/);
      const last = await send("INCR", key);
      assert.ok(last > 1000);
      assert.equal(await send("EXISTS", key, fresh()), 1);
      assert.equal(await send("DEL", key), 1);
      assert.equal(await send("EXISTS", key), 0);
      assert.ok((await send("INCR", key)) > last);
    });

    test("a thousand INCR at once give numbers that increase, as do those of two clients together", async (t) => {
      const clients = [await connect(t, service.redisUrl), await connect(t, service.redisUrl)];
      const key = fresh();
      const commands = Array.from({ length: 1000 }, () => ["INCR", key]);
      const lists = await Promise.all(clients.map(({ many }) => many(commands)));
      for (const list of lists) increasing(list);
      assert.deepEqual(
        lists.flat().sort((a, b) => a - b),
        Array.from({ length: 2000 }, (_, at) => at + 1),
      );
    });

    test("what it does not know is an error, and the connection goes on", async (t) => {
      const { send } = await connect(t, service.redisUrl);
      await assert.rejects(send("LPUSH", fresh(), "1"), /ERR|unknown/i);
      await assert.rejects(send("SET", fresh(), "text"), /ERR/);
      await assert.rejects(send("INCRBY", fresh(), "-1"), /ERR/);
      assert.equal(await send("INCR", fresh()), 1);
    });

    test("a service with a token counts for those who show it", async (t) => {
      const file = join(folder(t), "token");
      writeFileSync(file, "open-sesame-open-sesame\n");
      const guarded = await start("service", { options: ["--token-file", file] });
      t.after(() => guarded.stop());
      const key = fresh();
      const { send } = await connect(t, guarded.redisUrl, "open-sesame-open-sesame");
      assert.equal(await send("INCR", key), 1);
      const refused = async (password) => (await connect(t, guarded.redisUrl, password)).send("INCR", key);
      for (const password of ["wrong-wrong-wrong-wrong", undefined])
        await assert.rejects(refused(password), (error) => /WRONGPASS|NOAUTH|closed/i.test(`${error}`));
      assert.equal(await send("INCR", key), 2);
    });
  });

test("numbers that were given are not given again after the service was killed", async (t) => {
  const key = fresh();
  let last = 0;
  for (let round = 0; round < 3; round++) {
    const { many } = await CLIENTS["redis, RESP3"](t, service.redisUrl);
    const list = await many(Array.from({ length: 200 }, () => ["INCR", key]));
    increasing([last, ...list]);
    last = list.at(-1);
    await service.kill();
    await service.restart();
  }
});
