#!/usr/bin/env bash
# The Python package, built and installed into the virtual environment.
set -euo pipefail
cd "$(dirname "$0")/../python"
# maturin wants to see the environment it installs into.
# What it prints is of interest only when it fails.
log=$(VIRTUAL_ENV="$PWD/../.venv" ../.venv/bin/maturin develop --quiet --release --locked 2>&1) || { printf '%s\n' "$log" >&2; exit 1; }
