"""Checks that each test, file, scene and mutant exists that docs/record.md and tests/README.md name."""

import json
import re
import shlex
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
RECORD = "docs/record.md"
PROMISES = "tests/README.md"
SYSTEMS = "tests/SYSTEMS.md"
PAGES = [RECORD, PROMISES, SYSTEMS]
REPEATS = "Repeats by package"
CRATES = {
    tomllib.loads((ROOT / folder / "Cargo.toml").read_text())["package"]["name"]: ROOT / folder
    for folder in ("core", "inspect", "stores", "rust", "server", "tests")
}
# The attributes of a function. A list of `holds!` has properties instead (tests/stores/main.rs).
RUST_TEST = r"((?:#\[[^\n]*\]\s*)+)(?:async )?fn {}\(|\b\w+::{},"


def read(page: str) -> str:
    return (ROOT / page).read_text()


def rows(page: str) -> list[tuple[str, list[str]]]:
    """Returns the rows of all tables: the heading above each, and its cells."""
    found, heading = [], ""
    lines = read(page).splitlines()
    for line, below in zip(lines, [*lines[1:], ""], strict=True):
        if line.startswith("#"):
            heading = line.lstrip("# ")
        # A line above the dashes names the columns.
        elif line.startswith("|") and not line.startswith("| ---") and not below.startswith("| ---"):
            found.append((heading, [cell.strip() for cell in line.strip("|").split(" | ")]))
    return found


def spans(text: str) -> list[str]:
    """Returns what stands between backticks, outside of blocks."""
    return re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE))


def commands(page: str, program: str) -> list[str]:
    return sorted({span for span in spans(read(page)) if span.startswith(program)})


def cases(program: str) -> list[str]:
    return [command for page in PAGES for command in commands(page, program)]


def sources(file: Path) -> dict[Path, str]:
    """Returns the texts of a file of Rust and of all modules below it."""
    text = file.read_text()
    found = {file: text}
    folder = file.parent if file.stem in ("main", "lib") else file.with_suffix("")
    module = r'^\s*(?:#\[path = "([^"]+)"\]\s*)?(?:pub(?:\([a-z]+\))? )?mod (\w+);'
    for path, name in re.findall(module, text, re.MULTILINE):
        child = file.parent / path if path else folder / f"{name}.rs"
        if child.exists():
            found |= sources(child)
    return found


def target(crate: Path, name: str) -> tuple[Path, list[str]]:
    """Returns the file of a test target, and the features that it needs."""
    listed = tomllib.loads((crate / "Cargo.toml").read_text()).get("test", [])
    for entry in listed:
        if entry["name"] == name:
            return crate / entry["path"], entry.get("required-features", [])
    [file] = [path for path in (crate / f"tests/{name}.rs", crate / f"tests/{name}/main.rs") if path.exists()]
    return file, []


@pytest.mark.parametrize("command", cases("cargo test"))
def test_a_test_in_rust_exists(command: str) -> None:
    words = shlex.split(command.removeprefix("cargo test ").replace("--lib", "--lib ''"))
    options = dict(zip(words[::2], words[1::2], strict=False))
    crate = CRATES[options["-p"]]
    if "--test" in options:
        file, features = target(crate, options["--test"])
        assert not features or "--features" in options, f"needs {features}"
    else:
        file = crate / "src/lib.rs"
    # A command without a name runs all tests of a file or crate.
    if len(words) % 2 == 0:
        return
    *modules, name = words[-1].split("::")
    texts = sources(file)
    found = [re.search(RUST_TEST.format(name, name), text) for text in texts.values()]
    attributes = [match[1] or "#[test]" for match in found if match]
    assert any("test]" in each or "test(" in each for each in attributes), f"{file} has no test {name}"
    assert "--features" in options or not any("cfg(feature" in each for each in attributes), "needs a feature"
    for module in modules:
        inline = re.search(rf"\b{module}: Kind|\bmod {module} {{", texts[file])
        assert inline or module in {path.stem for path in texts}, module


@pytest.mark.parametrize("command", cases("pytest"))
def test_a_test_in_python_exists(command: str) -> None:
    path, _, name = shlex.split(command)[-1].partition("::")
    assert (ROOT / path).exists(), path
    if name:
        assert re.search(rf"^(?:async )?def {name}\(", read(path), re.MULTILINE), f"{path} has no {name}"


def imported(file: Path, seen: dict[Path, str]) -> dict[Path, str]:
    """Returns the texts of a file of JavaScript and of the files beside it that it imports."""
    if file not in seen:
        seen[file] = file.read_text()
        for name in re.findall(r'from "(\./[\w./-]+)"', seen[file]):
            if (file.parent / name).exists():
                imported(file.parent / name, seen)
    return seen


@pytest.mark.parametrize("command", cases("node --test"))
def test_a_test_in_javascript_exists(command: str) -> None:
    words = shlex.split(command)
    file = ROOT / "npm" / words[-1]
    assert file.exists(), file
    for word in words:
        if word.startswith("--test-name-pattern="):
            title = word.removeprefix("--test-name-pattern=")
            texts = "\n".join(imported(file, {}).values())
            assert re.search(rf'(?:"|`)[^"`\n]*{re.escape(title)}', texts), f"{file} has no test {title}"
            # The pattern is a regular expression.
            assert not re.search(r"[\\^$*+?.()|\[\]{}]", title), title


@pytest.mark.parametrize("page", PAGES)
def test_scenes_scripts_and_files_exist(page: str) -> None:
    scenes = re.findall(r"^    ([a-z |]+)\) ", read("scripts/peers.sh"), re.MULTILINE)
    for span in spans(read(page)):
        program, *words = span.split(" ")
        if program == "scripts/peers.sh" and words:
            assert words[0] in {name.strip() for line in scenes for name in line.split("|")}, span
        elif program == "make" and words:
            assert re.search(rf"^{words[0]}:", read("Makefile"), re.MULTILINE), span
        elif re.fullmatch(r"[\w.-]+(/[\w.-]+)*\.(py|rs|mjs|sh|md)", program):
            assert any((base / program).exists() for base in (ROOT, ROOT / "npm")), span


@pytest.mark.parametrize("page", [RECORD, PROMISES])
def test_each_mutant_is_one_that_a_script_runs(page: str) -> None:
    scripts = read("scripts/mutants.sh") + read("scripts/loom.sh")
    # The script runs `advice` by itself, as its test has to stay green.
    runs = set(re.findall(r"^(?:check|red|if output=\$\(run) (\w+) ", scripts, re.MULTILINE))
    removed = "".join(path.read_text() for folder in CRATES.values() for path in (folder / "src").rglob("*.rs"))
    named = {name for words in re.findall(r"mutants? ((?:`\w+`(?:, | and )?)+)", read(page)) for name in spans(words)}
    if page == PROMISES:
        named |= {name for _, cells in rows(page) if len(cells) == 4 for name in spans(cells[1])}
    assert named
    for name in named:
        assert name in runs, name
        assert f'removes("{name}")' in removed, name


def test_each_failure_and_fault_has_a_test_or_a_reason() -> None:
    for heading, cells in rows(RECORD):
        if heading == REPEATS:
            continue
        tested = any(span.startswith(("cargo ", "pytest ", "node ", "make ")) for span in spans(cells[-1]))
        assert tested or "](" in cells[-1] or "README.md" in cells[-1], cells


def test_the_record_names_the_versions_that_run() -> None:
    python = re.findall(r"^([\w-]+)==([\d.]+)$", read("tests/peers/requirements.txt"), re.MULTILINE)
    node = json.loads(read("tests/peers/package.json"))["dependencies"].items()
    rust = re.findall(r'^([\w-]+) = (?:\{ version = )?"=([\d.]+)"', read("tests/peers/Cargo.toml"), re.MULTILINE)
    for name, version in [*python, *node, *rust]:
        # An import of snowflake-id-toolkit.
        assert name == "typing_extensions" or f"{name} {version}" in read(RECORD), name
