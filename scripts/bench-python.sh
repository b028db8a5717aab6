#!/usr/bin/env bash
# The Python package beside its peers, in an environment of their own.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh
scripts/build-python.sh
venv=.cache/bench-python
if ! cmp -s benches/python/requirements.txt "$venv/installed"; then
  echo "installing what to compare with" >&2
  python3 -m venv --clear "$venv"
  "$venv/bin/pip" install --quiet --disable-pip-version-check --only-binary :all: -r benches/python/requirements.txt
  cp benches/python/requirements.txt "$venv/installed"
fi
# The package lies in the source tree, with the extension that was just built.
PYTHONPATH=python/src "$venv/bin/python" benches/python/minting.py
