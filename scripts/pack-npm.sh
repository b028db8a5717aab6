#!/usr/bin/env bash
# Packs npm/dist and the addon of this machine's platform into DIRECTORY: pack-npm.sh DIRECTORY.
set -euo pipefail
cd "$(dirname "$0")/.."
mkdir -p "$1"
rm -f "$1"/*.tgz
for package in npm "npm/platforms/$(node npm/scripts/platform.mjs)"; do
  cp LICENSE-MIT LICENSE-APACHE "$package"
  .venv/bin/python scripts/sbom.py "$package" "$package/snowmint.cdx.json"
  # Shows npm's output only if it fails.
  log=$(npm pack --pack-destination "$1" "./$package" 2>&1) || { printf '%s\n' "$log" >&2; exit 1; }
done
