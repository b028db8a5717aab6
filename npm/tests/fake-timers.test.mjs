// Clocks and timers with which tests replace the host's: of sinon, jest and vitest, which all have these.
import assert from "node:assert/strict";
import { test } from "node:test";
import { exitOf, slow } from "./support.mjs";

/** A process whose clocks and timers stop after the package is loaded, or `before` it is loaded. */
function script(work, { bundle = "./node_modules/snowmint/dist/node.mjs", before = false, fake = "" } = {}) {
  return `import fakeTimers from "@sinonjs/fake-timers";
    const real = { now: performance.now.bind(performance), setTimeout };
    const systemClock = Date.now;
    let fakes;
    const freeze = () => (fakes = fakeTimers.install({ now: Date.now(), ${fake} }));
    ${before ? "freeze();" : ""}
    const { Snowflake } = await import("${bundle}");
    const told = async (call) => {
      const since = real.now();
      try {
        return { answer: typeof (await call()) };
      } catch (error) {
        return { code: error.code ?? String(error), late: real.now() - since > 5000 };
      }
    };
    const layout = "${slow(1)}";
    ${before ? "" : "freeze();"}
    ${work}
    fakes.uninstall();`;
}

async function printed(source, env = {}) {
  const { code, signal, stdout, stderr } = await exitOf(source, env);
  assert.equal(signal ?? code, 0, `${signal ?? code}: it hangs, or ${stderr}`);
  return JSON.parse(stdout);
}

const HOSTS = {
  "the addon": [{}, {}],
  "no addon": [{}, { SNOWMINT_NO_ADDON: "1" }],
  browsers: [{ bundle: "./node_modules/snowmint/dist/browser.mjs" }, {}],
};
const FAKES = { "all clocks and timers": "", "Date and performance": 'toFake: ["Date", "performance"]' };
const EXHAUSTED = { code: "EXHAUSTED", late: false };

for (const [host, [options, env]] of Object.entries(HOSTS))
  for (const [what, fake] of Object.entries(FAKES)) {
    test(`${host}: calls end by their deadline while ${what} stand still`, async () => {
      const work = `
        const gen = new Snowflake({ layout, node: 1, maxWaitMs: 100 });
        gen.nextIds(2);
        console.log(JSON.stringify([await told(() => gen.nextId()), await told(() => gen.nextIds(1)), await told(() => gen.nextIdAsync())]));`;
      assert.deepEqual(await printed(script(work, { ...options, fake }), env), [EXHAUSTED, EXHAUSTED, EXHAUSTED]);
    });
  }

test("calls that wait end by their deadline in a package loaded under fake timers", async () => {
  const work = `
    const gen = new Snowflake({ layout, node: 1, maxWaitMs: 100 });
    gen.nextIds(2);
    console.log(JSON.stringify([await told(() => gen.nextId()), await told(() => gen.nextIds(1))]));`;
  for (const env of [{}, { SNOWMINT_NO_ADDON: "1" }])
    assert.deepEqual(await printed(script(work, { before: true }), env), [EXHAUSTED, EXHAUSTED]);
});

test("a generator goes by the clock of the moment, not by that of its making", async () => {
  const work = `
    fakes.setSystemTime(1_800_000_000_000);
    const gen = new Snowflake({ node: 2 });
    const at = () => gen.layout.decode(gen.nextId()).timestampMs;
    const faked = at();
    fakes.tick(5);
    const later = at();
    fakes.uninstall();
    const other = new Snowflake({ node: 3 });
    const before = other.layout.decode(other.nextId()).timestampMs;
    fakes = fakeTimers.install({ now: 1_900_000_000_000 });
    const after = other.layout.decode(other.nextId()).timestampMs;
    console.log(JSON.stringify([faked, later, before < 1_900_000_000_000, after]));`;
  const answer = [1_800_000_000_000, 1_800_000_000_005, true, 1_900_000_000_000];
  assert.deepEqual(await printed(script(work), { SNOWMINT_NO_ADDON: "1" }), answer);
  assert.deepEqual(await printed(script(work, { bundle: "./node_modules/snowmint/dist/browser.mjs" })), answer);
});

test("a clock that is the Date.now of a test is read, and the one of the import is the system's", async () => {
  const work = `
    const other = new Snowflake({ node: 7, clock: systemClock });
    fakes.setSystemTime(1_800_000_000_000);
    const gen = new Snowflake({ node: 6, clock: Date.now });
    const at = (gen) => gen.layout.decode(gen.nextId()).timestampMs;
    console.log(JSON.stringify([at(gen), at(other) < 1_800_000_000_000]));`;
  for (const { bundle, env } of [{}, { env: { SNOWMINT_NO_ADDON: "1" } }, { bundle: HOSTS.browsers[0].bundle }]) {
    // Only the addon reads the clock of the system; elsewhere it is the `Date.now` of the call.
    const answer = [1_800_000_000_000, !bundle && !env];
    assert.deepEqual(await printed(script(work, { bundle }), env), answer);
  }
});

test("IDs go on by the system's clock where the addon reads it", async () => {
  const work = `
    const gen = new Snowflake({ node: 4 });
    const ids = [...gen.nextIds(4096), ...gen.nextIds(4096), ...gen.nextIds(4096), await gen.nextIdAsync()];
    console.log(JSON.stringify([new Set(ids).size]));`;
  assert.deepEqual(await printed(script(work)), [12_289]);
});

test("a claim that waits ends by its deadline while clocks stand still", async () => {
  const work = `
    const { MemoryStore } = await import("snowmint/stores");
    const [store, alone] = [new MemoryStore(), "time:41,sequence:12;epoch=1735689600000"];
    const gen = await Snowflake.lease({ store, layout: alone });
    const verbs = ["read", "write", "list", "clockMs"].map((verb) => [verb, (...all) => store[verb](...all)]);
    const lease = () => Snowflake.lease({ store: Object.fromEntries(verbs), layout: alone, maxWaitMs: 100 });
    console.log(JSON.stringify([await told(lease)]));
    await gen.close();`;
  const fake = 'toFake: ["Date", "performance"]';
  assert.deepEqual(await printed(script(work, { fake })), [{ code: "NODES_EXHAUSTED", late: false }]);
});

test("a caller's clock that a test moves on is seen by calls that wait", async () => {
  const work = `
    const gen = new Snowflake({ layout: "time:41,node:10,sequence:1;epoch=0", node: 5, clock: () => Date.now() });
    gen.nextIds(2);
    const waiting = told(() => gen.nextIdAsync());
    fakes.tick(1);
    console.log(JSON.stringify([await waiting]));`;
  assert.deepEqual(await printed(script(work)), [{ answer: "bigint" }]);
});
