// Leases over a store: the tests that every store passes, in every runtime.
import assert from "node:assert/strict";
import { Snowflake } from "snowmint";
import { fresh, increasing, refusal, until } from "./asserting.mjs";

// On a busy machine a shorter window may be over before the test goes on.
const lease = (store, options) => Snowflake.lease({ store, windowMs: 30_000, ...options });
let layouts = 0;

/**
 * Declares the tests by `test`, which takes a name and a function. `place` resolves with an object whose `store` makes a store
 * of one place, as a separate client would; it gets what `test` gives the function.
 */
export function leases(test, place, { hasClock = true } = {}) {
  test("a lease has a node and a window that moves on, and tells of itself", async (t) => {
    const namespace = fresh();
    const store = await (await place(t)).store();
    const gen = await lease(store, { namespace, windowMs: 2000, maxWaitMs: 20_000 });
    const ids = [await gen.nextIdAsync(), ...gen.nextIds(5000), gen.tryNextId(), await gen.nextIdAsync()];
    increasing(ids);
    const first = gen.window;
    for (const id of ids) {
      const { node, timestampMs } = gen.layout.decode(id);
      assert.equal(node, 0);
      assert.ok(first.start <= timestampMs && timestampMs < first.end);
    }
    await until(() => gen.window.end > first.end, "a renewal");
    const { skewMs, ...status } = gen.status();
    const { namespace: told, lost, skipped, renewalFailures } = status;
    assert.deepEqual([told, lost, skipped, renewalFailures], [namespace, null, [], 0]);
    if (!hasClock) assert.equal(skewMs, null);
    else assert.ok(Math.abs(skewMs) < 20_000, `${skewMs}`);
    // Generators of a service read its clock.
    const errorMs = "claim" in store ? 0 : Math.abs(skewMs);
    assert.equal(status.disorderMs, hasClock ? errorMs + 1 : null);
    // Idle, over several renewals.
    await until(() => gen.window.end > first.end + 1000, "more renewals");
    await gen.nextIdAsync();
    await gen.close();
  });

  test("a closed lease is free at once for another client, and goes on above its last ID", async (t) => {
    const { store } = await place(t);
    const namespace = fresh();
    const first = await lease(await store(), { namespace, windowMs: 300_000, maxWaitMs: 60_000 });
    const last = first.nextIds(20_000).at(-1);
    await first.close();
    refusal("WINDOW_CLOSED", () => first.nextId());
    await first.close();
    // Far within the window. The last IDs may be a few ms ahead of the clock.
    const second = await lease(await store(), { namespace, node: first.node, maxWaitMs: 60_000 });
    assert.equal(second.node, first.node);
    assert.ok((await second.nextIdAsync()) > last);
    await second.close();
  });

  test("a part of a node is leased with any values of its other fields, until no such node is free", async (t) => {
    const { store } = await place(t);
    const namespace = fresh();
    const layout = "time:41,region:2,worker:1,sequence:12;epoch=2025-01-01T00:00:00Z";
    const gens = [];
    for (const node of [{ region: 2 }, "region=2"]) gens.push(await lease(await store(), { namespace, layout, node }));
    assert.deepEqual(
      gens.map(({ node }) => node),
      [4, 5],
    );
    const full = lease(await store(), { namespace, layout, node: { region: 2 }, maxWaitMs: 10 });
    await assert.rejects(full, { code: "NODES_EXHAUSTED", message: /all 2 nodes/ });
    gens.push(await lease(await store(), { namespace, layout, node: { worker: 1 } }));
    assert.equal(gens[2].node, 1);
    for (const gen of gens) await gen.close();
  });

  test("a node that is named is leased, and another holder hears whose it is and until when", async (t) => {
    const { store } = await place(t);
    const namespace = fresh();
    const options = { namespace, node: 5, windowMs: 30_000 };
    const first = await lease(await store(), options);
    assert.equal(first.node, 5);
    const other = await store();
    await assert.rejects(lease(other, { ...options, maxWaitMs: 50 }), {
      code: "NODES_EXHAUSTED",
      message: /node 5 is held until 20\d\d-.*its holder is /,
    });
    const last = first.nextId();
    await first.close();
    const second = await lease(other, options);
    assert.equal(second.node, 5);
    assert.ok((await second.nextIdAsync()) > last);
    await second.close();
  });

  test("generators of one store object share a lease, and of two they do not", async (t) => {
    const { store } = await place(t);
    const namespace = fresh();
    const [one, other] = [await store(), await store()];
    const gens = await Promise.all([one, one, other].map((store) => lease(store, { namespace, windowMs: 30_000 })));
    assert.equal(gens[0].node, gens[1].node);
    assert.notEqual(gens[0].node, gens[2].node);
    const ids = Array.from({ length: 3000 }, (_, at) => gens[at % 2].nextId());
    increasing(ids);
    await gens[0].close();
    gens[1].nextId();
    for (const gen of gens) await gen.close();
  });

  test("excluded and vouched nodes are not leased, and a namespace keeps its layout", async (t) => {
    const store = await (await place(t)).store();
    const namespace = fresh();
    // A separate one, as a vouched node stays vouched.
    const layout = `unused:1,time:43,node:8,sequence:12;epoch=${1_735_689_600_000 + layouts++};tick=1ms`;
    new Snowflake({ layout, node: 1 });
    const gen = await lease(store, { namespace, layout, exclude: [0, 2], windowMs: 30_000 });
    assert.equal(gen.node, 3);
    assert.match(
      refusal("INVALID_NODE", () => new Snowflake({ layout, node: 3 })).message,
      /^pass a node that no other generator/,
    );
    await assert.rejects(lease(store, { namespace, layout: "twitter" }), {
      code: "INVALID_LAYOUT",
      message: new RegExp(`namespace ${namespace} is of layout unused:1,time:43`),
    });
    await gen.close();
    assert.ok(new Snowflake({ layout, node: 3 }).nextId() > 0n);
  });

  test("every node of a small layout can be held and no more, and who waits gets the first that is free", async (t) => {
    const { store } = await place(t);
    const layout = "time:41,node:2,sequence:12;epoch=2025-01-01T00:00:00Z";
    const options = { namespace: fresh(), layout, windowMs: 30_000 };
    const gens = await Promise.all(Array.from({ length: 4 }, async () => lease(await store(), options)));
    assert.deepEqual(gens.map(({ node }) => node).sort(), [0, 1, 2, 3]);
    const late = await store();
    await assert.rejects(lease(late, { ...options, maxWaitMs: 20 }), (error) => {
      assert.equal(error.code, "NODES_EXHAUSTED");
      assert.match(error.message, /all 4 nodes are taken or excluded/);
      assert.ok(error.retryAfterMs > 0 && error.retryAfterMs <= 31_000, `${error.retryAfterMs}`);
      assert.ok(error.message.startsWith(String(late)) && error.message.includes(options.namespace));
      return true;
    });
    await gens[2].close();
    assert.equal((await lease(late, { ...options, maxWaitMs: 20_000 })).node, gens[2].node);
    for (const gen of gens) await gen.close();
  });
}
