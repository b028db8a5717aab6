#!/usr/bin/env bash
# Runs simulated fleets by seed (proof/fleet) for SECONDS, then leaves out one check after another, and prints the median
# time until a fleet shows it: scripts/fleet.sh SECONDS [SEARCHES]. Without SEARCHES no check is left out.
set -euo pipefail
cd "$(dirname "$0")/.."
searches=${2:-0}
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/target}/fleet"
# One build serves both: without SNOWMINT_MUTANT no check is left out.
export RUSTFLAGS="--cfg snowmint_mutants"
unset SNOWMINT_MUTANT
cargo build --quiet --locked --profile optimised -p snowmint-fleet
fleet=$CARGO_TARGET_DIR/optimised/snowmint-fleet
"$fleet" --seconds "${1:?how many seconds}"
[ "$searches" -gt 0 ] || exit 0
passed=1
for check in swap close increase window run start floor vanished cursor restore base durable fence tenure nested copied; do
  printf '%-9s ' "$check"
  SNOWMINT_MUTANT=$check "$fleet" --find "$searches"
  passed=$((passed + 1))
done
echo "$passed passed, 0 failed"
