// `optimise.mjs FILE...`: makes wasm modules small, in place.
import { readFileSync, writeFileSync } from "node:fs";
import binaryen from "binaryen";

// As `wasm-opt -O4 -Oz`.
binaryen.setOptimizeLevel(4);
binaryen.setShrinkLevel(2);
binaryen.setGenerateStackIR(true);
binaryen.setOptimizeStackIR(true);
// Addresses begin with the stack.
binaryen.setLowMemoryUnused(true);
// Larger than by default: repeated code is compressed, and calls are not.
binaryen.setAlwaysInlineMaxSize(9);

// The features of every supported engine. With all features of binaryen the output has types that Node 20 refuses.
const { Features } = binaryen;
const features = [
  "BulkMemory",
  "BulkMemoryOpt",
  "CallIndirectOverlong",
  "Multivalue",
  "MutableGlobals",
  "NontrappingFPToInt",
  "ReferenceTypes",
  "SignExt",
].reduce((all, name) => all | (Features[name] ?? 0), 0);

for (const file of process.argv.slice(2)) {
  const wasm = binaryen.readBinary(readFileSync(file));
  wasm.setFeatures(features);
  wasm.runPasses(["strip-debug", "strip-producers", "strip-target-features"]);
  // Until another round makes it no smaller.
  let bytes = wasm.emitBinary();
  for (let before = Number.POSITIVE_INFINITY; bytes.length < before; ) {
    before = bytes.length;
    wasm.optimize();
    bytes = wasm.emitBinary();
  }
  writeFileSync(file, bytes);
  wasm.dispose();
}
