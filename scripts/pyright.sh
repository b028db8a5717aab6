#!/usr/bin/env bash
# Runs pyright in strict mode over the package and a typed use of it, and checks that every public name has a known
# type.
set -euo pipefail
cd "$(dirname "$0")/../python"
# Names the package's folder, because pyright does not follow its entry in the environment.
export PYTHONPATH=src
pyright=(../npm/node_modules/.bin/pyright --pythonpath "$PWD/../.venv/bin/python")
"${pyright[@]}"
# In a module with a library's name, pyright takes an import of the library for the module itself, so these findings are
# left out.
{ "${pyright[@]}" --verifytypes snowmint --ignoreexternal --outputjson || true; } | ../.venv/bin/python -c '
import json, re, sys
symbols = json.load(sys.stdin)["typeCompleteness"]["symbols"]
names = [each["name"] for each in symbols if each["isExported"]]
unknown = [each["name"] for each in symbols if each["isExported"] and not each["isTypeKnown"]]
unknown = [name for name in unknown if not re.match(r"snowmint[.](django|pydantic|sqlalchemy|stores[.].*SqlStore)|(?!snowmint)", name)]
print(f"{len(names)} exported names, without a known type: {unknown}")
sys.exit(len(names) < 100 or bool(unknown))'
