"""The corpus of numbers over a store, tests/vectors/numbers.json."""

import json
from typing import Any

import pytest

import servers
from snowmint import Segments, SnowmintError, Tickets, users
from snowmint.stores import MemoryStore

CASES: list[dict[str, Any]] = json.loads((servers.ROOT / "tests/vectors/numbers.json").read_text())["cases"]
PATIENT_MS = 60_000


def numbers(kind: str, options: dict[str, Any]) -> Any:
    match kind:
        case "segments":
            return Segments(MemoryStore(), "a", max_wait_ms=PATIENT_MS, **options)
        case "tickets":
            return Tickets([MemoryStore() for _ in range(options["stores"])], "a", max_wait_ms=PATIENT_MS)
        case _:
            return users(MemoryStore(), "a", max_wait_ms=PATIENT_MS, **options)


def answer(taker: Any, call: str) -> str | None:
    verb, *arguments = call.split()
    try:
        match verb:
            case "block":
                block = taker.next_block(int(arguments[0]))
                return f"{block.start} {block.stop}"
            case "close":
                taker.close()
                return None
            case _:
                return str(taker.next(*map(int, arguments)))
    except SnowmintError as error:
        return error.code


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_one_client_gets_these_numbers(case: dict[str, Any]) -> None:
    options = {name: int(value) for name, value in case["options"].items()}
    if "error" in case:
        with pytest.raises(SnowmintError) as refused:
            numbers(case["kind"], options)
        assert refused.value.code == case["error"]
        return
    taker = numbers(case["kind"], options)
    for call, expected in case["calls"]:
        assert answer(taker, call) == expected, call
