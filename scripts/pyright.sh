#!/usr/bin/env bash
# pyright in its strict mode, over the package and a typed use of it; and whether every public name has a known type.
set -euo pipefail
cd "$(dirname "$0")/../python"
# The package itself, which lies here, and not its entry in the environment, which pyright does not follow.
export PYTHONPATH=src
pyright=(../npm/node_modules/.bin/pyright --pythonpath "$PWD/../.venv/bin/python")
"${pyright[@]}"
# It takes an import of a library in a module of the library's name for the module itself, so what these give is left out.
{ "${pyright[@]}" --verifytypes snowmint --ignoreexternal --outputjson || true; } | ../.venv/bin/python -c '
import json, re, sys
symbols = json.load(sys.stdin)["typeCompleteness"]["symbols"]
names = [each["name"] for each in symbols if each["isExported"]]
unknown = [each["name"] for each in symbols if each["isExported"] and not each["isTypeKnown"]]
unknown = [name for name in unknown if not re.match(r"snowmint[.](django|pydantic|sqlalchemy|stores[.].*SqlStore)|(?!snowmint)", name)]
print(f"{len(names)} exported names, without a known type: {unknown}")
sys.exit(len(names) < 100 or bool(unknown))'
