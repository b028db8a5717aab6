"""The inspector at /, in headless Chromium."""

import json
import time
from pathlib import Path
from urllib.request import urlopen

from conftest import CHROMIUM, run
from servers import Server

TWEET = "1541815603606036480"


def test_the_page_carries_its_own_policy(server: Server) -> None:
    with urlopen(f"{server.url}/") as answer:
        assert answer.headers["content-security-policy"] == "frame-ancestors 'none'"
        page = answer.read().decode()
    assert "script-src 'sha256-" in page
    assert "'wasm-unsafe-eval'" in page


def test_the_page_shows_the_parts_of_an_id(server: Server, tmp_path: Path) -> None:
    page = run(*CHROMIUM, f"--user-data-dir={tmp_path}", "--dump-dom", f"{server.url}/#id={TWEET}")
    # Only the page's script can have written this.
    assert "2022-06-28T16:07:40.105Z" in page
    assert '<p id="failure" class="error" role="alert"></p>' in page


def test_the_page_names_its_service(server: Server, tmp_path: Path) -> None:
    urlopen(f"{server.url}/v1/ids").close()
    # The server counts its leases at most every 5 s, and an earlier page has asked.
    deadline = time.monotonic() + 60
    while (status := json.load(urlopen(f"{server.url}/v1/status")))["leases"] != 1:
        assert time.monotonic() < deadline, status
        time.sleep(0.1)
    page = run(*CHROMIUM, f"--user-data-dir={tmp_path}", "--dump-dom", f"{server.url}/")
    place = server.url.removeprefix("http://")
    assert f"This page comes from the service at {place}: snowmint {status['version']}, store SQLite, 1 node " in page
    assert server.store.removeprefix("sqlite:") not in page


def test_the_page_says_that_a_token_is_needed(guarded: Server, tmp_path: Path) -> None:
    page = run(*CHROMIUM, f"--user-data-dir={tmp_path}", "--dump-dom", f"{guarded.url}/")
    assert "which asks for a token." in page
