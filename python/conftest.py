"""Tests take their slots in a directory of their own, as the slots of the machine belong to whatever runs on it."""

import os
import tempfile
from collections.abc import Iterator

import pytest

import servers

_directory = tempfile.TemporaryDirectory()
for _name in ("SNOWMINT_NODE", "SNOWMINT_STORE", "SNOWMINT_NAMESPACE", "KUBERNETES_SERVICE_HOST", "container"):
    os.environ.pop(_name, None)
os.environ["SNOWMINT_STATE_DIR"] = _directory.name


@pytest.fixture
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The URL of a store of the test's own."""
    return f"file:{tmp_path_factory.mktemp('slots')}"


@pytest.fixture(scope="session")
def postgres() -> Iterator[servers.Postgres]:
    """A PostgreSQL that the tests share, each file with a `new_database`; a test that kills one starts its own."""
    with servers.start_postgres() as server:
        yield server


@pytest.fixture(scope="session")
def mariadb() -> Iterator[servers.Mariadb]:
    """A MariaDB that the tests share, each file with a `new_database`."""
    with servers.start_mariadb() as server:
        yield server


@pytest.fixture(scope="session")
def redis_server() -> Iterator[servers.Redis]:
    """A Redis that the tests share."""
    with servers.start_redis() as server:
        yield server
