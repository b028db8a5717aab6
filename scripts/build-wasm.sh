#!/usr/bin/env bash
# core for JavaScript: compile, bind, optimise. The module must keep its sections until bindgen has read them. What
# bindgen exports itself serves references to objects, of which there are none: only numbers cross.
set -euo pipefail
cd "$(dirname "$0")/.."
out=npm/src/generated
# A short stack (the deepest call takes a third of it, and one too deep would trap) makes low addresses: short numbers.
cargo rustc --quiet --locked -p snowmint-wasm --profile wasm --target wasm32-unknown-unknown -- -C link-arg=-zstack-size=8192
cargo run --quiet --locked -p snowmint-bindgen -- "${CARGO_TARGET_DIR:-target}"/wasm32-unknown-unknown/wasm/snowmint_wasm.wasm "$out"
npm/node_modules/.bin/wasm-opt --remove-exports='__*' -Oz --converge --low-memory-unused \
  --enable-bulk-memory --enable-nontrapping-float-to-int --enable-sign-ext --enable-mutable-globals \
  --enable-reference-types --enable-multivalue --strip-debug --strip-producers --strip-target-features \
  "$out/snowmint_wasm_bg.wasm" -o "$out/snowmint.wasm"
rm "$out"/snowmint_wasm*.js "$out/snowmint_wasm.d.ts" "$out/snowmint_wasm_bg.wasm"
