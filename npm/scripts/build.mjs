// Builds dist/, unless it is newer than its sources: the wasm modules as text inside each bundle, the bundles for each kind
// of host, and the types. Run in npm/. Expects the modules and their types in src/generated/, where scripts/build-wasm.sh
// puts them.
import { execFileSync } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { build } from "esbuild";

const { version } = JSON.parse(readFileSync("package.json", "utf8"));
const generated = "src/generated";

const writtenAt = (path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
/** Whether a file is newer than everything it is made from. */
const isCurrent = (file, inputs) => inputs.every((input) => writtenAt(input) < writtenAt(file));

// A folder is newer than a file that was removed from it.
const within = (folder) => [folder, ...readdirSync(folder, { recursive: true }).map((name) => join(folder, name))];
const settings = ["package.json", "package-lock.json", "tsconfig.json", "tsconfig.types.json", "scripts/build.mjs"];
// Of dist/ the types are written last.
if (isCurrent("dist/index.d.ts", [...within("src"), ...within("../stores/src/scripts"), ...settings])) process.exit();

rmSync("dist", { recursive: true, force: true });

// One letter for each name that ends in _, the same in all bundles, which share one registry: of exports as shrink.mjs
// gave them, of others by the order in the first bundle.
const names = JSON.parse(readFileSync(`${generated}/names.json`, "utf8"));

const bundleOf = async (entry, name, host, format, extra) => {
  const outfile = `dist/${name}.${format === "esm" ? "mjs" : "cjs"}`;
  Object.assign(
    names,
    (
      await build({
        entryPoints: [entry],
        mangleProps: /[a-z]_$/,
        mangleCache: names,
        outfile,
        alias: {
          "#host": `./src/host.${host}.ts`,
          "#lease": `./src/lease.${host}.ts`,
          "#stores-host": `./src/stores/host.${host}.ts`,
          "#sql-host": `./src/sql/host.${host}.ts`,
        },
        bundle: true,
        format,
        target: "es2022",
        platform: host === "node" ? "node" : "neutral",
        logLevel: "warning",
        // Classes keep their names in what people print; in browsers bytes count more.
        keepNames: host === "node",
        define: {
          VERSION: JSON.stringify(version),
          // What createRequire needs, in either kind of module.
          ...(format === "cjs" && { "import.meta.url": "__filename" }),
        },
        ...extra,
      })
    ).mangleCache,
  );
  if (format === "cjs") writeFileSync(outfile, exportedByKeys(readFileSync(outfile, "utf8")));
};

/** CommonJS whose exports are the keys of esbuild's table: its loop takes what `Object.prototype` has for exports too. */
function exportedByKeys(text) {
  const loop = /for \(var (\w+) in all\)/g;
  if (text.match(loop)?.length !== 1) throw new Error("esbuild makes its exports in another way");
  return text.replace(loop, "for (var $1 of Object.keys(all))");
}

/** Modules that a bundle finds beside it. */
const beside = (filter, pathOf) => ({
  name: `beside ${filter}`,
  setup: ({ onResolve }) =>
    onResolve({ filter }, ({ path }) => ({ path: pathOf(path), external: true, sideEffects: false })),
});

/**
 * The bundle of the package for a host, and those of the stores and of SQL, whose errors are of the class that the first has.
 * In modules for hosts without the addon, what only leases need is a file of its own, loaded on demand. Modules of wasm are
 * files for edge runtimes: workerd knows them by their names, and bundlers for Vercel's runtime want a suffix to know what to
 * make of them.
 */
const bundle = async (host, format, name = host, suffix = "") => {
  const extension = format === "esm" ? "mjs" : "cjs";
  const wasm = beside(/\.wasm$/, (path) => path + suffix);
  const apart = host !== "node" && format === "esm";
  const tabs = beside(/^\.\/tabs\.js$/, () => `./${name}-tabs.mjs`);
  // The packed modules lead the bundle: in its midst, what is alike on both sides of them lies too far apart for gzip. What
  // a host that cannot block never does is left out.
  const small = host === "browser" ? { inject: ["src/packed.ts"], minifySyntax: true } : {};
  await bundleOf("src/index.ts", name, host, format, { ...small, plugins: apart ? [wasm, tabs] : [] });
  if (apart) await bundleOf("src/tabs.ts", `${name}-tabs`, host, format, { plugins: [wasm] });
  const errors = beside(/\/errors\.js$/, () => `./${name}.${extension}`);
  await bundleOf("src/stores/index.ts", `stores.${name}`, host, format, { plugins: [wasm, errors] });
  await bundleOf("src/sql/index.ts", `sql.${name}`, host, format, { plugins: [wasm, errors] });
};

// The text form of the modules is written by the same code that reads it.
await build({ entryPoints: ["src/unpack.ts"], outfile: `${generated}/unpack.mjs`, format: "esm", logLevel: "warning" });
const { pack, unpack } = await import(new URL(`../${generated}/unpack.mjs`, import.meta.url));
const modules = ["mint", "forms", "inspect", "lease", "durability", "wide", "sql"];
for (const name of modules) {
  const inputs = [`${generated}/${name}.wasm`, "src/unpack.ts", "scripts/build.mjs"];
  if (isCurrent(`${generated}/${name}.d.ts`, inputs)) continue;
  const bytes = readFileSync(`${generated}/${name}.wasm`);
  const text = pack(bytes);
  if (!bytes.equals(unpack(text, bytes.length))) throw new Error(`${name}.wasm is not what its packed text holds`);
  const constants = `export const packed = ["${text}", ${bytes.length}];
export const encoded = "${bytes.toString("base64")}";
`;
  const types = `export declare const packed: [text: string, length: number];
export declare const encoded: string;
`;
  writeFileSync(`${generated}/${name}.js`, constants);
  writeFileSync(`${generated}/${name}.d.ts`, types);
}
writeFileSync(`${generated}/version.js`, `export const version = "${version}";\n`);
writeFileSync(`${generated}/version.d.ts`, "export declare const version: string;\n");
// The scripts of Redis, which drivers in every language run.
const scripts = ["add", "write"];
const textOf = (name) => JSON.stringify(readFileSync(`../stores/src/scripts/${name}.lua`, "utf8"));
writeFileSync(
  `${generated}/scripts.js`,
  scripts.map((name) => `export const ${name}Lua = ${textOf(name)};\n`).join(""),
);
writeFileSync(
  `${generated}/scripts.d.ts`,
  scripts.map((name) => `export declare const ${name}Lua: string;\n`).join(""),
);

await bundle("node", "esm");
await bundle("node", "cjs");
await bundle("browser", "esm");
await bundle("browser", "cjs");
await bundle("edge", "esm");
await bundle("edge", "esm", "edge-light", "?module");
for (const name of [...modules, "render"]) cpSync(`${generated}/${name}.wasm`, `dist/${name}.wasm`);

// The command line, over the bundle that programs on Node load, with a wasm module that no bundle has.
const overBundle = ({ onResolve }) =>
  onResolve({ filter: /^\.\.\/index\.js$/ }, () => ({ path: "./node.mjs", external: true }));
await build({
  entryPoints: ["src/cli/main.ts"],
  mangleProps: /[a-z]_$/,
  mangleCache: names,
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
const declared = ["index", "stores/index", "sql/index"];
const imported = /(?<=(?:from |import\()")(\.\.?\/[\w/]+)\.js(?=")/g;
for (const name of declared) {
  const text = readFileSync(`dist/types/${name}.d.ts`, "utf8");
  mkdirSync(dirname(`dist/${name}`), { recursive: true });
  writeFileSync(`dist/${name}.d.ts`, text);
  writeFileSync(`dist/${name}.d.cts`, text.replace(imported, "$1.cjs"));
  for (const [, path] of text.matchAll(imported)) {
    const other = join(dirname(name), path);
    if (!declared.includes(other)) declared.push(other);
  }
}
rmSync("dist/types", { recursive: true });
