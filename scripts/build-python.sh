#!/usr/bin/env bash
# Builds the wheel of this machine's platform into DIRECTORY: build-python.sh DIRECTORY [MATURIN-OPTION...].
set -euo pipefail
mkdir -p "$1"
out=$(realpath "$1")
cd "$(dirname "$0")/../python"
rm -f "$out"/snowmint-*.whl
../.venv/bin/python ../scripts/sbom.py wheel snowmint.cdx.json
# Shows maturin's output only if it fails.
log=$(../.venv/bin/maturin build --profile "${SNOWMINT_PROFILE:-release}" --locked --interpreter ../.venv/bin/python --sbom-include snowmint.cdx.json --out "$out" "${@:2}" 2>&1) || { printf '%s\n' "$log" >&2; exit 1; }
