"""Several interpreters in one process."""

import processes

IMPORTS = """
    import sys
    if sys.version_info >= (3, 13):
        import _interpreters as interpreters
        create = lambda: interpreters.create("legacy")
        def run(each, code):
            failed = interpreters.run_string(each, code)
            return failed and failed.formatted
    else:
        import _xxsubinterpreters as interpreters
        create = lambda: interpreters.create(isolated=False)
        def run(each, code):
            try:
                interpreters.run_string(each, code)
            except interpreters.RunFailedError as failed:
                return str(failed)

    code = f"import sys; sys.path[:] = {sys.path!r}; import snowmint; snowmint.text.decode('?', 'hex')"
"""


def test_a_second_interpreter_of_a_process_is_refused() -> None:
    out = processes.run(
        f"""{IMPORTS}
    import snowmint
    print(run(create(), code))
    print(snowmint.uuid7().version)
    """
    )
    refusal, version = out.splitlines()
    assert refusal.startswith("ImportError: snowmint is imported by another interpreter") or "ImportError" in refusal
    assert "WSGIDaemonProcess" in refusal
    assert version == "7"


def test_a_first_interpreter_may_be_any() -> None:
    out = processes.run(
        f"""{IMPORTS}
    first = create()
    print(run(first, code))
    print(run(first, code))
    print(run(create(), code))
    """
    )
    first, again, second = out.splitlines()
    assert "InvalidTextError" in first and "InvalidTextError" in again
    assert "ImportError" in second
