// Jest, as applications run it: it empties objects of the global object after each file.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { folder } from "./support.mjs";

const here = new URL(".", import.meta.url).pathname;
const jest = join(here, "../node_modules/jest/bin/jest.js");

/** A file of tests that mints by each kind of generator. Files of one process share the state of a node. */
const FILE = `
  const { Snowflake } = require("snowmint");
  const { MemoryStore } = require("snowmint/stores");
  test("mints", async () => {
    const generators = [new Snowflake({ node: 5 })];
    if (process.env.SLOTS) generators.push(await Snowflake.lease({ store: process.env.SLOTS, exclude: [5] }));
    for (const generator of generators)
      for (let at = 0; at < 100; at++) process.stdout.write("id " + generator.nextId() + "\\n");
    // Each file has its own store.
    const own = await Snowflake.lease({ store: new MemoryStore() });
    own.nextId();
    for (const generator of [...generators, own]) await generator.close();
  });`;

// Pages load no addon.
for (const environment of ["node", "jsdom"])
  for (const globalsCleanup of ["soft", "on"])
    for (const SNOWMINT_NO_ADDON of environment === "node" ? ["0", "1"] : ["1"]) {
      const what = `${environment}, clean-up ${globalsCleanup}, ${SNOWMINT_NO_ADDON === "1" ? "no addon" : "the addon"}`;
      test(`three files in a process of Jest neither warn nor repeat an ID: ${what}`, (t) => {
        const place = folder(t);
        mkdirSync(join(place, "node_modules"));
        for (const name of readdirSync(join(here, "node_modules")))
          cpSync(join(here, "node_modules", name), join(place, "node_modules", name), { recursive: true });
        for (const name of "abc") writeFileSync(join(place, `${name}.test.cjs`), FILE);
        const config = {
          // The disk of a busy machine may take longer than Jest's 5 s.
          testTimeout: 60_000,
          rootDir: place,
          testMatch: ["**/*.test.cjs"],
          testEnvironment: join(here, `../node_modules/jest-environment-${environment}`),
          testEnvironmentOptions: { globalsCleanup },
        };
        const args = [jest, "-i", "--config", JSON.stringify(config)];
        const env = { ...process.env, NODE_OPTIONS: "", SNOWMINT_NO_ADDON };
        // Slots need the addon.
        if (SNOWMINT_NO_ADDON === "0") env.SLOTS = `file:${join(place, "slots")}?allow_unsafe=true`;
        const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: place, env, encoding: "utf8" });
        assert.equal(status, 0, stderr);
        assert.ok(!/JEST-01|Warning/.test(stderr), stderr);
        const ids = stdout.split("\n").filter((line) => line.startsWith("id "));
        assert.ok(ids.length >= 300);
        assert.equal(new Set(ids).size, ids.length);
      });
    }
