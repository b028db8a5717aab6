#!/usr/bin/env bash
# Fuzzes every target for the given seconds (scripts/fuzz.sh 60), 8 by default, two targets at a time. Seeds are fuzz/seeds. The
# fuzzer keeps its inputs below target/fuzz, and the next run starts from them.
set -euo pipefail
cd "$(dirname "$0")/.."
work="${CARGO_TARGET_DIR:-$PWD/target}/fuzz"
unset RUSTFLAGS CARGO_TARGET_DIR
scripts/setup.sh nightly maturin
export RUSTUP_TOOLCHAIN=nightly
# The fuzzed code is safe Rust, so no sanitizer is needed; debug assertions and checks of overflow are on.
options=(--fuzz-dir fuzz --sanitizer none --target "$(rustc --print host-tuple)" --target-dir "$work")
.venv/bin/cargo-fuzz build "${options[@]}"
targets=$(.venv/bin/cargo-fuzz list --fuzz-dir fuzz)
for target in $targets; do mkdir -p "$work/corpus/$target" "$work/artifacts/$target"; done
xargs -P 2 -I @ .venv/bin/cargo-fuzz run "${options[@]}" @ "$work/corpus/@" fuzz/seeds/@ -- -max_total_time="${1:-8}" -timeout=10 \
  -max_len=5000 -artifact_prefix="$work/artifacts/@/" <<< "$targets"
