"""The case tables, one module per vector file: the questions, and the answers that a public source states."""

from collections.abc import Callable

from errors import Refused

Case = dict[str, object]


def result_of(name: str, ask: Callable[[], Case], error: str | None = None) -> Case:
    """Returns the reference's results or error. Stops the writer if the reference raises another error or none."""
    try:
        result = ask()
    except Refused as refusal:
        assert refusal.code == error, f"{name}: refused with {refusal.code}, expected {error or 'a result'}"
        return {"error": refusal.code, **refusal.detail}
    assert error is None, f"{name}: answered {result}, expected {error}"
    return result


def agree(name: str, stated: object, computed: object) -> None:
    """Stops the writer if a published value differs from the computed one."""
    assert stated == computed, f"{name}: stated {stated!r}, computed {computed!r}"
