#!/usr/bin/env bash
# Builds npm/dist: the wasm modules, the addon of this machine, the bundles and the types.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/build-wasm.sh
scripts/build-node.sh
cd npm
node scripts/build.mjs
