// What an ID costs in Node and in Chromium, beside peers and beside what JavaScript itself costs.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Snowflake as SapphireSnowflake } from "@sapphire/snowflake";
import FlakeId from "flake-idgen";
import { nanoid } from "nanoid";
import { Snowflake as NodejsSnowflake } from "nodejs-snowflake";
import { monotonicFactory } from "ulid";
import { ulid as unikuUlid } from "uniku/ulid";
import { uuidv7 as unikuV7 } from "uniku/uuid/v7";
import { v7 } from "uuid";
import { Snowflake as WasmSnowflake } from "../../npm/dist/browser.mjs";
import * as snowmint from "../../npm/dist/node.mjs";
import { check } from "./checker.mjs";
import { inChromium } from "./chromium.mjs";
import { BATCH, each, plainWide, tunedDefault, tunedWide, tunedWider, WIDE, WIDER } from "./layouts.mjs";
import { Contender, compare, sustained } from "./turns.mjs";
import { wide } from "./wide.mjs";

const { Snowflake } = snowmint;

const print = (table) => console.log(JSON.stringify(table));

/** One ID a call, with a clock read in each. */
async function single(store) {
  const plain = plainWide();
  const tuned = tunedWide();
  const leased = await Snowflake.lease({ layout: WIDE, store });
  const vouched = new Snowflake({ layout: WIDE, node: 15 });
  const wasm = new WasmSnowflake({ layout: WIDE, node: 14 });
  const epochMs = Date.parse("2025-01-01T00:00:00Z");
  const sapphire = new SapphireSnowflake(epochMs);
  const nodejs = new NodejsSnowflake({ custom_epoch: epochMs, instance_id: 1 });
  // With node 0 its sequence may have all of the 22 bits; with 12 it throws when a ms is used up.
  const flake = new FlakeId({ id: 0, seqMask: 2 ** 22 - 1 });
  const bytes = { read: (id) => id.readBigUInt64BE() };
  const peerUlid = monotonicFactory();
  const timeOfV7 = { unixMs: (id) => Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16) };
  const time = { unixMs: (id) => Number(id >> 22n) + epochMs };
  for (const [name, mint, about] of [
    ["snowmint, addon, leased: nextId()", () => leased.nextId(), time],
    ["snowmint, wasm: nextId()", () => wasm.nextId(), time],
    ["plain JavaScript, tuned: nextId()", () => tuned.nextId(), time],
    ["@sapphire/snowflake: generate()", () => sapphire.generate(), time],
    ["flake-idgen, 22 bits of sequence: next()", () => flake.next(), { ...bytes, unixMs: (id) => Number(id >> 22n) }],
    ["nodejs-snowflake, waits at 1,024 a ms", () => nodejs.getUniqueID(), time],
    ["uuid: v7()", () => v7(), timeOfV7],
    ["uniku: uuidv7()", () => unikuV7(), timeOfV7],
    ["uniku: ulid()", () => unikuUlid()],
    ["ulid, monotonic", () => peerUlid()],
    ["nanoid()", () => nanoid(), { ordered: false }],
  ])
    print(check(name, mint, about));
  const table = compare("Node: an ID", [
    new Contender("plain JavaScript: nextId()", () => plain.nextId()),
    new Contender("plain JavaScript, tuned: nextId()", () => tuned.nextId()),
    new Contender("floor: Date.now()", () => Date.now(), { order: "clock" }),
    new Contender("snowmint, addon, leased: nextId()", () => leased.nextId()),
    new Contender("snowmint, addon, vouched: nextId()", () => vouched.nextId()),
    new Contender("snowmint, wasm: nextId()", () => wasm.nextId()),
    new Contender("@sapphire/snowflake: generate()", () => sapphire.generate(), { order: "told" }),
    new Contender("flake-idgen, 22 bits of sequence: next()", () => flake.next(), bytes),
    new Contender("nodejs-snowflake, waits at 1,024 a ms", () => nodejs.getUniqueID()),
    new Contender("uuid: v7()", () => v7()),
    new Contender("nanoid()", () => nanoid(), { order: "none" }),
  ]);
  await leased.close();
  print(table);
}

/** Arrays of the caller. */
async function batches(store) {
  const tuned = tunedWider();
  const leased = await Snowflake.lease({ layout: WIDER, store });
  const vouched = new Snowflake({ layout: WIDER, node: 3 });
  const wasm = new WasmSnowflake({ layout: WIDER, node: 2 });
  const contender = (name, gen) => {
    const ids = new BigUint64Array(BATCH);
    return new Contender(name, () => gen.fill(ids), { idsACall: BATCH });
  };
  const table = compare(`Node: BigUint64Arrays of ${BATCH} IDs, an ID`, [
    contender("plain JavaScript, tuned: fill(array)", tuned),
    contender("snowmint, addon, leased: fill(array)", leased),
    contender("snowmint, addon, vouched: fill(array)", vouched),
    contender("snowmint, wasm: fill(array)", wasm),
  ]);
  await leased.close();
  print(table);
}

/** An ID of flake-idgen, which throws once a ms has no more. */
function asked(flake) {
  for (;;) {
    try {
      return flake.next();
    } catch {}
  }
}

/** The default layout, as many IDs as it has. */
async function inALoop(store) {
  const tuned = tunedDefault();
  const leased = await Snowflake.lease({ store });
  const flake = new FlakeId({ id: 1 });
  const table = sustained("Node: an ID, sustained, default layout", {
    "plain JavaScript, tuned, spins: nextId()": () => each(() => tuned.nextId()),
    "snowmint, addon, leased: nextId()": () => each(() => leased.nextId()),
    "snowmint, addon, leased: nextIds(512)": () => leased.nextIds(512),
    "snowmint, addon, leased: nextIds(4096)": () => leased.nextIds(4096),
    "flake-idgen, asked again while it has none: next()": () => each(() => asked(flake).readBigUInt64BE()),
  });
  await leased.close();
  print(table);
}

// Leases in a separate directory.
const directory = mkdtempSync(join(tmpdir(), "snowmint-"));
try {
  const store = `file:${directory}`;
  await single(store);
  await batches(store);
  await inALoop(store);
} finally {
  rmSync(directory, { recursive: true });
}
print(wide(snowmint));
await inChromium(async (run) => {
  for (const name of ["single", "batches", "inALoop"]) print(await run(name));
});
