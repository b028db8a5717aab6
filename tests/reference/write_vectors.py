"""Writes tests/vectors/*.json from this reference; with --check, exits with 1 if a file differs from its output."""

import json
import sys
from pathlib import Path
from types import ModuleType

from cases import (
    Case,
    audit,
    decode,
    encode,
    error_codes,
    formatted,
    generate,
    given,
    id_range,
    inspect,
    ksuid,
    layouts,
    mask,
    mint,
    names,
    object_id,
    options,
    prefix,
    scatter,
    sequence,
    shown,
    text,
    ulid,
    uuid,
    xid,
)
from layout import MAX_SAFE_INTEGER

VECTORS = Path(__file__).resolve().parent.parent / "vectors"
SOURCES = {
    "layouts": layouts,
    "decode": decode,
    "encode": encode,
    "id_range": id_range,
    "text": text,
    "errors": error_codes,
    "given": given,
    "generate": generate,
    "scatter": scatter,
    "prefix": prefix,
    "mask": mask,
    "inspect": inspect,
    "uuid": uuid,
    "ulid": ulid,
    "object_id": object_id,
    "options": options,
    "ksuid": ksuid,
    "xid": xid,
    "mint": mint,
    "sequence": sequence,
    "audit": audit,
    "shown": shown,
    "names": names,
    "formatted": formatted,
}


def document(comment: str, cases: list[Case]) -> str:
    """Writes one case per line, in ASCII: look-alike characters stay visible, and no editor can normalise them."""
    lines = ",\n".join(f"    {json.dumps(case)}" for case in cases)
    return f'{{\n  "_comment": {json.dumps(comment)},\n  "cases": [\n{lines}\n  ]\n}}\n'


def check_names(stem: str, cases: list[Case]) -> None:
    """A failing runner names a case by its name alone."""
    names = [case["name"] for case in cases]
    repeated = {name for name in names if names.count(name) > 1}
    assert not repeated, f"{stem}: repeated names {repeated}"


def check_numbers(stem: str, value: object) -> None:
    """Outside layouts.json no JSON number may pass 2^53, as readers with doubles would round it."""
    if isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            check_numbers(stem, item)
    elif isinstance(value, int):
        assert abs(value) <= MAX_SAFE_INTEGER, f"{stem}: {value} is no safe integer"


def main(arguments: list[str]) -> int:
    """0, or 1 where --check finds a difference, or 2 for other arguments."""
    if arguments not in ([], ["--check"]):
        print("usage: write_vectors.py [--check]", file=sys.stderr)
        return 2
    files = {VECTORS / f"{stem}.json": content(stem, source) for stem, source in SOURCES.items()}
    if not arguments:
        for path, wanted in files.items():
            path.write_bytes(wanted)
            print(f"{path.name}: {len(wanted)} bytes")
        return 0
    stale = [path.name for path, wanted in files.items() if not path.is_file() or path.read_bytes() != wanted]
    if stale:
        print(f"not what the reference writes: {', '.join(stale)}; run write_vectors.py", file=sys.stderr)
    return 1 if stale else 0


def content(stem: str, source: ModuleType) -> bytes:
    """Returns the bytes of one file. AssertionError if the reference disagrees with a statement of a case table."""
    cases = source.cases()
    check_names(stem, cases)
    if stem != "layouts":
        check_numbers(stem, cases)
    return document(source.COMMENT, cases).encode()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
