#!/usr/bin/env bash
# Measures the npm package beside its peers, in Node and in Chromium.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh rust esbuild chromium
scripts/build-npm.sh
if [ ! -d benches/js/node_modules ] || ! cmp -s benches/js/package-lock.json benches/js/node_modules/installed; then
  echo "installing what to compare with" >&2
  npm ci --prefix benches/js --ignore-scripts --silent --no-fund --no-audit
  cp benches/js/package-lock.json benches/js/node_modules/installed
fi
node benches/js/minting.mjs
