"""What holds for all tests."""

import itertools
import os
import signal

import pytest

# A shell that runs a job in the background has it ignore this signal, and what the job starts inherits that.
signal.signal(signal.SIGINT, signal.default_int_handler)

_numbers = itertools.count()


@pytest.fixture
def namespace() -> str:
    """One that no other test has."""
    return f"test-{os.getpid()}-{next(_numbers)}"
