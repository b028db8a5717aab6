#!/usr/bin/env bash
# dist/: what users install. The addon and the wheel are those of this machine's platform.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh
scripts/build-npm.sh
rm -rf dist
mkdir -p dist/npm

# What a tool prints is of interest only when it fails.
quietly() {
  local log
  log=$("$@" 2>&1) || { printf '%s\n' "$log" >&2; return 1; }
}
(cd python && quietly ../.venv/bin/maturin build --release --locked --compression-level 9 --out ../dist)
(cd python && quietly ../.venv/bin/maturin sdist --out ../dist)
for package in npm "npm/platforms/$(node npm/scripts/platform.mjs)"; do
  cp LICENSE-MIT LICENSE-APACHE "$package"
  quietly npm pack --pack-destination dist/npm "./$package"
done

node npm/scripts/size.mjs
# Does every tool find the right file, with the right types?
quietly npm/node_modules/.bin/publint --strict npm
quietly npm/node_modules/.bin/attw dist/npm/snowmint-[0-9]*.tgz
python3 scripts/check_wheels.py dist
python3 scripts/check_npm.py dist/npm
ls -l dist/*.tar.gz | awk '{ printf "%9d  %s\n", $5, $9 }'
