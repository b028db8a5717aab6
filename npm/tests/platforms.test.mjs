// The packages of the addons: each says where it belongs, and snowmint names them all.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";

const root = new URL("..", import.meta.url).pathname;
const read = (path) => JSON.parse(readFileSync(`${root}/${path}`, "utf8"));
const platforms = readdirSync(`${root}/platforms`);
const LIBCS = { gnu: "glibc", musl: "musl" };

test("snowmint depends on the addon of every platform, in its own version", () => {
  const { version, optionalDependencies } = read("package.json");
  const wanted = Object.fromEntries(platforms.map((platform) => [`snowmint-${platform}`, version]));
  assert.deepEqual(optionalDependencies, wanted);
  assert.equal(platforms.length, 8);
});

for (const platform of platforms)
  test(`the package of ${platform} says where it belongs, and has nothing but the addon and its SBOM`, () => {
    const main = read("package.json");
    const told = read(`platforms/${platform}/package.json`);
    const [os, cpu, abi] = platform.split("-");
    assert.equal(told.name, `snowmint-${platform}`);
    assert.equal(told.version, main.version);
    assert.deepEqual([told.os, told.cpu], [[os], [cpu]]);
    assert.deepEqual(told.libc, LIBCS[abi] && [LIBCS[abi]]);
    assert.equal(told.main, `snowmint.${platform}.node`);
    assert.deepEqual(told.files, [told.main, "LICENSE-*", "snowmint.cdx.json"]);
    assert.deepEqual([told.license, told.engines], [main.license, main.engines]);
    assert.deepEqual(told.repository, { ...main.repository, directory: `npm/platforms/${platform}` });
    assert.equal(told.scripts, undefined);
  });

test("this machine is one of the platforms, and its addon is the one that mints", () => {
  const here = execFileSync(process.execPath, [`${root}/scripts/platform.mjs`], { encoding: "utf8" }).trim();
  assert.ok(platforms.includes(here), here);
  const script = `const { Snowflake } = await import("snowmint");
    new Snowflake({ node: 5 }).nextId();
    console.log(process.report.getReport().sharedObjects.filter((path) => path.endsWith(".node")).join());`;
  const options = { cwd: root, encoding: "utf8" };
  const loaded = execFileSync(process.execPath, ["--input-type=module", "-e", script], options).trim();
  assert.ok(loaded.endsWith(`/snowmint.${here}.node`), loaded);
});
