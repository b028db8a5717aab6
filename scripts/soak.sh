#!/usr/bin/env bash
# Repeats the random parts of `make test` for HOURS, by default 1: scripts/soak.sh HOURS. Prints a line per part and
# round.
set -uo pipefail
cd "$(dirname "$0")/.."
end=$((SECONDS + ${1:-1} * 3600))
scripts/suite.sh build-engines build-tests build-wheel build-tarballs setup-{nightly,servers,faults,python,npm} || exit 1
cargo build --quiet --locked --release -p snowmint-tests
round=0
while [ "$SECONDS" -lt "$end" ]; do
  round=$((round + 1))
  for part in \
    "env SNOWMINT_ROUNDS=20000 cargo test --quiet --locked --release -p snowmint-tests --test restarts" \
    "cargo test --quiet --locked --release -p snowmint-tests --test forks --test slots --test process" \
    "env PROPTEST_CASES=5000 SNOWMINT_TRIES=10 cargo test --quiet --locked --release -p snowmint-tests --test leases --test properties" \
    ".venv/bin/python tests/nemesis/run.py --seconds 1200" \
    "env SNOWMINT_KILLS=300 cargo test --quiet --locked -p snowmint-tests --features engines --test stores kill_9" \
    scripts/mutants.sh \
    "env LOOM_MAX_PREEMPTIONS=5 scripts/loom.sh" \
    "scripts/fleet.sh 600 100" \
    "scripts/fuzz.sh 300"; do
    started=$SECONDS
    if ! output=$($part 2>&1); then
      printf 'round %d: FAILED: %s\n%s\n' "$round" "$part" "$output"
      exit 1
    fi
    printf 'round %d: ok, %d s: %s\n' "$round" "$((SECONDS - started))" "$part"
  done
done
