// Builds dist/: the wasm module as text inside each bundle, the bundles for each kind of host, and the types.
// Run in npm/. Expects the raw module and its glue in src/generated/, where scripts/build-wasm.sh puts them.
import { execFileSync } from "node:child_process";
import { chmodSync, cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { build } from "esbuild";

const { version } = JSON.parse(readFileSync("package.json", "utf8"));
const generated = "src/generated";
rmSync("dist", { recursive: true, force: true });

// One letter for each name that ends in _, the same in all bundles, which share one registry: of exports as shrink.mjs
// gave them, of others by the order in the first bundle.
const names = JSON.parse(readFileSync(`${generated}/names.json`, "utf8"));

const bundle = async (host, format, extra = {}, part = "index") =>
  Object.assign(
    names,
    (
      await build({
        entryPoints: [{ in: `src/${part}.ts`, out: part === "index" ? host : `${host}-${part}` }],
        mangleProps: /[a-z]_$/,
        mangleCache: names,
        outdir: "dist",
        outExtension: { ".js": format === "esm" ? ".mjs" : ".cjs" },
        alias: {
          "#host": `./src/host.${host}.ts`,
          "#lease": `./src/lease.${host === "edge" ? "edge" : "packed"}.ts`,
        },
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
      })
    ).mangleCache,
  );

// The text form of the modules is written by the same code that reads it.
await build({ entryPoints: ["src/unpack.ts"], outfile: `${generated}/unpack.mjs`, format: "esm", logLevel: "warning" });
const { pack } = await import(new URL(`../${generated}/unpack.mjs`, import.meta.url));
const modules = ["mint", "forms", "inspect", "lease"];
const constants = modules.map((name) => [name, "packed", pack(readFileSync(`${generated}/${name}.wasm`))]);
for (const [file, name, text] of [...constants, ["version", "version", version]]) {
  writeFileSync(`${generated}/${file}.js`, `export const ${name} = "${text}";\n`);
  writeFileSync(`${generated}/${file}.d.ts`, `export declare const ${name}: string;\n`);
}

await bundle("node", "esm");
await bundle("node", "cjs");
await bundle("browser", "cjs");
// In modules what only leases need is a file of its own, loaded on demand.
for (const host of ["browser", "edge"]) {
  const apart = ({ onResolve }) =>
    onResolve({ filter: /^\.\/tabs\.js$/ }, () => ({ path: `./${host}-tabs.mjs`, external: true }));
  const external = ["*.wasm"];
  await bundle(host, "esm", { external, plugins: [{ name: "apart", setup: apart }] });
  await bundle(host, "esm", { external }, "tabs");
}
for (const name of modules) cpSync(`${generated}/${name}.wasm`, `dist/${name}.wasm`);

// The command line, over the bundle that programs on Node load.
const overBundle = ({ onResolve }) =>
  onResolve({ filter: /^\.\.\/index\.js$/ }, () => ({ path: "./node.mjs", external: true }));
await build({
  entryPoints: ["src/cli/main.ts"],
  outfile: "dist/cli.mjs",
  bundle: true,
  format: "esm",
  target: "es2022",
  platform: "node",
  plugins: [{ name: "over-bundle", setup: overBundle }],
  logLevel: "warning",
});
chmodSync("dist/cli.mjs", 0o755);

// The types that the public ones lead to, once for each kind of module.
execFileSync("node_modules/.bin/tsc", ["-p", "tsconfig.types.json"], { stdio: "inherit" });
const declared = ["index"];
for (const name of declared) {
  const text = readFileSync(`dist/types/${name}.d.ts`, "utf8");
  writeFileSync(`dist/${name}.d.ts`, text);
  writeFileSync(`dist/${name}.d.cts`, text.replace(/(?<=from "\.\/\w+\.)js(?=")/g, "cjs"));
  for (const [, other] of text.matchAll(/from "\.\/(\w+)\.js"/g)) if (!declared.includes(other)) declared.push(other);
}
rmSync("dist/types", { recursive: true });
