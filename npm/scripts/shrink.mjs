// `shrink.mjs FOLDER MODULE...`: makes the modules that bindgen left in FOLDER small, and gives each export a letter or two,
// the same in all; names.json tells which. What bindgen exports itself serves references to objects, of which there are none:
// only numbers cross.
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const [folder, ...modules] = process.argv.slice(2);
const inFolder = (name) => join(folder, name);
const wasmOpt = (...args) => execFileSync(join(import.meta.dirname, "../node_modules/.bin/wasm-opt"), args);
// What every engine of the last years has.
const features = [
  "bulk-memory",
  "nontrapping-float-to-int",
  "sign-ext",
  "mutable-globals",
  "reference-types",
  "multivalue",
];
const enabled = features.map((feature) => `--enable-${feature}`);

/** By the name in TypeScript, which ends in _. */
const letters = {};
const ALPHABET = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
/** So many letters are for exports: those of mint, forms and inspect. The rest is left to the other names in the bundles. */
const SINGLE = 22;
const short = (at) => (at < SINGLE ? ALPHABET[at] : `_${ALPHABET[at - SINGLE]}`);
const letter = (name) => (letters[`${name}_`] ??= short(Object.keys(letters).length));

for (const module of modules) {
  const text = inFolder(`${module}.wat`);
  wasmOpt("--remove-exports=__*", ...enabled, "-S", inFolder(`${module}_bg.wasm`), "-o", text);
  writeFileSync(text, readFileSync(text, "utf8").replace(/(?<=^ \(export ")\w+/gm, letter));
  const small = ["-Oz", "--converge", "--low-memory-unused"];
  const bare = ["--strip-debug", "--strip-producers", "--strip-target-features"];
  wasmOpt(...enabled, ...small, ...bare, text, "-o", inFolder(`${module}.wasm`));
  const types = readFileSync(inFolder(`${module}_bg.wasm.d.ts`), "utf8");
  writeFileSync(inFolder(`${module}.wasm.d.ts`), types.replace(/(?<=^export const \w+)(?=:)/gm, "_"));
}
writeFileSync(inFolder("names.json"), JSON.stringify(letters));
const left = readdirSync(folder).filter(
  (name) => /_bg\.|\.wat$|\.js$/.test(name) || modules.includes(name.split(".d.ts")[0]),
);
for (const name of left) rmSync(inFolder(name));
