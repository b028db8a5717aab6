#!/usr/bin/env bash
# core for JavaScript, as some modules: compile, bind, optimise. A module must keep its sections until bindgen has read
# them.
set -euo pipefail
cd "$(dirname "$0")/.."
out=npm/src/generated
built="${CARGO_TARGET_DIR:-target}"/wasm32-unknown-unknown/wasm
mkdir -p "$out"
compile() { # MODULE STACK [OPTIMISATION]
  cargo rustc --quiet --locked -p snowmint-wasm --no-default-features --features "$1" --profile wasm \
    --target wasm32-unknown-unknown -- -C link-arg=-zstack-size="$2" -C opt-level="${3:-z}"
  cp "$built/snowmint_wasm.wasm" "$built/$1.wasm"
}
# A short stack (the deepest call takes a third of it, and one too deep would trap) makes low addresses: short numbers.
compile mint 8192
compile forms 8192
compile durability 8192
compile sql 16384
# A list of candidates is some kB.
compile inspect 65536
compile lease 8192
# An ID in a quarter of the time, for 3 kB; only who mints such IDs loads it.
compile wide 8192 3
cargo run --quiet --locked -p snowmint-bindgen -- "$out" "$built"/{mint,forms,inspect,lease,durability,wide,sql}.wasm
node npm/scripts/shrink.mjs "$out" mint forms inspect lease durability wide sql
