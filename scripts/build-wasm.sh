#!/usr/bin/env bash
# core for JavaScript, as some modules: compile, bind, optimise; --lint: clippy. A module must keep its sections until
# bindgen has read them.
set -euo pipefail
cd "$(dirname "$0")/.."
wasm=(--quiet --locked --profile wasm --target wasm32-unknown-unknown -p 'snowmint-wasm-*')
[[ ${1-} != --lint ]] || exec cargo clippy "${wasm[@]}" -- -D warnings
out=npm/src/generated
built="${CARGO_TARGET_DIR:-target}"/wasm32-unknown-unknown/wasm
modules=(mint forms inspect lease durability wide sql)
mkdir -p "$out"
cargo build "${wasm[@]}"
cargo run --quiet --locked -p snowmint-bindgen -- "$out" $(printf "$built/%s.wasm " "${modules[@]}")
node npm/scripts/shrink.mjs "$out" "${modules[@]}"
