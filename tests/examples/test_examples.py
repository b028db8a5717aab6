"""Runs the examples from the packed packages, each in a copy of its folder.

An example of Python has a requirements.txt and a test.py, one of JavaScript a package.json and a test.mjs, one of Rust a
Cargo.toml and tests of cargo. Its test starts the program as a user would, and finds in its environment:

    DATABASE_URL      an empty PostgreSQL database, postgresql://...
    MYSQL_URL         an empty MariaDB database, mysql://...
    REDIS_URL         a Redis server
    SNOWMINT_SERVICE  the URL of a service, http://...
    PORT              a free port of 127.0.0.1
"""

import os
import re
import shutil
import socket
import subprocess
import venv
from collections.abc import Iterator
from pathlib import Path

import pytest
from servers import ROOT, TARGET, shared

EXAMPLES = ROOT / "examples"


def environment(directory: Path) -> dict[str, str]:
    """Returns the variables of a user's shell, with slots and servers of this run."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("SNOWMINT_")}
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    return {
        **kept,
        "SNOWMINT_STATE_DIR": str(directory / "slots"),
        "DATABASE_URL": re.sub(r"\+\w+", "", shared("postgres").new_database()),
        "MYSQL_URL": re.sub(r"\+\w+", "", shared("mariadb").new_database()),
        "REDIS_URL": shared("redis").url,
        "SNOWMINT_SERVICE": shared("service").url,
        "PORT": str(port),
        "CARGO_TARGET_DIR": str(TARGET / "examples"),
    }


def commands(home: Path) -> Iterator[list[str]]:
    """Yields the commands that install an example's dependencies, and the command that tests it."""
    if (home / "requirements.txt").exists():
        venv.create(home / ".venv", with_pip=True)
        (wheel,) = (ROOT / "dist").glob("snowmint-*.whl")
        pip = [".venv/bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        yield [*pip, str(wheel), "-r", "requirements.txt"]
        yield [".venv/bin/python", "test.py"]
    elif (home / "package.json").exists():
        tarballs = sorted(str(path) for path in (ROOT / "dist/npm").glob("snowmint*.tgz"))
        yield ["npm", "install", "--silent", "--no-fund", "--no-audit", *tarballs]
        yield ["node", "test.mjs"]
    else:
        # What cargo has unpacked to build each crate from its package.
        crates = [path for path in (TARGET / "package").glob("snowmint*") if path.is_dir()]
        patches = [f'patch.crates-io.{path.name.rpartition("-")[0]}.path="{path}"' for path in crates]
        yield ["cargo", "test", "--quiet", *(word for patch in patches for word in ("--config", patch))]


@pytest.mark.parametrize("name", sorted(path.parent.name for path in EXAMPLES.glob("*/README.md")))
def test_an_example_runs_from_the_packages(name: str, tmp_path: Path) -> None:
    """Runs the example's own test."""
    home = tmp_path / name
    ignored = shutil.ignore_patterns("node_modules", ".venv", "target", "__pycache__")
    shutil.copytree(EXAMPLES / name, home, ignore=ignored)
    for words in commands(home):
        subprocess.run(words, cwd=home, env=environment(tmp_path), timeout=600, check=True)
