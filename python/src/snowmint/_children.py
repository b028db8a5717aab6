"""Forks: they wait for calls of stores, and a child of `multiprocessing` gives its leases back.

Such a child ends by `os._exit`, which runs no handler of `atexit`.
"""

import os
import sys
from time import monotonic
from types import ModuleType
from typing import Protocol
from weakref import WeakSet

from snowmint._snowmint import after_fork_in_parent, before_fork, release_leases

# Celery uses the second module.
MODULES = ["multiprocessing.util", "billiard.util"]


def _begin(util: ModuleType) -> None:
    # Runs as the last finaliser, because other finalisers may mint.
    util.Finalize(None, release_leases, exitpriority=-100)


class Gate(Protocol):
    """The actions of a store around a fork."""

    def before_fork(self, timeout_s: float) -> None:
        """Prepares for the fork. Waits no longer than `timeout_s`."""

    def after_fork(self, child: bool) -> None:
        """Continues in the parent, or in the child."""


gates: "WeakSet[Gate]" = WeakSet()


def _before() -> None:
    # First, because a call under way may wait at a gate. The gates share the rest of the time.
    deadline = monotonic() + before_fork()
    for gate in list(gates):
        gate.before_fork(max(0, deadline - monotonic()))


def _after_in_parent() -> None:
    for gate in list(gates):
        gate.after_fork(child=False)
    after_fork_in_parent()


def _after_in_child() -> None:
    for gate in list(gates):
        gate.after_fork(child=True)
    # After this, a child drops the finalisers of its parent, and then runs the function that is registered here.
    for name in MODULES:
        if util := sys.modules.get(name):
            util.register_after_fork(util, _begin)


def watch_forks() -> None:
    """Holds calls of stores back while the process forks, and prepares each child for its end."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=_before, after_in_parent=_after_in_parent, after_in_child=_after_in_child)
