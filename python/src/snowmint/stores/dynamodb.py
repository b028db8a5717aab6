"""A store in a table of DynamoDB."""

import os
import time
from collections.abc import Sequence
from importlib import import_module
from typing import Any
from weakref import WeakSet

from snowmint._errors import InvalidStoreError, StoreUnavailableError, UnsafeStoreError
from snowmint.stores._findings import Findings
from snowmint.stores._store import MAX_COUNT, full, is_async, new_version, prefixed, refuse_green_threads, wrong_client

MAKING_S = 30.0
"""How long a new table may take."""
KEYS = {"directory": "HASH", "name": "RANGE"}

_clients: "WeakSet[Any]" = WeakSet()
_inherited: list[object] = []


def _separate() -> None:
    """Gives clients new connections in a forked child, and leaves the parent's open there.

    A client of botocore keeps its connections there. A thread of the parent may have held a lock of them.
    """
    for client in _clients:
        session = getattr(getattr(client, "_endpoint", None), "http_session", None)
        if session is not None and hasattr(session, "_get_pool_manager_kwargs"):
            urllib3: Any = import_module("urllib3")
            # To close them would wait for the lock.
            _inherited.extend([session._manager, session._proxy_managers])
            session._manager = urllib3.PoolManager(**session._get_pool_manager_kwargs())
            session._proxy_managers = {}


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_separate)


class DynamoDbStore:
    """Records and counters in one table of DynamoDB, by a client of boto3.

        Snowflake(store=DynamoDbStore(boto3.client("dynamodb"), "ids"), namespace="orders")

    The table has the partition key `directory` and the sort key `name`, both strings. A missing table is made when
    first used, and is paid by request. Writes are conditional, reads are strongly consistent. A global table, whose
    regions accept writes without each other, is refused with `UnsafeStoreError`, unless it has multi-Region strong
    consistency; that is looked at at first and by each claim. The client's user needs `dynamodb:DescribeTable`,
    `GetItem`, `PutItem`, `UpdateItem` and `Query`, and `CreateTable` for a table that is missing.

    The store has no clock. `snowmint fence` and `snowmint lease ls` do not reach it: after a table was restored from a
    backup, use a new namespace with a new layout or epoch.

    Args:
        client: `boto3.client("dynamodb")`, which stays the caller's. A forked child gets its own connections. Not
            a client of aioboto3, because a thread without an event loop renews leases.
        table: The name or ARN of the table.
        prefix: What keys begin with.
        allow_unsafe: Whether global tables are accepted.
    """

    def __init__(
        self, client: Any, table: str = "snowmint", *, prefix: str = "snowmint", allow_unsafe: bool = False
    ) -> None:
        service = getattr(getattr(getattr(client, "meta", None), "service_model", None), "service_name", None)
        if service != "dynamodb" or is_async(client) or not callable(getattr(client, "put_item", None)):
            raise wrong_client("DynamoDbStore", 'boto3.client("dynamodb")', client)
        refuse_green_threads("DynamoDbStore")
        self._client, self._table, self._prefix, self._allow_unsafe = client, table, prefix, allow_unsafe
        _clients.add(client)
        self._name = f"DynamoDB table {table} at {client.meta.endpoint_url.partition('://')[2]}{prefixed(prefix)}"
        self._findings = Findings(self._name, "dynamodb", allow_standby=False)
        self._checked = False

    def read(self, key: str) -> tuple[bytes, int] | None:
        """As `Store.read`."""
        self._check_once()
        answer = self._client.get_item(TableName=self._table, Key=self._record(key), ConsistentRead=True)
        item = answer.get("Item")
        return None if item is None else self._found(key, item)

    def write(self, key: str, value: bytes, expected_version: int) -> int | None:
        """As `Store.write`."""
        self._check_once()
        version = new_version()
        item = {**self._record(key), "version": {"N": str(version)}, "value": {"B": value}}
        item["over"] = {"N": str(expected_version)}
        condition: dict[str, Any] = {"ConditionExpression": "attribute_not_exists(#version)"}
        if expected_version:
            condition = {
                "ConditionExpression": "#version = :expected",
                "ExpressionAttributeValues": {":expected": {"N": str(expected_version)}},
            }
        try:
            self._client.put_item(
                TableName=self._table, Item=item, ExpressionAttributeNames={"#version": "version"}, **condition
            )
        except self._client.exceptions.ClientError as error:
            if _code(error) != "ConditionalCheckFailedException":
                raise
            if not error.response["ResponseMetadata"].get("RetryAttempts"):
                return None
            # The first attempt may have succeeded, which makes the condition of the second fail.
            return self._written(key, version, expected_version)
        return version

    def list(self, prefix: str) -> Sequence[tuple[str, bytes, int]]:
        """As `Store.list`."""
        self._check_once()
        found: list[tuple[str, bytes, int]] = []
        question: dict[str, Any] = {
            "TableName": self._table,
            "ConsistentRead": True,
            "KeyConditionExpression": "#directory = :directory",
            "ExpressionAttributeNames": {"#directory": "directory"},
            "ExpressionAttributeValues": {":directory": self._record(prefix)["directory"]},
        }
        while True:
            page = self._client.query(**question)
            found += [(item["name"]["S"], *self._found(prefix, item)) for item in page["Items"]]
            if not page.get("LastEvaluatedKey"):
                return found
            question["ExclusiveStartKey"] = page["LastEvaluatedKey"]

    def add(self, counter: str, delta: int, start: int) -> int:
        """As `Store.add`."""
        self._check_once()
        if delta > MAX_COUNT:
            raise full(self, counter)
        condition = "#value <= :most"
        if start + delta <= MAX_COUNT:
            condition += " OR attribute_not_exists(#value)"
        try:
            answer = self._client.update_item(
                TableName=self._table,
                Key={"directory": {"S": f"{self._prefix}/counters/{counter}"}, "name": {"S": "counter"}},
                UpdateExpression="SET #value = if_not_exists(#value, :start) + :delta",
                ConditionExpression=condition,
                ExpressionAttributeNames={"#value": "value"},
                ExpressionAttributeValues={
                    ":start": {"N": str(start)},
                    ":delta": {"N": str(delta)},
                    ":most": {"N": str(MAX_COUNT - delta)},
                },
                ReturnValues="ALL_NEW",
            )
        except self._client.exceptions.ClientError as error:
            if _code(error) != "ConditionalCheckFailedException":
                raise
            raise full(self, counter) from None
        return int(answer["Attributes"]["value"]["N"])

    def clock_ms(self) -> int | None:
        """It has none."""
        return None

    def refuse_standby(self) -> None:
        """Refuses a claim on a global table."""
        self._check()

    def settings(self) -> tuple[str, dict[str, str]]:
        """Returns the engine, and the settings of the table that decide whether it keeps confirmed writes."""
        return "dynamodb", _settings(self._described())

    def _record(self, key: str) -> dict[str, Any]:
        directory, _, name = key.rpartition("/")
        return {"directory": {"S": f"{self._prefix}/records/{directory}"}, "name": {"S": name}}

    def _found(self, key: str, item: dict[str, Any]) -> tuple[bytes, int]:
        try:
            return bytes(item["value"]["B"]), int(item["version"]["N"])
        except (KeyError, ValueError):
            raise StoreUnavailableError(f"{self}: the item of {key} is not a record of snowmint") from None

    def _written(self, key: str, version: int, expected: int) -> int | None:
        """Finds the outcome of a write whose first answer was lost."""
        item = self._client.get_item(TableName=self._table, Key=self._record(key), ConsistentRead=True).get("Item", {})
        if item.get("version") == {"N": str(version)}:
            return version
        # The present record has replaced the record that this write was meant to replace.
        if item.get("over") == {"N": str(expected)}:
            return None
        raise StoreUnavailableError(f"{self}: {key} was written again meanwhile, an answer was lost")

    def _check_once(self) -> None:
        if not self._checked:
            self._check()

    def _check(self) -> None:
        if self._allow_unsafe and self._checked:
            return
        table = self._described()
        keys = {each["AttributeName"]: each["KeyType"] for each in table["KeySchema"]}
        if keys != KEYS:
            raise InvalidStoreError(
                f"{self}: the table has the keys {', '.join(keys)}, but needs the partition key directory and the sort "
                "key name, both strings"
            )
        if not self._allow_unsafe:
            self._findings.judge(_settings(table))
        self._checked = True

    def _described(self) -> dict[str, Any]:
        """The table, which is made if it is missing."""
        deadline = time.monotonic() + MAKING_S
        while True:
            try:
                table: dict[str, Any] = self._client.describe_table(TableName=self._table)["Table"]
                if table["TableStatus"] not in ("CREATING", "DELETING"):
                    return table
                if time.monotonic() > deadline:
                    raise StoreUnavailableError(f"{self}: the table is still {table['TableStatus']}")
                time.sleep(0.1)
            except self._client.exceptions.ClientError as error:
                if _code(error) == "ResourceNotFoundException":
                    self._make()
                    continue
                if _code(error) != "AccessDeniedException":
                    raise
                raise UnsafeStoreError(
                    f"{self}: DescribeTable is refused, and without it nobody knows whether the table is global: allow "
                    "this user dynamodb:DescribeTable"
                ) from error

    def _make(self) -> None:
        try:
            self._client.create_table(
                TableName=self._table,
                KeySchema=[{"AttributeName": name, "KeyType": kind} for name, kind in KEYS.items()],
                AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name in KEYS],
                BillingMode="PAY_PER_REQUEST",
            )
        except self._client.exceptions.ClientError as error:
            # Another process makes it.
            if _code(error) != "ResourceInUseException":
                raise

    def __str__(self) -> str:
        return self._name

    def __repr__(self) -> str:
        return f"DynamoDbStore({self._name})"


def _code(error: Any) -> str:
    """Returns the code of a `ClientError`. Threads that use a client at once may see two classes of the same error."""
    return str(error.response["Error"]["Code"])


def _settings(table: dict[str, Any]) -> dict[str, str]:
    """The settings that core's rules judge."""
    return {
        "global_table_replicas": str(len(table.get("Replicas", []))),
        "multi_region_consistency": table.get("MultiRegionConsistency", ""),
    }
