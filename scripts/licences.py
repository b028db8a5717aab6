"""Fails if a crate that the workspace uses has a licence outside of this list, or if a package for Python or npm needs others.

Packages without dependencies bring their users no faults and no licences of others, so there is nothing to audit.
"""

import json
import re
import subprocess
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]

ALLOWED = {
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "CDLA-Permissive-2.0",
    "ISC",
    "MIT",
    "MIT-0",
    "Unicode-3.0",
    "Zlib",
}


def is_allowed(expression: str) -> bool:
    """Evaluates an SPDX expression: `OR` needs one of its licences, `AND` all of them."""
    # An old form of `OR`.
    words = re.findall(r"\(|\)|OR|AND|[\w.-]+(?: WITH [\w.-]+)?", expression.replace("/", " OR "))
    python = {"(": "(", ")": ")", "OR": "or", "AND": "and"}
    return bool(eval(" ".join(python.get(word) or str(word in ALLOWED) for word in words)))


def main() -> None:
    """Checks each crate of every feature and platform."""
    metadata = ["cargo", "metadata", "--locked", "--all-features", "--format-version", "1"]
    found = json.loads(subprocess.run(metadata, check=True, stdout=subprocess.PIPE).stdout)["packages"]
    crates = {package["name"]: package["license"] or "" for package in found if package["source"]}
    refused = {name: licence for name, licence in crates.items() if not is_allowed(licence or "none")}
    print(f"{len(crates)} crates, {len(refused)} with other licences")
    if refused:
        raise SystemExit("\n".join(f"{name}: {licence or 'no licence'}" for name, licence in refused.items()))
    python = tomllib.loads((ROOT / "python/pyproject.toml").read_text())["project"].get("dependencies", [])
    npm = json.loads((ROOT / "npm/package.json").read_text()).get("dependencies", {})
    if python or npm:
        raise SystemExit(f"packages need others: {[*python, *npm]}")
    print("the packages for Python and npm need no others")


main()
