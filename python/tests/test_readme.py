"""The lines that READMEs show first, their table of errors, and their links."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import snowmint

ROOT = Path(__file__).parents[2]
PACKAGES = ["python", "npm", "rust", "stores", "core", "server"]
REPOSITORY = "https://github.com/snowmint/snowmint/"


def text(readme: str) -> str:
    return (ROOT / readme).read_text()


@pytest.mark.parametrize("readme", ["README.md", "python/README.md"])
def test_the_first_lines_mint_an_id(readme: str, tmp_path: Path) -> None:
    lines = re.search(r"```python\n(.*?)```", text(readme), re.S)
    assert lines
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SNOWMINT_")}
    environment["SNOWMINT_STATE_DIR"] = str(tmp_path)
    command = [sys.executable, "-c", lines[1]]
    minted = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=60, check=True).stdout
    assert snowmint.layouts.SNOWMINT.decode(int(minted)).node == 0


def test_the_table_of_errors_names_every_error_as_each_language_does() -> None:
    rows = re.findall(r"^\| `([A-Z_]+)` \| `(\w+)` \| `(\w+)` \|", text("docs/errors.md"), re.M)
    assert {name for _, name, _ in rows} == {error.__name__ for error in snowmint.SnowmintError.__subclasses__()}
    for code, name, kind in rows:
        assert getattr(snowmint, name).code == code
        assert kind == code.title().replace("_", "")


def test_every_link_of_the_readme_has_a_target() -> None:
    for target in re.findall(r"\]\((?!https?://)([^)#]+)", text("README.md")):
        assert (ROOT / target).exists(), target


@pytest.mark.parametrize("package", PACKAGES)
def test_every_link_of_a_package_works_on_its_registry(package: str) -> None:
    for target in re.findall(r"\]\(([^)\s]+)", text(f"{package}/README.md")):
        # A registry shows the README alone.
        assert target.startswith(("https://", "#")), target
        if target.startswith(REPOSITORY):
            assert (ROOT / target.removeprefix(REPOSITORY).split("#")[0].split("/", 2)[2]).exists(), target


def test_the_first_screen_installs_each_package() -> None:
    first = text("README.md").split("\n## ")[0]
    for line in ["pip install snowmint", "npm install snowmint", "cargo add snowmint", "cargo install snowmint-server"]:
        assert line in first


def test_the_figures_of_speed_are_those_of_the_benchmarks() -> None:
    results = json.loads(text("benches/results.json"))["parts"]
    medians = [row["median"] for part in results.values() for table in part["found"] for row in table.get("rows", [])]
    rows = re.findall(r"^\|[^|]*`[^|]*\|(.*)$", text("README.md").split("## Speed")[1].split("## More")[0], re.M)
    figures = [figure.replace(",", "") for row in rows for figure in re.findall(r" (\d[\d,]*(?:\.\d+)?)", row)]
    assert len(figures) > 12
    for figure in figures:
        digits = len(figure.partition(".")[2])
        assert any(round(median, digits) == float(figure) for median in medians), figure


def test_the_first_page_is_short() -> None:
    assert len(text("README.md").splitlines()) <= 120
