"""Tests use a separate directory of slots, as the slots of the machine belong to its services."""

import os
import tempfile

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

import servers

_directory = tempfile.TemporaryDirectory()
for _name in ("SNOWMINT_NODE", "SNOWMINT_STORE", "SNOWMINT_NAMESPACE", "KUBERNETES_SERVICE_HOST", "container"):
    os.environ.pop(_name, None)
os.environ["SNOWMINT_STATE_DIR"] = _directory.name


# Tests whose names begin so share what one process makes for them.
TOGETHER = ("tests/test_django.py", "tests/test_hangs.py::test_a_server_that_stops_")


class Scheduling(LoadScopeScheduling):
    """Gives each test to the next process that is free, except that those `TOGETHER` stay together."""

    def _split_scope(self, nodeid: str) -> str:
        return next((beginning for beginning in TOGETHER if nodeid.startswith(beginning)), nodeid)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> Scheduling:
    """Chooses who runs which test under `-n`."""
    return Scheduling(config, log)


def pytest_configure(config: pytest.Config) -> None:
    """Starts the program for servers before the processes that run the tests, which share its servers."""
    if config.getoption("numprocesses", None) and not hasattr(config, "workerinput"):
        servers.start_program()


@pytest.fixture
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The URL of a store of the test's own."""
    return f"file:{tmp_path_factory.mktemp('slots')}"


@pytest.fixture(scope="session")
def postgres() -> servers.Shared:
    """The shared PostgreSQL, with a database of this process."""
    return servers.shared("postgres")


@pytest.fixture(scope="session")
def mariadb() -> servers.Shared:
    """The shared MariaDB, with a database of this process."""
    return servers.shared("mariadb")


@pytest.fixture(scope="session")
def redis_server() -> servers.Shared:
    """The shared Redis, with a database of this process."""
    return servers.shared("redis")


@pytest.fixture(scope="session")
def service() -> servers.Shared:
    """The shared service."""
    return servers.shared("service")
