#!/usr/bin/env bash
# Measures the service beside Redis.
set -euo pipefail
cd "$(dirname "$0")/.."
packages=()
command -v wrk > /dev/null || packages+=(wrk)
command -v redis-benchmark > /dev/null || packages+=(redis-tools)
command -v redis-server > /dev/null || packages+=(redis-server)
if [ ${#packages[@]} -gt 0 ]; then
  echo "the benchmark of the service needs ${packages[*]}: apt-get install ${packages[*]}, or your package manager's" >&2
  exit 1
fi
cargo build --quiet --locked --release -p snowmint-server
python3 benches/service/measure.py "${CARGO_TARGET_DIR:-target}/release/snowmint"
