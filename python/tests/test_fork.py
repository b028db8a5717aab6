"""Forks: a child never mints from its parent's state."""

import subprocess
import sys
from pathlib import Path

import pytest

import prefork
import processes

# Each child, and then the parent, writes its IDs to one pipe: eight bytes an ID.
FORKS = """
    import os, struct, sys
    from raw_clone import clone
    from snowmint import ForkedError, Snowflake
    how, kind, store = sys.argv[1:]
    generator = Snowflake(store=store) if kind == "leased" else Snowflake(node=5)
    first = generator.next_id()
    def mint():
        ids = [generator.next_id() for _ in range(1000)] + generator.next_ids(1000)
        os.write(1, struct.pack(f"<{len(ids)}Q", *ids))
    children = []
    for _ in range(4):
        child = os.fork() if how == "fork" else clone()
        if child == 0:
            try:
                mint()
            except ForkedError:
                os._exit(77)
            except BaseException as error:
                print(repr(error), file=sys.stderr)
                os._exit(1)
            os._exit(0)
        children.append(child)
    mint()
    ends = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    os.write(1, struct.pack("<Q", first))
    print(*ends, file=sys.stderr)
"""


def forks(how: str, kind: str, store: str) -> tuple[list[int], list[int]]:
    """The IDs that parent and children mint, and how the children end."""
    done = subprocess.run(
        [sys.executable, "-c", "import sys, textwrap; exec(textwrap.dedent(sys.argv.pop(1)))", FORKS, how, kind, store],
        env=processes.environment(),
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr.decode()
    return memoryview(done.stdout).cast("Q").tolist(), [int(end) for end in done.stderr.split()]


@pytest.mark.parametrize("how", ["fork", "clone"])
def test_four_children_on_a_lease_repeat_nothing(how: str, store: str) -> None:
    ids, ends = forks(how, "leased", store)
    assert ends == [0, 0, 0, 0]
    assert len(ids) == 5 * 2000 + 1
    assert len(set(ids)) == len(ids)


@pytest.mark.parametrize("how", ["fork", "clone"])
def test_a_vouched_node_is_forked_in_every_child(how: str, store: str) -> None:
    ids, ends = forks(how, "vouched", store)
    assert ends == [77, 77, 77, 77]
    assert len(set(ids)) == 2001


def test_try_next_id_of_a_child_never_waits_for_its_lease(store: str) -> None:
    program = """
        import os, sys, time
        from snowmint import Snowflake, WindowClosedError
        generator = Snowflake(store=sys.argv[1])
        generator.next_id()
        child = os.fork()
        if child == 0:
            try:
                generator.try_next_id()
                os._exit(1)
            except WindowClosedError as error:
                assert "leasing a node" in str(error), error
            for _ in range(6000):
                try:
                    generator.try_next_id()
                    break
                except WindowClosedError:
                    time.sleep(0.005)
            os._exit(0 if generator.node == 1 and generator.window else 2)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    """
    processes.run(program, store)


def test_closing_in_a_child_is_quiet_and_leaves_the_parents_lease_alone(store: str) -> None:
    program = """
        import os, sys
        from snowmint import Snowflake, WindowClosedError
        layout = "time:41,sequence:12;epoch=2025-01-01T00:00:00Z"
        generator = Snowflake(layout, store=sys.argv[1])
        ids = [generator.next_id()]
        child = os.fork()
        if child == 0:
            generator.close()
            try:
                generator.next_id()
            except WindowClosedError:
                sys.exit(0)
            sys.exit(1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        try:
            ids.append(generator.next_id())
        finally:
            generator.close()
        assert ids == sorted(set(ids))
    """
    processes.run(program, store)


def test_a_generator_made_in_a_child_has_a_state_of_its_own(store: str) -> None:
    program = """
        import os, sys
        from snowmint import Snowflake
        parent = Snowflake(store=sys.argv[1])
        parent.next_id()
        child = os.fork()
        if child == 0:
            with Snowflake(store=sys.argv[1]) as generator:
                os._exit(0 if generator.node == 1 and generator.next_id() else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert parent.node == 0
    """
    processes.run(program, store)


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_a_pool_of_processes_repeats_nothing(method: str, tmp_path: Path) -> None:
    (tmp_path / "pooled.py").write_text(
        "from snowmint import Snowflake\n"
        "generator = Snowflake()\n"
        "first = generator.next_id()\n"
        "def mint(_):\n"
        "    return [first, *generator.next_ids(500), *(generator.next_id() for _ in range(500))]\n"
    )
    script = tmp_path / "main.py"
    script.write_text(
        "import multiprocessing, sys\n"
        "import pooled\n"
        "if __name__ == '__main__':\n"
        "    with multiprocessing.get_context(sys.argv[1]).Pool(4) as pool:\n"
        "        runs = [run[1:] for run in pool.map(pooled.mint, range(16), chunksize=1)]\n"
        "    ids = [id for run in [*runs, pooled.mint(0)] for id in run]\n"
        "    assert len(ids) > 16_000, len(ids)\n"
        "    print(len(ids) - len(set(ids)))\n"
    )
    done = subprocess.run(
        [sys.executable, str(script), method],
        env=processes.environment(PYTHONPATH=str(tmp_path)),
        check=True,
        stdout=subprocess.PIPE,
        text=True,
        timeout=60,
    )
    assert done.stdout == "0\n"


def test_a_child_of_multiprocessing_gives_its_node_back_when_it_ends(tmp_path: Path) -> None:
    program = """
        import multiprocessing, sys
        from snowmint import Snowflake, layouts
        options = {"store": sys.argv[1], "namespace": "orders", "window_ms": 60_000}
        generator = Snowflake(**options)
        generator.next_id()
        context = multiprocessing.get_context("fork")
        minted = context.SimpleQueue()
        child = context.Process(target=lambda: minted.put(generator.next_id()))
        child.start()
        id = minted.get()
        child.join()
        node = layouts.SNOWMINT.decode(id).node
        assert (generator.node, node, child.exitcode) == (0, 1, 0)
        with Snowflake(node=1, max_wait_ms=0, **options) as successor:
            assert successor.next_id() > id
    """
    processes.run(program, f"file:{tmp_path}")


def test_prefork_workers_of_gunicorn_repeat_nothing() -> None:
    prefork.workers_repeat_nothing()


def test_a_relative_directory_stays_the_same_when_a_daemon_changes_its_own(tmp_path: Path) -> None:
    program = """
        import os, struct, sys
        os.chdir(sys.argv[1])
        os.mkdir("slots")
        from snowmint import Snowflake
        generator = Snowflake(store="file:slots", window_ms=1000, max_wait_ms=30_000)
        first = generator.next_id()
        os.mkdir("elsewhere")
        os.chdir("elsewhere")
        child = os.fork()
        if child == 0:
            generator.next_id()
            os._exit(generator.node)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 1
        assert generator.next_id() > first and os.listdir(".") == []
    """
    processes.run(program, str(tmp_path))


def test_a_daemon_that_closes_every_descriptor_leases_again_and_harms_no_other_file(store: str) -> None:
    program = """
        import os, sys, time
        from snowmint import Snowflake, WindowClosedError
        generator = Snowflake(store=sys.argv[1], window_ms=1000, max_wait_ms=30_000)
        ids = [generator.next_id()]
        child = os.fork()
        if child == 0:
            os.closerange(3, 4096)
            kept = os.open("/dev/null", os.O_RDONLY)
            generator.next_id()
            os.fstat(kept)
            os._exit(generator.node)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 1
        # In the holder itself the lock is gone, which its next renewal notices.
        os.closerange(3, 4096)
        others = [os.open("/dev/null", os.O_RDONLY) for _ in range(8)]
        deadline = time.monotonic() + 30
        while generator.status().lost is None and time.monotonic() < deadline:
            time.sleep(0.02)
        try:
            generator.next_id()
            sys.exit("it went on without its lock")
        except WindowClosedError as error:
            assert "was lost" in str(error), error
        del generator
        for other in others:
            os.fstat(other)
    """
    processes.run(program, store)


def test_a_child_that_drops_one_inherited_generator_keeps_the_lease_of_another(store: str) -> None:
    program = """
        import os, sys, time
        from snowmint import Snowflake
        one = Snowflake(store=sys.argv[1], namespace="one")
        other = Snowflake(store=sys.argv[1], namespace="other", window_ms=1000, max_wait_ms=30_000)
        one.next_id(), other.next_id()
        child = os.fork()
        if child == 0:
            other.next_id()
            del one
            end = other.window[1]
            deadline = time.monotonic() + 30
            while other.window[1] < end + 1000 and time.monotonic() < deadline:
                time.sleep(0.02)
            other.next_id()
            os._exit(0 if other.status().lost is None else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    """
    processes.run(program, store)


def test_a_lease_that_a_child_took_and_nobody_fetched_is_given_back(store: str) -> None:
    program = """
        import os, sys, time
        from snowmint import Snowflake, WindowClosedError
        layout = "time:41,node:1,sequence:12;epoch=2025-01-01T00:00:00Z"
        generator = Snowflake(layout, store=sys.argv[1], window_ms=1000, max_wait_ms=30_000)
        child = os.fork()
        if child == 0:
            try:
                generator.try_next_id()
            except WindowClosedError:
                generator.close()
                time.sleep(60)
            os._exit(1)
        time.sleep(2.5)
        other = os.fork()
        if other == 0:
            generator.next_id()
            os._exit(generator.node)
        assert os.waitstatus_to_exitcode(os.waitpid(other, 0)[1]) == 1
        os.kill(child, 9)
    """
    processes.run(program, store)


def test_a_fork_in_a_signal_handler_during_a_batch_repeats_nothing(store: str) -> None:
    program = """
        import os, signal, struct, sys
        from snowmint import ForkedError, Snowflake
        # 1 ID a ms, so that the batch waits, and the handler runs, in its midst.
        layout = "time:41,node:4,sequence:1;epoch=2025-01-01T00:00:00Z"
        generator = Snowflake(layout, store=sys.argv[1])
        child = -1
        def handler(*_):
            global child
            child = os.fork()
        signal.signal(signal.SIGALRM, handler)
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        try:
            ids = generator.next_ids(400)
        except ForkedError:
            ids = []
        if child == 0:
            assert ids == []
            ids = generator.next_ids(100)
        os.write(1, struct.pack(f"<{len(ids)}Q", *ids))
        if child == 0:
            os._exit(0)
        assert child > 0
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    """
    ids = processes.minted(program, store)
    assert len(ids) == len(set(ids)) == 500


def test_two_threads_of_a_child_share_the_lease_it_takes(store: str) -> None:
    program = """
        import os, sys, threading
        from snowmint import Snowflake
        generators = [Snowflake(store=sys.argv[1]) for _ in range(2)]
        generators[0].next_id()
        child = os.fork()
        if child == 0:
            ids = []
            def mint(generator):
                ids.extend([generator.next_id() for _ in range(2000)])
            threads = [threading.Thread(target=mint, args=(generators[i % 2],)) for i in range(8)]
            for thread in threads: thread.start()
            for thread in threads: thread.join()
            assert len(set(ids)) == len(ids) == 16_000
            os._exit(0 if {generator.node for generator in generators} == {1} else 2)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    """
    processes.run(program, store)
