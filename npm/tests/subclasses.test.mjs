// Subclasses of the generator.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as node from "snowmint";
import { MemoryStore } from "snowmint/stores";
import * as browser from "./node_modules/snowmint/dist/browser.mjs";
import { slots } from "./support.mjs";

for (const [host, { Snowflake }] of Object.entries({ Node: node, browsers: browser })) {
  test(`${host}: a lease of a subclass is an instance of it`, async () => {
    class Orders extends Snowflake {
      made = true;
      nextOrder() {
        return `order-${this.nextId()}`;
      }
    }
    class Hasty extends Snowflake {
      constructor(options) {
        super({ sequenceStart: "carry", ...options, maxWaitMs: 5 });
      }
    }
    const store = new MemoryStore();
    const gen = await Orders.lease({ store, namespace: "orders" });
    assert.ok(gen instanceof Orders && gen.made);
    assert.match(gen.nextOrder(), /^order-\d+$/);
    assert.equal(gen.status().namespace, "orders");
    const hasty = await Hasty.lease({ store, namespace: "orders" });
    assert.ok(hasty instanceof Hasty);
    assert.equal(hasty.node, gen.node);
    assert.deepEqual([hasty.status().maxWaitMs, hasty.status().namespace], [5, "orders"]);
    const named = await Orders.lease({ store, node: 811, onLost() {} });
    assert.ok(named instanceof Orders);
    assert.equal(named.node, 811);
    await Promise.all([gen.close(), hasty.close(), named.close()]);
  });

  test(`${host}: lease is a function that needs no class`, async () => {
    const { lease } = Snowflake;
    for (const call of [lease, (options) => ({ lease }).lease(options), lease.bind(class {})]) {
      const gen = await call({ store: new MemoryStore() });
      assert.equal(Object.getPrototypeOf(gen), Snowflake.prototype);
      await gen.close();
    }
  });

  test(`${host}: a subclass that keeps its options or changes the layout is refused, and holds nothing`, async (t) => {
    slots(t);
    class Silent extends Snowflake {
      constructor() {
        super({ node: 812 });
      }
    }
    class Other extends Snowflake {
      constructor(options) {
        super({ ...options, layout: "twitter" });
      }
    }
    class Broken extends Snowflake {
      constructor(options) {
        super(options);
        throw new RangeError("broken");
      }
    }
    const cases = [
      [Silent, { name: "TypeError", message: /passes the options that it gets to super\(options\)/ }],
      [Other, { name: "TypeError", message: /passes the options that it gets to super\(options\)/ }],
      [Broken, { name: "RangeError", message: "broken" }],
    ];
    for (const [Class, error] of cases) {
      const store = new MemoryStore();
      await assert.rejects(Class.lease({ store, namespace: "orders" }), error);
      const next = await Snowflake.lease({ store: Object.setPrototypeOf({ store }, passing), namespace: "orders" });
      // The claimed node is free again at once.
      assert.equal(next.node, 0);
      await next.close();
    }
  });
}

/** The verbs of a store, as of another object: generators of one object share a lease. */
const passing = Object.fromEntries(
  ["read", "write", "list", "clockMs"].map((verb) => [
    verb,
    function (...all) {
      return this.store[verb](...all);
    },
  ]),
);
