// Builds dist/, unless it is newer than its sources: the wasm modules, the bundles for each kind of host, and the types. Run
// in npm/. Expects the modules and their types in src/generated/, where scripts/build-wasm.sh puts them.
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
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
mkdirSync("dist/wasm", { recursive: true });

// The wasm modules: files for edge runtimes, and texts that the bundles import, in hexadecimal, which servers compress better than
// base64.
const modules = ["mint", "lease", "tools", "sql", "numbers"];
for (const name of modules) {
  const bytes = readFileSync(`${generated}/${name}_bg.wasm`);
  const text = bytes.toString("hex");
  writeFileSync(`dist/${name}.wasm`, bytes);
  writeFileSync(`dist/wasm/${name}.mjs`, `export default "${text}";\n`);
  writeFileSync(`dist/wasm/${name}.cjs`, `module.exports = "${text}";\n`);
}

writeFileSync(`${generated}/version.ts`, `export const version = "${version}";\n`);
// The scripts and statements that stores send to engines in every language: `redisAdd`, `postgresSettings`.
const scripts = readdirSync("../stores/src/scripts", { recursive: true }).filter((path) => path.includes("."));
const constant = (path) => {
  const [engine, name, extension] = path.split(/[/.]/);
  const text = readFileSync(`../stores/src/scripts/${path}`, "utf8");
  // Blank lines part statements.
  const statements = text.split("\n\n").map((statement) => statement.replace(/\s+/g, " ").trim());
  const told = extension === "sql" ? statements.join("\n\n") : text;
  return `export const ${engine}${name[0].toUpperCase()}${name.slice(1)} = ${JSON.stringify(told)};\n`;
};
writeFileSync(`${generated}/scripts.ts`, scripts.sort().map(constant).join(""));

/** Leaves an import to the user's bundler or host: `pathOf` returns its path from the bundle. */
const beside = (filter, pathOf) => ({
  name: `beside ${filter}`,
  setup: ({ onResolve }) =>
    onResolve({ filter }, ({ path, kind }) =>
      kind === "entry-point" ? undefined : { path: pathOf(path), external: true, sideEffects: false },
    ),
});

/** Makes ES modules for a host, and returns the names of the files. */
const bundle = async (host, entries, options) => {
  const runtime = host === "node" ? "node" : "browser";
  const { metafile } = await build({
    entryPoints: entries.map(([input, output]) => ({ in: `./src/${input}`, out: output })),
    outdir: "dist",
    outExtension: { ".js": ".mjs" },
    metafile: true,
    alias: {
      "#host": `./src/host/${host}.ts`,
      "#runtime": `./src/host/runtime.${runtime}.ts`,
      "#label": `./src/host/label.${runtime}.ts`,
      "#files": `./src/stores/shared/files.${runtime}.ts`,
    },
    bundle: true,
    format: "esm",
    target: "es2022",
    platform: host === "node" ? "node" : "neutral",
    external: ["cloudflare:*"],
    logLevel: "warning",
    // Classes keep their names for printing; in browsers small size matters more.
    keepNames: host === "node",
    // The code for browsers leaves out the parts for hosts that can block.
    minifySyntax: host !== "node",
    define: { VERSION: JSON.stringify(version) },
    ...options,
  });
  return Object.keys(metafile.outputs);
};

const asText = beside(/^#wasm\//, (path) => `./wasm/${path.slice("#wasm/".length)}.mjs`);
// workerd knows modules by their names, and bundlers for Vercel's runtime need a suffix to compile them.
const asModule = (suffix) => beside(/^#wasm\//, (path) => `./${path.slice("#wasm/".length)}.wasm${suffix}`);

/**
 * The code that wasm-bindgen makes for each module. It stays in separate files, which all bundles of ES modules share.
 * Bundlers leave out a file whose exports are unused, but not its parts.
 */
const glue = beside(
  /\/generated\/(mint|lease|tools|sql|numbers)\.js$/,
  (path) => `./wasm/${glueOf(basename(path, ".js"))}.mjs`,
);
const glueOf = (name) => `${name}-glue`;

/** Stores of one kind of host: an entry each, beside the modules of that host, with which it shares its errors. */
const FOREIGN_STORES = { node: ["deno"], edge: ["cloudflare"] };

/**
 * Builds the ES modules of a host, with shared code in separate files, and returns their names. The code of leases is loaded when the
 * first is made.
 */
async function modulesOf(host, name, wasm) {
  const entries = [
    ["index", name],
    ["stores/index", `stores.${name}`],
    ["sql/index", `sql.${name}`],
    ["numbers/index", `numbers.${name}`],
    ...(FOREIGN_STORES[name] ?? []).map((store) => [`stores/${store}`, `stores.${store}`]),
    // Loaded on demand.
    host === "node" ? ["host/connect", "connect"] : ["browser/tabs", `${name}-tabs`],
  ];
  const files = await bundle(host, entries, {
    splitting: true,
    chunkNames: `${name}-[name]-[hash]`,
    plugins: [wasm, glue],
  });
  // No file here has side effects, so an import without names does nothing, and bundlers warn of it.
  for (const [, output] of entries) {
    const path = `dist/${output}.mjs`;
    writeFileSync(path, readFileSync(path, "utf8").replace(/^import "\.\/[\w-]+\.mjs";\n/gm, ""));
  }
  return files;
}

/** Writes ES modules as CommonJS too, file by file, so that CommonJS shares code in the same way. */
async function asCommonJs(files, platform) {
  await build({
    entryPoints: files,
    outdir: "dist",
    outbase: "dist",
    outExtension: { ".js": ".cjs" },
    // Jest has pages without these classes, which wasm-bindgen takes for granted; it loads CommonJS there.
    inject: platform === "neutral" ? ["src/wasm/coding.ts"] : [],
    bundle: true,
    format: "cjs",
    target: "es2022",
    platform,
    // By `require`: Jest gives scripts no `import()`.
    supported: { "dynamic-import": false },
    // The path for createRequire.
    define: { "import.meta.url": "__filename" },
    plugins: [beside(/^\.\/.*\.mjs$/, (path) => path.replace(/mjs$/, "cjs"))],
  });
  for (const file of files) {
    const path = file.replace(/mjs$/, "cjs");
    writeFileSync(path, exportedByKeys(readFileSync(path, "utf8")));
  }
}

/** CommonJS whose exports are the keys of esbuild's table: its loop takes what `Object.prototype` has for exports too. */
function exportedByKeys(text) {
  const loop = /for \(var (\w+) in all\)/g;
  if (text.match(loop)?.length !== 1) throw new Error("esbuild makes its exports in another way");
  return text.replace(loop, "for (var $1 of Object.keys(all))");
}

const glues = await bundle(
  "browser",
  modules.map((name) => [`generated/${name}`, `wasm/${glueOf(name)}`]),
);
await asCommonJs(glues, "neutral");
await asCommonJs(await modulesOf("node", "node", asText), "node");
await asCommonJs(await modulesOf("browser", "browser", asText), "neutral");
await modulesOf("edge", "edge", asModule(""));
await modulesOf("edge", "edge-light", asModule("?module"));

await bundle("node", [["cli", "cli"]], {});
chmodSync("dist/cli.mjs", 0o755);

// The types that the public ones lead to: of CommonJS, which ES modules can import. An entry by import exports them again.
execFileSync("node_modules/.bin/tsc", ["-p", "tsconfig.types.json"], { stdio: "inherit" });
const entries = ["sql/index", "numbers/index", "stores/deno", "stores/cloudflare", "stores/index", "index"];
const declared = [...entries];
const imported = /(?<=(?:from |import\()")(\.\.?\/[\w/.-]+)\.js(?=")/g;
for (const name of declared) {
  const text = readFileSync(`dist/types/${name}.d.ts`, "utf8");
  mkdirSync(dirname(`dist/${name}`), { recursive: true });
  writeFileSync(`dist/${name}.d.cts`, text.replace(imported, "$1.cjs"));
  for (const [, path] of text.matchAll(imported)) {
    const other = join(dirname(name), path);
    if (!declared.includes(other)) declared.push(other);
  }
}
rmSync("dist/types", { recursive: true });
for (const name of entries) writeFileSync(`dist/${name}.d.ts`, `export * from "./${basename(name)}.cjs";\n`);
