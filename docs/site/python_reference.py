"""Writes the reference of the Python package: python_reference.py FOLDER."""

import importlib
import re
import sys
import tempfile
import warnings
from pathlib import Path

import pdoc
import snowmint

MODULES = ["stores", "text", "prefix", "scatter", "sequence", "layouts", "sqlalchemy", "pydantic", "django"]


def stub_of_extension() -> str:
    """Returns the stubs of the extension as one, since pdoc cannot import a stub from another."""
    stubs = sorted(Path(snowmint.__file__).parent.glob("_stubs/*.pyi"))
    text = re.sub(r"^from snowmint\._stubs.*\n", "", "".join(map(Path.read_text, stubs)), flags=re.MULTILINE)
    return f"from __future__ import annotations\n{text}"


def main() -> None:
    """Writes a page for the package and one for each of its modules."""
    for name in MODULES:
        module = importlib.import_module(f"snowmint.{name}")
        # pdoc sees only names that are imported already.
        for member in getattr(module, "__all__", []):
            setattr(module, member, getattr(module, member))
    warnings.simplefilter("error", UserWarning)
    # Attributes of errors have a type and no value, so pdoc does not know their file.
    warnings.filterwarnings("ignore", "Cannot determine where", UserWarning)
    pdoc.render.configure(docformat="google", show_source=False)
    with tempfile.TemporaryDirectory() as folder:
        stub = Path(folder, "stub.pyi")
        stub.write_text(stub_of_extension())
        # Functions of `text` and `prefix` have other names in the extension.
        pdoc.doc_pyi.find_stub_file = {"snowmint": stub, "snowmint.scatter": stub}.get
        # Those that need other packages are not in `__all__` of the package.
        extras = [f"snowmint.{name}" for name in MODULES if name not in snowmint.__all__]
        pdoc.pdoc("snowmint", *extras, output_directory=Path(sys.argv[1]))


main()
