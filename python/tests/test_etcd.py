"""EtcdStore alone: several members, lost answers, restored backups, users, and values that other programs write."""

import json
import socket
import ssl
import struct
import subprocess
import urllib.request
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import servers
from distant import Distant
from snowmint import InvalidStoreError, Segments, StoreUnavailableError
from snowmint.stores import EtcdStore, connect

GONE = "127.0.0.1:1"


@pytest.fixture
def server() -> Iterator[servers.Server]:
    """A cluster of this test alone."""
    with servers.Server("etcd") as server:
        yield server


def ask(port: int, path: str, question: object, token: str = "") -> dict[str, Any]:
    """Asks a member as any client may."""
    request = urllib.request.Request(f"http://127.0.0.1:{port}/v3/{path}", json.dumps(question).encode())
    if token:
        request.add_header("Authorization", token)
    with urllib.request.urlopen(request) as answer:
        found: dict[str, Any] = json.load(answer)
    return found


def encoded(key: str) -> str:
    return b64encode(key.encode()).decode()


def value_of(port: int, key: str) -> bytes:
    (pair,) = ask(port, "kv/range", {"key": encoded(key)})["kvs"]
    return b64decode(pair["value"])


def test_keys_and_values_are_those_of_rust(server: servers.Server) -> None:
    for prefix, url in [("snowmint", server.url), ("mine", f"{server.url}?prefix=mine")]:
        store = EtcdStore(url)
        assert store.write("leases/orders/5", b"\x00any\xff", 0)
        assert store.add("numbers", 5, 100) == 105
        assert value_of(server.port, f"{prefix}/records/leases/orders/5") == b"\x00any\xff"
        assert value_of(server.port, f"{prefix}/counters/numbers") == b"105"
    with pytest.raises(StoreUnavailableError, match="the value at snowmint/counters/odd is not a number"):
        ask(server.port, "kv/put", {"key": encoded("snowmint/counters/odd"), "value": encoded("-1")})
        EtcdStore(server.url).add("odd", 1, 0)


def test_rust_and_python_take_numbers_of_one_tag(server: servers.Server, tmp_path: Path) -> None:
    before = Segments(connect(server.url), "takes", step=10, max_wait_ms=20_000)
    taken = {before.next() for _ in range(100)}
    taker = subprocess.Popen([servers.TARGET / "debug" / "snowmint-taker", "segment", server.url, tmp_path])
    try:
        servers.until("a number of Rust", lambda: any(file.stat().st_size > 3200 for file in tmp_path.iterdir()))
        taken |= {before.next() for _ in range(1000)}
    finally:
        taker.kill()
        taker.wait()
    (ledger,) = tmp_path.iterdir()
    entries = ledger.read_bytes()
    theirs = [number for _, number, *_ in struct.iter_unpack("<QQQQQ", entries[: len(entries) // 40 * 40])]
    assert len(taken) == 1100
    assert len(taken | set(theirs)) == len(taken) + len(theirs)


def test_a_list_has_more_pages_than_one(server: servers.Server) -> None:
    store = EtcdStore(server.url)
    keys = {f"{number}" for number in range(1100)}
    puts = [
        {"request_put": {"key": encoded(f"snowmint/records/many/{key}"), "value": encoded(key)}} for key in sorted(keys)
    ]
    for first in range(0, len(puts), 100):
        ask(server.port, "kv/txn", {"success": puts[first : first + 100]})
    listed = store.list("many/")
    assert {key for key, _, _ in listed} == keys
    assert all(value == key.encode() for key, value, _ in listed)


def test_the_member_that_answers_is_asked_first(server: servers.Server) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        members = f"{GONE},127.0.0.1:{silent.getsockname()[1]},127.0.0.1:{server.port}"
        store = EtcdStore(f"etcd://{members}", timeout_s=3)
        version = store.write("a/b", b"1", 0)
        silent.accept()[0].close()
        assert store.read("a/b") == (b"1", version)
        assert store.add("c", 1, 0) == 1
        silent.settimeout(0)
        with pytest.raises(BlockingIOError):
            silent.accept()
        server.kill()
        with pytest.raises(StoreUnavailableError, match=f"etcd at {members}: .*no answer within"):
            store.read("a/b")


def test_a_write_whose_answer_is_lost_is_not_sent_again(server: servers.Server) -> None:
    with Distant(server.port) as proxy:
        losing = EtcdStore(f"etcd://127.0.0.1:{proxy.port},127.0.0.1:{server.port}")
        store = EtcdStore(server.url)
        assert losing.add("c", 1, 0) == 1
        writes: list[Callable[[], object]] = [
            lambda: losing.add("c", 1, 0),
            lambda: losing.write("a/b", b"1", 0),
            lambda: losing.lower("c", 2, 0),
        ]
        for write in writes:
            proxy.lose(b"/v3/kv/txn")
            with pytest.raises(StoreUnavailableError, match="RemoteDisconnected"):
                write()
        assert store.add("c", 0, 5) == 0
        found = store.read("a/b")
        assert found is not None
        assert found[0] == b"1"


def test_a_restored_backup_that_counts_to_the_same_revision_has_other_versions(server: servers.Server) -> None:
    with servers.Server("etcd") as restored:
        before, after = EtcdStore(server.url), EtcdStore(restored.url)
        version = before.write("a/b", b"before", 0)
        assert version
        assert after.write("a/b", b"after", 0)
        revisions = {
            ask(each.port, "kv/range", {"key": encoded("snowmint/records/a/b")})["kvs"][0]["mod_revision"]
            for each in (server, restored)
        }
        assert len(revisions) == 1
        assert after.write("a/b", b"late", version) is None
        assert before.write("a/b", b"more", version)


def test_users(server: servers.Server) -> None:
    def url(user: str) -> str:
        return server.url.replace("//", f"//{user}@")

    with pytest.raises(InvalidStoreError, match="authentication is not enabled"):
        EtcdStore(url("root:r")).read("a/b")
    port = server.port
    for user, password in (("root", "r"), ("app", "a/b@:?"), ("guest", "g")):
        ask(port, "auth/user/add", {"name": user, "password": password})
    ask(port, "auth/user/grant", {"user": "root", "role": "root"})
    ask(port, "auth/role/add", {"name": "ids"})
    own = {"permType": "READWRITE", "key": encoded("snowmint/"), "range_end": encoded("snowmint0")}
    ask(port, "auth/role/grant", {"name": "ids", "perm": own})
    ask(port, "auth/user/grant", {"user": "app", "role": "ids"})
    ask(port, "auth/enable", {})
    store = EtcdStore(url("app:a%2Fb%40:%3F"))
    version = store.write("a/b", b"1", 0)
    assert version
    for user, message in (
        ("app:wrong", "authentication failed"),
        ("guest:g", "permission denied"),
        ("nobody:x", "authentication failed"),
    ):
        with pytest.raises(InvalidStoreError, match=f"etcd at 127.0.0.1:{port}: .*{message}"):
            EtcdStore(url(user)).read("a/b")
    with pytest.raises(InvalidStoreError, match="user name is empty"):
        EtcdStore(server.url).read("a/b")
    # A member forgets its tokens when it ends, and when a user is changed.
    server.restart()
    assert store.read("a/b") == (b"1", version)
    root = ask(port, "auth/authenticate", {"name": "root", "password": "r"})["token"]
    ask(port, "auth/user/changepw", {"name": "app", "password": "a/b@:?"}, root)
    assert store.write("a/b", b"2", version)


def test_etcds_trusts_whom_its_context_trusts(server: servers.Server, certificate: tuple[Path, Path]) -> None:
    trusted = ssl.create_default_context(cafile=str(certificate[0]))
    own = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    own.load_cert_chain(*certificate)
    with Distant(server.port, ssl_context=own) as proxy:
        url = f"etcds://localhost:{proxy.port}"
        store = EtcdStore(url, ssl_context=trusted)
        assert store.add("c", 1, 0) == 1
        with pytest.raises(StoreUnavailableError, match="certificate"):
            EtcdStore(url).add("c", 1, 0)
    with pytest.raises(ValueError, match="etcds:// alone"):
        EtcdStore(server.url, ssl_context=trusted)


@pytest.mark.parametrize(
    "url",
    [
        "etcd:h1",
        "etcd://",
        "http://h1",
        "etcd://me:s3cret@h1,,h2",
        "etcd://me:s3cret@:5",
        "etcd://me:s3cret%@h1",
        "etcd://me:s3cret@h1/ids",
        "etcd://me:s3cret",
        "etcd://h1?ca=s3cret",
        "etcd://h1?prefix=s3cret/",
        "etcd://h1?prefix=",
    ],
)
def test_a_url_of_another_form_is_refused_without_its_password(url: str) -> None:
    with pytest.raises(ValueError, match="the URL of an EtcdStore is etcd://USER:PASSWORD@HOST:PORT") as caught:
        EtcdStore(url)
    assert "s3cret" not in str(caught.value)
    with pytest.raises(InvalidStoreError) as refused:
        connect(url.replace("http:", "etcd:http:"))
    assert "s3cret" not in str(refused.value)


def test_what_is_no_url_and_no_timeout_is_refused() -> None:
    with pytest.raises(TypeError, match="EtcdStore needs a URL"):
        EtcdStore(5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="timeout_s"):
        EtcdStore("etcd://h1", timeout_s=0)
    assert str(EtcdStore("etcd://me:x@h1,[::1],[::1]:5?prefix=mine")) == (
        "etcd at h1:2379,[::1]:2379,[::1]:5 with prefix mine"
    )
    assert connect("etcd://h1") is connect("etcd://h1")
