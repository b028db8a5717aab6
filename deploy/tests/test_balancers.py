"""Two services behind nginx and HAProxy, which send all users of a section to one server; and metrics by promtool."""

import contextlib
import json
import os
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from servers import ROOT, SNOWMINT

DEPLOY = ROOT / "deploy"
# Several users of each of sixteen sections, by their paths: of the set without a name, and of a named set.
SETS = ["", "messages/"]
USERS = [f"{of_set}{number * 40_000 + 7}" for of_set in SETS for number in range(40)]


def free_port() -> int:
    """Returns a port of loopback that no program listens on."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


@contextlib.contextmanager
def started(*words: str | Path) -> Iterator[subprocess.Popen[bytes]]:
    """Runs a program until the end of the block."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("SNOWMINT_")}
    process = subprocess.Popen(words, env=env)
    try:
        yield process
    finally:
        process.terminate()
        process.wait(30)


@contextlib.contextmanager
def services(folder: Path, count: int) -> Iterator[list[tuple[int, "subprocess.Popen[bytes]"]]]:
    """Runs services on one store, and gives their ports and processes."""
    with contextlib.ExitStack() as ends:
        running = []
        for port in [free_port() for _ in range(count)]:
            words = ["--http", f"127.0.0.1:{port}", "--redis", "off", "--store", f"sqlite:{folder}/ids.db"]
            # A busy machine may need seconds for a write to the file.
            words += ["--window-ms", "3000", "--max-wait-ms", "20000"]
            running.append((port, ends.enter_context(started(SNOWMINT, "serve", *words))))
        for port, _ in running:
            wait_until_answered(f"http://127.0.0.1:{port}/readyz")
        yield running


def ask(url: str, method: str = "GET") -> tuple[int, str, str | None]:
    """Sends a request, and returns the status, the body and `Retry-After`."""
    try:
        with urllib.request.urlopen(urllib.request.Request(url, method=method), timeout=30) as answer:
            return answer.status, answer.read().decode(), None
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode(), error.headers["Retry-After"]


def wait_until_answered(url: str) -> None:
    """Waits up to a minute until a server answers with 200."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        with contextlib.suppress(OSError):
            if ask(url)[0] == 200:
                return
        time.sleep(0.05)
    raise AssertionError(f"{url} does not answer")


def placed(text: str, ports: list[int], port: int) -> str:
    """Returns a configuration for services and a balancer on loopback."""
    for number, of_service in enumerate(ports, 1):
        text = text.replace(f"ids-{number}:8080", f"127.0.0.1:{of_service}")
    return text.replace("listen 8000;", f"listen 127.0.0.1:{port};").replace("bind :8000", f"bind 127.0.0.1:{port}")


def balancer(name: str, folder: Path, ports: list[int], port: int) -> list[str | Path]:
    """Writes the configuration of a balancer, and returns the command that starts it."""
    if name == "haproxy":
        config = folder / "haproxy.cfg"
        config.write_text(placed((DEPLOY / "haproxy" / "users.cfg").read_text(), ports, port))
        return ["haproxy", "-db", "-f", config]
    (folder / "users.conf").write_text(placed((DEPLOY / "nginx" / "users.conf").read_text(), ports, port))
    config = folder / "nginx.conf"
    config.write_text(f"""
        daemon off; pid {folder}/nginx.pid; error_log stderr;
        events {{ }}
        http {{ access_log off; client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; include users.conf; }}
    """)
    return ["nginx", "-e", "stderr", "-c", config]


@pytest.mark.parametrize("name", ["nginx", "haproxy"])
def test_all_users_of_a_section_go_to_one_server(name: str, tmp_path: Path) -> None:
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    with services(tmp_path, 2) as running, started(*balancer(name, tmp_path, [at for at, _ in running], port)):
        wait_until_answered(f"{url}/readyz")
        newest = dict.fromkeys(USERS, 0)

        def take(user: str) -> tuple[int, str | None]:
            status, body, retry_after = ask(f"{url}/v1/users/{user}/next", "POST")
            if status == 200:
                number = int(json.loads(body)["id"])
                assert number > newest[user]
                newest[user] = number
            return status, retry_after

        for _ in range(3):
            assert {take(user) for user in USERS} == {(200, None)}
        for user in USERS:
            status, body, _ = ask(f"{url}/v1/users/{user}/current")
            assert (status, body) == (200, f'{{"id":"{newest[user]}"}}'), user
        # Each server has sections of each set.
        for of_set in SETS:
            users = [user for user in USERS if ("/" in user) == bool(of_set)]
            first = [ask(f"http://127.0.0.1:{running[0][0]}/v1/users/{user}/next", "POST") for user in users]
            assert {status for status, _, _ in first} == {200, 421}, of_set
            assert {json.loads(body)["code"] for status, body, _ in first if status == 421} == {"WRONG_SERVER"}
        running[0][1].kill()
        running[0][1].wait()
        # Other requests go to the server that is left.
        assert [ask(f"{url}/v1/ids")[0] for _ in range(4)] == [200] * 4
        left = set(USERS)
        deadline = time.monotonic() + 60
        while left:
            # At the same time: over SQLite the server that is left watches each section for a window before it takes it over.
            with ThreadPoolExecutor(len(left)) as asking:
                answers = dict(zip(left, asking.map(take, left), strict=True))
            # HAProxy answers 503 itself until it knows that the server is gone.
            assert {status for status, _ in answers.values()} <= {200, 503}, answers
            left = {user for user, (status, _) in answers.items() if status != 200}
            assert time.monotonic() < deadline, answers


def test_metrics_have_no_findings(tmp_path: Path) -> None:
    with services(tmp_path, 1) as [(port, _)]:
        assert ask(f"http://127.0.0.1:{port}/v1/ids?count=10")[0] == 200
        assert ask(f"http://127.0.0.1:{port}/v1/tickets/t")[0] == 200
        _, metrics, _ = ask(f"http://127.0.0.1:{port}/metrics")
        done = subprocess.run(
            ["promtool", "check", "metrics"], input=metrics, capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stdout + done.stderr) == (0, "")
