"""Compares the types and names in all stubs of the extension with the installed extension, by mypy's stubtest."""

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from mypy.stubtest import parse_options, test_stubs
from snowmint import _snowmint as extension

ALLOWED = Path(__file__).parent.parent / "python/tests/stubtest_allowlist.txt"


def of_extension(name: str) -> Any:
    """Finds a name of a stub in the extension."""
    if name.startswith("__"):
        raise AttributeError(name)
    return getattr(extension, name)


stubs = Path(extension.__file__ or "").parent.glob("_stubs/[a-z]*.pyi")
modules = [f"snowmint._stubs.{file.stem}" for file in stubs]
for name in modules:
    # stubtest leaves out what a stub only imports, and needs a module for each stub.
    sys.modules[name] = ModuleType(name)
    sys.modules[name].__getattr__ = of_extension  # type: ignore[method-assign]
sys.exit(test_stubs(parse_options(["snowmint._snowmint", *modules, "--allowlist", str(ALLOWED)])))
