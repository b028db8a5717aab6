"""A store on a Redis server."""

import os
import threading
from collections.abc import Sequence
from typing import Any
from weakref import WeakSet

from snowmint._errors import InvalidStoreError, SnowmintError, StoreUnavailableError, UnsafeStoreError
from snowmint._snowmint import REDIS_ADD, REDIS_LOOK, REDIS_WRITE, engine_settings, misconfigured
from snowmint.stores._findings import Findings
from snowmint.stores._store import MAX_COUNT, full, is_async, new_version, prefixed, refuse_green_threads, wrong_client

# The client knows an answer by the words before the last one.
_LOOK = [line.rsplit(" ", 1) for line in REDIS_LOOK.splitlines()]
_pools: "WeakSet[Any]" = WeakSet()


def _unlock() -> None:
    """Gives pools new locks in a forked child.

    A pool of redis-py keeps its locks there. A thread of the parent may have held one, and then every call of the child
    would wait for it for ever.
    """
    for pool in _pools:
        for name in ("_lock", "_fork_lock"):
            if hasattr(pool, name):
                setattr(pool, name, threading.RLock())


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_unlock)


class RedisStore:
    """Records and counters on one Redis server, by a client of redis-py.

        Snowflake(store=RedisStore(redis.Redis(host="ids", socket_timeout=5)), namespace="orders")

    A server that can lose confirmed writes is refused with `UnsafeStoreError`: it needs `appendonly yes` and
    `appendfsync always`, and must not evict. That is looked at with each request, in the same round trip. Replicas,
    Sentinel and Cluster, whose failover can lose confirmed writes, are refused at first and by each claim; leases that
    are held go on, and `Snowflake.status().standby_risk` and the log of `snowmint` say so.

    Args:
        client: A `redis.Redis`, which stays the caller's. Beside a client of `redis.asyncio` make a second client,
            because a thread without an event loop renews leases.
        prefix: What keys begin with.
        allow_unsafe: Whether such servers are accepted.
        allow_standby: Whether replicas and Sentinel are accepted, as `snowmint fence` follows every failover.
    """

    def __init__(
        self, client: Any, *, prefix: str = "snowmint", allow_unsafe: bool = False, allow_standby: bool = False
    ) -> None:
        # A client of a cluster has no single pool.
        pool = getattr(client, "connection_pool", None)
        if pool is None or is_async(client) or not callable(getattr(client, "execute_command", None)):
            raise wrong_client("RedisStore", "a redis.Redis", client)
        if getattr(client, "connection", None) is not None:
            raise TypeError(
                "RedisStore needs a redis.Redis with a pool, not single_connection_client=True, whose connection a "
                "forked process would share"
            )
        refuse_green_threads("RedisStore")
        self._client, self._prefix, self._allow_unsafe = client, prefix, allow_unsafe
        self._checked = False
        _pools.add(pool)
        options = getattr(pool, "connection_kwargs", {})
        place = options.get("path") or f"{options.get('host', 'localhost')}:{options.get('port', 6379)}"
        database = options.get("db") or 0
        self._name = f"Redis at {place}{f'/{database}' if database else ''}{prefixed(prefix)}"
        self._findings = Findings(self._name, "redis", allow_standby=allow_standby)

    def read(self, key: str) -> tuple[bytes, int] | None:
        """As `Store.read`."""
        directory, field = self._record(key)
        stored = self._ask("HGET", directory, field)
        return None if stored is None else self._found(key, stored)

    def write(self, key: str, value: bytes, expected_version: int) -> int | None:
        """As `Store.write`."""
        directory, field = self._record(key)
        version = new_version()
        stored = b"%d:%s" % (version, value)
        written = self._ask("EVAL", REDIS_WRITE, 1, directory, field, expected_version, stored)
        return version if written else None

    def list(self, prefix: str) -> Sequence[tuple[str, bytes, int]]:
        """As `Store.list`."""
        directory, _ = self._record(prefix)
        stored = self._ask("HGETALL", directory)
        return [(field.decode(), *self._found(prefix, value)) for field, value in stored.items()]

    def add(self, counter: str, delta: int, start: int) -> int:
        """As `Store.add`."""
        if delta > MAX_COUNT:
            raise full(self, counter)
        first = start + delta if start + delta <= MAX_COUNT else ""
        count = self._ask("EVAL", REDIS_ADD, 1, f"{self._prefix}:counters:{counter}", delta, first)
        if count is None:
            raise full(self, counter)
        return int(count)

    def clock_ms(self) -> int:
        """As `Store.clock_ms`."""
        seconds, micros = self._ask("TIME")
        return int(seconds) * 1000 + int(micros) // 1000

    def refuse_standby(self) -> None:
        """Refuses a claim where a failover could lose it, unless `allow_standby`."""
        if not self._allow_unsafe:
            self._look()
            self._findings.refuse_standby()

    def standby_risk(self) -> str | None:
        """The writes that a failover could lose, by the last look at the settings."""
        return self._findings.risk

    def settings(self) -> tuple[str, dict[str, str]]:
        """Returns the engine, and its settings that decide whether it keeps confirmed writes."""
        found = self._settings(self._send(*_LOOK))
        return "redis", {name: found[name] for name in engine_settings("redis") if name in found}

    def _ask(self, *words: Any) -> Any:
        """The answer to a command, which counts only if the look at the settings behind it passes."""
        if not self._checked:
            self._look()
        answer, *looked = self._send(words, *([] if self._allow_unsafe else _LOOK))
        if looked:
            self._findings.judge(self._settings(looked))
        if isinstance(answer, Exception):
            raise self._failed(answer) from answer
        return answer

    def _look(self) -> None:
        """Looks at the settings alone: a server that is refused at first is not written."""
        if not self._allow_unsafe:
            self._findings.judge(self._settings(self._send(*_LOOK)))
        self._checked = True

    def _send(self, *commands: Sequence[Any]) -> Sequence[Any]:
        """The answers to commands that are sent in one piece; an error of the server is an answer."""
        pipeline = self._client.pipeline(transaction=False)
        for words in commands:
            # Records are bytes, also where the client decodes its answers.
            pipeline.execute_command(*words, NEVER_DECODE=True)
        try:
            answers: Sequence[Any] = pipeline.execute(raise_on_error=False)
            return answers
        except Exception as error:
            raise self._failed(error) from error

    def _failed(self, error: Exception) -> SnowmintError:
        cure = misconfigured("redis", "", str(error))
        failed = StoreUnavailableError if cure is None else InvalidStoreError
        return failed(f"{self}: {type(error).__name__}: {error}{cure or ''}")

    def _record(self, key: str) -> tuple[str, str]:
        directory, _, field = key.rpartition("/")
        return f"{self._prefix}:records:{directory}", field

    def _found(self, key: str, stored: bytes) -> tuple[bytes, int]:
        version, colon, value = stored.partition(b":")
        if not colon or not version.isdigit():
            raise StoreUnavailableError(f"{self}: the value at {key} is not a record of snowmint")
        return value, int(version)

    def _settings(self, answers: Sequence[Any]) -> dict[str, str]:
        """The settings in the answers to a look."""
        pool = type(self._client.connection_pool).__name__
        found = {"sentinel": pool if pool == "SentinelConnectionPool" else "no"}
        for words, answer in zip(_LOOK, answers, strict=True):
            if isinstance(answer, Exception):
                # By name, as a client may come from a relative of redis-py. Others pass, such as while data are loaded.
                if type(answer).__name__ not in ("NoPermissionError", "ResponseError"):
                    raise self._failed(answer) from answer
                raise UnsafeStoreError(
                    f"{self}: {' '.join(words)} is refused ({answer}), and without it nobody knows whether writes are "
                    "synced: allow this user INFO and CONFIG GET, or pass allow_unsafe=True"
                ) from answer
            found |= {name: str(value) for name, value in answer.items()}
        return found

    def __str__(self) -> str:
        return self._name

    def __repr__(self) -> str:
        return f"RedisStore({self._name})"
