"""The documentation in the stubs and in the extension."""

import ast
from pathlib import Path
from typing import Any

import snowmint

STUBS = Path(snowmint.__file__).with_name("_stubs")


def documented(body: list[ast.stmt], owner: Any, path: str) -> list[tuple[str, str, str]]:
    rows = []
    for node in body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and hasattr(owner, node.name):
            here, doc = getattr(owner, node.name), ast.get_docstring(node)
            if doc is not None:
                rows.append((f"{path}{node.name}", doc.splitlines()[0], (here.__doc__ or "").splitlines()[0]))
            if isinstance(node, ast.ClassDef):
                rows += documented(node.body, here, f"{node.name}.")
    return rows


def test_the_stubs_and_the_extension_say_the_same_in_their_first_line() -> None:
    stubs = [ast.parse(file.read_text()) for file in STUBS.glob("*.pyi")]
    rows = [row for stub in stubs for row in documented(stub.body, snowmint._snowmint, "")]
    assert len(rows) > 150
    assert [row for row in rows if row[1] != row[2]] == []
