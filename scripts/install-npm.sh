#!/usr/bin/env bash
# Packs the npm packages and installs them beside npm's tests, which import them from there.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/pack-npm.sh target/packages
rm -rf npm/tests/node_modules
npm install --prefix npm/tests --offline --omit=optional --no-save --no-package-lock --silent --no-fund --no-audit \
  "$PWD"/target/packages/*.tgz
