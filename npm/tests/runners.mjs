// The package as test runners load it: into contexts of node:vm, each with a separate globalThis, some of them jest's
// page.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createContext, runInContext } from "node:vm";

const require = createRequire(import.meta.url);

/** Returns the exports of a CommonJS file of the package, which runs in that context with the files that it requires. */
function loaded(name, context) {
  const cache = new Map();
  const load = (file) => {
    if (cache.has(file)) return cache.get(file).exports;
    const module = { exports: {} };
    cache.set(file, module);
    const wrapped = `(function (exports, require, module, __filename) {${readFileSync(file, "utf8")}\n})`;
    const near = createRequire(file);
    const requireHere = (path) => (path.startsWith(".") ? load(near.resolve(path)) : near(path));
    runInContext(wrapped, context)(module.exports, requireHere, module, file);
    return module.exports;
  };
  return load(require.resolve(`./node_modules/snowmint/dist/${name}.cjs`));
}

/** Loads a bundle into a new context, which has the names that programs of Node find. */
export function inContext(name) {
  const names = { process, Buffer, performance, setTimeout, clearTimeout, crypto, console, TextEncoder, TextDecoder };
  return loaded(name, createContext(names));
}

/** Loads the bundle for browsers into a new page of jest-environment-jsdom. */
export async function inPage(name = "browser") {
  const { TestEnvironment } = require("jest-environment-jsdom");
  const projectConfig = { globals: {}, testEnvironmentOptions: {}, fakeTimers: {} };
  const page = new TestEnvironment({ globalConfig: {}, projectConfig }, { console, docblockPragmas: {}, testPath: "" });
  await page.setup();
  const context = page.getVmContext();
  return {
    context,
    exports: loaded(name, context),
    run: (code) => runInContext(code, context),
    close: () => page.teardown(),
  };
}
