"""A sequence for each user, over every store."""

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

import processes
from snowmint import InvalidIdError, InvalidTextError, Users, WindowClosedError, users
from snowmint.stores import MemoryStore, Store
from test_stores import Place, named, place  # noqa: F401

PATIENT_MS = 20_000


def opened(store: Store, name: str, label: str = "one") -> Users:
    """An allocator that waits for its successor's section."""
    return users(store, name, max_wait_ms=PATIENT_MS, label=label)


def test_each_user_has_a_sequence(place: Place, namespace: str) -> None:  # noqa: F811
    with opened(place.store(), namespace) as messages:
        assert [messages.next(7), messages.next(7), messages.next(8), messages.next(2**64 - 1)] == [1, 2, 1, 1]
    with pytest.raises(WindowClosedError):
        messages.next(7)


def test_a_successor_goes_on_above(place: Place, namespace: str) -> None:  # noqa: F811
    store = place.store()
    first, second = opened(store, namespace), users(store, namespace, max_wait_ms=500, label="two")
    before = [first.next(7) for _ in range(5)]
    with pytest.raises(WindowClosedError, match="one"):
        second.next(7)
    first.close()
    after = opened(store, namespace).next(7)
    assert before == [1, 2, 3, 4, 5]
    assert after > 5


def test_threads_repeat_no_number_of_a_user(place: Place, namespace: str) -> None:  # noqa: F811
    with opened(place.store(), namespace) as messages, ThreadPoolExecutor(4) as pool:
        taken = list(pool.map(lambda _: [messages.next(7) for _ in range(200)], range(4)))
    assert sorted(number for numbers in taken for number in numbers) == list(range(1, 801))


def test_coroutines_repeat_no_number_of_a_user() -> None:
    async def main() -> None:
        messages = users(MemoryStore(), max_wait_ms=PATIENT_MS)
        numbers = await asyncio.gather(*(messages.next_async(7) for _ in range(300)))
        assert sorted(numbers) == list(range(1, 301))
        await messages.close_async()
        with pytest.raises(WindowClosedError):
            await messages.next_async(7)

    asyncio.run(main())


TAKER = """
    import sys
    from snowmint import WindowClosedError, users
    messages = users(sys.argv[1], sys.argv[2], window_ms=1000, max_wait_ms=60_000, label="of a process")
    while True:
        print(messages.next(7), flush=True)
"""


def test_kills_of_allocators_repeat_nothing(named: Place, namespace: str) -> None:  # noqa: F811
    taken: list[int] = []
    for count in (50, 120, 80):
        taken += processes.taken_until_killed(TAKER, named.url, namespace, count=count)
    assert len(taken) >= 250
    assert taken == sorted(set(taken))


def test_a_forked_child_opens_its_own_allocator(named: Place, namespace: str) -> None:  # noqa: F811
    program = """
        import os, struct, sys
        from snowmint import ForkedError, users
        from snowmint.stores import connect
        store = connect(sys.argv[1])
        messages = users(store, sys.argv[2], max_wait_ms=60_000)
        mine = [messages.next(7) for _ in range(5)]
        messages.close()
        child = os.fork()
        if child == 0:
            for call in (lambda: messages.next(7), messages.close):
                try:
                    call()
                except ForkedError:
                    pass
                else:
                    os._exit(1)
            with users(store, sys.argv[2], max_wait_ms=60_000) as own:
                mine = [own.next(7) for _ in range(20)]
        else:
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
            with users(store, sys.argv[2], max_wait_ms=60_000) as own:
                mine += [own.next(7) for _ in range(5)]
        sys.stdout.buffer.write(struct.pack(f"{len(mine)}Q", *mine))
    """
    numbers = processes.minted(program, named.url, namespace)
    assert len(set(numbers)) == len(numbers) == 30


def test_an_allocator_that_is_dropped_gives_its_section_back() -> None:
    store = MemoryStore()
    assert users(store, "messages", max_wait_ms=PATIENT_MS, label="dropped").next(7) == 1
    successor = users(store, "messages", max_wait_ms=100, label="next")
    deadline = time.monotonic() + 25
    while True:
        try:
            assert successor.next(7) > 1
            break
        except WindowClosedError:
            # By its window the section would be free after 30 s.
            assert time.monotonic() < deadline


def test_wrong_arguments_are_typed_errors() -> None:
    store = MemoryStore()
    with users(store) as messages:
        for user in (-1, 2**64, -(2**200)):
            with pytest.raises(InvalidIdError):
                messages.next(user)
        for wrong in ("7", 7.0, True, None):
            with pytest.raises(TypeError):
                messages.next(wrong)  # type: ignore[arg-type]
    refused: list[Callable[[], object]] = [
        lambda: users(store, size=0),
        lambda: users(store, size=1_000_001),
        lambda: users(store, size=-1),
        lambda: users(store, step=0),
        lambda: users(store, step=2**31),
        lambda: users(store, window_ms=999),
    ]
    for call in refused:
        with pytest.raises(InvalidIdError):
            call()
    for name in ("", "x" * 129):
        with pytest.raises(InvalidTextError):
            users(store, name)
    for name in ("a\nb", "\ud800"):
        with pytest.raises(InvalidTextError):
            users(store, name).next(7)


def test_a_set_keeps_the_size_of_its_sections() -> None:
    store = MemoryStore()
    with users(store, "messages", size=10, max_wait_ms=PATIENT_MS) as first:
        assert first.next(7) == 1
    with pytest.raises(InvalidIdError, match="10"):
        users(store, "messages", size=11, max_wait_ms=PATIENT_MS).next(7)
