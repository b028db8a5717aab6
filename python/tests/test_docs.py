"""The documentation in the stub and in the extension."""

import ast
from pathlib import Path
from typing import Any

import snowmint

STUB = Path(snowmint.__file__).with_name("_snowmint.pyi")


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


def test_the_stub_and_the_extension_say_the_same_in_their_first_line() -> None:
    rows = documented(ast.parse(STUB.read_text()).body, snowmint._snowmint, "")
    assert len(rows) > 40
    assert [row for row in rows if row[1] != row[2]] == []
