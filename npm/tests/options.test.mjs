// Options: read by name, in any order; every unknown name is an error that names the nearest option.
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { test } from "node:test";
import * as node from "snowmint";
import { postgresFunction } from "snowmint/sql";
import { HttpStore, MemoryStore, MysqlStore, PgStore, RedisStore, SqliteStore } from "snowmint/stores";
import * as browser from "./node_modules/snowmint/dist/browser.mjs";
import { Database, Ioredis, mysql, pg } from "./stores.mjs";
import { slots } from "./support.mjs";

const HOSTS = { Node: node, browsers: browser };

/** Options as classes have them: getters, over what is their own affair. */
class Settings {
  _store = new MemoryStore();
  environment = "production";
  get store() {
    return this._store;
  }
  get namespace() {
    return "orders";
  }
  get layout() {
    return "twitter";
  }
}

for (const [host, { Snowflake }] of Object.entries(HOSTS)) {
  test(`${host}: a lease reads getters and inherited options`, async (t) => {
    const directory = slots(t);
    const own = new Settings();
    const { store } = own;
    const inherited = Object.create({ store, namespace: "orders", layout: "twitter" });
    const hidden = Object.defineProperty({ namespace: "orders", layout: "twitter" }, "store", { value: store });
    for (const options of [own, inherited, hidden, new (class extends Settings {})()]) {
      const gen = await Snowflake.lease(options);
      assert.equal(gen.status().namespace, "orders");
      assert.equal(gen.layout.name, "twitter");
      await gen.close();
    }
    assert.equal((await store.list("leases/orders/")).length, 1);
    assert.deepEqual(readdirSync(directory), []);
  });

  test(`${host}: the constructor reads getters and inherited options`, () => {
    const Options = class {
      get layout() {
        return "twitter";
      }
      get node() {
        return 801;
      }
    };
    for (const options of [
      new Options(),
      Object.create(new Options()),
      Object.create({ layout: "twitter", node: 801 }),
    ]) {
      const gen = new Snowflake(options);
      assert.deepEqual([gen.node, gen.layout.name], [801, "twitter"]);
    }
  });

  test(`${host}: each option is read once`, async () => {
    const reads = [];
    const get = (of, name) => {
      reads.push(name);
      return of[name];
    };
    const watch = (options) => new Proxy(options, { get });
    new Snowflake(watch({ node: 802, layout: "twitter" }));
    await (await Snowflake.lease(watch({ store: new MemoryStore(), namespace: "orders" }))).close();
    const names = reads.filter((name) => typeof name === "string" && name !== "store" && name !== "namespace");
    assert.equal(reads.filter((name) => name === "store").length, 1);
    assert.equal(names.filter((name) => name === "node").length, 2);
  });

  test(`${host}: a value that is no options says what was meant`, async (t) => {
    const directory = slots(t);
    const { layouts } = HOSTS[host];
    const Empty = class {};
    const message = /takes an object of options, such as \{ layout, node \}$/;
    const refused = { name: "TypeError", message };
    const VALUES = ["twitter", layouts.TWITTER, 7, 7n, "7", null, true, () => 5, [], new Map(), new Empty()];
    const OF_LEASES = [new MemoryStore(), "orders", "postgres://me:s3cret@db/app", Promise.resolve({})];
    for (const value of VALUES) assert.throws(() => new Snowflake(value), refused, String(value));
    for (const value of [...VALUES, ...OF_LEASES]) await assert.rejects(Snowflake.lease(value), refused, String(value));
    assert.deepEqual(readdirSync(directory), []);
  });

  test(`${host}: a name that is no option says which one was meant`, async (t) => {
    const directory = slots(t);
    const CASES = [
      [{ layot: "twitter" }, /no option layot: did you mean layout\?/],
      [{ max_wait_ms: 5 }, /no option max_wait_ms: did you mean maxWaitMs\?/],
      [{ maxWait: 5 }, /no option maxWait: did you mean maxWaitMs\?/],
      [{ maxwaitms: 5 }, /no option maxwaitms: did you mean maxWaitMs\?/],
      [{ Node: 5 }, /no option Node: did you mean node\?/],
      [{ nodeId: 5 }, /no option nodeId: did you mean node\?/],
      [{ sequence_start: "carry" }, /no option sequence_start: did you mean sequenceStart\?/],
      [{ layot: undefined }, /no option layot: did you mean layout\?/],
      [Object.create({ layot: "twitter" }), /takes an object of options|did you mean layout\?/],
      [{ worker: 5 }, /no option worker: its options are layout, node, maxAheadMs, maxWaitMs, sequenceStart, clock/],
    ];
    const OF_CONSTRUCTORS = [
      [
        { store: new MemoryStore() },
        /new Snowflake has no option store: did you mean await Snowflake\.lease\(\{ store \}\)\?/,
      ],
      [{ namespace: "orders" }, /no option namespace: did you mean await Snowflake\.lease\(\{ namespace \}\)\?/],
      [{ windowMs: 5000 }, /did you mean await Snowflake\.lease\(\{ windowMs \}\)\?/],
    ];
    const OF_LEASES = [
      [{ stroe: new MemoryStore() }, /Snowflake\.lease has no option stroe: did you mean store\?/],
      [{ nameSpace: "orders" }, /did you mean namespace\?/],
      [{ window_ms: 5000 }, /did you mean windowMs\?/],
      [{ onlost: () => {} }, /did you mean onLost\?/],
    ];
    for (const [options, message] of [...CASES, ...OF_CONSTRUCTORS])
      assert.throws(() => new Snowflake(options), { name: "TypeError", message }, Object.keys(options).join());
    for (const [options, message] of [...CASES, ...OF_LEASES])
      await assert.rejects(Snowflake.lease(options), { name: "TypeError", message }, Object.keys(options).join());
    assert.deepEqual(readdirSync(directory), []);
  });
}

test("the options of stores are read and checked the same way", async () => {
  const redis = new Ioredis({ lazyConnect: true });
  const made = {
    PgStore: (options) => new PgStore(new pg.Pool(), options),
    MysqlStore: (options) => new MysqlStore(mysql.createPool({}), options),
    RedisStore: (options) => new RedisStore(redis, options),
    SqliteStore: (options) => new SqliteStore(new Database(":memory:"), options),
  };
  for (const [name, make] of Object.entries(made)) {
    const message = (option, meant) => new RegExp(`^${name} has no option ${option}: did you mean ${meant}\\?$`);
    const named = (option, meant) => ({ name: "TypeError", message: message(option, meant) });
    assert.throws(() => make({ allow_unsafe: true }), named("allow_unsafe", "allowUnsafe"));
    assert.throws(() => make({ timeout: 5 }), named("timeout", "timeoutMs"));
    for (const value of [true, 5000, "ids", null])
      assert.throws(() => make(value), {
        name: "TypeError",
        message: new RegExp(`^${name} takes an object of options`),
      });
    make();
    make({ timeoutMs: undefined });
  }
  assert.throws(
    () => new RedisStore(redis, { keyPrefix: "ids" }),
    /RedisStore has no option keyPrefix: its options are .*prefix/,
  );
  const url = "http://ids.example";
  assert.throws(() => new HttpStore(url, { Token: "x" }), /HttpStore has no option Token: did you mean token\?/);
  assert.throws(
    () => new HttpStore(url, "s3cret"),
    /^TypeError: HttpStore takes an object of options, such as \{ token, timeoutMs \}$/,
  );
  // The value of a getter counts: a database in memory is refused unless it does.
  const Allowed = class {
    get allowUnsafe() {
      return true;
    }
  };
  assert.ok(await new SqliteStore(new Database(":memory:"), new Allowed()).write("a/b", new Uint8Array(1), 0));
});

test("the options of functions are checked the same way", () => {
  assert.throws(() => node.inspect(5n, { Now: 0 }), {
    name: "TypeError",
    message: /no option Now: did you mean now\?/,
  });
  assert.equal(["5", "6"].map(node.inspect).length, 2);
  assert.throws(() => node.inspect(5n, new Date()), { name: "TypeError", message: /takes an object of options/ });
  assert.throws(() => postgresFunction("snowmint", "app", "next_id", 5, { maxAhead: 5 }), /did you mean maxAheadMs\?/);
});

test("the layout of the environment counts where none is given, in Node alone", (t) => {
  t.after(() => delete process.env.SNOWMINT_LAYOUT);
  process.env.SNOWMINT_LAYOUT = "twitter";
  assert.equal(String(new node.Snowflake({ node: 5 }).layout), String(node.layouts.TWITTER));
  assert.equal(String(new node.Snowflake({ node: 5, layout: "leaf" }).layout), String(node.layouts.LEAF));
  assert.equal(String(new browser.Snowflake({ node: 5 }).layout), String(node.layouts.SNOWMINT));
  process.env.SNOWMINT_LAYOUT = "tweeter";
  assert.throws(() => new node.Snowflake({ node: 5 }), {
    code: "INVALID_LAYOUT",
    message: /^SNOWMINT_LAYOUT is "tweeter": no such preset/,
  });
});
