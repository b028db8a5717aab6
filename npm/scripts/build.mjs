// Builds dist/: the wasm module as text inside each bundle, the bundles for each kind of host, and the types.
// Run in npm/. Expects the raw module and its glue in src/generated/, where scripts/build-wasm.sh puts them.
import { execFileSync } from "node:child_process";
import { cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { build } from "esbuild";

const { version } = JSON.parse(readFileSync("package.json", "utf8"));
const generated = "src/generated";
rmSync("dist", { recursive: true, force: true });

const bundle = (host, format, extra = {}) =>
  build({
    entryPoints: ["src/index.ts"],
    outfile: `dist/${host}.${format === "esm" ? "mjs" : "cjs"}`,
    alias: { "#host": `./src/host.${host}.ts` },
    bundle: true,
    format,
    target: "es2022",
    platform: host === "node" ? "node" : "neutral",
    logLevel: "warning",
    // Classes keep their names in what people print; in browsers bytes count more.
    keepNames: host === "node",
    // What createRequire needs, in either kind of module.
    define: format === "cjs" ? { "import.meta.url": "__filename" } : {},
    ...extra,
  });

// The text form of the module is written by the same code that reads it.
await build({ entryPoints: ["src/unpack.ts"], outfile: `${generated}/unpack.mjs`, format: "esm", logLevel: "warning" });
const { pack } = await import(new URL(`../${generated}/unpack.mjs`, import.meta.url));
const wasm = readFileSync(`${generated}/snowmint.wasm`);
writeFileSync(`${generated}/wasm.js`, `export const encoded = "${pack(wasm)}";\n`);
writeFileSync(`${generated}/wasm.d.ts`, "export declare const encoded: string;\n");
writeFileSync(`${generated}/version.js`, `export const version = "${version}";\n`);
writeFileSync(`${generated}/version.d.ts`, "export declare const version: string;\n");

await Promise.all([
  bundle("node", "esm"),
  bundle("node", "cjs"),
  bundle("browser", "esm"),
  bundle("browser", "cjs"),
  bundle("edge", "esm", { external: ["*.wasm"] }),
]);
cpSync(`${generated}/snowmint.wasm`, "dist/snowmint.wasm");

// The types that the public ones lead to, once for each kind of module.
execFileSync("node_modules/.bin/tsc", ["-p", "tsconfig.types.json"], { stdio: "inherit" });
const names = ["index"];
for (const name of names) {
  const text = readFileSync(`dist/types/${name}.d.ts`, "utf8");
  writeFileSync(`dist/${name}.d.ts`, text);
  writeFileSync(`dist/${name}.d.cts`, text.replace(/(?<=from "\.\/\w+\.)js(?=")/g, "cjs"));
  for (const [, other] of text.matchAll(/from "\.\/(\w+)\.js"/g)) if (!names.includes(other)) names.push(other);
}
rmSync("dist/types", { recursive: true });
