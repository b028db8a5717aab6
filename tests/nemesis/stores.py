"""Stores under the nemesis: real servers of `snowmint-engines`, and directories on a small disk."""

import contextlib
import json
import os
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import sqlalchemy
from fleet import PROGRAMS, Place, environment
from sqlalchemy.engine import make_url

ENGINES = ["file", "sqlite", "postgres", "mariadb", "redis", "etcd", "zookeeper", "nats"]
DISK_BYTES = 16 << 20


class Server:
    """A store on a separate server, which a fault kills, stops and starts again.

    Args:
        engine: The engine.
        address: The path of the socket of `snowmint-engines`.
    """

    def __init__(self, engine: str, address: str) -> None:
        self._connection = socket.socket(socket.AF_UNIX)
        self._connection.connect(address)
        self._lines = self._connection.makefile()
        answer = self._ask({"start": engine})
        self.place = Place(engine, str(answer["url"]), int(answer["port"]))
        self.directory = Path(str(answer["directory"]))

    def _ask(self, request: object) -> dict[str, Any]:
        self._connection.sendall(json.dumps(request).encode() + b"\n")
        answer: dict[str, Any] = json.loads(self._lines.readline())
        if "error" in answer:
            raise RuntimeError(f"{request}: {answer['error']}")
        return answer

    def kill(self) -> None:
        """Kills all processes of the server."""
        self._ask("kill")

    def restart(self) -> None:
        """Starts the server on its data and port; if it runs, ends it cleanly before."""
        self._ask("restart")

    def pause(self, paused: bool) -> None:
        """Stops all processes of the server where they are, or lets them go on."""
        self._ask("pause" if paused else "resume")

    def create_sequence(self) -> None:
        """Creates the native sequence `takes`, if the engine has sequences."""
        driver = {"postgres": "postgresql+psycopg", "mariadb": "mysql+pymysql"}.get(self.place.engine)
        if driver is not None:
            engine = sqlalchemy.create_engine(make_url(self.place.url).set(drivername=driver))
            with engine.begin() as connection:
                connection.execute(sqlalchemy.text("CREATE SEQUENCE takes"))
            engine.dispose()

    def close(self) -> None:
        """Ends the server, and removes its data."""
        self._lines.close()
        self._connection.close()


class Disk:
    """A store in files on a small disk in memory, which a fault fills; without the right to mount, on the usual disk.

    Args:
        engine: `file` or `sqlite`.
    """

    def __init__(self, engine: str) -> None:
        self.directory = Path(tempfile.mkdtemp(prefix="snowmint-disk-"))
        mount = ["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES},mode=0777", "snowmint-nemesis", str(self.directory)]
        self.is_small = os.geteuid() == 0 and subprocess.run(mount, capture_output=True, check=False).returncode == 0
        path = self.directory / ("slots" if engine == "file" else "ids.db")
        # The data are in memory, which survives the processes but not the machine.
        self.place = Place(engine, f"{engine}:{path}?allow_unsafe=true", 0)

    def fill(self) -> bool:
        """Writes until the disk is full. Returns whether it is."""
        if not self.is_small:
            return False
        with contextlib.suppress(OSError), (self.directory / "ballast").open("wb", buffering=0) as ballast:
            for size in (1 << 16, 1 << 12, 1):
                with contextlib.suppress(OSError):
                    while True:
                        ballast.write(bytes(size))
        return True

    def empty(self) -> None:
        """Makes room again."""
        (self.directory / "ballast").unlink(missing_ok=True)

    def close(self) -> None:
        """Removes the disk."""
        if self.is_small:
            for _ in range(50):
                if subprocess.run(["umount", str(self.directory)], capture_output=True, check=False).returncode == 0:
                    break
                time.sleep(0.1)
            else:
                subprocess.run(["umount", "-l", str(self.directory)], check=False)
        shutil.rmtree(self.directory, ignore_errors=True)


class Engines:
    """The program that starts servers: the one whose socket `SNOWMINT_ENGINES` names, or a new one, which `close` ends."""

    def __init__(self) -> None:
        self._program: subprocess.Popen[str] | None = None
        self.address = os.environ.get("SNOWMINT_ENGINES", "")

    def open(self, engine: str) -> Server | Disk:
        """Starts a store."""
        if engine in ("file", "sqlite"):
            return Disk(engine)
        if not self.address:
            self._program = subprocess.Popen(
                [PROGRAMS / "snowmint-engines"],
                env=environment(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                start_new_session=True,
            )
            assert self._program.stdout is not None
            self.address = self._program.stdout.readline().strip()
            assert self.address, "snowmint-engines does not start"
        return Server(engine, self.address)

    def close(self) -> None:
        """Ends the program, if this object has started it."""
        if self._program is not None:
            self._program.communicate()
