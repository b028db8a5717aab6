#!/usr/bin/env bash
# Mints in Rust, Python, Node and headless Chromium through kills, false clocks, forks and tabs, and counts duplicates.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/suite.sh build-demo build-wheel build-npm setup-chromium setup-faults

# The packages beside which it shows snowmint. Without a network they are left out.
there=.cache/demo
mkdir -p $there
missing() { echo "$1 cannot be installed, so the demonstration leaves its packages out"; }
if ! cmp -s demo/requirements.txt $there/requirements.txt; then
  rm -rf $there/python
  pip=(.venv/bin/pip install --quiet --disable-pip-version-check --retries 0 --timeout 5 --target $there/python)
  if "${pip[@]}" -r demo/requirements.txt; then cp demo/requirements.txt $there/; else missing demo/requirements.txt; fi
fi
cp demo/package.json $there/
npm install --prefix $there --silent --no-fund --no-audit --ignore-scripts --fetch-retries 0 || missing demo/package.json
exec node demo/show.mjs
