"""Tests take their slots in a directory of their own, as the slots of the machine belong to whatever runs on it."""

import os
import tempfile

import pytest

_directory = tempfile.TemporaryDirectory()
for _name in ("SNOWMINT_NODE", "SNOWMINT_STORE", "SNOWMINT_NAMESPACE", "KUBERNETES_SERVICE_HOST"):
    os.environ.pop(_name, None)
os.environ["SNOWMINT_STATE_DIR"] = _directory.name


@pytest.fixture
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The URL of a store of the test's own."""
    return f"file:{tmp_path_factory.mktemp('slots')}"
