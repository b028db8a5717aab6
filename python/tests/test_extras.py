"""The optional modules: imported only on use, with a clear error if a package is missing."""

import doctest
import importlib
import inspect
from pathlib import Path

import pytest

import processes
from snowmint import Snowflake
from snowmint._options import Options

EXTRAS = ["django", "pydantic", "sqlalchemy"]


def test_importing_snowmint_imports_no_optional_module_and_no_library() -> None:
    program = """
        import sys
        import snowmint
        loaded = set(sys.modules)
        extras = ["django", "pydantic", "sqlalchemy", "redis"]
        print(*loaded.intersection([*extras, *(f"snowmint.{extra}" for extra in extras)]))
    """
    assert processes.run(program) == "\n"


@pytest.mark.parametrize("extra", EXTRAS)
def test_a_module_without_its_library_names_the_extra(extra: str) -> None:
    program = """
        import sys
        extra = sys.argv[1]
        sys.modules[extra] = None  # as if it were not installed
        try:
            __import__(f"snowmint.{extra}")
        except ImportError as error:
            print(error)
    """
    assert processes.run(program, extra).endswith(f"pip install 'snowmint[{extra}]'\n")


@pytest.mark.parametrize("extra", EXTRAS)
def test_a_module_is_imported_beside_the_library_of_the_same_name(extra: str) -> None:
    program = """
        import importlib, sys
        ours, theirs = (importlib.import_module(name) for name in (f"snowmint.{sys.argv[1]}", sys.argv[1]))
        assert ours is not theirs and "site-packages" in theirs.__file__, theirs
        assert all(hasattr(ours, name) for name in ours.__all__)
    """
    processes.run(program, extra)


@pytest.mark.parametrize("extra", ["pydantic", "sqlalchemy"])
def test_the_examples_of_a_module_are_true(extra: str) -> None:
    failed, tried = doctest.testmod(importlib.import_module(f"snowmint.{extra}"))
    assert tried > 3 and failed == 0


def test_a_lazy_generator_takes_what_snowflake_takes() -> None:
    assert set(Options.__annotations__) == set(inspect.signature(Snowflake).parameters)


def test_a_fork_while_threads_make_the_generator_neither_hangs_nor_repeats(tmp_path: Path) -> None:
    program = """
        import os, sys, threading
        from snowmint._lazy import LazySnowflake
        mint = LazySnowflake(store=f"file:{sys.argv[1]}", max_wait_ms=20_000)
        ids = []
        threads = [threading.Thread(target=lambda: ids.extend(mint() for _ in range(200))) for _ in range(8)]
        for thread in threads: thread.start()
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            os.write(write, b"".join(mint().to_bytes(8, "big") for _ in range(500)))
            os._exit(0)
        for thread in threads: thread.join()
        assert os.waitpid(child, 0)[1] == 0
        childs = os.read(read, 8 * 500)
        ids += [int.from_bytes(childs[at : at + 8], "big") for at in range(0, len(childs), 8)]
        assert len(ids) == len(set(ids)) == 8 * 200 + 500, (len(ids), len(set(ids)))
    """
    for _ in range(5):
        processes.run(program, str(tmp_path))
