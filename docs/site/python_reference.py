"""Writes the reference of the Python package: python_reference.py FOLDER."""

import importlib
import sys
import warnings
from pathlib import Path

import pdoc

MODULES = ["stores", "text", "prefix", "scatter", "layouts", "sqlalchemy", "pydantic"]


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
    pdoc.pdoc("snowmint", output_directory=Path(sys.argv[1]))


main()
