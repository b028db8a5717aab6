// Leases over the URL of a store, as `SNOWMINT_STORE` has it, by the client that the project has installed.
import assert from "node:assert/strict";
import { fork, spawn, spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { layouts, Snowflake } from "snowmint";
import { endpoint } from "./dynamo.mjs";
import { shared, start } from "./servers.mjs";
import { atEnd } from "./stores.mjs";
import { exitOf, folder, until } from "./support.mjs";

const here = new URL(".", import.meta.url).pathname;
const packages = join(here, "../node_modules");
const dist = join(here, "node_modules/snowmint/dist");

/** Makes a project that has snowmint, these clients and a program. Returns the path of the program. */
function projectOf(t, clients, program = "") {
  const place = folder(t);
  const modules = join(place, "node_modules");
  mkdirSync(modules);
  for (const name of readdirSync(join(here, "node_modules")))
    cpSync(join(here, "node_modules", name), join(modules, name), { recursive: true });
  for (const name of clients) symlinkSync(join(packages, name), join(modules, name));
  writeFileSync(join(place, "main.mjs"), program);
  return join(place, "main.mjs");
}

/** Makes a project, and returns a call that runs a script there, in a working directory without packages. */
function project(t, ...clients) {
  const path = projectOf(t, clients);
  return (script, env = {}) => {
    writeFileSync(path, script);
    const options = { cwd: "/", encoding: "utf8", timeout: 60_000, env: { PATH: process.env.PATH, ...env } };
    const { status, signal, stdout, stderr } = spawnSync(process.execPath, [path], options);
    return { status: signal ?? status, stdout: stdout.trim(), stderr: stderr.trim() };
  };
}

/**
 * Mints, and does not close the generator: it must not keep the process alive. A global variable holds the generator,
 * because garbage collection of a forgotten generator gives its node back.
 */
const MINT = `import { Snowflake } from "snowmint";
  const generator = (globalThis.kept = await Snowflake.lease({ maxWaitMs: 60_000 }));
  const ids = [generator.nextId(), await generator.nextIdAsync()];
  console.log(JSON.stringify([generator.node, ids[1] > ids[0], generator.status().namespace]));`;
/** The same in CommonJS. */
const REQUIRED = `import { createRequire } from "node:module";
  const { Snowflake } = createRequire(import.meta.url)("snowmint");
  ${MINT.split("\n").slice(1).join("\n")}`;

/** The engine, the schemes of its URLs, and the clients. */
const SERVERS = [
  ["postgres", ["postgres", "postgresql", "postgresql+psycopg"], ["pg"]],
  ["mariadb", ["mysql", "mariadb", "mysql+pymysql"], ["mysql2"]],
  ["redis", ["redis"], ["ioredis"]],
  ["redis", ["redis"], ["redis"]],
  ["etcd", ["etcd"], []],
  ["service", ["http"], []],
];

for (const [engine, schemes, clients] of SERVERS)
  test(`${engine}: processes lease by a URL with ${clients.join() || "no client"}`, async (t) => {
    const { url } = await shared(engine, { newDatabase: !["etcd", "service"].includes(engine) });
    const run = project(t, ...clients);
    // The service is shared, and a second run of this file finds its windows open.
    const namespace = `urls-${clients.join()}-${randomUUID()}`.replace(/[^\w-]/g, "");
    const holder = await Snowflake.lease({ store: url, namespace });
    atEnd(t, () => holder.close());
    for (const [at, scheme] of schemes.entries())
      for (const [turn, script] of [MINT, REQUIRED].entries()) {
        const SNOWMINT_STORE = url.replace(/^\w+/, scheme);
        const told = run(script, { SNOWMINT_STORE, SNOWMINT_NAMESPACE: namespace });
        assert.deepEqual([told.status, told.stderr], [0, ""]);
        // The windows of processes that have ended are still open.
        const node = holder.node + 1 + 2 * at + turn;
        assert.deepEqual(JSON.parse(told.stdout), [node, true, namespace]);
      }
  });

test("SQLite and DynamoDB: processes lease by a URL", async (t) => {
  const run = project(t, "better-sqlite3");
  const keys = { AWS_ACCESS_KEY_ID: "test", AWS_SECRET_ACCESS_KEY: "test" };
  const file = join(folder(t), "ids.db");
  for (const SNOWMINT_STORE of [
    `sqlite:${file}?allow_unsafe=true`,
    `dynamodb://eu-west-1/urls?endpoint_url=${await endpoint()}`,
  ])
    for (const node of [0, 1]) {
      // The endpoint is in this process, so this process must not stop.
      const { code, stdout, stderr } = await exitOf(MINT, { SNOWMINT_STORE, SNOWMINT_NAMESPACE: "urls", ...keys });
      assert.equal(code, 0, stderr);
      assert.deepEqual(JSON.parse(stdout), [node, true, "urls"]);
    }
  const told = run(MINT, { SNOWMINT_STORE: `sqlite:${file}?allow_unsafe=true`, SNOWMINT_NAMESPACE: "urls" });
  assert.deepEqual([told.stdout, told.stderr], ['[2,true,"urls"]', ""]);
});

test("Redis behind a socket of this machine: processes lease by a URL", async (t) => {
  const socket = join(folder(t), "redis.sock");
  const redis = await start("redis", { options: ["--unixsocket", socket] });
  atEnd(t, () => redis.stop());
  for (const [node, client] of ["ioredis", "redis"].entries()) {
    const told = project(t, client)(MINT, { SNOWMINT_STORE: `unix://${socket}?db=1`, SNOWMINT_NAMESPACE: "socket" });
    assert.deepEqual([told.stdout, told.stderr], [`[${node},true,"socket"]`, ""]);
  }
});

const REFUSED = `import { Snowflake } from "snowmint";
  await Snowflake.lease({ maxWaitMs: 100 }).then(
    () => console.log("granted"),
    ({ code, message }) => console.log(code + " " + message),
  );`;

test("a client that is missing is named with its install line", (t) => {
  const run = project(t);
  for (const [url, told] of [
    ["postgres://me:secret@db/ids", "postgres needs the package pg"],
    ["postgresql+asyncpg://me:secret@db/ids", "postgres needs the package pg"],
    ["mariadb://me:secret@db/ids", "mysql needs the package mysql2"],
    ["rediss://me:secret@db", "redis needs the package ioredis or redis"],
    ["unix:///run/redis.sock", "redis needs the package ioredis or redis"],
    ["sqlite:/tmp/ids.db", "sqlite needs the package better-sqlite3"],
    ["dynamodb://eu-west-1/ids", "dynamodb needs the package @aws-sdk/client-dynamodb"],
  ]) {
    const [name] = told.split(" ").slice(4);
    const { stdout, stderr } = run(REFUSED, { SNOWMINT_STORE: url });
    assert.equal(`${stdout}${stderr}`, `INVALID_STORE ${told}, which is not installed in /: npm install ${name}`);
  }
});

test("a URL that is not valid, or whose options the client would ignore, is refused without its password", (t) => {
  const run = project(t, "pg", "mysql2", "ioredis", "better-sqlite3");
  for (const [url, told] of [
    ["oracle://me:secret@db", /^INVALID_STORE no such store: "oracle"\. Give file:DIRECTORY, .* or http:/],
    [
      "postgres://me:12/secret@db/ids",
      /^INVALID_STORE the URL after postgres: is not valid: write what is special in user and/,
    ],
    ["postgres://me:sec#secret@db/ids", /^INVALID_STORE the URL after postgres: is not valid/],
    ["redis://me:secret@db/zero", /^INVALID_STORE the URL after redis: is not valid/],
    ["postgres://me:secret@db/ids?sslMode=verify-full", /the client of postgres: has no option sslMode: .*sslmode, /],
    ["mysql://me:secret@db/ids?ssl-mode=REQUIRED", /the client of mysql: has no option ssl-mode: a URL takes ssl, /],
    ["rediss://me:secret@db?allow-unsafe=true", /the client of rediss: has no option allow-unsafe: .*allow_unsafe/],
    ["postgres://me:secret@db:port/ids", /^INVALID_STORE the URL after postgres: is not valid/],
    ["mysql://me:secret@db/ids?ssl=require", /^INVALID_STORE mysql: Unknown SSL profile 'require'/],
    ["sqlite:/nowhere/ids.db", /^INVALID_STORE sqlite: Cannot open database because the directory does not exist/],
    ["sqlite:/tmp/ids.db?mode=ro", /^INVALID_STORE sqlite:PATH takes the options allow_unsafe and/],
    ["etcd://me:secret@db/ids", /^INVALID_STORE etcd: EtcdStore needs a URL etcd:/],
    ["http://me:secret@db", /^INVALID_STORE HttpStore needs a URL without user and password/],
  ]) {
    const { stdout, stderr } = run(REFUSED, { SNOWMINT_STORE: url });
    assert.match(stdout, told, stderr);
    assert.ok(!`${stdout}${stderr}`.includes("secret"), stdout);
  }
});

test("a server that is down is named with the reason, and the process ends", (t) => {
  for (const clients of [["pg", "mysql2", "ioredis"], ["redis"]]) {
    const run = project(t, ...clients);
    const urls = ["postgres://127.0.0.1:1/ids", "mysql://127.0.0.1:1/ids", "redis://127.0.0.1:1"];
    for (const url of clients.includes("redis") ? urls.slice(2) : urls) {
      const { status, stdout, stderr } = run(REFUSED, { SNOWMINT_STORE: url });
      assert.deepEqual([status, stderr], [0, ""]);
      assert.match(stdout, /^STORE_UNAVAILABLE \w+ at 127\.0\.0\.1:1(\/ids)?: connect ECONNREFUSED 127\.0\.0\.1:1$/);
    }
  }
});

/** Mints before and after a server was killed and started again. */
const GOES_ON = `import { Snowflake } from "snowmint";
  const generator = await Snowflake.lease({ windowMs: 1000, maxWaitMs: 30_000 });
  process.send(String(generator.nextId()));
  process.once("message", async () => {
    while (generator.window.end < Date.now()) await generator.nextIdAsync();
    process.send(String(await generator.nextIdAsync()), () => process.disconnect());
  });`;

for (const client of ["ioredis", "redis"])
  test(`a lease by a URL goes on after Redis was killed, with ${client}`, async (t) => {
    const redis = await start("redis");
    atEnd(t, () => redis.stop());
    const path = projectOf(t, [client], GOES_ON);
    const child = fork(path, { cwd: "/", env: { ...process.env, SNOWMINT_STORE: redis.url } });
    atEnd(t, () => child.kill("SIGKILL"));
    const message = () => new Promise((resolve) => child.once("message", resolve));
    const before = BigInt(await message());
    await redis.kill();
    await redis.restart();
    const after = message();
    child.send("go on");
    assert.ok(BigInt(await after) > before);
    const [code] = await new Promise((resolve) => child.once("exit", (...all) => resolve(all)));
    assert.equal(code, 0);
  });

/** Returns a port of the loopback address that no program uses. */
async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

for (const to of ["the primary", "the primary and the workers"])
  test(`SIGTERM to ${to} ends the cluster of a guide, and frees its nodes`, { timeout: 120_000 }, async (t) => {
    const text = readFileSync(new URL("../../docs/databases.md", import.meta.url), "utf8");
    const [, block] = text.match(/```js install\n(import cluster from .*?)```/s);
    const port = await freePort();
    const path = projectOf(t, ["better-sqlite3"], block.replace("8080", port));
    const store = `sqlite:${join(folder(t), "ids.db")}`;
    const env = { ...process.env, NODE_OPTIONS: "", SNOWMINT_STORE: store, SNOWMINT_NAMESPACE: "cluster" };
    // A group of its own, as a service of systemd has it.
    const primary = spawn(process.execPath, [path], { env, detached: true, stdio: ["ignore", "inherit", "inherit"] });
    const ended = once(primary, "exit");
    atEnd(t, () => {
      try {
        process.kill(-primary.pid, "SIGKILL");
      } catch ({ code }) {
        // All processes of the group have ended.
        assert.equal(code, "ESRCH");
      }
    });
    const ask = async (connection) =>
      layouts.SNOWMINT.decode(await (await fetch(`http://127.0.0.1:${port}`, { headers: { connection } })).text()).node;
    const nodes = new Set();
    await until(async () => {
      // A new connection for each request, so that each worker answers some.
      await ask("close").then(
        (node) => nodes.add(node),
        ({ cause }) => assert.equal(cause?.code, "ECONNREFUSED"),
      );
      return nodes.size === 4;
    }, "an answer of each worker");
    // An idle connection delays no end.
    await ask("keep-alive");
    process.kill(to === "the primary" ? primary.pid : -primary.pid, "SIGTERM");
    assert.deepEqual(await ended, [0, null]);
    // The primary ends last. Windows last up to 30 s more, so only a node that was given back is free.
    for (const node of nodes) {
      const next = await Snowflake.lease({ store, namespace: "cluster", node, maxWaitMs: 0 });
      assert.equal(next.node, node);
      await next.close();
    }
  });

test("what browsers and edge runtimes load opens no URL", () => {
  const elsewhere = readdirSync(dist).filter((name) => /^(browser|edge|stores\.(browser|edge))/.test(name));
  assert.ok(elsewhere.length > 8);
  for (const name of elsewhere) {
    const text = readFileSync(join(dist, name), "utf8");
    assert.ok(!/createRequire|better-sqlite3"\)|npm install/.test(text), name);
  }
});
