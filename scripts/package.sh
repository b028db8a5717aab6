#!/usr/bin/env bash
# Makes the packages that users install, in dist/: the wheel, the sdist, the npm tarballs, for this machine's platform.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh rust maturin esbuild chromium
scripts/build-npm.sh
rm -rf dist
scripts/pack-npm.sh dist/npm
scripts/build-python.sh dist --compression-level 9
# Shows maturin's output only if it fails.
log=$(cd python && ../.venv/bin/maturin sdist --out ../dist 2>&1) || { printf '%s\n' "$log" >&2; exit 1; }
scripts/check-npm.sh dist/npm
python3 scripts/check_packages.py dist
node npm/scripts/first-id.mjs
ls -l dist/*.tar.gz | awk '{ printf "%9d  %s\n", $5, $9 }'
