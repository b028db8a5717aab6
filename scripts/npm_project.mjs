// Makes an empty project and installs the tarballs of scripts/package.sh in it, as users do.
import { strict as assert } from "node:assert";
import { execSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * Makes a project from the tarballs of a directory: snowmint and, unless `addon` is false, this platform's addon. Returns
 * the project's directory, the environment for its processes, and a function that removes everything.
 */
export function project(directory, { addon = true } = {}) {
  const tarball = (pattern) => {
    const found = readdirSync(directory).filter((name) => pattern.test(name));
    assert.equal(found.length, 1, `${found.length} of ${pattern} in ${directory}`);
    return `"${join(directory, found[0])}"`;
  };
  const script = fileURLToPath(new URL("../npm/scripts/platform.mjs", import.meta.url));
  const platform = execSync(`node "${script}"`, { encoding: "utf8" }).trim();
  const packages = [tarball(/^snowmint-\d.*\.tgz$/)];
  if (addon) packages.push(tarball(new RegExp(`^snowmint-${platform}-\\d.*\\.tgz$`)));

  const home = mkdtempSync(join(tmpdir(), "snowmint-"));
  const remove = () => rmSync(home, { recursive: true, force: true });
  // Separate slots, since other programs may use the slots of the machine.
  const env = { ...process.env, SNOWMINT_STATE_DIR: join(home, "state") };
  try {
    writeFileSync(join(home, "package.json"), '{ "private": true }');
    // One after the other, so that npm does not look for the first package's optional dependencies in a registry.
    for (const each of packages)
      execSync(`npm install --silent --no-fund --no-audit --omit=optional ${each}`, {
        cwd: home,
        env,
        stdio: ["ignore", "inherit", "inherit"],
      });
  } catch (error) {
    remove();
    throw error;
  }
  return { home, env, remove };
}
