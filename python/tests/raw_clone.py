"""Forks by the system call, which runs no handlers of `fork`."""

import ctypes
import os
import time
from pathlib import Path


def clone() -> int:
    """Forks as `os.fork` does, by clone(SIGCHLD). The GIL stays with the only thread of the child.

    A thread that begins or ends holds a lock of the dynamic linker. Only `fork` frees it in the child. So this waits
    until all other threads sleep.
    """
    while not _others_sleep():
        time.sleep(0.001)
    return int(ctypes.PyDLL(None).syscall(56, 17, 0, 0, 0, 0))


def _others_sleep() -> bool:
    own = Path(os.readlink("/proc/thread-self")).name
    for thread in Path("/proc/self/task").iterdir():
        try:
            # The state follows the name, which is in brackets.
            state = (thread / "stat").read_text().rpartition(") ")[2]
        except (FileNotFoundError, ProcessLookupError):
            continue
        if thread.name != own and not state.startswith("S"):
            return False
    return True
