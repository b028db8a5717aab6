"""Connections of an engine, which are not for forked children."""

import os
import threading
from collections.abc import Generator
from contextlib import contextmanager

from sqlalchemy import Engine

from snowmint._children import gates
from snowmint._errors import ForkedError


class OfProcess:
    """Gives each process its own connections.

    A server's connections are sockets: a child leaves those it inherits to its parent. SQLite is a library that keeps
    in memory which locks it has, and a child inherits that memory and no lock. So its idle connections are closed
    before a fork, which waits for the store's own, and a child of a process that had others open is refused.
    """

    def __init__(self, engine: Engine, name: str) -> None:
        self._engine, self._name = engine, name
        self._pid = os.getpid()
        self._gate: threading.Lock | None = None
        self._held = self._clean = False
        if engine.dialect.name == "sqlite":
            self._gate = threading.Lock()
            gates.add(self)

    @contextmanager
    def use(self) -> Generator[None]:
        """For as long as a connection is open."""
        if os.getpid() != self._pid:
            if self._gate is not None:
                raise ForkedError(
                    f"{self._name}: connections were open when the process forked, and SQLite can use the file in one "
                    "process only then: close them before, fork before the first use, or lease from a FileStore"
                )
            self._engine.dispose(close=False)
            self._pid = os.getpid()
        if self._gate is None:
            yield
        else:
            with self._gate:
                yield

    def before_fork(self, timeout_s: float) -> None:
        """Closes idle connections. A call that goes on longer keeps its own, and the child is refused."""
        assert self._gate is not None
        self._held = self._gate.acquire(timeout=timeout_s)
        in_use = getattr(self._engine.pool, "checkedout", lambda: 0)()
        self._clean = self._held and in_use == 0 and self._pid == os.getpid()
        self._engine.dispose()

    def after_fork(self, child: bool) -> None:
        """Continues, in the child with a new, free lock."""
        if child:
            self._gate = threading.Lock()
            if self._clean:
                self._pid = os.getpid()
        elif self._held and self._gate is not None:
            self._gate.release()
