"""HTTP clients: curl, and clients of Leaf's service."""

import json
from collections.abc import Callable
from itertools import pairwise
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest
from conftest import TOKEN, run
from servers import Server

CURL = ["curl", "--silent", "--show-error"]


def test_curl_takes_ids_and_numbers(server: Server) -> None:
    ids = [int(id) for id in json.loads(run(*CURL, f"{server.url}/v1/ids?count=3"))["ids"]]
    assert len(ids) == 3
    assert all(low < high for low, high in pairwise(ids))
    assert json.loads(run(*CURL, "-X", "POST", f"{server.url}/v1/sequences/curl/next")) == {"ids": ["1"]}
    assert json.loads(run(*CURL, f"{server.url}/v1/tickets/curl")) == {"id": "1"}
    assert json.loads(run(*CURL, "-X", "POST", f"{server.url}/v1/users/7/next")) == {"id": "1"}


def test_curl_sends_the_token(guarded: Server) -> None:
    ask = [*CURL, "--output", "/dev/null", "--write-out", "%{http_code}", f"{guarded.url}/v1/ids"]
    assert [run(*ask), run(*ask, "-H", "Authorization: Bearer wrong")] == ["401", "401"]
    assert run(*ask, "-H", f"Authorization: Bearer {TOKEN}") == "200"


def test_curl_leases_a_node(server: Server) -> None:
    leases = f"{server.url}/v1/namespaces/curl/leases"
    nonce = "8f14e45fceea167a5a36dedd4bea2543"
    claim = json.loads(run(*CURL, "--json", json.dumps({"nonce": nonce}), leases))
    start = claim["window"]["start"]
    release = json.dumps({"nonce": nonce, "unused_from_ms": start})
    told = json.loads(run(*CURL, "-X", "DELETE", "--json", release, f"{leases}/{claim['node']}"))
    assert told["node"] == claim["node"]
    assert [lease["released"] for lease in json.loads(run(*CURL, leases))["leases"]] == [True]


def test_leafs_clients_read_a_bare_number(server: Server, operate: Callable[..., str]) -> None:
    operate("segment", "create", "leaf", "--start", "500")
    for path, low in [("segment/get/leaf", 500), ("snowflake/get/anything", 1 << 40)]:
        numbers = []
        for _ in range(3):
            with urlopen(f"{server.url}/api/{path}") as answer:
                assert answer.headers.get_content_type() == "text/plain"
                numbers.append(int(answer.read()))
        assert numbers[0] >= low
        assert all(before < after for before, after in pairwise(numbers))
    with pytest.raises(HTTPError) as refused:
        urlopen(f"{server.url}/api/segment/get/none")
    with refused.value as answer:
        assert (answer.code, json.load(answer)["message"]) == (500, "Result{id=-2, status=EXCEPTION}")
