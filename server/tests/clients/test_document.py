"""Checks /openapi.json with Schemathesis, which sends valid and invalid requests and compares the answers with it."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from servers import Server

HERE = Path(__file__).parent


def test_every_answer_matches_the_document(server: Server, operate: Callable[..., str], tmp_path: Path) -> None:
    operate("segment", "create", "orders")
    schemathesis = Path(sys.executable).with_name("schemathesis")
    document = f"{server.url}/openapi.json"
    words = [
        str(schemathesis),
        f"--config-file={HERE}/schemathesis.toml",
        "run",
        document,
        "--checks=all",
        f"--max-examples={os.environ.get('SNOWMINT_TRIES', '5')}",
        "--no-color",
    ]
    # Schemathesis creates a directory in its working directory.
    done = subprocess.run(
        words, cwd=tmp_path, capture_output=True, text=True, env={"PYTHONPATH": str(HERE)}, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "27 selected / 27 total" in done.stdout, done.stdout
    print(done.stdout)
