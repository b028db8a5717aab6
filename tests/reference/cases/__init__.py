"""The case tables, one module a vector file: what is asked, and what a public source already says about the answer."""

from collections.abc import Callable

from errors import Refused

Case = dict[str, object]


def result_of(name: str, ask: Callable[[], Case], error: str | None = None) -> Case:
    """What the reference answers: results, or the error. Stops the writer where it is not the error expected."""
    try:
        result = ask()
    except Refused as refusal:
        assert refusal.code == error, f"{name}: refused with {refusal.code}, expected {error or 'a result'}"
        return {"error": refusal.code, **refusal.detail}
    assert error is None, f"{name}: answered {result}, expected {error}"
    return result


def agree(name: str, stated: object, computed: object) -> None:
    """Stops the writer where a published value is not what the reference computes."""
    assert stated == computed, f"{name}: stated {stated!r}, computed {computed!r}"
