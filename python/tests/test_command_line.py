"""The command line of the package. The tests of the program of the server check each verb with this command too."""

import os
import pty
import signal
import subprocess
import sys
from importlib.metadata import entry_points

import processes

COMMAND = [sys.executable, "-m", "snowmint"]
ONE_NODE = "time:41,sequence:12;epoch=2025-01-01T00:00:00Z"


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, timeout=300, check=False)


def test_the_package_installs_the_command() -> None:
    (command,) = entry_points(group="console_scripts", name="snowmint")
    assert command.value == "snowmint.__main__:main"


def test_a_verb_of_the_server_names_its_crate() -> None:
    done = run("serve", "--http", "127.0.0.1:0")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("snowmint: this package has no verb serve: ")
    assert "cargo install snowmint-server" in done.stderr


def test_an_interrupt_gives_back_a_lease_of_a_store_of_python(store: str) -> None:
    command = [*COMMAND, "gen", "--layout", ONE_NODE, "--store", store, "-n"]
    minter = subprocess.Popen(
        [*command, "1000000000"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    assert minter.stdout is not None and minter.stderr is not None
    minter.stdout.readline()
    minter.send_signal(signal.SIGINT)
    _, errors = minter.communicate(timeout=300)
    assert (minter.returncode, errors) == (130, "")
    subprocess.run([*command, "1", "--max-wait-ms", "5"], check=True, stdout=subprocess.DEVNULL)


def on_a_terminal(**variables: str) -> bytes:
    ours, theirs = pty.openpty()
    subprocess.run([*COMMAND, "layouts"], stdout=theirs, env=processes.environment(None, **variables), check=True)
    os.close(theirs)
    shown = os.read(ours, 100_000)
    os.close(ours)
    return shown


def test_headlines_are_bold_on_a_terminal_that_wants_it() -> None:
    assert b"\x1b[1m" in on_a_terminal(NO_COLOR="", TERM="xterm")
    assert b"\x1b" not in on_a_terminal(NO_COLOR="1", TERM="xterm")
    assert b"\x1b" not in on_a_terminal(NO_COLOR="", TERM="dumb")
    assert "\x1b" not in run("layouts").stdout
