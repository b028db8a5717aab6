"""Forks: they wait for calls of stores, and a child of `multiprocessing` gives its leases back.

Such a child ends by `os._exit`, which runs no handler of `atexit`.
"""

import os
import sys
from types import ModuleType

from snowmint._snowmint import after_fork_in_parent, before_fork, release_leases

# The second one is Celery's.
MODULES = ["multiprocessing.util", "billiard.util"]


def _begin(util: ModuleType) -> None:
    # As the last finaliser: others may mint.
    util.Finalize(None, release_leases, exitpriority=-100)


def _forked() -> None:
    # A child forgets the finalisers of its parent after this, and then runs what is registered here.
    for name in MODULES:
        if util := sys.modules.get(name):
            util.register_after_fork(util, _begin)


def watch_forks() -> None:
    """Holds calls of stores back while the process forks, and prepares each child for its end."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=before_fork, after_in_parent=after_fork_in_parent, after_in_child=_forked)
