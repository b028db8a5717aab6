// Installs npm packages into an empty project, and uses them as a newcomer would: try_npm.mjs [--without-addon] DIRECTORY.
// The directory has the tarballs of snowmint and of this platform's addon.
import { execSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { project } from "./npm_project.mjs";

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
const leased = addon ? leasing : assert.rejects(leasing, { code: "INVALID_STORE" });
leased.catch((error) => { console.error(error); process.exit(1) });
assert.throws(() => new Snowflake({ layout: "twitter", node: 1024 }), (e) => e instanceof SnowmintError && e.code === "INVALID_NODE");
`;
const required = USE.replace(/^import (.*) from ("[^"]*");/gm, "const $1 = require($2);").replace(" as ", ": ");

const { values, positionals } = parseArgs({
  options: { "without-addon": { type: "boolean" } },
  allowPositionals: true,
});
const { home, env, remove } = project(resolve(positionals[0]), { addon: !values["without-addon"] });
try {
  const run = (command, stdout = "inherit") =>
    execSync(command, { cwd: home, env, stdio: ["ignore", stdout, "inherit"] });
  writeFileSync(join(home, "use.mjs"), USE);
  writeFileSync(join(home, "use.cjs"), required);
  const addon = values["without-addon"] ? "" : "addon";
  run(`node use.mjs ${addon}`);
  run(`node use.cjs ${addon}`);
  if (addon) {
    run("npx --no-install snowmint gen -n 3");
    run("npx --no-install snowmint inspect 1541815603606036480 --layout twitter");
  }
  run("npm ls --all --silent", "ignore");
} finally {
  remove();
}
