#!/usr/bin/env bash
# Builds core for JavaScript: the modules of bindings/wasm, made small, and core's tables; with --lint runs clippy. The
# profile wasm has separate folders, so that no other build waits.
set -euo pipefail
cd "$(dirname "$0")/.."
options=(--quiet --locked --profile wasm)
wasm=(--target wasm32-unknown-unknown)
[[ ${1-} != --lint ]] || exec cargo clippy "${options[@]}" "${wasm[@]}" -p 'snowmint-wasm-*' -- -D warnings
modules=(mint forms inspect lease durability shown wide prefix mask sql render)
cargo build "${options[@]}" -p snowmint-tables
cargo build "${options[@]}" "${wasm[@]}" "${modules[@]/#/-psnowmint-wasm-}"
# A separate build, because core with the feature `audit` would make the module that every page loads larger.
cargo build "${options[@]}" "${wasm[@]}" -p snowmint-wasm-audit
modules+=(audit)
target=${CARGO_TARGET_DIR:-target}
built=$target/wasm32-unknown-unknown/wasm
out=npm/src/generated
# Written last.
last=$out/audit.wasm.d.ts
inputs=("$target/wasm/snowmint-tables" "$built"/*.wasm npm/scripts/shrink.mjs npm/package-lock.json)
[[ ! -e $last || -n $(find "${inputs[@]}" -newer "$last") ]] || exit 0
mkdir -p "$out"
"$target/wasm/snowmint-tables" "$out"
node npm/scripts/shrink.mjs "$built" "$out" "${modules[@]}"
