"""Runs every block of code in the guides.

Blocks of one page and one language run one after the other, as one program. The output is compared with the page: all of a
transcript, and the comment beside or below a `print` or `console.log`. Blocks of Rust are documentation tests of
`snowmint-tests` (tests/src/lib.rs). A block marked `install` needs the registries, or a browser, and does not run here.
"""

import os
import re
import socket
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import psycopg
import pytest
from servers import SNOWMINT, shared

ROOT = Path(__file__).parents[2]
PAGES = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").glob("*.md"))
# Their blocks are parts of programs; python/tests has the whole ones.
PARTS = ["docs/migrations.md", "docs/scatter.md"]
STORE = "postgres://ids@db/ids"
SQLALCHEMY = STORE.replace("postgres://", "postgresql+psycopg://")
MARIADB = "mysql+pymysql://ids@db/ids"
LANGUAGES = ["python", "js", "console", "sql"]
# test_backups.py runs those of a shell, on servers.
# test_languages.py runs those of other languages.
NOT_RUN = ["text", "yaml", "rust", "sh", "php", "ruby", "go", "java"]

# Parts of an output that differ between two runs: random UUIDs, dates, times, long numbers, and IDs as texts.
VARYING = re.compile(
    r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|\d{4}-\d\d(-\d\d)?(?!\d)|\d\d:\d\d:\d\d(\.\d+)?"
    # A process may have a number of few digits.
    r"|(?=[A-Za-z]*\d)[0-9A-Za-z]{11,}|\d{4,}|(?<=python3:)\d+"
)


def text_of(page: str) -> str:
    """Returns the text of a page."""
    return (ROOT / page).read_text()


def blocks(page: str) -> list[tuple[str, str]]:
    """Returns the info string and the code of each block of a page."""
    # Those of tabs are indented.
    found = re.findall(r"^( *)```([^\n]*)\n(.*?)^\1```$", text_of(page), re.DOTALL | re.MULTILINE)
    return [(info, dedent(code)) for _, info, code in found]


def programs(page: str, language: str) -> list[str]:
    """Returns the blocks of a language that run, with the example's database replaced by a new one."""
    found = [text for info, text in blocks(page) if info == language or info == f"{language} postgresql"]
    if any(STORE in text or SQLALCHEMY in text for text in found):
        database = shared("postgres").new_database()
        url = database.replace("postgresql+psycopg://", "postgres://")
        found = [text.replace(SQLALCHEMY, database).replace(STORE, url) for text in found]
    if any(MARIADB in text for text in found):
        database = shared("mariadb").new_database()
        found = [text.replace(MARIADB, database) for text in found]
    return found


RUN = [
    (page, language)
    for page in PAGES
    if page not in PARTS
    for language in LANGUAGES
    if language in (info.removesuffix(" postgresql") for info, _ in blocks(page))
]


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """The variables of a user's shell, with slots of this test alone."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("SNOWMINT_")}
    # The program of the service comes first: the package's command of the same name has fewer verbs.
    path = f"{Path(SNOWMINT).parent}:{Path(sys.executable).parent}:{kept['PATH']}"
    return {**kept, "PATH": path, "SNOWMINT_STATE_DIR": str(tmp_path / "slots")}


def run(words: list[str], folder: Path, environment: dict[str, str]) -> str:
    """Runs a program to its end, and returns its output."""
    done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, f"{done.stdout}{done.stderr}"
    return done.stdout


@pytest.mark.parametrize(("page", "language"), RUN)
def test_the_blocks_of_a_page_run(page: str, language: str, tmp_path: Path, environment: dict[str, str]) -> None:
    program = "\n".join(programs(page, language)).replace("/var/lib/snowmint", str(tmp_path / "volume"))
    match language:
        case "python":
            check_comments(program, run([sys.executable, "-W", "error", "-c", program], tmp_path, environment))
        case "js":
            # Each block is a program, because two imports cannot have the same name.
            for text in programs(page, "js"):
                check_comments(text, run(["node", "--input-type=module", "-e", text], ROOT / "npm", environment))
        case "sql":
            with psycopg.connect(shared("postgres").new_database().replace("+psycopg", "")) as connection:
                connection.execute(program.encode())
        case "console":
            check_transcript(program, tmp_path, environment)


def check_transcript(transcript: str, folder: Path, environment: dict[str, str]) -> None:
    """Runs the commands of a transcript in one shell, and compares the output."""
    script, expected = "set -m\n", ""
    for line in transcript.splitlines(keepends=True):
        if line.startswith("$ "):
            script += line.removeprefix("$ ")
        else:
            expected += line
    # Ports of this test, where a user has the default ones.
    http, redis = free_port(), free_port()
    environment |= {"SNOWMINT_HTTP": f"127.0.0.1:{http}", "SNOWMINT_REDIS": f"127.0.0.1:{redis}"}
    output = run(["bash", "-c", script.replace("8080", http).replace("6389", redis)], folder, environment)
    assert masked(output.replace(str(folder), "/home/me")) == masked(expected)


def check_comments(program: str, output: str) -> None:
    """Finds each line that a comment beside or below a print shows among the lines of the output, in the same order."""
    lines = [masked(line) for line in output.splitlines()]
    at = 0
    for comments in re.findall(r"(?:print|console\.log)\(.*\);?((?: *(?:#|//) .*)|(?:\n *(?:#|//) .*)+)", program):
        for comment in re.findall(r"(?:#|//) (.*)", comments):
            assert masked(comment) in lines[at:], f"{comment}\nis not in\n{output}"
            at = lines.index(masked(comment), at) + 1


def free_port() -> str:
    """Returns a port of the loopback address that no program uses."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return str(listener.getsockname()[1])


def masked(text: str) -> str:
    """Returns the text with # for what varies, and without its white space: `curl` ends no line."""
    return "".join(VARYING.sub("#", text).split())


def test_every_block_has_a_language_that_runs_or_is_named_here() -> None:
    for page in PAGES:
        if page in PARTS:
            continue
        for info, _ in blocks(page):
            words = re.split("[ ,]", info)
            assert words, f"{page}: a block without a language"
            assert "install" in words or words[0] in LANGUAGES + NOT_RUN, f"{page}: {info}"


def test_the_first_program_in_rust_is_that_of_the_readme() -> None:
    [first] = [code for info, code in blocks("docs/index.md") if info == "rust"]
    assert first in text_of("README.md")


def test_every_link_of_a_guide_has_a_target() -> None:
    built = ("inspector/", "reference/")
    for page in PAGES:
        text = (ROOT / page).read_text()
        for target, anchor in re.findall(r"\]\((?!https?://)([^)#\s]*)(?:#([^)\s]*))?\)", text):
            if target.startswith(built):
                continue
            file = ROOT / "docs" / target if target else ROOT / page
            assert file.exists(), f"{page}: {target}"
            if anchor:
                titles = re.findall(r"^#+ (.*)$", file.read_text(), re.MULTILINE)
                names = [re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles]
                assert anchor in names, f"{page}: {target}#{anchor}"
