// The hosts and bundlers, as scripts/setup.sh installs them here, and projects to try them in.
import { execFile } from "node:child_process";
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { after } from "node:test";
import { promisify } from "node:util";
import { project } from "../../scripts/npm_project.mjs";

const here = import.meta.dirname;
const packed = join(here, "../../dist/npm");

/** The version of a tool. */
export const version = (name, folder = here) =>
  JSON.parse(readFileSync(join(folder, "node_modules", name, "package.json"), "utf8")).version;

/** The executable of a tool: of the packages in a scope npm installs the one that fits this machine; no script has to run. */
export function executable(scope, path) {
  const fitting = readdirSync(join(here, "node_modules", scope)).filter((name) => name.includes(process.platform));
  if (fitting.length !== 1)
    throw new Error(`one package of ${scope} fits a machine, not ${fitting.length}: ${fitting}`);
  return join(here, "node_modules", scope, fitting[0], path);
}

/**
 * Makes a project for a file of tests: the packages that users install, the given files, and `checks.mjs`. `run` returns the
 * output of a program. The project is removed after the tests.
 */
export function projectOf(files, options) {
  const { home, env, remove } = project(packed, options);
  after(remove);
  copyFileSync(join(here, "checks.mjs"), join(home, "checks.mjs"));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(home, name)), { recursive: true });
    writeFileSync(join(home, name), text);
  }
  const run = async (program, ...args) =>
    (await promisify(execFile)(program, args, { cwd: home, env, timeout: 60_000 })).stdout;
  return { home, env, run };
}

/** Returns the block of code in a guide that contains a text. */
export function blockOf(page, text) {
  const blocks = readFileSync(join(here, "../../docs", page), "utf8").matchAll(/^```js[^\n]*\n(.*?)^```$/gms);
  const found = [...blocks].map(([, code]) => code).filter((code) => code.includes(text));
  if (found.length !== 1) throw new Error(`${found.length} blocks of ${page} contain ${text}`);
  return found[0];
}
