#!/usr/bin/env bash
# Mints and reads IDs in Rust, Python, Node and headless Chromium, and shows that all four agree.
set -euo pipefail
cd "$(dirname "$0")/.."
python3 scripts/run.py demo
exec node demo/show.mjs
