"""Celery's pool of forked processes, whose tasks mint from a generator that the parent has made and used."""

import json
import signal
import subprocess
import sys
from pathlib import Path

from celery import Celery  # type: ignore[import-untyped]

import processes
import servers

TASKS = 40
PROCESSES = 4


def test_tasks_of_a_forked_pool_repeat_nothing(tmp_path: Path, redis_server: servers.Shared) -> None:
    settings = {
        "broker_url": redis_server.url,
        "result_backend": redis_server.url,
        # Each process takes one task at a time.
        "worker_prefetch_multiplier": 1,
    }
    client = Celery()
    client.conf.update(settings)
    log = tmp_path / "log"
    with log.open("w") as output:
        worker = subprocess.Popen(
            [sys.executable, "-m", "celery", "-A", "celery_app", "worker", "-P", "prefork", "-c", str(PROCESSES)]
            + ["-O", "fair", "--without-gossip", "--without-mingle", "--without-heartbeat"],
            cwd=Path(__file__).parent,
            env=processes.environment(CELERY_SETTINGS=json.dumps(settings)),
            stdout=output,
            stderr=output,
        )
    try:
        sent = [client.send_task("celery_app.mint") for _ in range(TASKS)]
        answers = [task.get(timeout=60, interval=0.05) for task in sent]
    except Exception as error:
        raise AssertionError(log.read_text()) from error
    finally:
        worker.send_signal(signal.SIGTERM)
        assert worker.wait(30) == 0, log.read_text()

    nodes = {answer["pid"]: answer["node"] for answer in answers}
    assert len(set(nodes.values())) == len(nodes) == PROCESSES
    assert {answer["vouched"] for answer in answers} == {"FORKED"}
    (of_worker,) = {answer["first"] for answer in answers}
    ids = [of_worker, *(id for answer in answers for id in answer["ids"])]
    assert len(set(ids)) == len(ids) == 1 + TASKS * 500
