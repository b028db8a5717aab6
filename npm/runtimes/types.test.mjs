// The declarations, as the compilers of users find them. The sources are the package's test of types.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { projectOf, version } from "./tools.mjs";

const sources = join(import.meta.dirname, "../tests");
const read = (name) => readFileSync(join(sources, name), "utf8");
const { home, run } = projectOf({
  "types.ts": read("types.ts"),
  "types.cts": read("types.cts"),
  "module/package.json": '{ "type": "module" }',
  "module/types.ts": read("types.ts"),
});
// An older compiler, which most users have, and the compiler of the package.
const folders = [import.meta.dirname, join(import.meta.dirname, "..")];
const options = { target: "es2022", lib: ["es2022"], types: [], strict: true, noEmit: true };

for (const folder of folders)
  for (const [module, moduleResolution, ...files] of [
    ["nodenext", "nodenext", "types.ts", "types.cts", "module/types.ts"],
    ["esnext", "bundler", "types.ts"],
    ["preserve", "bundler", "types.ts", "types.cts"],
  ])
    test(`TypeScript ${version("typescript", folder)} finds the declarations: ${module}, ${moduleResolution}`, async () => {
      const compilerOptions = { ...options, module, moduleResolution };
      writeFileSync(join(home, "tsconfig.json"), JSON.stringify({ compilerOptions, files }));
      await run(process.execPath, join(folder, "node_modules/typescript/bin/tsc"), "-p", ".").catch(({ stdout }) => {
        throw new Error(stdout);
      });
    });
