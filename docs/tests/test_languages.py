"""Runs the programs of docs/other-languages.md against a service, by the clients and compilers of Debian."""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from servers import SNOWMINT
from test_blocks import free_port

PAGE = Path(__file__).parents[1] / "other-languages.md"
BLOCKS: dict[str, str] = dict(re.findall(r"^```(\w+)\n(.*?)^```$", PAGE.read_text(), re.DOTALL | re.MULTILINE))
PROGRAMS = {
    "php": ("main.php", ["php", "main.php"], "1 in order"),
    "ruby": ("main.rb", ["ruby", "main.rb"], "1 in order"),
    "go": ("main.go", ["go", "run", "main.go"], "2 true"),
    "java": ("Main.java", ["java", "Main.java"], "2 true"),
}


@pytest.fixture
def ports(tmp_path: Path) -> Iterator[tuple[str, str]]:
    """The ports of a service for HTTP and for the Redis protocol."""
    http, redis = free_port(), free_port()
    words = [SNOWMINT, "serve", "--store", f"file:{tmp_path}/ids?allow_unsafe=true"]
    words += ["--http", f"127.0.0.1:{http}", "--redis", f"127.0.0.1:{redis}"]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as service:
        assert service.stderr is not None
        assert any("serving" in line for line in service.stderr)
        yield http, redis
        service.terminate()
        service.communicate()


@pytest.mark.parametrize("language", PROGRAMS)
def test_a_program_of_another_language_gets_ids(language: str, ports: tuple[str, str], tmp_path: Path) -> None:
    file, command, expected = PROGRAMS[language]
    (tmp_path / file).write_text(BLOCKS[language].replace("8080", ports[0]).replace("6389", ports[1]))
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)
    assert (done.stdout.strip(), done.returncode) == (expected, 0), done.stderr


def test_every_language_of_the_page_runs() -> None:
    assert BLOCKS.keys() == PROGRAMS.keys()
