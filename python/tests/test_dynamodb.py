"""Rules for a store in DynamoDB only."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import boto3
import pytest
from botocore.config import Config
from werkzeug.serving import make_server
from werkzeug.wrappers import Request, Response

import dynamo
import processes
from snowmint import InvalidStoreError, Snowflake, StoreUnavailableError, UnsafeStoreError
from snowmint.stores import DynamoDbStore, connect


def store_at(table: str, **options: Any) -> DynamoDbStore:
    return DynamoDbStore(dynamo.client(), table, **options)


def test_a_missing_table_is_made_once_and_by_request(namespace: str) -> None:
    client = dynamo.client()
    first, second = store_at(namespace), store_at(namespace)
    version = first.write("a/b", b"x", 0)
    assert second.read("a/b") == (b"x", version)
    table = client.describe_table(TableName=namespace)["Table"]
    assert table["BillingModeSummary"]["BillingMode"] == "PAY_PER_REQUEST"
    assert {each["AttributeName"]: each["KeyType"] for each in table["KeySchema"]} == {
        "directory": "HASH",
        "name": "RANGE",
    }


def test_a_table_with_other_keys_is_refused(namespace: str) -> None:
    dynamo.client().create_table(
        TableName=namespace,
        KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
        BillingMode="PAY_PER_REQUEST",
    )
    with pytest.raises(InvalidStoreError, match="has the keys id, but needs the partition key directory"):
        store_at(namespace).read("a/b")


@contextmanager
def answering(change: Any) -> Iterator[str]:
    """A server before moto's: `change` gets the operation and what moto answered, and returns the answer."""

    def pass_on(environ: Any, start: Any) -> Any:
        request = Request(environ)
        operation = request.headers["X-Amz-Target"].partition(".")[2]
        import urllib.request

        headers = {name: value for name, value in request.headers.items() if name not in ("Host", "Content-Length")}
        asked = urllib.request.Request(dynamo.endpoint(), request.get_data(), headers)
        try:
            with urllib.request.urlopen(asked) as told:
                status, body = 200, told.read()
        except urllib.error.HTTPError as refusal:
            status, body = refusal.code, refusal.read()
        status, body = change(operation, status, body)
        return Response(body, status, content_type="application/x-amz-json-1.0")(environ, start)

    server = make_server("127.0.0.1", 0, pass_on, threaded=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()


def client_at(endpoint: str) -> Any:
    config = Config(connect_timeout=30, read_timeout=30, retries={"mode": "standard"})
    return boto3.client("dynamodb", region_name=dynamo.REGION, endpoint_url=endpoint, config=config)


@pytest.mark.parametrize(
    ("more", "found"),
    [
        ('"Replicas": [{"RegionName": "us-east-1", "ReplicaStatus": "ACTIVE"}]', "global_table_replicas=1"),
        (
            '"MultiRegionConsistency": "EVENTUAL", "Replicas": [{"RegionName": "a"}, {"RegionName": "b"}]',
            "global_table_replicas=2",
        ),
        ('"MultiRegionConsistency": "STRONG", "Replicas": [{"RegionName": "a"}]', None),
    ],
)
def test_a_global_table_is_refused_unless_it_is_strongly_consistent(
    more: str, found: str | None, namespace: str
) -> None:
    def change(operation: str, status: int, body: bytes) -> tuple[int, bytes]:
        if operation == "DescribeTable":
            body = body.replace(b'{"Table": {', b'{"Table": {' + more.encode() + b", ")
        return status, body

    with answering(change) as endpoint:
        store = DynamoDbStore(client_at(endpoint), namespace)
        if found is None:
            assert Snowflake(store=store, namespace=namespace).next_id() > 0
            return
        with pytest.raises(UnsafeStoreError, match=f"{found}.*multi-Region strong consistency"):
            Snowflake(store=store, namespace=namespace)
        allowed = DynamoDbStore(client_at(endpoint), namespace, allow_unsafe=True)
        assert Snowflake(store=allowed, namespace=namespace).next_id() > 0


def test_a_table_that_becomes_global_grants_no_further_node(namespace: str) -> None:
    is_global = False

    def change(operation: str, status: int, body: bytes) -> tuple[int, bytes]:
        if operation == "DescribeTable" and is_global:
            body = body.replace(b'{"Table": {', b'{"Table": {"Replicas": [{"RegionName": "us-east-1"}], ')
        return status, body

    with answering(change) as endpoint:
        store = DynamoDbStore(client_at(endpoint), namespace)
        assert Snowflake(store=store, namespace=namespace).next_id() > 0
        is_global = True
        with pytest.raises(UnsafeStoreError, match="two regions can write the same record"):
            Snowflake(store=store, namespace=f"{namespace}-2")


def test_a_write_whose_answer_was_lost_is_no_conflict(namespace: str) -> None:
    lost: list[bytes] = []

    def change(operation: str, status: int, body: bytes) -> tuple[int, bytes]:
        # The write is done, and the client sends it again.
        if operation == "PutItem" and status == 200 and not lost:
            lost.append(body)
            return 500, b'{"__type": "InternalServerError"}'
        return status, body

    with answering(change) as endpoint:
        store = DynamoDbStore(client_at(endpoint), namespace)
        version = store.write("a/b", b"mine", 0)
        assert lost
        assert store.read("a/b") == (b"mine", version)
        assert store.write("a/b", b"other", 0) is None


def test_a_write_that_another_one_has_followed_is_unclear(namespace: str) -> None:
    store = store_at(namespace)

    def change(operation: str, status: int, body: bytes) -> tuple[int, bytes]:
        # Between the write and its repetition another writer reads it.
        if operation == "PutItem" and status == 200:
            mine = store.read("a/b")
            assert mine
            assert store.write("a/b", b"next", mine[1])
            return 500, b'{"__type": "InternalServerError"}'
        return status, body

    with answering(change) as endpoint, pytest.raises(StoreUnavailableError, match="was written again meanwhile"):
        DynamoDbStore(client_at(endpoint), namespace).write("a/b", b"mine", 0)


def test_a_write_that_another_one_was_faster_than_is_a_conflict(namespace: str) -> None:
    store = store_at(namespace)
    refused: list[int] = []

    def change(operation: str, status: int, body: bytes) -> tuple[int, bytes]:
        if operation == "PutItem" and not refused:
            refused.append(status)
            return 500, b'{"__type": "InternalServerError"}'
        return status, body

    assert store.write("a/b", b"theirs", 0)
    with answering(change) as endpoint:
        assert DynamoDbStore(client_at(endpoint), namespace).write("a/b", b"mine", 0) is None
    assert refused == [400]


def test_a_lease_survives_the_loss_of_every_first_answer(namespace: str) -> None:
    lost: set[bytes] = set()

    def change(operation: str, status: int, body: bytes) -> tuple[int, bytes]:
        if operation == "PutItem" and status == 200 and len(lost) < 4:
            lost.add(b"%d" % len(lost))
            return 500, b'{"__type": "InternalServerError"}'
        return status, body

    with answering(change) as endpoint:
        store = DynamoDbStore(client_at(endpoint), namespace)
        with Snowflake(store=store, namespace=namespace, max_wait_ms=60_000) as generator:
            assert generator.node == 0
            assert len(set(generator.next_ids(1000))) == 1000


def test_a_user_who_may_not_see_the_table_is_refused(namespace: str) -> None:
    def change(operation: str, status: int, body: bytes) -> tuple[int, bytes]:
        if operation == "DescribeTable":
            return 400, b'{"__type": "com.amazon.coral.service#AccessDeniedException", "Message": "no"}'
        return status, body

    with answering(change) as endpoint:
        with pytest.raises(UnsafeStoreError, match="allow this user dynamodb:DescribeTable"):
            DynamoDbStore(client_at(endpoint), dynamo.TABLE).read("a/b")


# Vouched for by no other test.
NODE = 777


def test_a_given_node_is_leased_and_others_wait_for_it(namespace: str) -> None:
    from snowmint import NodesExhaustedError

    store = store_at(dynamo.TABLE)
    with Snowflake(store=store, namespace=namespace, node=NODE) as generator:
        assert generator.node == NODE
        with pytest.raises(NodesExhaustedError):
            Snowflake(store=store_at(dynamo.TABLE), namespace=namespace, node=NODE, max_wait_ms=50)
        last = generator.next_ids(5000)[-1]
    with Snowflake(store=store, namespace=namespace, node=NODE) as generator:
        assert generator.next_id() > last


def test_a_client_of_a_table_for_event_loops_is_refused() -> None:
    class Asynchronous:
        def __init__(self) -> None:
            self.meta = boto3.client("dynamodb", region_name="eu-west-1").meta

        async def __aenter__(self) -> None: ...

        async def put_item(self) -> None: ...

    with pytest.raises(TypeError, match="Asynchronous: a thread without an event loop renews leases"):
        DynamoDbStore(Asynchronous())


def test_what_is_no_client_of_a_table_is_refused() -> None:
    for wrong in (5, "ids", boto3.client("s3", region_name="eu-west-1"), boto3.resource("dynamodb", "eu-west-1")):
        with pytest.raises(TypeError, match=r'boto3\.client\("dynamodb"\)'):
            DynamoDbStore(wrong)
    for url in ("dynamodb://eu-west-1/a/b", "dynamodb://eu-west-1/a?endpoint=x", "dynamodb://host:80/a"):
        with pytest.raises(InvalidStoreError, match="dynamodb://REGION/TABLE"):
            connect(url)


def test_a_store_without_boto3_names_it() -> None:
    program = """
        import sys
        sys.modules["boto3"] = None
        from snowmint import InvalidStoreError, Snowflake
        try:
            Snowflake(store="dynamodb://eu-west-1/ids")
        except InvalidStoreError as error:
            assert "needs boto3, which is not installed: pip install 'snowmint[dynamodb]'" in str(error), error
        else:
            raise SystemExit("it connects")
    """
    processes.run(program)
