#!/usr/bin/env bash
# Runs simulated fleets by seed (proof/fleet) for SECONDS, then leaves out one check after another, and prints the median
# time until a fleet shows it: scripts/fleet.sh SECONDS [SEARCHES]. Without SEARCHES no check is left out.
set -uo pipefail
cd "$(dirname "$0")/.."
seconds=${1:?how many seconds}
searches=${2:-0}
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/target}/fleet"
# One build serves both: without SNOWMINT_MUTANT no check is left out.
export RUSTFLAGS="--cfg snowmint_mutants"
unset SNOWMINT_MUTANT
cargo build --quiet --locked --profile optimised -p snowmint-fleet || exit 1
fleet=$CARGO_TARGET_DIR/optimised/snowmint-fleet
"$fleet" --seconds "$seconds" || exit 1
passed=1
failed=0
[ "$searches" -gt 0 ] || exit 0
for check in swap close increase window run start floor vanished cursor restore base durable fence tenure; do
  if output=$(SNOWMINT_MUTANT=$check "$fleet" --find "$searches"); then passed=$((passed + 1)); else failed=$((failed + 1)); fi
  printf '%-9s %s\n' "$check" "$output"
done
printf '%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" -eq 0 ]
