#!/usr/bin/env bash
# core for JavaScript: compile, bind, optimise. The module must keep its sections until bindgen has read them.
set -euo pipefail
cd "$(dirname "$0")/.."
out=npm/src/generated
cargo build --quiet --locked -p snowmint-wasm --profile wasm --target wasm32-unknown-unknown
cargo run --quiet --locked -p snowmint-bindgen -- target/wasm32-unknown-unknown/wasm/snowmint_wasm.wasm "$out"
npm/node_modules/.bin/wasm-opt -Oz --converge --low-memory-unused \
  --enable-bulk-memory --enable-nontrapping-float-to-int --enable-sign-ext --enable-mutable-globals \
  --enable-reference-types --enable-multivalue --strip-debug --strip-producers --strip-target-features \
  "$out/snowmint_wasm_bg.wasm" -o "$out/snowmint.wasm"
rm "$out/snowmint_wasm_bg.wasm"
