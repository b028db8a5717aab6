"""Compares the stubs of the extension with what is installed: check_stubs.py [GENERATED].

stubtest compares the types of every stub. GENERATED is the stub that maturin makes of the extension; it must have the
same names.
"""

import ast
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from mypy.stubtest import parse_options, test_stubs
from snowmint import _snowmint as extension

PACKAGE = Path(extension.__file__ or "").parent
ALLOWED = Path(__file__).parent.parent / "python/tests/stubtest_allowlist.txt"
STUBS = sorted(file for file in PACKAGE.glob("_stubs/*.pyi") if not file.stem.startswith("_"))
FUNCTION = ast.FunctionDef | ast.AsyncFunctionDef
# bindings/python/src/hot.rs adds them without pyo3's macros, so that maturin does not see them.
BY_HAND = {"Snowflake.next_id", "ulid_str", "uuid4_str", "uuid7_str"}


def of_extension(name: str) -> Any:
    """Finds a name of a stub in the extension."""
    if name.startswith("__"):
        raise AttributeError(name)
    return getattr(extension, name)


def names(file: Path) -> set[str]:
    """Lists the public functions, classes and members of a stub."""
    found: set[str] = set()
    for node in ast.parse(file.read_text()).body:
        if isinstance(node, ast.ClassDef):
            found |= {f"{node.name}.{each.name}" for each in node.body if isinstance(each, FUNCTION)}
        if isinstance(node, ast.ClassDef | FUNCTION):
            found.add(node.name)
    return {name for name in found if not re.search(r"\b_", name)}


def main(generated: list[str]) -> int:
    """Returns 1 if something differs."""
    for file in STUBS:
        # stubtest needs a module for each file.
        module = ModuleType(f"snowmint._stubs.{file.stem}")
        module.__getattr__ = of_extension  # type: ignore[method-assign]
        sys.modules[module.__name__] = module
    modules = [f"snowmint._stubs.{file.stem}" for file in STUBS]
    differs = test_stubs(parse_options(["snowmint._snowmint", *modules, "--allowlist", str(ALLOWED)]))
    for path in generated:
        different = set().union(*map(names, STUBS)) ^ names(Path(path)) ^ BY_HAND
        if different:
            print(f"only in the stubs or only in the extension: {', '.join(sorted(different))}")
            differs = 1
    return differs


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
