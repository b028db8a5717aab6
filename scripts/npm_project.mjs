// An empty project with what scripts/package.sh packed installed in it, as users install it.
import { strict as assert } from "node:assert";
import { execSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * Makes a project from the tarballs of a directory: that of snowmint and, unless `addon` is false, that of this platform's
 * addon. Answers its directory, the environment to run in, and what removes it all.
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
  // Slots of its own: those of the machine belong to whatever runs on it.
  const env = { ...process.env, SNOWMINT_STATE_DIR: join(home, "state") };
  try {
    writeFileSync(join(home, "package.json"), '{ "private": true }');
    // One after the other, as optional dependencies of the first are not to be looked for elsewhere.
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
