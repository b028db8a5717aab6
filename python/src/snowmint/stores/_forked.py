"""Connections of an engine, which are not for forked children."""

import os
import threading
from collections.abc import Generator
from contextlib import contextmanager
from weakref import WeakSet

from sqlalchemy import Engine

from snowmint._errors import ForkedError
from snowmint._snowmint import after_fork_in_parent, before_fork

_sqlite: "WeakSet[OfProcess]" = WeakSet()
GATE_S = 10.0


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
            _sqlite.add(self)

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

    def before_fork(self) -> None:
        """Closes what is idle."""
        assert self._gate is not None
        self._held = self._gate.acquire(timeout=GATE_S)
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


def _before() -> None:
    # Before the gates are closed: a call under way may wait at one.
    before_fork()
    for each in list(_sqlite):
        each.before_fork()


def _after(child: bool) -> None:
    for each in list(_sqlite):
        each.after_fork(child)
    if not child:
        after_fork_in_parent()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before, after_in_parent=lambda: _after(child=False), after_in_child=lambda: _after(child=True)
    )
