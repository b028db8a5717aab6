"""Fixtures for all tests."""

import itertools
import os
import signal

import hypothesis
import pytest

# A job in the background of a shell ignores this signal, and processes of the job inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)

# How long an example takes says how busy the machine is.
hypothesis.settings.register_profile("busy", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow])
hypothesis.settings.load_profile("busy")

_numbers = itertools.count()


@pytest.fixture
def namespace() -> str:
    """One that no other test has."""
    return f"test-{os.getpid()}-{next(_numbers)}"
