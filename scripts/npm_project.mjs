// Makes an empty project and installs the tarballs of scripts/package.sh in it, as users do.
import { execSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * Makes a project from the tarballs of a directory: snowmint and, unless `addon` is false, this platform's addon. Returns
 * the project's directory, the environment for its processes, and a function that removes everything. Fails if a package
 * needs another package.
 */
export function project(directory, { addon = true } = {}) {
  const home = mkdtempSync(join(tmpdir(), "snowmint-"));
  const remove = () => rmSync(home, { recursive: true, force: true });
  // Separate slots, since other programs may use the slots of the machine.
  const env = { ...process.env, SNOWMINT_STATE_DIR: join(home, "state") };
  const wanted = addon ? /^snowmint-.*\.tgz$/ : /^snowmint-\d.*\.tgz$/;
  const tarballs = readdirSync(directory).filter((name) => wanted.test(name));
  const packages = tarballs.map((name) => `"${join(directory, name)}"`);
  try {
    writeFileSync(join(home, "package.json"), '{ "private": true }');
    const options = { cwd: home, env, stdio: ["ignore", "inherit", "inherit"] };
    execSync(`npm install --offline --silent --no-fund --no-audit --omit=optional ${packages.join(" ")}`, options);
  } catch (error) {
    remove();
    throw error;
  }
  return { home, env, remove };
}
