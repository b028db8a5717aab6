"""Redis clients: redis-py in both protocols, redis-cli, redis-benchmark."""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest
import redis
from conftest import TOKEN, run
from redis.backoff import NoBackoff
from redis.retry import Retry
from servers import Server


@pytest.fixture(params=[2, 3])
def client(server: Server, request: pytest.FixtureRequest) -> Iterator[Any]:
    """A redis-py client in one of the protocols. The types of its answers depend on the protocol, hence `Any`."""
    with redis.Redis(port=server.second_port, protocol=request.param, decode_responses=True) as connected:
        yield connected


def test_redis_py_counts(client: Any, request: pytest.FixtureRequest) -> None:
    key = request.node.name
    assert client.get(key) is None
    assert [client.incr(key), client.incr(key), client.incrby(key, 10)] == [1, 2, 12]
    assert client.get(key) == "13"
    assert client.set(key, 1000) is True
    assert [client.incr(key), client.exists(key), client.exists(key, "none")] == [1001, 1, 1]
    assert [client.delete(key), client.exists(key), client.delete(key)] == [1, 0, 0]
    assert client.incr(key) > 1001


def test_redis_py_gets_the_protocol_of_its_hello(client: Any, request: pytest.FixtureRequest) -> None:
    hello = client.execute_command("HELLO")
    told = hello if isinstance(hello, dict) else dict(zip(hello[::2], hello[1::2], strict=True))
    assert told["server"] == "snowmint"
    assert told["proto"] == request.node.callspec.params["client"]
    assert client.ping() is True
    assert client.info()["loading"] == 0


def test_a_pipeline_of_a_thousand_is_answered_in_order(client: Any, request: pytest.FixtureRequest) -> None:
    with client.pipeline(transaction=False) as pipeline:
        for _ in range(1000):
            pipeline.incr(request.node.name)
        numbers = pipeline.execute()
    assert len(numbers) == 1000
    assert all(low < high for low, high in pairwise(numbers))


def test_redis_py_gets_errors_for_wrong_commands(client: Any) -> None:
    for words in [("INCRBY", "a", -1), ("SET", "a", "x"), ("INCR", "x" * 129), ("FLUSHALL",), ("LPUSH", "a", 1)]:
        with pytest.raises(redis.ResponseError):
            client.execute_command(*words)
    assert client.ping() is True


@pytest.mark.parametrize("protocol", [2, 3])
def test_redis_py_sends_the_token(guarded: Server, protocol: Any) -> None:
    with redis.Redis(port=guarded.second_port, protocol=protocol, password=TOKEN) as known:
        assert isinstance(known.incr(f"k{protocol}"), int)
    with redis.Redis(port=guarded.second_port, protocol=protocol, username="default", password=TOKEN) as known:
        assert known.ping() is True
    for password in ["wrong", None]:
        once = Retry(NoBackoff(), 0)
        stranger = redis.Redis(port=guarded.second_port, protocol=protocol, password=password, retry=once)
        with stranger, pytest.raises(redis.AuthenticationError):
            stranger.incr("k")


def test_redis_cli_counts(server: Server) -> None:
    ask = ["redis-cli", "-p", str(server.second_port)]
    assert run(*ask, "incr", "cli") == "1\n"
    assert run(*ask, "-3", "incrby", "cli", "5") == "6\n"
    assert run(*ask, "get", "cli") == "7\n"
    assert run(*ask, stdin="incr cli\nexists cli none\ndel cli\n") == "8\n1\n1\n"


def test_redis_cli_sends_the_token(guarded: Server) -> None:
    ask = ["redis-cli", "-p", str(guarded.second_port), "--no-auth-warning"]
    assert run(*ask, "-a", TOKEN, "ping") == "PONG\n"
    assert "NOAUTH" in run(*ask, "ping")


@pytest.mark.parametrize("pipeline", [1, 16])
def test_redis_benchmark_measures(server: Server, pipeline: int) -> None:
    ask = ["redis-benchmark", "-p", str(server.second_port), "-n", "20000", "-P", str(pipeline), "-q"]
    told = run(*ask, "incr", f"benchmark{pipeline}")
    assert re.search(r"incr benchmark\d+: [\d.]+ requests per second", told), told
    # The benchmark took 20,000 numbers, and GET takes the next one.
    assert int(run("redis-cli", "-p", str(server.second_port), "get", f"benchmark{pipeline}")) > 20_000
    assert "requests per second" in run(*ask, "-t", "incr")
