// `shrink.mjs FROM TO MODULE...`: makes the wasm modules of folder FROM small, and writes them and their types to folder TO.
// Gives each export a letter or two, the same in all modules; names.json has the letter of each name.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import binaryen from "binaryen";

const [from, to, ...modules] = process.argv.slice(2);
// As `wasm-opt -Oz`.
binaryen.setOptimizeLevel(2);
binaryen.setShrinkLevel(2);
binaryen.setGenerateStackIR(true);
binaryen.setOptimizeStackIR(true);
// Addresses begin with the stack.
binaryen.setLowMemoryUnused(true);

/** By the name in TypeScript, which ends in _. */
const letters = {};
const ALPHABET = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
/** So many letters are for exports: those of mint, forms and inspect. The rest is left to the other names in the bundles. */
const SINGLE = 22;
const short = (at) => (at < SINGLE ? ALPHABET[at] : `_${ALPHABET[at - SINGLE]}`);
const letter = (name) => (letters[`${name}_`] ??= short(Object.keys(letters).length));

const typeOf = (type) => (type === binaryen.i64 ? "bigint" : type === binaryen.none ? "void" : "number");
function signature(wasm, name) {
  const { params, results } = binaryen.getFunctionInfo(wasm.getFunction(name));
  const taken = binaryen.expandType(params).map((type, at) => `${ALPHABET[at]}: ${typeOf(type)}`);
  return `(${taken.join(", ")}) => ${typeOf(results)}`;
}

/** Renames the exports of a module; returns their types. Of the linker's exports only the memory stays. */
function rename(wasm) {
  const all = Array.from({ length: wasm.getNumExports() }, (_, at) =>
    binaryen.getExportInfo(wasm.getExportByIndex(at)),
  );
  let types = "";
  for (const { name, value, kind } of all) {
    wasm.removeExport(name);
    if (kind === binaryen.ExternalMemory) {
      wasm.addMemoryExport(value, letter(name));
      types += `export const ${name}_: WebAssembly.Memory;\n`;
    } else if (kind === binaryen.ExternalFunction) {
      types += `export const ${name}_: ${signature(wasm, value)};\n`;
      wasm.addFunctionExport(value, letter(name));
    }
  }
  return types;
}

for (const module of modules) {
  const wasm = binaryen.readBinary(readFileSync(join(from, `${module}.wasm`)));
  writeFileSync(join(to, `${module}.wasm.d.ts`), rename(wasm));
  wasm.runPasses(["strip-debug", "strip-producers", "strip-target-features"]);
  // Until another round makes it no smaller.
  let bytes = wasm.emitBinary();
  for (let before = Number.POSITIVE_INFINITY; bytes.length < before; ) {
    before = bytes.length;
    wasm.optimize();
    bytes = wasm.emitBinary();
  }
  writeFileSync(join(to, `${module}.wasm`), bytes);
  wasm.dispose();
}
writeFileSync(join(to, "names.json"), JSON.stringify(letters));
