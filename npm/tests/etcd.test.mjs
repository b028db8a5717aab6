// EtcdStore alone: several members, answers that are lost, restored backups, and users.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { describe, test } from "node:test";
import { bytes, text } from "./asserting.mjs";
import { start } from "./servers.mjs";
import { atEnd, EtcdStore } from "./stores.mjs";
import { until } from "./support.mjs";

async function serve(t) {
  const server = await start("etcd");
  atEnd(t, () => server.stop());
  return server;
}

/** Asks a member as any client may. */
async function ask(port, path, question, token) {
  const headers = token && { authorization: token };
  const answer = await fetch(`http://127.0.0.1:${port}/v3/${path}`, {
    method: "POST",
    headers,
    body: JSON.stringify(question),
  });
  return answer.json();
}
const encoded = (text) => Buffer.from(text).toString("base64");
const pairOf = async (port, key) => (await ask(port, "kv/range", { key: encoded(key) })).kvs?.[0];
const valueAt = async (port, key) => String(Buffer.from((await pairOf(port, key))?.value ?? "", "base64"));

describe("etcd", { concurrency: 4 }, () => {
  test("keys and values are those of Rust", async (t) => {
    const { url, port } = await serve(t);
    for (const [prefix, place] of [
      ["snowmint", url],
      ["mine", `${url}?prefix=mine`],
    ]) {
      const store = new EtcdStore(place);
      assert.ok(await store.write("leases/orders/5", bytes("any"), 0));
      assert.equal(await store.add("numbers", 5n, 100n), 105n);
      assert.equal(await valueAt(port, `${prefix}/records/leases/orders/5`), "any");
      assert.equal(await valueAt(port, `${prefix}/counters/numbers`), "105");
    }
    await ask(port, "kv/put", { key: encoded("snowmint/counters/odd"), value: encoded("-1") });
    await assert.rejects(new EtcdStore(url).add("odd", 1n, 0n), { code: "STORE_UNAVAILABLE", message: /not a number/ });
  });

  test("a list has more pages than one", async (t) => {
    const { url, port } = await serve(t);
    const keys = Array.from({ length: 1100 }, (_, at) => `${at}`).sort();
    const puts = keys.map((key) => ({
      request_put: { key: encoded(`snowmint/records/many/${key}`), value: encoded(key) },
    }));
    for (let at = 0; at < puts.length; at += 100) await ask(port, "kv/txn", { success: puts.slice(at, at + 100) });
    const listed = await new EtcdStore(url).list("many/");
    assert.deepEqual(
      listed.map(({ name, value }) => [name, text(value)]),
      keys.map((key) => [key, key]),
    );
  });

  test("the member that answers is asked first", async (t) => {
    const server = await serve(t);
    let asked = 0;
    const silent = createServer(() => asked++).listen(0, "127.0.0.1");
    atEnd(t, () => silent.close());
    await until(() => silent.address(), "a port");
    const members = `127.0.0.1:1,127.0.0.1:${silent.address().port},127.0.0.1:${server.port}`;
    const store = new EtcdStore(`etcd://${members}`, { timeoutMs: 3000 });
    const version = await store.write("a/b", bytes("1"), 0);
    assert.equal((await store.read("a/b")).version, version);
    assert.equal(await store.add("c", 1n, 0n), 1n);
    assert.equal(asked, 1);
    await server.kill();
    const lost = { code: "STORE_UNAVAILABLE", message: /no answer within/ };
    await assert.rejects(store.read("a/b"), ({ code, message }) => {
      assert.ok(message.startsWith(`etcd at ${members}: `), message);
      return code === lost.code && lost.message.test(message);
    });
  });

  test("a write whose answer is lost is not sent again", async (t) => {
    const server = await serve(t);
    let losing = false;
    const losable = async (url, init) => {
      const answer = await fetch(url, init);
      if (!losing || !url.endsWith("/kv/txn")) return answer;
      losing = false;
      await answer.text();
      throw new Error("the answer was lost");
    };
    const place = `127.0.0.1:${server.port}`;
    const store = new EtcdStore(`etcd://${place},${place}`, { fetch: losable });
    assert.equal(await store.add("c", 1n, 0n), 1n);
    for (const write of [
      () => store.add("c", 1n, 0n),
      () => store.write("a/b", bytes("1"), 0),
      () => store.lower("c", 2n, 0n),
    ]) {
      losing = true;
      await assert.rejects(write(), { code: "STORE_UNAVAILABLE", message: /the answer was lost/ });
    }
    assert.equal(await store.add("c", 0n, 5n), 0n);
    assert.equal(text((await store.read("a/b")).value), "1");
  });

  test("a restored backup that counts to the same revision has other versions", async (t) => {
    const [first, restored] = [await serve(t), await serve(t)];
    const [before, after] = [new EtcdStore(first.url), new EtcdStore(restored.url)];
    const version = await before.write("a/b", bytes("before"), 0);
    await after.write("a/b", bytes("after"), 0);
    const revisions = [first, restored].map(({ port }) => pairOf(port, "snowmint/records/a/b"));
    const [{ mod_revision }, other] = await Promise.all(revisions);
    assert.equal(mod_revision, other.mod_revision);
    assert.equal(await after.write("a/b", bytes("late"), version), null);
    assert.ok(await before.write("a/b", bytes("more"), version));
  });

  test("users", async (t) => {
    const server = await serve(t);
    const { port } = server;
    const as = (user) => new EtcdStore(server.url.replace("//", `//${user}@`));
    const refused = (store, message) => assert.rejects(store.read("a/b"), { code: "INVALID_STORE", message });
    await refused(as("root:r"), /authentication is not enabled/);
    for (const [name, password] of [
      ["root", "r"],
      ["app", "a/b@:?"],
      ["guest", "g"],
    ])
      await ask(port, "auth/user/add", { name, password });
    await ask(port, "auth/user/grant", { user: "root", role: "root" });
    await ask(port, "auth/role/add", { name: "ids" });
    const perm = { permType: "READWRITE", key: encoded("snowmint/"), range_end: encoded("snowmint0") };
    await ask(port, "auth/role/grant", { name: "ids", perm });
    await ask(port, "auth/user/grant", { user: "app", role: "ids" });
    await ask(port, "auth/enable", {});
    const store = as("app:a%2Fb%40:%3F");
    const version = await store.write("a/b", bytes("1"), 0);
    assert.ok(version);
    await refused(as("app:wrong"), /authentication failed/);
    await refused(as("guest:g"), /permission denied/);
    await refused(new EtcdStore(server.url), /user name is empty/);
    // A member forgets its tokens when it ends, and when a user is changed.
    await server.restart();
    assert.equal((await store.read("a/b")).version, version);
    const { token } = await ask(port, "auth/authenticate", { name: "root", password: "r" });
    await ask(port, "auth/user/changepw", { name: "app", password: "a/b@:?" }, token);
    assert.ok(await store.write("a/b", bytes("2"), version));
  });
});

test("a URL of another form is refused without its password", () => {
  const odd = ["?ca=s3cret", "?prefix=s3cret/", "?prefix="].map((options) => `etcd://h1${options}`);
  const users = ["h1,,h2", ":5", "h1/ids"].map((place) => `etcd://me:s3cret@${place}`);
  for (const url of [
    "etcd:h1",
    "etcd://",
    "http://h1",
    "etcd://me:s3cret%@h1",
    "etcd://me:s3cret",
    ...odd,
    ...users,
    5,
  ])
    assert.throws(
      () => new EtcdStore(url),
      ({ name, message }) => name === "TypeError" && /needs a URL etcd:/.test(message) && !message.includes("s3cret"),
    );
  const name = "etcd at h1:2379,[::1]:2379,[::1]:5 with prefix mine";
  assert.equal(String(new EtcdStore("etcd://me:x@h1,[::1],[::1]:5?prefix=mine")), name);
});
