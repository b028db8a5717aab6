"""The ledgers of workers: the windows and IDs of each generator, with their times.

A ledger is a file of one thread of one process. A worker appends each record in one write. The record has a head of 32
bytes, in little-endian order, and perhaps a body:

| kind | count | first | second | third | body |
| --- | --- | --- | --- | --- | --- |
| 1, opened | process number | call | return | number of the generator in its process | |
| 2, granted | node | start of the window | end of the window | now | |
| 3, minted | number of IDs | call | return | `max_wait_ms` of the call | IDs, 8 bytes each |
| 4, refused | length of the code | call | return | `max_wait_ms` of the call | code of the error |
| 5, served | number of the service | call | now | number of the connection | |

Windows are Unix ms; calls, returns and "now" are ns of the machine's monotonic clock, which all processes share. A call
whose deadline is not checked has -1. A worker writes a window down before it mints inside it; if a renewal extends the
window during a call, the worker writes the new window before the IDs of that call. The ledgers of threads of one process
have the same name up to the last dot. A client of services begins the IDs of each connection by "served", and knows no window.
"""

import os
import select
import struct
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

OPENED, GRANTED, MINTED, REFUSED, SERVED = 1, 2, 3, 4, 5
HEAD = struct.Struct("<IIqqq")
UNCHECKED = -1
"""The deadline of a call that has none."""

LAYOUT = "time:41,node:4,sequence:12;epoch=2025-01-01T00:00:00Z"
"""The layout of all workers. 16 nodes are few, so that nodes soon change hands."""
EPOCH_MS = 1_735_689_600_000
NODE_BITS, SEQUENCE_BITS = 4, 12

Ids = NDArray[np.uint64]


def ms_of(ids: Ids) -> NDArray[np.int64]:
    """Returns the Unix ms of IDs."""
    return (ids >> np.uint64(NODE_BITS + SEQUENCE_BITS)).astype(np.int64) + EPOCH_MS


def nodes_of(ids: Ids) -> NDArray[np.int64]:
    """Returns the nodes of IDs."""
    return ((ids >> np.uint64(SEQUENCE_BITS)) & np.uint64((1 << NODE_BITS) - 1)).astype(np.int64)


def rest(seconds: float) -> None:
    """Sleeps. `time.sleep` fails under a false clock: libfaketime changes the time at which it ends."""
    select.select([], [], [], seconds)


class Writer:
    """Appends to the ledger of a worker in Python.

    Args:
        path: The file.
    """

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        self._last: tuple[int, ...] | None = None

    def _append(self, kind: int, count: int, first: int, second: int, third: int, body: bytes = b"") -> None:
        record = HEAD.pack(kind, count, first, second, third) + body
        written = os.write(self._file, record)
        assert written == len(record), "the ledger's disk is full"

    def opened(self, number: int, call: int) -> None:
        """Begins the records of a generator."""
        self._last = None
        self._append(OPENED, os.getpid(), call, time.monotonic_ns(), number)

    def served(self, service: int, connection: int, call: int) -> None:
        """Begins the IDs of a connection, if it is new."""
        if self._last != (service, connection):
            self._last = (service, connection)
            self._append(SERVED, service, call, time.monotonic_ns(), connection)

    def granted(self, node: int, start: int, end: int) -> None:
        """Writes a node and a window down, if they are new."""
        if self._last != (node, start, end):
            self._last = (node, start, end)
            self._append(GRANTED, node, start, end, time.monotonic_ns())

    def minted(self, call: int, back: int, deadline_ms: int, ids: list[int]) -> None:
        """Writes the IDs of a call down."""
        self._append(MINTED, len(ids), call, back, deadline_ms, struct.pack(f"<{len(ids)}Q", *ids))

    def refused(self, call: int, back: int, deadline_ms: int, code: str) -> None:
        """Writes the refusal of a call down."""
        self._append(REFUSED, len(code), call, back, deadline_ms, code.encode())


@dataclass(frozen=True)
class Call:
    """A call of a generator that returned IDs, or an error.

    Attributes:
        call: The time of the call, ns.
        back: The time of its return, ns.
        deadline_ms: How long the call may have waited.
        ids: The IDs; none if the call was refused.
        code: The code of the error; empty if the call minted.
        window: Node, start and end of the window that stood in the ledger before this record.
    """

    call: int
    back: int
    deadline_ms: int
    ids: Ids
    code: str
    window: tuple[int, int, int] | None


@dataclass
class Generator:
    """The records of one generator in the ledger of one thread, or of one connection to a service.

    Attributes:
        name: Names the generator. The threads of one generator have the same name.
        process: The process number; 0 for a connection.
        service: Names the service that a connection leads to; empty for a generator of a worker.
        calls: Its calls, in order.
    """

    name: str
    process: int
    service: str = ""
    calls: list[Call] = field(default_factory=list)


def read(path: Path) -> Iterator[Generator]:
    """Reads the generators of a ledger. A killed worker may have written its last record in part, which is left out."""
    content = path.read_bytes()
    generator: Generator | None = None
    window: tuple[int, int, int] | None = None
    at = 0
    nothing: Ids = np.empty(0, np.uint64)
    while at + HEAD.size <= len(content):
        kind, count, first, second, third = HEAD.unpack_from(content, at)
        at += HEAD.size
        body = {MINTED: 8 * count, REFUSED: count}.get(kind, 0)
        if at + body > len(content):
            break
        if kind in (OPENED, SERVED):
            if generator is not None:
                yield generator
            name, window = f"{path.stem} {count} {third}", None
            generator = Generator(name, count) if kind == OPENED else Generator(name, 0, f"service-{count}")
        elif generator is None:
            raise ValueError(f"{path}: the ledger does not begin with a generator")
        elif kind == GRANTED:
            window = (count, first, second)
        elif kind == MINTED:
            ids = np.frombuffer(content, "<u8", count, at)
            generator.calls.append(Call(first, second, third, ids, "", window))
        elif kind == REFUSED:
            code = content[at : at + count].decode()
            generator.calls.append(Call(first, second, third, nothing, code, window))
        else:
            raise ValueError(f"{path}: kind {kind} at byte {at - HEAD.size}")
        at += body
    if generator is not None:
        yield generator


TAKE = np.dtype([("whose", "<u8"), ("low", "<u8"), ("high", "<i8"), ("call", "<u8"), ("back", "<u8")])
"""An entry of a ledger of numbers, as `snowmint-taker` writes it (tests/src/takes.rs): the user, or for other kinds the number of
the session within the ledger, and a number of 128 bits."""


def take(whose: int, number: int, call: int, back: int) -> bytes:
    """Returns the bytes of an entry of a ledger of numbers."""
    return struct.pack("<QQqQQ", whose, number & (2**64 - 1), number >> 64, call, back)


def read_takes(path: Path) -> NDArray[np.void]:
    """Reads the entries of a ledger of numbers."""
    content = path.read_bytes()
    return np.frombuffer(content, TAKE, len(content) // TAKE.itemsize)
