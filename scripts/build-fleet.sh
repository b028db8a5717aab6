#!/usr/bin/env bash
# Builds the simulated fleet of the inspector (proof/fleet/wasm): npm/site/generated/fleet.wasm. Its core can leave out a check, so
# it is built apart from the modules of the package. With --lint runs clippy.
set -euo pipefail
cd "$(dirname "$0")/.."
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/target}/fleet"
export RUSTFLAGS="--cfg snowmint_mutants"
options=(--quiet --locked --profile wasm --target wasm32-unknown-unknown -p snowmint-fleet-wasm)
[[ ${1-} != --lint ]] || exec cargo clippy "${options[@]}" -- -D warnings
cargo build "${options[@]}"
built=$CARGO_TARGET_DIR/wasm32-unknown-unknown/wasm
out=npm/site/generated
[[ $built/fleet.wasm -nt $out/fleet.wasm || npm/scripts/optimise.mjs -nt $out/fleet.wasm ]] || exit 0
mkdir -p "$out"
cp "$built/fleet.wasm" "$out"
node npm/scripts/optimise.mjs "$out/fleet.wasm"
