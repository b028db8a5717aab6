"""Runs the commands of the guide to backups on real servers: behind a fence no number comes twice."""

import subprocess
from pathlib import Path

import pytest
from servers import SNOWMINT, Engine, Server
from test_blocks import blocks

KINDS: list[Engine] = ["postgres", "mariadb", "etcd", "redis", "zookeeper", "nats"]


def store_of(server: Server) -> str:
    """Returns the URL of the server as the command line takes it."""
    return server.url.replace("postgresql+psycopg:", "postgres:").replace("mysql+pymysql:", "mysql:")


def command(kind: str, verb: str, server: Server) -> str:
    """Returns the commands of a block, with the server of this test for the one of the guide."""
    [found] = [text for info, text in blocks("docs/backups.md") if info == f"sh {kind} {verb}"]
    return (
        found.replace("postgres://ids@db/ids", store_of(server))
        .replace("--host=db --user=ids", f"--host=127.0.0.1 --port={server.port} --user=root")
        .replace("http://db:2379", f"http://127.0.0.1:{server.port}")
        .replace(f"/var/lib/{kind}", str(server.directory / "data" / ("etcd" if kind == "etcd" else "")))
    )


@pytest.mark.parametrize("kind", KINDS)
def test_a_restored_and_fenced_server_repeats_no_number(kind: Engine, tmp_path: Path) -> None:
    with Server(kind) as server:

        def run(*words: str) -> list[str]:
            done = subprocess.run(
                [SNOWMINT, *words, "--store", store_of(server)], capture_output=True, text=True, check=False
            )
            assert done.returncode == 0, done.stderr
            return done.stdout.split()

        def shell(verb: str) -> None:
            is_copy = verb == "restore" if kind == "etcd" else kind in ("redis", "zookeeper", "nats")
            if is_copy:
                server.kill()
            script = f"set -e\n{command(kind, verb, server)}"
            subprocess.run(["bash", "-c", script], cwd=tmp_path, check=True, stdout=subprocess.DEVNULL)
            if is_copy:
                server.restart()

        run("segment", "create", "orders")
        run("segment", "next", "orders", "-n", "5")
        shell("backup")
        given = run("segment", "next", "orders", "-n", "5")
        shell("restore")
        run("fence", "--stopped", "--skip", "5")
        assert int(run("segment", "next", "orders")[0]) > int(given[-1])
