"""Kills database servers by SIGKILL, and shows which numbers come again: `stores.py`, by scripts/peers.sh.

Each line has the last number that a client had got before the kill, and the first one after the restart. A kill of the
server alone is the mildest crash: where the power fails, more is lost.
"""

import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "python" / "tests"))

from servers import Server

ROUNDS = 3


def redis(server: Server, *words: str) -> str:
    return output("redis-cli", "-p", str(server.port), *words)


def postgres(server: Server) -> list[str]:
    return ["psql", "-h", "127.0.0.1", "-p", str(server.port), "-U", "postgres", "-qAt"]


def mariadb(server: Server) -> list[str]:
    return ["mariadb", "-h", "127.0.0.1", "-P", str(server.port), "-u", "root", "-N"]


def sql(client: list[str], *statements: str) -> list[str]:
    """Runs statements in one session, and returns the lines of the answers."""
    return output(*client, words="\n".join(f"{statement};" for statement in statements)).split()


def output(*command: str, words: str = "") -> str:
    return subprocess.run(command, input=words, capture_output=True, text=True, check=True).stdout.strip()


def redis_counts(options: list[str]) -> str:
    with Server("redis", options) as server:
        before = redis(server, "incrby", "ids", "500")
        server.kill()
        server.restart()
        return f"{before} -> {redis(server, 'incr', 'ids')}"


def postgres_counts(*settings: str, kind: str = "SEQUENCE") -> str:
    with Server("postgres", [word for setting in settings for word in ("-c", setting)]) as server:
        client = postgres(server)
        sql(client, f"CREATE {kind} ids", "CHECKPOINT")
        before = sql(client, *["SELECT nextval('ids')"] * 200)[-1]
        return after_a_kill(server, before, client)


def postgres_in_a_transaction() -> str:
    with Server("postgres") as server:
        client = postgres(server)
        sql(client, "CREATE SEQUENCE ids", "CHECKPOINT")
        session = subprocess.Popen(
            client, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, stderr=subprocess.DEVNULL
        )
        assert session.stdin and session.stdout
        session.stdin.write("BEGIN;\n" + "SELECT nextval('ids');\n" * 200)
        session.stdin.flush()
        before = [session.stdout.readline() for _ in range(200)][-1].strip()
        result = after_a_kill(server, before, client)
        session.kill()
        return result


def after_a_kill(server: Server, before: str, client: list[str]) -> str:
    server.kill()
    server.restart()
    [after] = sql(client, "SELECT nextval('ids')")
    return f"{before} -> {after}"


def mariadb_sequence() -> str:
    with Server("mariadb", ["--innodb-flush-log-at-trx-commit=1"]) as server:
        client = mariadb(server)
        sql(client, "CREATE DATABASE IF NOT EXISTS ids", "CREATE SEQUENCE ids.s", "DO NEXTVAL(ids.s)")
        # The sequence itself has to be on the disk.
        time.sleep(2)
        before = sql(client, *["SELECT NEXTVAL(ids.s)"] * 1500)[-1]
        server.kill()
        server.restart()
        return f"{before} -> {sql(client, 'SELECT NEXTVAL(ids.s)')[0]}"


def mariadb_counter(flush: int) -> str:
    with Server("mariadb", [f"--innodb-flush-log-at-trx-commit={flush}"]) as server:
        client = mariadb(server)
        sql(client, "CREATE DATABASE IF NOT EXISTS ids", "CREATE TABLE ids.t (n INT) ENGINE=InnoDB")
        sql(client, "INSERT INTO ids.t VALUES (0)")
        time.sleep(2)
        before = sql(client, "UPDATE ids.t SET n = n + 2000", "SELECT n FROM ids.t")[-1]
        server.kill()
        server.restart()
        return f"{before} -> {sql(client, 'SELECT n FROM ids.t')[0]}"


SCENES = [
    ("Redis", "no persistence", lambda: redis_counts(["--appendonly", "no"])),
    ("Redis", "appendfsync always", lambda: redis_counts([])),
    ("PostgreSQL", "nextval in an open transaction", postgres_in_a_transaction),
    (
        "PostgreSQL",
        "nextval, synchronous_commit=off",
        lambda: postgres_counts("synchronous_commit=off", "wal_writer_delay=10s"),
    ),
    ("PostgreSQL", "an unlogged sequence", lambda: postgres_counts(kind="UNLOGGED SEQUENCE")),
    ("PostgreSQL", "nextval, synchronous_commit=on", postgres_counts),
    ("MariaDB", "NEXTVAL, flush setting 1", mariadb_sequence),
    ("MariaDB", "UPDATE, flush setting 0", lambda: mariadb_counter(0)),
    ("MariaDB", "UPDATE, flush setting 1", lambda: mariadb_counter(1)),
]

if __name__ == "__main__":
    for engine, setting, play in SCENES:
        print(f"{engine:28} {setting:32} {', '.join(play() for _ in range(ROUNDS))}", flush=True)
