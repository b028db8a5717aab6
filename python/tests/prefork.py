"""A web server that forks its workers."""

import json
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import processes


def workers_repeat_nothing(**variables: str) -> None:
    """Checks 32,001 IDs of four workers of gunicorn, which were forked after the application minted."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = ["-m", "gunicorn", "--preload", "--workers", "4", "--threads", "2", "--bind", f"127.0.0.1:{port}"]
    server = subprocess.Popen(
        [sys.executable, *command, "--log-level", "warning", "gunicorn_app:application"],
        cwd=Path(__file__).parent,
        env=processes.environment(None, **variables),
    )
    try:

        def fetch(_: int) -> dict[str, object]:
            for _ in range(200):
                try:
                    with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=10) as reply:
                        answer: dict[str, object] = json.load(reply)
                        return answer
                except (ConnectionError, urllib.error.URLError):
                    time.sleep(0.05)
            raise AssertionError("gunicorn does not answer")

        with ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(fetch, range(64)))
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait(20)
    ids = [str(answers[0]["first"])]
    for answer in answers:
        assert isinstance(answer["ids"], list)
        ids += answer["ids"]
    assert len(ids) == 64 * 500 + 1
    assert len(set(ids)) == len(ids)
    assert {answer["vouched"] for answer in answers} == {"FORKED"}
    nodes = {(answer["pid"], answer["node"]) for answer in answers}
    assert len(nodes) == len({pid for pid, _ in nodes}) == len({node for _, node in nodes}) > 1
