"""`python -m snowmint doctor` on real servers."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import processes
from servers import Engine, Server, shared
from snowmint import Snowflake
from snowmint.stores import FileStore, SqlStore, connect


def run(*arguments: str, code: int = 0) -> str:
    command = [sys.executable, "-m", "snowmint", "doctor", *arguments]
    done = subprocess.run(
        command, env=processes.environment(None), capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == code, done
    assert done.stderr == ("" if code < 2 else done.stderr)
    return done.stdout


def examine(*arguments: str, code: int = 0) -> dict[str, list[dict[str, Any]]]:
    """The findings by topic."""
    found: dict[str, list[dict[str, Any]]] = {}
    for line in run("--json", *arguments, code=code).splitlines():
        finding = json.loads(line)
        found.setdefault(finding["topic"], []).append(finding)
    return found


@pytest.mark.parametrize("engine", ["postgres", "mariadb", "redis"])
def test_nothing_is_wrong_and_holders_are_seen(engine: Engine) -> None:
    url = shared(engine).new_database()
    options = ["--store", url, "--namespace", "doctor"]
    for _ in range(2):
        found = examine(*options)
        assert found["namespace"][0]["message"].startswith("doctor is new: ")
        assert found["node"][0]["node"] == 0
        assert abs(found["clock"][0]["skew_ms"]) < 60_000
        assert len(found["durability"][0]["settings"]) >= 3
    with Snowflake(store=connect(url), namespace="doctor") as holder:
        (node,) = examine(*options)["node"]
        assert (node["node"], node["free"], node["held"]) == (1, 1023, 1)
        (taken,) = examine(*options, "--node", str(holder.node))["node"]
        assert taken["level"] == "warning"
        assert "(its holder is " in taken["message"]
        other = examine(*options, "--layout", "twitter", code=1)["layout"][1]
        assert "namespace doctor is of layout " in other["message"]


FORGED = "web\x1b[2J\nok    store       fine\u202e\x9b"
ESCAPED = r"web\u{1b}[2J\nok    store       fine\u{202e}\u{9b}"


def test_a_label_of_another_program_is_escaped(tmp_path: Path) -> None:
    url = f"sqlite:{tmp_path}/ids.db?allow_unsafe=true"
    store, key = connect(url), "leases/doctor/0"
    assert isinstance(store, SqlStore)
    with Snowflake(store=store, namespace="doctor", node=0, window_ms=600_000):
        found = store.read(key)
        assert found is not None
        value, version = found
        # As a client without our checks writes it: the label is in these bytes of the record.
        record = value[:56] + FORGED.encode().ljust(60, b"\0") + value[116:]
        assert store.write(key, record, version) is not None
        options = ["--store", url, "--namespace", "doctor", "--node", "0"]
        told = run(*options)
        (line,) = [line for line in told.splitlines() if line.startswith("warning  node ")]
        assert line.endswith(f" (its holder is {ESCAPED})")
        assert not any(letter in told for letter in "\x1b\u202e\x9b")
        assert examine(*options)["node"][0]["message"].endswith(f" (its holder is {ESCAPED})")
        # Another process asks for the node that this one holds.
        words = [sys.executable, "-m", "snowmint", "gen", *options, "--max-wait-ms", "0"]
        done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 1
        assert done.stderr.endswith(f" (its holder is {ESCAPED})\n")


def test_what_is_given_on_the_command_line_is_escaped_in_complaints() -> None:
    for words in (["inspect", "--layout", "leaf", FORGED], ["gen", "--layout", FORGED], ["gen", "--format", FORGED]):
        done = subprocess.run(
            [sys.executable, "-m", "snowmint", *words], capture_output=True, text=True, timeout=60, check=False
        )
        assert done.returncode == 2
        assert len(done.stderr.splitlines()) == 1, done.stderr
        assert not any(letter in done.stdout + done.stderr for letter in "\x1b\u202e\x9b")


def test_every_setting_that_loses_writes_is_named() -> None:
    with (
        Server("postgres", ["-c", "fsync=off", "-c", "full_page_writes=off"]) as postgres,
        Server("redis", ["--appendonly", "no", "--appendfsync", "everysec"]) as redis,
    ):
        for url, settings in [
            (postgres.url, ["fsync=off", "full_page_writes=off"]),
            (redis.url, ["appendonly=no", "appendfsync=everysec"]),
        ]:
            told = examine("--store", url, code=1)["durability"]
            assert [each["message"].split(",")[0] for each in told] == settings
            assert all(each["message"].endswith("or pass allow_unsafe=true") for each in told)
            accepted = examine("--store", f"{url}?allow_unsafe=true")["durability"]
            assert {each["level"] for each in accepted} == {"warning"}


def test_a_cured_setting_is_no_finding() -> None:
    with Server("postgres", ["-c", "synchronous_commit=off"]) as server:
        assert examine("--store", server.url)["durability"][0]["settings"]["synchronous_commit"] == "on"


def test_a_server_that_does_not_answer_is_a_finding() -> None:
    for store, told in [
        ("postgresql://127.0.0.1:1/ids", "postgresql at "),
        ("oracle://me:secret@db", "no such store"),
        ("etcd://me:secret@127.0.0.1:1", "etcd at 127.0.0.1:1, "),
        ("nats://me:secret@db", "this package has no store nats: install the program of the crate snowmint-server, "),
    ]:
        found = examine("--store", store, code=1)
        assert found["store"][0]["message"].startswith(told)
        assert "secret" not in str(found)
    assert found["store"][0]["message"].endswith("by cargo install snowmint-server")


def test_a_service_that_answers_is_left_to_itself() -> None:
    (finding,) = examine("--store", shared("service").url, "--namespace", "doctor")["store"]
    assert "grants the nodes by its own clock" in finding["message"]
    (finding,) = examine("--store", "http://127.0.0.1:1", code=1)["store"]
    assert finding["message"].startswith("the service at http://127.0.0.1:1: ")


def test_mistakes_in_the_words_are_no_findings() -> None:
    assert run("--node", "5000", code=2) == ""


def test_slots_are_looked_at_and_not_made(tmp_path: Path) -> None:
    slots = tmp_path / "slots"
    url = f"file:{slots}?allow_unsafe=true"
    assert "the first lease makes the directory" in examine("--store", url)["store"][0]["message"]
    assert not slots.exists()
    with Snowflake(store=FileStore(slots, allow_unsafe=True)):
        assert examine("--store", url)["node"][0]["node"] == 1
    assert run("--node", "5").splitlines()[1].startswith("warning  node        node 5, given by --node ")
