"""Stores of leases, over the databases that an application already uses.

>>> from snowmint import Snowflake
>>> from snowmint.stores import MemoryStore
>>> store = MemoryStore()
>>> with Snowflake(store=store, namespace="orders") as generator:
...     generator.next_id() > 0
True

| store | over | keeps its promises across |
| --- | --- | --- |
| `FileStore(path)` | slot files | the processes of one machine |
| `SqlStore(engine)` | a SQLAlchemy engine: PostgreSQL, MySQL, MariaDB, SQLite | whoever reaches the database |
| `RedisStore(client)` | a redis-py client | whoever reaches the server |
| `DynamoDbStore(client, table)` | a boto3 client of DynamoDB | whoever reaches the table |
| `EtcdStore(url)` | an etcd cluster, without a client package | whoever reaches the cluster |
| `HttpStore(url, token)` | a running `snowmint serve` | whoever reaches the service; by its clock |
| `MemoryStore()` | memory | one process, for tests |

A lease is claimed when a generator is made, and renewed in the background, within half a window, on a thread that
does not keep the process alive. The generator's constructor waits for a store `max_wait_ms`, or 10 seconds if that is
longer, or, for a distant store, 16 times its slowest answer; `close()` waits 2 seconds. A call that the client never
ends blocks its thread, and later renewals of the same lease. So set the client's timeouts (`connect_args`,
`socket_timeout`, `read_timeout`). All languages write the same records, so a fleet can mix them.
"""

from typing import TYPE_CHECKING, Any

from snowmint.stores._connect import connect
from snowmint.stores._store import Lessor, LessorGrant, Renewal, Store
from snowmint.stores.dynamodb import DynamoDbStore
from snowmint.stores.file import FileStore
from snowmint.stores.memory import MemoryStore
from snowmint.stores.redis import RedisStore

if TYPE_CHECKING:
    from snowmint.stores.etcd import EtcdStore
    from snowmint.stores.http import HttpStore
    from snowmint.stores.sql import SqlStore

__all__ = [
    "DynamoDbStore",
    "EtcdStore",
    "FileStore",
    "HttpStore",
    "Lessor",
    "LessorGrant",
    "MemoryStore",
    "RedisStore",
    "Renewal",
    "SqlStore",
    "Store",
    "connect",
]


def __getattr__(name: str) -> Any:
    # SQLAlchemy is needed for the one, and the standard library's HTTP takes its time.
    if name == "SqlStore":
        from snowmint.stores.sql import SqlStore

        return SqlStore
    if name == "EtcdStore":
        from snowmint.stores.etcd import EtcdStore

        return EtcdStore
    if name == "HttpStore":
        from snowmint.stores.http import HttpStore

        return HttpStore
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
