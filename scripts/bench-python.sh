#!/usr/bin/env bash
# Measures the Python package beside its peers, in a separate environment.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh rust maturin
scripts/build-python.sh target/packages/release
venv=.cache/bench-python
python3 -m venv "$venv"
"$venv/bin/pip" install --quiet --disable-pip-version-check --only-binary :all: -r benches/python/requirements.txt
"$venv/bin/pip" install --quiet --disable-pip-version-check --no-deps --force-reinstall target/packages/release/snowmint-*.whl
"$venv/bin/python" benches/python/minting.py
