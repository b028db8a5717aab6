#!/usr/bin/env bash
# Checks the tarballs of DIRECTORY: the size in a browser's bundle, and that every tool finds the right file and types.
set -euo pipefail
cd "$(dirname "$0")/.."
node npm/scripts/size.mjs
tarball=$(ls "$1"/snowmint-[0-9]*.tgz)
# A Worker that has a Durable Object is an ES module.
modules=stores/cloudflare
export PATH=$PWD/npm/node_modules/.bin:$PATH
publint --strict npm
attw "$tarball" --exclude-entrypoints $modules
attw "$tarball" --entrypoints $modules --ignore-rules cjs-resolves-to-esm
