#!/usr/bin/env bash
# npm/dist: the wasm module, the addon of this machine, the bundles and the types.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/build-wasm.sh
scripts/build-node.sh
cd npm
node scripts/build.mjs
