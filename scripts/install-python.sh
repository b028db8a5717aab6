#!/usr/bin/env bash
# Builds the wheel and installs it into the virtual environment, where tests use it.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/build-python.sh target/packages
.venv/bin/pip install --quiet --disable-pip-version-check --no-deps --force-reinstall target/packages/snowmint-*.whl
