#!/usr/bin/env bash
# pyright in its strict mode, over the package and a typed use of it; and whether every public name has a known type.
set -euo pipefail
cd "$(dirname "$0")/../python"
# The package itself, which lies here, and not its entry in the environment, which pyright does not follow.
export PYTHONPATH=src
pyright=(../npm/node_modules/.bin/pyright --pythonpath "$PWD/../.venv/bin/python")
"${pyright[@]}"
"${pyright[@]}" --verifytypes snowmint
