#!/usr/bin/env bash
# Core under Miri, the interpreter that notices undefined behaviour and data races, and that lets a thread see every value
# the memory model allows it to see.
set -uo pipefail
cd "$(dirname "$0")/.."
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/target}/miri"
unset RUSTFLAGS
log=$(mktemp)
trap 'rm -f "$log"' EXIT

component() { rustup --quiet component add miri rust-src --toolchain nightly > "$log" 2>&1; }
rustup toolchain list | grep -q '^nightly' || rustup --quiet toolchain install nightly --profile minimal > "$log" 2>&1
component || { cat "$log"; echo "0 passed, 1 failed"; exit 1; }

passed=0
failed=0
tests() {
  if MIRIFLAGS=$1 cargo +nightly miri test --quiet --locked -p snowmint-core "${@:2}" > "$log" 2>&1; then
    # Seeds run side by side and print over each other.
    passed=$((passed + $(grep -o '[0-9]* passed' "$log" | sort -n | tail -n 1 | cut -d ' ' -f 1)))
  else
    cat "$log"
    failed=$((failed + 1))
  fi
}
# Time is an argument and randomness a seed, so nothing reaches out of the interpreter's isolation.
tests "-Zmiri-strict-provenance" --lib
# Many schedules, with more switches between threads than by default; a test counts once.
tests "-Zmiri-strict-provenance -Zmiri-many-seeds=0..32 -Zmiri-preemption-rate=0.1" --test threads

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
