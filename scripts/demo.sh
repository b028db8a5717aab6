#!/usr/bin/env bash
# Mints and reads IDs in Rust, Python, Node and headless Chromium, and shows that all four agree.
set -euo pipefail
cd "$(dirname "$0")/.."
say() { printf '%s\n' "$*" >&2; }
scripts/setup.sh
say "building the Rust demo"
cargo build --quiet --locked --release -p snowmint-demo
say "building the Python package"
scripts/build-python.sh
say "building the npm package"
scripts/build-npm.sh
node demo/show.mjs
