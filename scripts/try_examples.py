"""Runs the examples from the packed artefacts, each in a copy of its folder: try_examples.py DIST [NAME...].

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
import sys
import tempfile
import time
import venv
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
EXAMPLES = ROOT / "examples"
sys.path.insert(0, str(ROOT / "python" / "tests"))

from servers import shared


def main() -> None:
    """Raises if an example fails."""
    dist = Path(sys.argv[1]).resolve()
    names = sys.argv[2:] or sorted(path.parent.name for path in EXAMPLES.glob("*/README.md"))
    failed = []
    for name in names:
        began = time.monotonic()
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as directory:
            home = Path(directory) / name
            ignored = shutil.ignore_patterns("node_modules", ".venv", "target", "__pycache__")
            shutil.copytree(EXAMPLES / name, home, ignore=ignored)
            done = all(
                subprocess.run(words, cwd=home, env=environment(Path(directory)), timeout=600, check=False).returncode
                == 0
                for words in commands(home, dist)
            )
        print(f"{'ok' if done else 'FAILED':<7} {name}: {time.monotonic() - began:.0f} s", flush=True)
        if not done:
            failed.append(name)
    if failed:
        raise SystemExit(f"failed: {', '.join(failed)}")


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
        "CARGO_TARGET_DIR": str(ROOT / "target" / "examples"),
    }


def commands(home: Path, dist: Path) -> Iterator[list[str]]:
    """Yields the commands that install an example's dependencies, and the command that tests it."""
    if (home / "requirements.txt").exists():
        venv.create(home / ".venv", with_pip=True)
        wheel = str(next(dist.glob("snowmint-*.whl")))
        pip = [".venv/bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        yield [*pip, wheel, "-r", "requirements.txt"]
        yield [".venv/bin/python", "test.py"]
    elif (home / "package.json").exists():
        tarballs = sorted(str(path) for path in dist.rglob("snowmint*.tgz"))
        yield ["npm", "install", "--silent", "--no-fund", "--no-audit", *tarballs]
        yield ["node", "test.mjs"]
    else:
        packages = ROOT / "target" / "package"
        patches = []
        for crate in ["snowmint", "snowmint-core", "snowmint-inspect", "snowmint-sqlx", "snowmint-stores"]:
            package = next(packages.glob(f"{crate}-[0-9]*.crate"))
            shutil.unpack_archive(package, home.parent, "gztar")
            patches += ["--config", f'patch.crates-io.{crate}.path="{home.parent / package.stem}"']
        yield ["cargo", "test", "--quiet", *patches]


if __name__ == "__main__":
    main()
