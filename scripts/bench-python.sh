#!/usr/bin/env bash
# Measures the Python package beside its peers, in a separate environment.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh rust maturin
scripts/build-python.sh target/packages/release
venv=.cache/bench-python
if ! cmp -s benches/python/requirements.txt "$venv/installed"; then
  echo "installing what to compare with" >&2
  python3 -m venv --clear "$venv"
  "$venv/bin/pip" install --quiet --disable-pip-version-check --only-binary :all: -r benches/python/requirements.txt
  cp benches/python/requirements.txt "$venv/installed"
fi
"$venv/bin/pip" install --quiet --disable-pip-version-check --no-deps --force-reinstall target/packages/release/snowmint-*.whl
"$venv/bin/python" benches/python/minting.py
