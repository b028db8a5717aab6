"""Finds circles of imports between the files of each Rust crate, prints them, and exits with 1 if there are any.

An import is a `use`, or a path such as `crate::text::encode`, outside of `#[cfg(test)]`. It counts for the file that
defines the name: re-exports are followed, and `mod name;` alone does not count. A module and its own children may form
a circle.
"""

import re
import subprocess
import sys
from pathlib import Path

NOISE = re.compile(r"""//[^\n]*|/\*.*?\*/|\br(\#*)".*?"\1|"(?:\\.|[^"\\])*"|'(?:\\.[^']*|[^'\\])'""", re.DOTALL)
TESTS = re.compile(r"#!?\[cfg\((?:all\()?test\b[^\]]*\][^;{]*[;{]")
BRACE = re.compile(r"[{}]")
MOD = re.compile(r'(?:#\[path = "([^"]+)"\]\s*(?:pub(?:\(\w+\))?\s+)?)?\bmod\s+(\w+);')
USE = re.compile(r"\buse\s+([^;]+);")
GROUP = re.compile(r"([\w:]*)\{([^{}]*)\}")
PATH = re.compile(r"(?<![\w:.])\w+(?:::\w+)+")


class File:
    """A file of a crate, with the modules below it."""

    def __init__(self, path: Path, ancestors: "tuple[File, ...]" = ()) -> None:
        self.path, self.ancestors = path, ancestors
        text = NOISE.sub(lambda noise: noise[0] if noise[0].endswith('.rs"') else " ", path.read_text())
        while test := TESTS.search(text):
            depth, end = 0, test.end()
            if test[0].endswith("{"):
                for brace in BRACE.finditer(text, end - 1):
                    depth, end = depth + (1 if brace[0] == "{" else -1), brace.end()
                    if depth == 0:
                        break
            text = text[: test.start()] + text[end:]
        folder = path.with_suffix("") if ancestors else path.parent
        places = {name: path.parent / place if place else folder / f"{name}.rs" for place, name in MOD.findall(text)}
        self.children = {name: File(place, (*ancestors, self)) for name, place in places.items() if place.exists()}
        self.names: dict[str, str] = {}
        for tree in USE.findall(text):
            while group := GROUP.search(tree):
                tree = tree.replace(group[0], re.sub(r"(?<![^,])\s*(?=[\w*])", group[1], group[2]))
            for leaf in tree.split(","):
                use, _, name = re.sub(r"::self\b", "", leaf).strip().partition(" as ")
                self.names[name or use.rpartition("::")[2]] = use
        self.paths = {*self.names.values(), *PATH.findall(USE.sub(" ", text))}

    def find(self, path: str, depth: int = 20) -> "tuple[File, bool] | None":
        """Finds the file that defines a path, and whether the path is a module; `None` if another crate defines it."""
        first, *rest = path.split("::")
        if first == "super" and self.ancestors:
            return self.ancestors[-1].find("::".join(["self", *rest]), depth)
        if first == "self" and rest[:1] == ["super"]:
            return self.find("::".join(rest), depth)
        file = {**self.children, "crate": (*self.ancestors, self)[0], "self": self}.get(first)
        if file is None:
            known = depth > 0 and self.names.get(first, first) != first
            return self.find("::".join([self.names[first], *rest]), depth - 1) if known else None
        for at, name in enumerate(rest):
            if name in file.names and name not in file.children and depth > 0:
                return file.find("::".join([file.names[name], *rest[at + 1 :]]), depth - 1) or (file, False)
            if name not in file.children:
                return file, False
            file = file.children[name]
        return file, True

    def imports(self) -> "dict[File, dict[File, str]]":
        """Returns the files that each file of this module imports, with a path that imports them."""
        found = {path: self.find(path) for path in sorted(self.paths)}
        graph = {self: {each[0]: path for path, each in found.items() if each and each[0] is not self and not each[1]}}
        for child in self.children.values():
            graph |= child.imports()
        return graph


def circles(graph: dict[File, dict[File, str]]) -> list[list[File]]:
    """Lists the groups of files that import each other, except a module with its own children."""
    reach: dict[File, set[File]] = {file: set() for file in graph}
    for file, seen in reach.items():
        ways = [file]
        while ways:
            new = graph[ways.pop()].keys() & graph.keys() - seen
            seen |= new
            ways += new
    found = []
    for group in {
        frozenset(each for each in seen if file in reach[each]) for file, seen in reach.items() if file in seen
    }:
        top = {file for file in group if all(file is each or file in each.ancestors for each in group)}
        found += circles({file: graph[file] for file in group - top}) if top else [list(group)]
    return found


def main() -> int:
    """Returns the exit code: 1 if there is a circle."""
    files = subprocess.run(["git", "ls-files"], check=True, capture_output=True, text=True).stdout.split()
    roots = {Path(file) for file in files if re.search(r"(^|/)(src/(lib|main)|tests/(\w+|\w+/main))\.rs$", file)}
    for manifest in (Path(file) for file in files if file.endswith("Cargo.toml")):
        roots |= {manifest.parent / path for path in re.findall(r'path = "(.+\.rs)"', manifest.read_text())}
    wrong = 0
    for graph in (File(root).imports() for root in sorted(roots)):
        for circle in circles(graph):
            wrong = 1
            print(f"{len(circle)} files import each other:")
            for file in circle:
                for other in graph[file].keys() & set(circle):
                    print(f"    {file.path} imports {other.path}: {graph[file][other]}")
    return wrong


if __name__ == "__main__":
    sys.exit(main())
