"""Uses that the types allow and refuse. Type checkers read this file; an ignore comment without an error fails."""

from array import array
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import assert_type
from uuid import UUID

import numpy as np

import snowmint
from snowmint import (
    Layout,
    Parts,
    PrefixedId,
    Snowflake,
    SnowmintError,
    TypeID,
    WindowClosedError,
    layouts,
    prefix,
    text,
)


def clock() -> int:
    """Unix ms."""
    return 0


def lost(error: WindowClosedError) -> None:
    """Takes why a lease was lost."""
    assert_type(error.code, str)


def generators() -> None:
    """A generator and its IDs."""
    with Snowflake() as generator:
        assert_type(generator, Snowflake)
        assert_type(generator.next_id(), int)
        assert_type(generator(), int)
        assert_type(next(generator), int)
        assert_type(generator.try_next_id(), int)
        assert_type(generator.next_ids(5), list[int])
        assert_type(generator.node, int)
        assert_type(generator.layout, Layout)
        assert_type(generator.window, snowmint.Window | None)
        for id in generator:
            assert_type(id, int)
        ids: Iterator[int] = iter(generator)
        print(ids)
        generator.fill(array("Q", bytes(16)))
        generator.fill(bytearray(16))
        generator.fill(memoryview(bytearray(16)))
        generator.fill(np.zeros(2, np.uint64))
        generator.fill([0, 0])  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        generator.next_ids("5")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    Snowflake("twitter", 5, max_ahead_ms=5, max_wait_ms=0, sequence_start="carry", clock=clock)
    Snowflake(layouts.TWITTER, {"datacenter": 0, "worker": np.int64(5)})
    Snowflake(store="file:/srv/slots", namespace="orders", on_lost=lost, exclude=[1, "2"], window_ms=3000)
    Snowflake(sequence_start="one")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    Snowflake(nodes=5)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    Snowflake("twitter", 5, "file:/srv")  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]


def layouts_and_parts() -> None:
    """A layout and the parts of an ID."""
    layout = Layout.parse("time:41,node:10,sequence:12;epoch=0")
    assert_type(Layout("time:64;epoch=0"), Layout)
    assert_type(layouts.all(), dict[str, Layout])
    assert_type(layout.ends_at, datetime | None)
    assert_type(layout.signed_until_ms, int | None)
    assert_type(layout.fields, dict[str, int])
    assert_type(layout.id_range(0, datetime.now(UTC)), tuple[int, int])
    layout.id_range(np.datetime64(0, "s"), np.int64(5))
    layout.id_range("2024", 0)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    parts = layout.decode(5)
    assert_type(parts, Parts)
    assert_type(parts.timestamp, datetime)
    assert_type(parts.fields["node"], int)
    assert_type(layout.encode(parts), int)
    assert_type(layout.encode(timestamp_ms=0, node="5", sequence=1), int)
    assert_type(text.decode(text.encode(5, "hex"), "hex"), int)
    layout.decode("5")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    layout.bits = 5  # type: ignore[misc]  # pyright: ignore[reportAttributeAccessIssue]


def wider_ids() -> None:
    """UUIDs, ULIDs and ObjectIds."""
    assert_type(snowmint.uuid7(), UUID)
    assert_type(snowmint.uuid7_str(), str)
    assert_type(snowmint.ulid_str(), str)
    assert_type(snowmint.uuid5(snowmint.UUID_NIL, b"name"), UUID)
    assert_type(snowmint.uuid_to_bin(snowmint.uuid1(node=5)), bytes)
    ulid = snowmint.ULID(snowmint.uuid7())
    assert_type(ulid, snowmint.ULID)
    assert_type(ulid.timestamp, datetime | None)
    assert_type(ulid.bytes, bytes)
    assert_type(ulid < snowmint.ULID.from_parts(0), bool)
    assert_type(snowmint.ObjectId("507f1f77bcf86cd799439011").timestamp, datetime)
    snowmint.ULID(5)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


class UserId(PrefixedId, prefix="user"):
    """A 64-bit ID."""


class OrderId(TypeID, prefix="order"):
    """A TypeID."""


def prefixes_and_masks() -> None:
    """IDs with a prefix, and masks."""
    assert_type(UserId(5), UserId)
    assert_type(UserId("user_0000000000005").value, int)
    assert_type(OrderId().uuid, UUID)
    assert_type(prefix.encode("user", 5), str)
    assert_type(prefix.decode("user", "user_0000000000005"), int | UUID)
    assert_type(prefix.decode("user", "user_0000000000005", int), int)
    assert_type(prefix.decode("user", "user_00000000000000000000000005", UUID), UUID)
    UserId(None)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    assert_type(snowmint.Mask(b"", tweak="a", digits=9).encode(5), int)
    assert_type(snowmint.UuidMask("").decode(snowmint.uuid7()), UUID)
    snowmint.Mask(5)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    assert_type(snowmint.uuid7_range(0, 1), tuple[UUID, UUID])
    assert_type(snowmint.KSUID().payload, bytes)
    assert_type(snowmint.XID().counter, int)


def numbers() -> None:
    """A sequence, and texts of its numbers."""
    sequence = snowmint.Sequences("sqlite:ids.db").sequence("invoices")
    assert_type(sequence.next(), int)
    invoices = snowmint.Formatted(sequence, "INV-{yyyy}-{000}", period="year", clock=clock)
    assert_type(invoices.next(), str)
    assert_type(invoices.parse("INV-2026-001").month, int | None)
    snowmint.Formatted("invoices", "{0}")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    snowmint.Formatted(sequence, "{0}", period="week")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


def sql_and_audits() -> None:
    """Expressions of SQL, and an audit."""
    parts = layouts.TWITTER.decode_sql("postgres", "orders.id")
    assert_type(parts, snowmint.SqlParts)
    assert_type(parts.timestamp, str)
    assert_type(parts.between(datetime.now(UTC), 0), str)
    layouts.TWITTER.decode_sql("oracle", "id")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    report = snowmint.audit([5, 6], "twitter", since=datetime.now(UTC), jitter_ms=np.int64(5), unordered=True)
    assert_type(report.nodes[0].ids_per_second, float)
    assert_type(report.findings[0].node, int | None)
    snowmint.audit([5], jitter=5)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]


def errors() -> None:
    """An error and its numbers."""
    try:
        clock()
    except snowmint.ExhaustedError as error:
        assert_type(error.retry_after_ms, int | None)
    except snowmint.ClockBackwardsError as error:
        assert_type(error.by_ms, int)
    except SnowmintError as error:
        assert_type(error.code, str)
