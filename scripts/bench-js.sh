#!/usr/bin/env bash
# Measures the npm package beside its peers, in Node and in Chromium.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh rust esbuild chromium contenders
scripts/build-npm.sh
node benches/js/minting.mjs
