"""Clients that third-party generators make from /openapi.json, used on a running server."""

import importlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from conftest import TOKEN, run
from openapi_spec_validator import validate_url
from prometheus_client import parser as classic
from prometheus_client.openmetrics import parser as openmetrics
from servers import Server

HERE = Path(__file__).parent
TYPESCRIPT = HERE / "typescript"
TOOLS = Path(sys.executable).parent


def test_the_document_is_valid(server: Server) -> None:
    validate_url(f"{server.url}/openapi.json")


@pytest.fixture(scope="module")
def generated(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Any]]:
    """Returns a function that imports a module of the client from openapi-python-client."""
    directory = tmp_path_factory.mktemp("python")
    # The generator knows only this media type for text.
    overrides = {"content_type_overrides": {"application/openmetrics-text": "text/plain"}, "post_hooks": []}
    (directory / "config.json").write_text(json.dumps(overrides))
    words = [str(TOOLS / "openapi-python-client"), "generate", "--url", f"{server.url}/openapi.json"]
    words += [f"--output-path={directory}/client", f"--config={directory}/config.json", "--fail-on-warning"]
    run(*words)
    sys.path.insert(0, f"{directory}/client")

    def module(name: str) -> ModuleType:
        return importlib.import_module(f"snowmint_client.{name}")

    yield module
    sys.path.remove(f"{directory}/client")


def test_a_generated_python_client_takes_numbers(
    server: Server, guarded: Server, operate: Callable[..., str], generated: Callable[[str], Any]
) -> None:
    operate("segment", "create", "generated")
    client = generated("client").Client(base_url=server.url)
    ids = generated("api.ids.take_ids").sync(client=client, count=3)
    assert len({int(id) for id in ids.ids}) == 3
    assert generated("api.numbers.take_segment").sync("generated", client=client).start == "1"
    assert generated("api.numbers.next_of_sequence").sync("generated", client=client).ids == ["1"]
    assert generated("api.numbers.take_ticket").sync("generated", client=client).id == "1"
    assert generated("api.numbers.take_ticket").sync("generated", client=client, count=2).ids == ["2", "3"]
    wanted = generated("models").Wanted(start="5", increment=2)
    made = generated("api.numbers.create_sequence").sync("made", client=client, body=wanted)
    assert (made.start, made.increment, made.cycle) == ("5", "2", False)
    assert generated("api.numbers.next_of_user").sync("7", client=client).id == "1"
    # Leaf's endpoint takes numbers of the same tag.
    assert generated("api.leaf.leaf_segment").sync("generated", client=client) == "2"
    models = generated("models")
    claim = models.Claim(nonce="8f14e45fceea167a5a36dedd4bea2543")
    lease = generated("api.leases.claim_node").sync("generated", client=client, body=claim)
    release = models.Release(nonce=claim.nonce, unused_from_ms=lease.window.start)
    given_back = generated("api.leases.release_node").sync("generated", lease.node, client=client, body=release)
    assert given_back.node == lease.node
    refused = generated("api.numbers.take_segment").sync("none", client=client)
    assert isinstance(refused, models.Problem)
    assert refused.code == "INVALID_TEXT"
    assert generated("api.server.readyz").sync(client=client) == "ok\n"
    known = generated("client").AuthenticatedClient(base_url=guarded.url, token=TOKEN)
    assert len(generated("api.ids.take_ids").sync(client=known).ids) == 1
    unknown = generated("client").Client(base_url=guarded.url)
    assert generated("api.ids.take_ids").sync(client=unknown).code == "UNAUTHORIZED"


def test_a_generated_typescript_client_takes_numbers(server: Server, guarded: Server, tmp_path: Path) -> None:
    for name in ("client.ts", "tsconfig.json"):
        shutil.copy(TYPESCRIPT / name, tmp_path)
    tools = TYPESCRIPT / "node_modules/.bin"
    document = tmp_path / "openapi.json"
    document.write_text(run("curl", "--silent", f"{server.url}/openapi.json"))
    run(str(tools / "openapi-ts"), "-i", str(document), "-o", f"{tmp_path}/generated", "--no-log-file")
    run(str(tools / "tsc"), "-p", str(tmp_path), "--typeRoots", f"{TYPESCRIPT}/node_modules/@types")
    environment = {**os.environ, "SNOWMINT_URL": server.url, "GUARDED_URL": guarded.url, "TOKEN": TOKEN}
    words = ["node", str(tmp_path / "client.js")]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode, done.stdout) == (0, "well\n"), done.stdout + done.stderr


def test_the_parsers_of_prometheus_read_the_metrics(server: Server) -> None:
    run("curl", "--silent", f"{server.url}/v1/ids")
    # The parsers have no type annotations.
    parsers: list[tuple[str, Any]] = [("application/openmetrics-text", openmetrics), ("text/plain", classic)]
    for accept, parser in parsers:
        text = run("curl", "--silent", "--fail", "--header", f"Accept: {accept}", f"{server.url}/metrics")
        families = {family.name: family for family in parser.text_string_to_metric_families(text)}
        kinds = {name: family.type for name, family in families.items()}
        assert kinds["snowmint_http_request_duration_seconds"] == "histogram"
        assert kinds.get("snowmint_build") == "info" or kinds["snowmint_build_info"] == "gauge"
        assert kinds["process_cpu_seconds"] == "counter"
        samples = families["snowmint_store_request_duration_seconds"].samples
        assert {sample.labels["operation"] for sample in samples}
