#!/usr/bin/env bash
# npm/site/dist/index.html: the inspector, one file that any static server or a double click opens.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh rust esbuild
scripts/build-npm.sh
npm --prefix npm run --silent site
