"""Stores of tests that hang, fail and lose answers."""

import threading
from collections.abc import Callable

from snowmint.stores import MemoryStore


class Gated(MemoryStore):
    """A store whose `add` waits until the test lets it go on."""

    def __init__(self) -> None:
        super().__init__()
        self.gate, self.entered = threading.Event(), threading.Event()

    def add(self, counter: str, delta: int, start: int) -> int:
        """As `Store.add`."""
        self.entered.set()
        self.gate.wait(60)
        return super().add(counter, delta, start)


class Losing(MemoryStore):
    """A store that does each request of `verbs`, and then loses every second answer."""

    def __init__(self, *verbs: str) -> None:
        super().__init__()
        self.requests = 0
        for verb in verbs:
            setattr(self, verb, self._losing(getattr(self, verb)))

    def _losing(self, verb: Callable[..., object]) -> Callable[..., object]:
        def lossy(*arguments: object) -> object:
            answer = verb(*arguments)
            self.requests += 1
            if self.requests % 2:
                raise ConnectionError("the answer was lost")
            return answer

        return lossy
