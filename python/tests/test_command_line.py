"""The command line, in separate processes."""

import itertools
import json
import os
import pty
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import processes
from snowmint import Layout, layouts, prefix, text

COMMAND = [sys.executable, "-m", "snowmint"]
ONE_NODE = "time:41,sequence:12;epoch=2025-01-01T00:00:00Z"
TWEET = "1541815603606036480"


def run(*arguments: str, stdin: str = "", code: int = 0, **variables: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [*COMMAND, *arguments],
        input=stdin,
        env=processes.environment(None, **variables),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == code, done
    return done


def lines(*arguments: str, stdin: str = "", **variables: str) -> list[str]:
    done = run(*arguments, stdin=stdin, code=0, **variables)
    assert done.stderr == ""
    return done.stdout.splitlines()


# gen


def test_gen_prints_increasing_ids_one_a_line() -> None:
    ids = [int(line) for line in lines("gen", "-n", "10000")]
    assert len(ids) == 10000
    assert all(a < b for a, b in itertools.pairwise(ids))
    assert len(lines("gen")) == 1
    assert lines("gen", "-n", "0") == []


def test_gen_takes_a_layout_a_node_and_a_format() -> None:
    shown = lines("gen", "-n", "5", "--layout", "twitter", "--node", "datacenter=1,worker=2", "--format", "base62")
    nodes = [layouts.TWITTER.decode(text.decode(line, "base62")).fields["worker"] for line in shown]
    assert nodes == [2] * 5
    (number,) = lines("gen", "--layout", ONE_NODE.replace("sequence:12", "shard:3,sequence:9"), "--node", "6")
    assert Layout.parse(ONE_NODE.replace("sequence:12", "shard:3,sequence:9")).decode(int(number)).node == 6


def test_gen_writes_ids_into_json_as_strings() -> None:
    (bare,) = map(json.loads, lines("gen", "--json"))
    assert bare == {"id": str(int(bare["id"]))}
    for line in lines("gen", "-n", "3", "--json", "--format", "hex"):
        told = json.loads(line)
        assert text.decode(told["text"], "hex") == int(told["id"])


def test_gen_puts_a_prefix_before_each_id() -> None:
    ids = [prefix.decode("api_key", line, int) for line in lines("gen", "-n", "3", "--prefix", "api_key")]
    assert len(ids) == 3
    assert ids == sorted(ids)
    (told,) = map(json.loads, lines("gen", "--prefix", "user", "--json"))
    assert prefix.decode("user", told["text"]) == int(told["id"])
    assert "a prefix has at most 63 characters" in run("gen", "--prefix", "User", code=2).stderr
    assert "not allowed with argument --" in run("gen", "--prefix", "user", "--format", "hex", code=2).stderr


def test_gen_without_a_node_leases_one(tmp_path: Path) -> None:
    state, store = tmp_path / "state", tmp_path / "store"
    lines("gen", SNOWMINT_STATE_DIR=str(state))
    assert [file.name for file in state.glob("*/*.slot")] == ["0.slot"]
    lines("gen", "--store", f"file:{store}", "--namespace", "orders")
    assert list(store.glob("orders/0.slot"))
    assert layouts.SNOWMINT.decode(int(lines("gen", SNOWMINT_NODE="37")[0])).node == 37


def test_gen_waits_for_a_slow_layout() -> None:
    ids = lines("gen", "-n", "4", "--layout", "time:32,sequence:1;epoch=2025-01-01T00:00:00Z;tick=1s", "--node", "0")
    assert len(set(ids)) == 4


def test_gen_holds_a_batch_of_many_at_a_time() -> None:
    # From a small process, as one starts with the most that its parent ever used.
    program = """
        import resource, subprocess, sys
        mint = [sys.executable, "-m", "snowmint", "gen", "-n", "2000000"]
        subprocess.run(mint, check=True, stdout=subprocess.DEVNULL)
        print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
    """
    # As a list they would take 80 MB.
    assert int(processes.run(program)) < 60_000


def test_a_reader_that_leaves_early_is_no_error() -> None:
    # A busy disk takes longer than a lease waits for it.
    command = [*COMMAND, "gen", "-n", "1000000", "--max-wait-ms", "20000"]
    minter = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert minter.stdout is not None and minter.stderr is not None
    assert int(minter.stdout.readline()) > 0
    minter.stdout.close()
    assert minter.stderr.read() == ""
    assert minter.wait(60) == 0


def test_an_interrupt_is_quiet_and_gives_the_lease_back(store: str) -> None:
    command = [*COMMAND, "gen", "--layout", ONE_NODE, "--store", store, "-n"]
    minter = subprocess.Popen(
        [*command, "1000000000"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    assert minter.stdout is not None and minter.stderr is not None
    minter.stdout.readline()
    minter.send_signal(signal.SIGINT)
    _, errors = minter.communicate(timeout=60)
    assert (minter.returncode, errors) == (130, "")
    subprocess.run([*command, "1", "--max-wait-ms", "5"], check=True, stdout=subprocess.DEVNULL)


# inspect


def test_inspect_takes_ids_apart_under_one_layout() -> None:
    (line,) = lines("inspect", "--layout", "twitter", TWEET)
    assert line == f"{TWEET}  2022-06-28T16:07:40.105Z  datacenter 11  worker 26  sequence 0"
    (told,) = map(json.loads, lines("inspect", "--json", "--layout", "twitter", TWEET))
    assert told == {
        "id": TWEET,
        "layout": "twitter",
        "timestamp": "2022-06-28T16:07:40.105Z",
        "timestamp_ms": 1656432460105,
        "timestamp_us": 1656432460105000,
        "tick": 367597485448,
        "node": 378,
        "sequence": 0,
        "fields": {"time": 367597485448, "datacenter": 11, "worker": 26, "sequence": 0},
    }
    assert lines("inspect", "--layout", "mastodon", "-1")[0].endswith("sequence 65535")


@pytest.mark.parametrize("form", [None, *text.FORMS])
def test_what_gen_writes_inspect_reads(form: str | None) -> None:
    shared = [] if form is None else ["--format", form]
    minted = lines("gen", "-n", "3", "--node", "9", *shared)
    found = lines("inspect", "--layout", "snowmint", *shared, stdin="\n".join(minted) + "\n")
    assert len(found) == 3
    assert all("  node 9  sequence " in line for line in found)


def test_a_bad_line_is_reported_and_the_others_are_shown() -> None:
    source = "5\n\nnone\n 6 \n9999999999999999999999999999\n"
    done = run("inspect", "--layout", "twitter", stdin=source, code=2)
    assert [line.split()[0] for line in done.stdout.splitlines()] == ["5", "6"]
    assert [line.split(":")[1] for line in done.stderr.splitlines()] == [" none", " 9999999999999999999999999999"]
    assert "none: an ID is an integer" in done.stderr


def test_bytes_that_are_no_text_are_no_id() -> None:
    done = subprocess.run(
        [*COMMAND, "inspect", "--layout", "twitter"], input=b"\xff\n7\n", capture_output=True, check=False
    )
    assert (done.returncode, done.stdout.split()[0]) == (2, b"7")
    assert done.stderr.startswith(b"snowmint: \\xff: an ID is")


def test_inspect_lists_who_could_have_minted_an_id() -> None:
    first, *candidates = lines("inspect", TWEET)
    assert first == TWEET
    assert any(line.split()[0] == "twitter" and "2022-06-28T16:07:40.105Z" in line for line in candidates)
    (told,) = map(json.loads, lines("inspect", "--json", TWEET))
    assert told["id"] == TWEET
    (twitter,) = [candidate for candidate in told["candidates"] if candidate["layout"] == "twitter"]
    assert twitter["fields"]["worker"] == 26
    assert twitter["reason"]
    assert (twitter["form"], twitter["confidence"]) == ("decimal", "high")
    both = lines("inspect", stdin=f"{TWEET}\n{text.encode(int(TWEET), 'hex')}\n")
    assert sum(not line.startswith(" ") for line in both) == 2


def test_inspect_knows_other_ids_too() -> None:
    (told,) = map(json.loads, lines("inspect", "--json", "017f22e2-79b0-7cc3-98c4-dc0c0c07398f"))
    assert told["candidates"][0]["layout"] is None
    assert "7" in told["candidates"][0]["kind"]
    lines("inspect", "017f22e2-79b0-7cc3-98c4-dc0c0c07398f")


def test_what_nobody_could_have_minted_is_a_failure_of_inspect() -> None:
    done = run("inspect", "-", "no ID at all", code=1)
    assert done.stderr == ""
    assert "no ID at all" in done.stdout
    assert json.loads(run("inspect", "--json", "no ID at all", code=1).stdout)["candidates"] == []


# layouts


def test_layouts_shows_every_preset_in_80_columns() -> None:
    shown = lines("layouts")
    assert [line.split()[0] for line in shown[1:16]] == list(layouts.all())
    assert max(map(len, shown)) <= 80
    (baidu,) = (line for line in shown if line.startswith("baidu"))
    assert baidu.split() == ["baidu", "TTTTTTTNNNNNNSSS", "4,194,304", "8,192", "2024-11-20", "never"]


def test_layouts_draws_a_layout_with_a_column_for_each_bit() -> None:
    for name, layout in layouts.all().items():
        title, canonical, _, _, bar, *rest = lines("layouts", name)
        assert (title, canonical) == (name, str(layout))
        assert len(bar) == layout.bits + 1
        widths = [len(part) + 1 for part in bar[1:-1].split("|")]
        unused = [layout.bits - sum(layout.fields.values())]
        assert widths == [width for width in unused if width] + list(layout.fields.values())
        assert max(map(len, rest)) <= 80
    both = lines("layouts", "twitter", "time:40,a:1,sequence:3;epoch=0")
    assert [line for line in both if line in ("twitter", "layout")] == ["twitter", "layout"]


def test_layouts_tells_json_all_that_a_layout_knows() -> None:
    told = [json.loads(line) for line in lines("layouts", "--json")]
    assert [Layout.parse(each["text"]) for each in told] == list(layouts.all().values())
    for each, layout in zip(told, layouts.all().values(), strict=True):
        assert all(each[name] == getattr(layout, name) for name in ("name", "fields", "nodes", "signed_until_ms"))


# All


@pytest.mark.parametrize(
    ("arguments", "code", "match"),
    [
        ([], 2, "gen | inspect | layouts"),
        (["mint"], 2, "invalid choice: 'mint'"),
        (["gen", "-n", "-1"], 2, "write a whole number from 0 on"),
        (["gen", "-n", "many"], 2, "not 'many'"),
        (["gen", "--format", "base10"], 2, "base62"),
        (["gen", "--layout", "Twitter"], 2, "no such preset: choose snowmint, twitter"),
        (["gen", "--layout", "time:41;epoch"], 2, "layout text, character"),
        (["gen", "--node", "1024"], 2, "0 to 1023"),
        (["gen", "--node", "1", "--store", "file:/dev/shm/snowmint-test"], 1, "tmpfs"),
        (["gen", "--layout", "baidu"], 1, "after the layout's last tick"),
        (["gen", "--store", "file:/proc/slots"], 1, "/proc/slots"),
        (["layouts", "twiter"], 2, "no such preset"),
        (["inspect", "--layout", "twitter", "zz", "--format", "base62"], 2, "zz: base62 takes 11 characters"),
        (["inspect", "--layout", "sonyflake", "-1"], 2, "does not fit this layout: it sets other bits"),
    ],
)
def test_a_mistake_is_told_in_one_line(arguments: list[str], code: int, match: str) -> None:
    done = run(*arguments, code=code)
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert line.startswith("snowmint: ")
    assert match in line


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
def test_a_full_disk_is_told_in_one_line() -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run([*COMMAND, "gen"], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("snowmint: ")
    assert len(done.stderr.splitlines()) == 1


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


def test_help_and_version_are_there() -> None:
    assert "mint IDs" in run("--help").stdout
    assert run("--version").stdout.startswith("snowmint 0.")
