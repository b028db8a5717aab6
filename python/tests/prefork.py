"""A web server that forks its workers."""

import json
import signal
import socket
import subprocess
import sys
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import processes


def workers_repeat_nothing(**variables: str) -> None:
    """Checks 32,001 IDs or more of four workers of gunicorn, which were forked after the application minted."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port, descriptor = listener.getsockname()[1], listener.fileno()
        command = ["-m", "gunicorn", "--preload", "--workers", "4", "--threads", "2", "--bind", f"fd://{descriptor}"]
        server = subprocess.Popen(
            [sys.executable, *command, "--log-level", "warning", "gunicorn_app:application"],
            cwd=Path(__file__).parent,
            env=processes.environment(None, **variables),
            pass_fds=[descriptor],
        )
    try:

        def fetch(_: int) -> dict[str, object]:
            # The socket listens already: until there are workers, the kernel keeps the connection.
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=60) as reply:
                answer: dict[str, object] = json.load(reply)
                return answer

        answers: list[dict[str, object]] = []
        with ThreadPoolExecutor(8) as pool:
            # One worker may be up before the others.
            while len({answer["pid"] for answer in answers}) < 2 and len(answers) < 64 * 100:
                answers += pool.map(fetch, range(64))
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait(60)
    ids = [str(answers[0]["first"])]
    for answer in answers:
        assert isinstance(answer["ids"], list)
        ids += answer["ids"]
    assert len(ids) == len(answers) * 500 + 1
    assert len(set(ids)) == len(ids)
    assert {answer["vouched"] for answer in answers} == {"FORKED"}
    nodes = {(answer["pid"], answer["node"]) for answer in answers}
    assert len(nodes) == len({pid for pid, _ in nodes}) == len({node for _, node in nodes}) > 1
