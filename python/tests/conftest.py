"""What holds for all tests."""

import itertools
import os
import signal

import hypothesis
import pytest

# A shell that runs a job in the background has it ignore this signal, and what the job starts inherits that.
signal.signal(signal.SIGINT, signal.default_int_handler)

# How long an example takes says how busy the machine is.
hypothesis.settings.register_profile("busy", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow])
hypothesis.settings.load_profile("busy")

_numbers = itertools.count()


@pytest.fixture
def namespace() -> str:
    """One that no other test has."""
    return f"test-{os.getpid()}-{next(_numbers)}"
