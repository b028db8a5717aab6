#!/usr/bin/env bash
# Runs core's tests under Miri, the interpreter that finds undefined behaviour and data races. A thread may see every
# value there that the memory model allows.
set -uo pipefail
cd "$(dirname "$0")/.."
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/target}/miri"
unset RUSTFLAGS
log=$(mktemp)
trap 'rm -f "$log"' EXIT

scripts/setup.sh nightly > "$log" 2>&1 || { cat "$log"; echo "0 passed, 1 failed"; exit 1; }

passed=0
failed=0
tests() {
  if MIRIFLAGS=$1 cargo +nightly miri test --quiet --locked -p snowmint-core "${@:2}" > "$log" 2>&1; then
    # Seeds run in parallel, and their outputs mix.
    passed=$((passed + $(grep -o '[0-9]* passed' "$log" | sort -n | tail -n 1 | cut -d ' ' -f 1)))
  else
    cat "$log"
    failed=$((failed + 1))
  fi
}
# Time and randomness are arguments, so the tests need no access to the system outside of the interpreter.
tests "-Zmiri-strict-provenance" --lib
# Many schedules, with more switches between threads than by default; a test counts once.
tests "-Zmiri-strict-provenance -Zmiri-many-seeds=0..32 -Zmiri-preemption-rate=0.1" --test threads

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
