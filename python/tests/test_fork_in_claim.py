"""Forks by a signal handler in the middle of a claim: parent and child never hold one node."""

import os

import pytest

import processes
import servers

# The parent and its child print their node and IDs, as eight bytes each: 1 + COUNT numbers a process.
COUNT = 500
PROGRAM = """
    import os, signal, struct, sys
    from snowmint import Snowflake
    from snowmint.stores import connect
    url, namespace, verb, when, count = sys.argv[1:]
    child = -1
    def handler(*_):
        global child
        child = os.fork()
    signal.signal(signal.SIGUSR1, handler)
    class Interrupted:
        "A real store. The process gets a signal during the first call of one verb."
        def __init__(self, inner):
            self.inner = inner
        def __str__(self):
            return str(self.inner)
        def __getattr__(self, name):
            call = getattr(self.inner, name)
            if name != verb:
                return call
            def interrupted(*arguments):
                if child == -1 and when == "before":
                    signal.raise_signal(signal.SIGUSR1)
                answer = call(*arguments)
                if child == -1 and when == "after":
                    signal.raise_signal(signal.SIGUSR1)
                return answer
            return interrupted
    # The namespace has its layout by then, so that the first write is that of the lease.
    Snowflake(store=connect(url), namespace=namespace).close()
    store = Interrupted(connect(url))
    generator = Snowflake(store=store, namespace=namespace, window_ms=30_000, max_wait_ms=30_000)
    ids = generator.next_ids(int(count))
    if child > 0:
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    os.write(1, struct.pack(f"<{1 + len(ids)}Q", generator.node, *ids))
    if child == 0:
        os._exit(0)
    assert child > 0, "there was no fork"
"""


def assert_apart(told: list[int]) -> None:
    """That two processes have a node each, and no ID twice."""
    assert len(told) == 2 * (1 + COUNT)
    nodes, ids = {told[0], told[1 + COUNT]}, {*told[1 : 1 + COUNT], *told[2 + COUNT :]}
    assert (len(nodes), len(ids)) == (2, 2 * COUNT), f"nodes {nodes}, {2 * COUNT - len(ids)} IDs of {2 * COUNT} twice"


SQL = ("sqlite", "postgres", "mariadb")
ANY_VERB = [("redis_server", verb, when) for verb in ("read", "list", "clock_ms") for when in ("before", "after")]
WRITES = [(kind, "write", when) for kind in (*SQL, "redis_server") for when in ("before", "after")]


@pytest.mark.parametrize(("kind", "verb", "when"), ANY_VERB + WRITES)
def test_a_fork_during_a_claim_gives_the_child_another_node(
    kind: str, verb: str, when: str, namespace: str, request: pytest.FixtureRequest
) -> None:
    if kind == "sqlite":
        url = f"sqlite:{request.getfixturevalue('tmp_path')}/ids.db"
    else:
        url = request.getfixturevalue(kind).url
    assert_apart(processes.minted(PROGRAM, url, namespace, verb, when, str(COUNT)))


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_fork_during_a_claim_over_http_gives_the_child_another_node(
    service: servers.Shared, when: str, namespace: str
) -> None:
    assert_apart(processes.minted(PROGRAM, service.url, namespace, "claim", when, str(COUNT)))


def test_a_child_forked_while_another_thread_gets_a_connection_uses_redis(redis_server: servers.Shared) -> None:
    program = """
        import os, sys, threading
        import redis
        from snowmint.stores import RedisStore
        client = redis.Redis.from_url(sys.argv[1])
        store = RedisStore(client)
        assert store.read("leases/pool/0") is None
        holds, over = threading.Event(), threading.Event()
        def hold():
            with client.connection_pool._lock:
                holds.set()
                over.wait()
        threading.Thread(target=hold, daemon=True).start()
        holds.wait()
        child = os.fork()
        if child == 0:
            assert store.read("leases/pool/0") is None
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        over.set()
    """
    assert processes.minted(program, redis_server.url) == []


def test_forks_at_random_times_of_a_claim_repeat_nothing(redis_server: servers.Shared, namespace: str) -> None:
    program = """
        import os, random, signal, struct, sys, time
        import redis
        from snowmint import Snowflake, StoreUnavailableError
        from snowmint.stores import RedisStore
        url, namespace, rounds = sys.argv[1:]
        client = redis.Redis.from_url(url, socket_timeout=1)
        child = -1
        def handler(*_):
            global child
            child = os.fork()
        # How long a claim takes here.
        took = []
        for lease in range(5):
            since = time.monotonic()
            Snowflake(store=RedisStore(client), namespace=f"{namespace}-first-{lease}").close()
            took.append(time.monotonic() - since)
        signal.signal(signal.SIGALRM, handler)
        for lease in range(int(rounds)):
            child = -1
            signal.setitimer(signal.ITIMER_REAL, random.uniform(0.0001, 1.2 * max(took)))
            generator = None
            while generator is None:
                try:
                    generator = Snowflake(store=RedisStore(client), namespace=f"{namespace}-{lease}")
                except StoreUnavailableError:
                    # The other process has read the answer from the connection that both have.
                    pass
            while child == -1:
                time.sleep(0.0001)
            ids = [id for _ in range(5) for id in generator.next_ids(10)]
            if child > 0:
                assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
            os.write(1, struct.pack(f"<{2 + len(ids)}Q", lease, generator.node, *ids))
            if child == 0:
                os._exit(0)
            generator.close()
    """
    rounds = int(os.environ.get("SNOWMINT_ROUNDS", "20"))
    told = processes.minted(program, redis_server.url, namespace, str(rounds))
    held = [(told[place], told[place + 1]) for place in range(0, len(told), 52)]
    assert len(held) == 2 * rounds
    repeated = len(held) - len(set(held))
    assert repeated == 0, f"in {repeated} of {rounds} rounds parent and child had one node"


@pytest.mark.parametrize(("waits", "under_way"), [(False, b"0"), (True, b"1")])
def test_a_fork_waits_for_a_call_of_a_store_unless_the_call_hangs(waits: bool, under_way: bytes) -> None:
    program = """
        import os, sys, threading, time
        from snowmint import Snowflake
        from snowmint.stores import MemoryStore
        class Slow(MemoryStore):
            "A store whose first list takes a while, or hangs until the process has forked."
            def list(self, prefix):
                global under_way
                if not began.is_set():
                    under_way = True
                    began.set()
                    forked.wait() if sys.argv[1] == "True" else time.sleep(0.3)
                    under_way = False
                return super().list(prefix)
        began, forked, under_way = threading.Event(), threading.Event(), False
        minting = threading.Thread(target=lambda: Snowflake(store=Slow(), max_wait_ms=30_000).next_id())
        minting.start()
        began.wait()
        child = os.fork()
        if child == 0:
            os.write(1, b"1" if under_way else b"0")
            os._exit(0)
        forked.set()
        os.waitpid(child, 0)
        minting.join()
    """
    assert processes.run(program, str(waits)).encode() == under_way
