#!/usr/bin/env bash
# Builds the simulated fleet of the inspector (proof/fleet/wasm): npm/site/generated/fleet.wasm. Its core can leave out a check, so
# it is built apart from the modules of the package.
set -euo pipefail
cd "$(dirname "$0")/.."
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/target}/fleet"
RUSTFLAGS="--cfg snowmint_mutants" cargo build --quiet --locked --profile wasm --target wasm32-unknown-unknown -p snowmint-fleet-wasm
built=$CARGO_TARGET_DIR/wasm32-unknown-unknown/wasm
out=npm/site/generated
# Written last.
[[ $built/fleet.wasm -nt $out/fleet.wasm.d.ts || npm/scripts/shrink.mjs -nt $out/fleet.wasm.d.ts ]] || exit 0
mkdir -p "$out"
node npm/scripts/shrink.mjs "$built" "$out" fleet
