// `shrink.mjs FROM TO MODULE...`: makes the wasm modules of folder FROM small, and writes them and the types of their exports
// to folder TO.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import binaryen from "binaryen";

const [from, to, ...modules] = process.argv.slice(2);
// As `wasm-opt -O4 -Oz`.
binaryen.setOptimizeLevel(4);
binaryen.setShrinkLevel(2);
binaryen.setGenerateStackIR(true);
binaryen.setOptimizeStackIR(true);
// Addresses begin with the stack.
binaryen.setLowMemoryUnused(true);
// Larger than by default: repeated code is compressed, and calls are not.
binaryen.setAlwaysInlineMaxSize(9);

const typeOf = (type) => (type === binaryen.i64 ? "bigint" : type === binaryen.none ? "void" : "number");
function signature(wasm, name) {
  const { params, results } = binaryen.getFunctionInfo(wasm.getFunction(name));
  const taken = binaryen.expandType(params).map((type, at) => `arg${at}: ${typeOf(type)}`);
  return `(${taken.join(", ")}) => ${typeOf(results)}`;
}

/** Returns the types of a module's exports. Of the linker's exports only the memory stays. */
function typesOf(wasm) {
  const all = Array.from({ length: wasm.getNumExports() }, (_, at) =>
    binaryen.getExportInfo(wasm.getExportByIndex(at)),
  );
  let types = "";
  for (const { name, value, kind } of all) {
    if (kind === binaryen.ExternalMemory) types += `export const ${name}: WebAssembly.Memory;\n`;
    else if (kind === binaryen.ExternalFunction) types += `export const ${name}: ${signature(wasm, value)};\n`;
    else wasm.removeExport(name);
  }
  return types;
}

for (const module of modules) {
  const wasm = binaryen.readBinary(readFileSync(join(from, `${module}.wasm`)));
  const types = typesOf(wasm);
  wasm.runPasses(["strip-debug", "strip-producers", "strip-target-features"]);
  // Until another round makes it no smaller.
  let bytes = wasm.emitBinary();
  for (let before = Number.POSITIVE_INFINITY; bytes.length < before; ) {
    before = bytes.length;
    wasm.optimize();
    bytes = wasm.emitBinary();
  }
  writeFileSync(join(to, `${module}.wasm`), bytes);
  writeFileSync(join(to, `${module}.wasm.d.ts`), types);
  wasm.dispose();
}
