#!/usr/bin/env bash
# Measures the service beside Redis.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh rust bench
cargo build --quiet --locked --release -p snowmint-server
python3 benches/service/measure.py "${CARGO_TARGET_DIR:-target}/release/snowmint"
