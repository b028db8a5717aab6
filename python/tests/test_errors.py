"""Error kinds as exceptions."""

import copy
import pickle
from collections.abc import Callable

import pytest

import snowmint
from scripted import Clock
from snowmint import (
    ClockBackwardsError,
    ExhaustedError,
    Layout,
    Snowflake,
    SnowmintError,
    WindowClosedError,
    layouts,
    text,
)

CLASSES = dict(snowmint._snowmint.error_classes())
NOON_MS = 1_772_323_200_000


def closed() -> Snowflake:
    generator = Snowflake(node=1)
    generator.close()
    return generator


RAISED: dict[str, Callable[[], object]] = {
    "EXHAUSTED": lambda: Snowflake(node=1, max_wait_ms=0, clock=lambda: NOON_MS).next_ids(4097),
    "WINDOW_CLOSED": lambda: closed().next_id(),
    "TIME_OVERFLOW": lambda: Snowflake("baidu", node=1),
    "BEFORE_EPOCH": lambda: Snowflake(node=1, clock=lambda: 0).next_id(),
    "INVALID_LAYOUT": lambda: Layout("time:99;epoch=0"),
    "INVALID_NODE": lambda: Snowflake(node=1024),
    "INVALID_ID": lambda: layouts.TWITTER.decode(2**64),
    "INVALID_TEXT": lambda: text.decode("", "hex"),
}


def test_every_kind_has_an_exception_of_its_own() -> None:
    assert len(set(CLASSES.values())) == len(CLASSES) == 14
    assert "SnowmintError" not in CLASSES.values()


@pytest.mark.parametrize(("code", "name"), CLASSES.items())
def test_an_exception_carries_the_code_of_its_kind_and_its_public_name(code: str, name: str) -> None:
    error = getattr(snowmint, name)
    assert name in snowmint.__all__
    assert issubclass(error, SnowmintError)
    assert (error.code, error.__module__, error.__name__) == (code, "snowmint", name)
    assert issubclass(error, ValueError) == code.startswith("INVALID_")


@pytest.mark.parametrize("code", RAISED)
def test_core_raises_the_class_of_the_kind_with_its_sentence(code: str) -> None:
    with pytest.raises(SnowmintError) as caught:
        RAISED[code]()
    error = caught.value
    assert (error.code, type(error).__name__) == (code, CLASSES[code])
    assert len(str(error)) > 20
    assert error.args == (str(error),)


def test_the_numbers_of_an_error_are_attributes() -> None:
    clock = Clock(NOON_MS)
    generator = Snowflake(node=1, max_ahead_ms=5, max_wait_ms=0, clock=clock)
    generator.next_id()
    with pytest.raises(ExhaustedError) as exhausted:
        generator.next_ids(4096 * 7)
    assert exhausted.value.retry_after_ms == 2
    assert "2 ms" in str(exhausted.value)
    clock.now_ms -= 6
    with pytest.raises(ClockBackwardsError) as backwards:
        generator.next_id()
    assert backwards.value.by_ms == 6
    assert "6 ms" in str(backwards.value)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_errors_survive_pickling(protocol: int) -> None:
    for error in (ExhaustedError("wait", 3), ClockBackwardsError("wait", 4), WindowClosedError("closed")):
        error.add_note("seen")
        again = pickle.loads(pickle.dumps(error, protocol))
        assert (type(again), str(again), again.args, vars(again)) == (type(error), str(error), error.args, vars(error))


def test_errors_survive_copying() -> None:
    error = ClockBackwardsError("wait", 4)
    for again in (copy.copy(error), copy.deepcopy(error)):
        assert (type(again), str(again), again.by_ms) == (ClockBackwardsError, "wait", 4)
