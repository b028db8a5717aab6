#!/usr/bin/env bash
# The service, asked by what others wrote: Schemathesis, clients that generators make of its document, redis-py, redis-cli,
# redis-benchmark, curl, Chromium.
set -euo pipefail
cd "$(dirname "$0")/.."
[ -e npm/site/dist/index.html ] || scripts/build-site.sh
# The binary of the Rust tests, of which nothing is to be built anew when they have just run.
cargo test --quiet --locked --workspace --features snowmint-tests/engines,snowmint-server/page --no-run --test command_line
SNOWMINT_SERVER=${CARGO_TARGET_DIR:-$PWD/target}/debug/snowmint .venv/bin/pytest -q server/tests/clients
