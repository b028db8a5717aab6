"""Formatted numbers over every store."""

import asyncio
import gc
import weakref
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import processes
from losses import wait_until
from scripted import Clock
from snowmint import (
    ExhaustedError,
    Formatted,
    InvalidIdError,
    InvalidTextError,
    Reading,
    Sequence,
    Sequences,
)
from snowmint.stores import MemoryStore
from test_stores import Place, place  # noqa: F401

PATIENT_MS = 20_000


def ms(text: str) -> int:
    return int(datetime.fromisoformat(f"{text}+00:00").timestamp() * 1000)


def test_texts_count_in_each_period(place: Place, namespace: str) -> None:  # noqa: F811
    session, clock = Sequences(place.store(), max_wait_ms=PATIENT_MS), Clock(ms("2024-12-31T22:59:59"))
    sequence = session.sequence(namespace)
    invoices = Formatted(sequence, "INV-{yyyy}-{000}", period="year", zone="+01:00", clock=clock)
    assert [invoices.next(), next(invoices), next(iter(invoices))] == [f"INV-2024-00{number}" for number in (1, 2, 3)]
    clock.now_ms += 1000
    assert invoices.next() == "INV-2025-001"
    assert invoices.parse("INV-2025-001") == Reading(1, "2025", 2025, None, None, None)
    # A clock that is behind continues the old year.
    clock.now_ms -= 1000
    assert invoices.next() == "INV-2024-004"
    assert (session.current(f"{namespace}@2025"), session.last()) == (1, 4)
    # Without a period the numbers come from the sequence itself.
    assert sequence.set(41) == 41
    assert Formatted(sequence, "A{00}").next() == "A42"
    assert (sequence.current(), sequence.next()) == (42, 43)


def test_a_clock_ahead_is_bounded_by_the_clock_of_the_store() -> None:
    class Clocked(MemoryStore):
        def clock_ms(self) -> int:
            return ms("2026-11-27T12:00:00")

    session = Sequences(Clocked())
    ahead = Formatted(session.sequence("hours"), "{yyyy}{MM}{dd}{HH}-{0}", clock=Clock(ms("2027-11-27T00:00:00")))
    # The store's clock runs while the test does.
    assert ahead.parse(ahead.next())[2:] == (2026, 11, 27, 12)


def test_the_time_is_the_systems_without_another_clock() -> None:
    today = Formatted(Sequences(MemoryStore()).sequence("days"), "{yyyy}-{MM}-{dd}/{000}", period="day")
    before = datetime.now(UTC)
    text = today.next()
    assert text in {f"{time:%Y-%m-%d}/001" for time in (before, datetime.now(UTC))}


def test_threads_and_coroutines_repeat_no_text(place: Place, namespace: str) -> None:  # noqa: F811
    session = Sequences(place.store(), max_wait_ms=60_000)
    articles = Formatted(session.sequence(namespace), "A-{000}{luhn}")

    async def main() -> list[str]:
        return await asyncio.gather(*(articles.next_async() for _ in range(50)))

    with ThreadPoolExecutor(3) as pool:
        texts = [*pool.map(lambda _: articles.next(), range(50)), *asyncio.run(main())]
    assert sorted(articles.parse(text).number for text in texts) == list(range(1, 101))


def test_new_sequences_begin_at_start_and_formats_take_no_number() -> None:
    session, noon = Sequences(MemoryStore()), datetime(2026, 12, 31, 23, 30, tzinfo=UTC)
    sequence, pattern = session.sequence("tens"), "INV-{yyyy}-{000}"
    tens = Formatted(sequence, pattern, zone="+01:00", start=100, increment=10, clock=Clock(0))
    assert tens.format(42, noon) == tens.format(42, ms("2026-12-31T23:30:00")) == "INV-2027-042"
    assert [tens.next(), tens.next()] == ["INV-1970-100", "INV-1970-110"]
    for number, refused in ((-1, InvalidIdError), (1000, ExhaustedError)):
        with pytest.raises(refused):
            tens.format(number, noon)
    for wrong in (-1, 2**63):
        with pytest.raises(InvalidIdError):
            Formatted(sequence, "{000}", start=wrong)
    with pytest.raises(TypeError, match="an int is needed"):
        tens.format(42, "now")  # type: ignore[arg-type]


def test_a_number_with_too_many_digits_is_an_error_or_grows() -> None:
    sequence = Sequences(MemoryStore()).sequence("cases")
    sequence.set(9)
    for _ in range(2):
        with pytest.raises(ExhaustedError) as refused:
            Formatted(sequence, "{0}").next()
        assert refused.value.retry_after_ms is None
    assert Formatted(sequence, "{0}", overflow="grow").next() == "12", "each refused call has taken a number"


def test_a_forked_child_begins_its_own_session(tmp_path: Path) -> None:
    program = """
        import os, sys
        from snowmint import ForkedError, Formatted, Sequences
        from snowmint.stores import connect
        store = connect(sys.argv[1])
        articles = lambda: Formatted(Sequences(store, max_wait_ms=60_000).sequence("articles"), "A{000}")
        ours = articles()
        texts = [ours.next()]
        if os.fork() == 0:
            try:
                ours.next()
            except ForkedError:
                os._exit(0 if articles().next() == "A002" else 1)
            os._exit(2)
        assert os.waitstatus_to_exitcode(os.wait()[1]) == 0
        print(*texts, ours.next())
    """
    assert processes.run(program, f"sqlite:{tmp_path}/ids.db") == "A001 A003\n"


def test_the_collector_takes_cycles_and_nothing_that_is_used() -> None:
    class Own(MemoryStore):
        own: Any

    store = Own()
    session = Sequences(store)
    articles = Formatted(session.sequence("articles"), "A{0}", overflow="grow")
    for number in range(1, 4):
        gc.collect()
        assert (articles.next(), session.sequence("articles").current()) == (f"A{number}", number)
    # Three objects lead to the store, which has one reference more than they know.
    store.own = articles
    gone = weakref.ref(store)
    del store, session, articles
    wait_until(lambda: gc.collect() is not None and gone() is None)


def test_the_exception_of_a_clock_comes_through() -> None:
    def broken() -> int:
        raise LookupError("no clock")

    sequence = Sequences(MemoryStore()).sequence("articles")
    with pytest.raises(LookupError, match="no clock"):
        Formatted(sequence, "{yyyy}{0}", clock=broken).next()
    wrong: Any = lambda: 1.5  # noqa: E731
    with pytest.raises(TypeError, match="Unix ms"):
        Formatted(sequence, "{yyyy}{0}", clock=wrong).next()


def test_wrong_arguments_are_typed_errors() -> None:
    session = Sequences(MemoryStore())
    sequence = session.sequence("articles")
    assert (repr(sequence), repr(Formatted(sequence, "A{0}"))) == ('Sequence("articles")', 'Formatted("A{0}")')
    for wrong in ("articles", session, None):
        with pytest.raises(TypeError, match="Sequence"):
            Formatted(wrong, "{0}")  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        Sequence()
    wrong_options: list[dict[str, Any]] = [{"period": 5}, {"zone": 1}, {"clock": 7}]
    for options in wrong_options:
        with pytest.raises(TypeError):
            Formatted(sequence, "{yyyy}{0}", **options)
    for name in ("x" * 124, ""):
        with pytest.raises(InvalidTextError):
            Formatted(session.sequence(name), "{yyyy}{0}", period="year")
    with pytest.raises(InvalidTextError):
        session.sequence("\ud800").next()
    assert session.create("rounds", max=3, cycle=True)
    with pytest.raises(InvalidIdError):
        Formatted(session.sequence("rounds"), "{0}").next()
    for text in ("A1\ud800", "A01", ""):
        with pytest.raises(InvalidTextError):
            Formatted(sequence, "A{0}").parse(text)


def test_a_sequence_has_the_calls_of_its_session() -> None:
    async def main() -> None:
        sequence = Sequences(MemoryStore()).sequence("invoices")
        with pytest.raises(InvalidIdError):
            await sequence.current_async()
        assert [await sequence.next_async(), await sequence.set_async(41, called=False)] == [1, 41]
        assert [await sequence.next_async(), await sequence.current_async()] == [41, 41]

    asyncio.run(main())
