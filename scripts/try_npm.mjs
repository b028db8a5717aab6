// Installs npm packages into an empty project, and uses them as a newcomer would: try_npm.mjs [--without-addon] DIRECTORY.
// The directory has the tarball of snowmint, and that of this platform's addon.
import { strict as assert } from "node:assert";
import { execSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const USE = `
import { Snowflake, SnowmintError, inspect, layouts, text } from "snowmint";
import { strict as assert } from "node:assert";
const addon = process.argv[2] === "addon";
console.log(String(new Snowflake({ layout: "twitter", node: 5 }).nextId()));
assert.equal(layouts.TWITTER.decode(1541815603606036480n).fields.worker, 26);
assert.equal(inspect("1541815603606036480")[0].layout, "twitter");
assert.equal(text.decode(text.encode(2n ** 64n - 1n, "base62"), "base62"), 2n ** 64n - 1n);
const leasing = Snowflake.lease().then(async (gen) => {
  const { timestampMs } = layouts.SNOWMINT.decode(gen.nextId());
  assert(gen.window.start <= timestampMs && timestampMs < gen.window.end);
  assert.equal(new Set(gen.nextIds(10_000)).size, 10_000);
  await gen.close();
});
const leased = addon ? leasing : assert.rejects(leasing, { code: "STORE_UNAVAILABLE" });
leased.catch((error) => { console.error(error); process.exit(1) });
assert.throws(() => new Snowflake({ layout: "twitter", node: 1024 }), (e) => e instanceof SnowmintError && e.code === "INVALID_NODE");
`;
const required = USE.replace(/^import (.*) from ("[^"]*");/gm, "const $1 = require($2);").replace(" as ", ": ");

const { values, positionals } = parseArgs({
  options: { "without-addon": { type: "boolean" } },
  allowPositionals: true,
});
const directory = resolve(positionals[0]);
const tarball = (pattern) => {
  const found = readdirSync(directory).filter((name) => pattern.test(name));
  assert.equal(found.length, 1, `${found.length} of ${pattern} in ${directory}`);
  return `"${join(directory, found[0])}"`;
};
const platform = execSync(`node "${fileURLToPath(new URL("../npm/scripts/platform.mjs", import.meta.url))}"`, {
  encoding: "utf8",
});
const packages = [tarball(/^snowmint-\d.*\.tgz$/)];
if (!values["without-addon"]) packages.push(tarball(new RegExp(`^snowmint-${platform.trim()}-\\d.*\\.tgz$`)));

const home = mkdtempSync(join(tmpdir(), "snowmint-"));
try {
  // Slots of its own: those of the machine belong to whatever runs on it.
  const env = { ...process.env, SNOWMINT_STATE_DIR: join(home, "state") };
  const run = (command, stdout = "inherit") =>
    execSync(command, { cwd: home, env, stdio: ["ignore", stdout, "inherit"] });
  writeFileSync(join(home, "package.json"), '{ "private": true }');
  writeFileSync(join(home, "use.mjs"), USE);
  writeFileSync(join(home, "use.cjs"), required);
  // One after the other, as optional dependencies of the first are not to be looked for elsewhere.
  for (const each of packages) run(`npm install --silent --no-fund --no-audit --omit=optional ${each}`);
  const addon = packages.length > 1 ? "addon" : "";
  run(`node use.mjs ${addon}`);
  run(`node use.cjs ${addon}`);
  run(`npx --no-install snowmint gen -n 3 ${addon ? "" : "--node 7"}`);
  run("npx --no-install snowmint inspect 1541815603606036480 --layout twitter");
  run("npm ls --all --silent", "ignore");
} finally {
  rmSync(home, { recursive: true, force: true });
}
