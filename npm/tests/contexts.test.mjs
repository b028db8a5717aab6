// Contexts of node:vm, as test runners make one for each file: each has a separate globalThis, in one process.
import assert from "node:assert/strict";
import { test } from "node:test";
import { exitOf } from "./support.mjs";

const TOOLS = `
  import { SnowmintError } from "snowmint";
  import { MemoryStore } from "snowmint/stores";
  import { inContext, inPage } from "./runners.mjs";
  /** Mints by turns, and counts the IDs that came twice. */
  const repeated = (generators) => {
    const ids = Array.from({ length: 40_000 }, (_, at) => generators[at % generators.length].nextId());
    return ids.length - new Set(ids).size;
  };`;

/** Returns the output of a script, with and without the addon. */
async function told(script) {
  const all = [];
  for (const SNOWMINT_NO_ADDON of ["0", "1"]) {
    const { code, stdout, stderr } = await exitOf(TOOLS + script, { SNOWMINT_NO_ADDON });
    assert.equal(code, 0, stderr);
    all.push(stdout.trim());
  }
  return all;
}

test("contexts of one process share a vouched node", async () => {
  const script = `
    const copies = ["node", "node", "browser"].map((name) => inContext(name));
    const { Snowflake } = await import("snowmint");
    const generators = [...copies.map((copy) => copy.Snowflake), Snowflake].map((Each) => new Each({ node: 5 }));
    // One that cannot block refuses where the others wait.
    console.log(repeated(generators.filter((_, at) => at !== 2)));
    const [, , browser] = generators;
    console.log(new Set([...generators[0].nextIds(100), ...browser.nextIds(100), ...generators[3].nextIds(100)]).size);`;
  const [, withoutAddon] = await told(script);
  assert.equal(withoutAddon, "0\n300");
});

test("contexts that the addon serves share a vouched node", async () => {
  const script = `
    const generators = ["node", "node"].map((name) => new (inContext(name).Snowflake)({ node: 5 }));
    console.log(repeated(generators));`;
  assert.deepEqual(await told(script), ["0", "0"]);
});

test("a node leased in one context is refused to the vouchers of another", async () => {
  const script = `
    const [one, other] = [inContext("node"), inContext("node")];
    const gen = await one.Snowflake.lease({ store: new MemoryStore() });
    gen.nextId();
    try {
      new other.Snowflake({ node: gen.node }).nextId();
    } catch (error) {
      console.log(error.code, error instanceof SnowmintError);
    }
    new other.Snowflake({ node: 7 }).nextId();
    const next = await one.Snowflake.lease({ store: new MemoryStore(), exclude: [0, 1, 2, 3, 4, 5, 6] });
    console.log(next.node);
    await gen.close();
    await next.close();`;
  for (const answer of await told(script)) assert.equal(answer, "INVALID_NODE true\n8");
});

test("pages of jest's jsdom and their process share a vouched node", async () => {
  const script = `
    const pages = [await inPage(), await inPage()];
    const { Snowflake } = await import("snowmint");
    const generators = [...pages.map(({ exports }) => exports.Snowflake), Snowflake].map((Each) => new Each({ node: 5 }));
    const ids = generators.flatMap((gen) => [...gen.nextIds(1000)]);
    console.log(ids.length - new Set(ids).size);
    for (const page of pages) await page.close();`;
  const [, withoutAddon] = await told(script);
  assert.equal(withoutAddon, "0");
});
