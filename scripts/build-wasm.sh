#!/usr/bin/env bash
# Builds core for JavaScript: each module of bindings/wasm with the JavaScript and the types that wasm-bindgen makes, in
# npm/src/generated. The profile wasm has separate folders, so that no other build waits.
set -euo pipefail
cd "$(dirname "$0")/.."
options=(--quiet --locked --profile wasm)
wasm=(--target wasm32-unknown-unknown)
# Each is a feature of the crate.
modules=(mint lease tools sql numbers)
target=${CARGO_TARGET_DIR:-target}
built=$target/wasm32-unknown-unknown/wasm
out=npm/src/generated
mkdir -p "$out"
cargo build --quiet --locked -p snowmint-bindgen
for module in "${modules[@]}"; do
  more=()
  # UUIDs and their like in two thirds of the time, for 42 kB before compression; only pages that use the tools load this module.
  [[ $module != tools ]] || more=(--config 'profile.wasm.package.snowmint-wasm.opt-level=3')
  cargo build "${options[@]}" "${wasm[@]}" "${more[@]}" -p snowmint-wasm --features "$module"
  made=$built/$module
  # The build of another module writes the file anew.
  cmp --quiet "$built/snowmint_wasm.wasm" "$made.wasm" || cp "$built/snowmint_wasm.wasm" "$made.wasm"
  # Written last.
  last=$out/${module}_bg.wasm
  inputs=("$made.wasm" "$target/debug/snowmint-bindgen" npm/scripts/optimise.mjs npm/package-lock.json)
  [[ ! -e $last || -n $(find "${inputs[@]}" -newer "$last") ]] || continue
  "$target/debug/snowmint-bindgen" "$made.wasm" "$module" "$out"
  node npm/scripts/optimise.mjs "$last"
done
