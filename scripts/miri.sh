#!/usr/bin/env bash
# Runs core's tests under Miri, the interpreter that finds undefined behaviour and data races. A thread may see every
# value there that the memory model allows.
set -euo pipefail
cd "$(dirname "$0")/.."
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/target}/miri"
unset RUSTFLAGS
scripts/setup.sh nightly
# Time and randomness are arguments, so the tests need no access to the system outside of the interpreter.
export MIRIFLAGS="-Zmiri-strict-provenance"
cargo +nightly miri test --quiet --locked -p snowmint-core --lib
# Many schedules, with more switches between threads than by default; the tests of a schedule are not counted.
MIRIFLAGS+=" -Zmiri-many-seeds=0..32 -Zmiri-preemption-rate=0.1"
cargo +nightly miri test --quiet --locked -p snowmint-core --test threads | sed 's/^test result/one seed/'
