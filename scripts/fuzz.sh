#!/usr/bin/env bash
# Fuzzes every target for the given seconds (scripts/fuzz.sh 60), 8 by default. Seeds are fuzz/seeds. The fuzzer keeps
# its inputs below target/fuzz, and the next run starts from them.
set -uo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-8}
unset RUSTFLAGS
work="${CARGO_TARGET_DIR:-$PWD/target}/fuzz"
mkdir -p "$work"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
stop() { cat "$log"; echo "$1" >&2; echo "0 passed, 1 failed"; exit 1; }

scripts/setup.sh nightly maturin > "$log" 2>&1 || stop "the nightly toolchain or cargo-fuzz cannot be installed"

# The fuzzed code is safe Rust, so no sanitizer is needed; debug assertions and checks of overflow are on.
host=$(rustc +nightly --print host-tuple)
CARGO_TARGET_DIR="" RUSTUP_TOOLCHAIN=nightly .venv/bin/cargo-fuzz build --fuzz-dir fuzz --sanitizer none --target "$host" --target-dir "$work" > "$log" 2>&1 ||
  stop "the fuzz targets cannot be built"

fuzz() { # target
  local found=$work/corpus/$1 artifacts=$work/artifacts/$1
  mkdir -p "$found" "$artifacts"
  "$work/$host/release/$1" "$found" "fuzz/seeds/$1" -max_total_time="$seconds" -timeout=10 -max_len=5000 \
    -artifact_prefix="$artifacts/" -print_final_stats=1 > "$work/$1.log" 2>&1
}
targets=(layout_text id_text slot_file leases)
passed=0
failed=0
# Two at a time.
for ((i = 0; i < ${#targets[@]}; i += 2)); do
  pids=()
  for target in "${targets[@]:i:2}"; do
    fuzz "$target" &
    pids+=("$!:$target")
  done
  for pid in "${pids[@]}"; do
    if wait "${pid%%:*}" && grep -q 'stat::number_of_executed_units: *[1-9]' "$work/${pid#*:}.log"; then
      passed=$((passed + 1))
    else
      failed=$((failed + 1))
      tail -n 40 "$work/${pid#*:}.log"
    fi
  done
done

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
