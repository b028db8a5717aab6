"""Fixtures for all tests."""

import itertools
import os
import signal
import subprocess
from pathlib import Path

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


@pytest.fixture
def certificate(tmp_path: Path) -> tuple[Path, Path]:
    """A certificate of localhost that no authority has signed, and its key."""
    cert, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    made = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"]
    words = ["openssl", "req", "-x509", *made, *subject, "-keyout", str(key), "-out", str(cert)]
    subprocess.run(words, check=True, stderr=subprocess.DEVNULL, timeout=60)
    return cert, key
