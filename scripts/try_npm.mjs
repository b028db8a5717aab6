// Installs npm packages into an empty project and uses them: try_npm.mjs [--without-addon] DIRECTORY. The directory has the
// tarballs of snowmint and of the addon for this platform.
import { execSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { project } from "./npm_project.mjs";

const USE = `
import { Snowflake, SnowmintError } from "snowmint";
import assert from "node:assert/strict";
assert.throws(() => new Snowflake({ layout: "twitter", node: 1024 }), (e) => e instanceof SnowmintError && e.code === "INVALID_NODE");
if (process.argv[2] === "addon") {
  const gen = await Snowflake.lease();
  assert.equal(new Set(gen.nextIds(10_000)).size, 10_000);
  await gen.close();
} else await assert.rejects(Snowflake.lease(), { code: "INVALID_STORE" });
`;

const addon = process.argv[2] !== "--without-addon";
const { home, env, remove } = project(resolve(process.argv.at(-1)), { addon });
try {
  writeFileSync(join(home, "use.mjs"), USE);
  const commands = [
    `node use.mjs ${addon ? "addon" : ""}`,
    `node -p "new (require('snowmint').Snowflake)({ node: 5 }).nextString()"`,
    ...(addon ? ["npx --no-install snowmint gen -n 3"] : []),
  ];
  for (const command of commands) execSync(command, { cwd: home, env, stdio: ["ignore", "inherit", "inherit"] });
} finally {
  remove();
}
