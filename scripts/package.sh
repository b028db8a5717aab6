#!/usr/bin/env bash
# dist/: what users install. The addon and the wheel are those of this machine's platform.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh
scripts/build-npm.sh
rm -rf dist
mkdir -p dist/npm
(cd python && ../.venv/bin/maturin build --quiet --release --locked --out ../dist)
(cd python && ../.venv/bin/maturin sdist --out ../dist > /dev/null)
for package in npm npm/platforms/linux-x64-gnu; do
  npm pack --silent --pack-destination dist/npm "./$package" > /dev/null
done
node npm/scripts/size.mjs
ls -l dist/*.* dist/npm | awk 'NF > 8 { printf "%9d  %s\n", $5, $9 }'
