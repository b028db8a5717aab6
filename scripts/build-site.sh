#!/usr/bin/env bash
# Builds npm/site/dist/index.html: the inspector, one file for any static server or a double click.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh rust esbuild
scripts/build-npm.sh
scripts/build-fleet.sh
npm --prefix npm run --silent site
