"""The inspector at /, in Chromium without a window."""

import json
from pathlib import Path
from urllib.request import urlopen

from conftest import CHROMIUM, run
from servers import Server

TWEET = "1541815603606036480"


def test_the_page_may_do_what_its_own_policy_says(server: Server) -> None:
    with urlopen(f"{server.url}/") as answer:
        assert answer.headers["content-security-policy"] == "frame-ancestors 'none'"
        page = answer.read().decode()
    assert "script-src 'sha256-" in page
    assert "'wasm-unsafe-eval'" in page


def test_the_page_takes_an_id_apart_by_its_wasm(server: Server, tmp_path: Path) -> None:
    page = run(*CHROMIUM, f"--user-data-dir={tmp_path}", "--dump-dom", f"{server.url}/#id={TWEET}")
    # What no script wrote has none of this.
    assert "2022-06-28T16:07:40.105Z" in page
    assert '<p id="failure" class="error" role="alert"></p>' in page


def test_the_page_names_the_service_that_has_sent_it(server: Server, tmp_path: Path) -> None:
    with urlopen(f"{server.url}/v1/ids"), urlopen(f"{server.url}/v1/status") as answer:
        status = json.load(answer)
    page = run(*CHROMIUM, f"--user-data-dir={tmp_path}", "--dump-dom", f"{server.url}/")
    place = server.url.removeprefix("http://")
    assert f"This page comes from the service at {place}: snowmint {status['version']}, store SQLite, 1 node " in page
    assert server.store.removeprefix("sqlite:") not in page


def test_the_page_of_a_service_with_a_token_says_so(guarded: Server, tmp_path: Path) -> None:
    page = run(*CHROMIUM, f"--user-data-dir={tmp_path}", "--dump-dom", f"{guarded.url}/")
    assert "which asks for a token." in page
