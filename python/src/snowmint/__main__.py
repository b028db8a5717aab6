"""The command line: `python -m snowmint gen`, `inspect`, `layouts`, `doctor` and `audit`."""

import argparse
import importlib
import io
import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NoReturn, cast

import snowmint
from snowmint import Snowflake, SnowmintError, layouts, prefix, text
from snowmint._snowmint import (
    AuditReader,
    examine,
    find_layout,
    no_column,
    render_audit,
    render_candidates,
    render_decoded,
    render_layouts,
    shown,
)

BATCH = 4096
# Bytes of an input that are read at once.
PIECE = 1 << 18


class _Parser(argparse.ArgumentParser):
    """Reports a mistake in one line."""

    def error(self, message: str) -> NoReturn:
        _complain(f"{message} (see {self.prog} --help)")
        self.exit(2)


def _complain(sentence: str) -> None:
    """Reports a mistake in one line, in which a text of others cannot command the terminal."""
    # A lone surrogate stands for a byte that is not text.
    print(f"snowmint: {shown(sentence.encode(errors='backslashreplace').decode())}", file=sys.stderr)


def _count(given: str) -> int:
    if not given.isascii() or not given.isdigit():
        raise argparse.ArgumentTypeError(f"write a whole number from 0 on, not {given!r}")
    return int(given)


def _instant(given: str) -> int:
    """Returns Unix ms of Unix ms or RFC 3339."""
    try:
        return int(given)
    except ValueError:
        pass
    try:
        instant = datetime.fromisoformat(given)
    except ValueError:
        instant = None
    if instant is None or instant.tzinfo is None:
        raise argparse.ArgumentTypeError("write the time in RFC 3339, such as 2026-01-31T12:00:00Z, or in Unix ms")
    return int((instant - datetime(1970, 1, 1, tzinfo=UTC)) / timedelta(milliseconds=1))


def _prefix(given: str) -> str:
    try:
        prefix.encode(given, 0)
    except SnowmintError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
    return given


def _arguments() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="python -m snowmint",
        description="Mint and read IDs of the Snowflake family.",
        epilog="Exit codes: 0 for success, 1 for a failure or an unknown ID, 2 for wrong input.",
    )
    parser.add_argument("--version", action="version", version=f"snowmint {snowmint.__version__}")
    verbs = parser.add_subparsers(metavar="gen | inspect | layouts | doctor | audit", required=True)

    json_help = "print one JSON object per line"
    gen = verbs.add_parser("gen", help="mint IDs", description="Mint IDs, one per line.")
    gen.set_defaults(run=_gen)
    gen.add_argument("-n", "--count", type=_count, default=1, help="how many IDs to mint [default: 1]")
    gen.add_argument(
        "--layout", help="name of a preset, or text of a layout [default: SNOWMINT_LAYOUT, otherwise snowmint]"
    )
    forms = ", ".join(text.FORMS)
    written = gen.add_mutually_exclusive_group()
    written.add_argument(
        "--format",
        choices=text.FORMS,
        metavar="FORM",
        help=f"text form of fixed width: {forms} [default: the number without padding]",
    )
    written.add_argument(
        "--prefix", type=_prefix, help="prefix before each ID, with 13 characters after it: user_1asd13xh1f800"
    )
    gen.add_argument(
        "--node",
        help="node that no other generator uses: 5, or datacenter=0,worker=5 [default: SNOWMINT_NODE, otherwise a "
        "leased node]",
    )
    gen.add_argument(
        "--store",
        metavar="URL",
        help="store to lease a node from [default: SNOWMINT_STORE, otherwise the slots of this machine]",
    )
    gen.add_argument(
        "--namespace",
        help="namespace in which each lease has its own node [default: SNOWMINT_NAMESPACE, otherwise the layout's]",
    )
    gen.add_argument("--max-wait-ms", type=_count, metavar="MS", help="how long a batch may wait for the clock")
    gen.add_argument("--json", action="store_true", help=json_help)

    inspect = verbs.add_parser(
        "inspect",
        help="show the parts of IDs",
        description="Show the parts of IDs, in one layout or in every layout that could have minted them.",
    )
    inspect.set_defaults(run=_inspect)
    inspect.add_argument("ids", nargs="*", metavar="ID", help="IDs to read [default: the lines of standard input]")
    inspect.add_argument("--layout", help="read the IDs in this layout only: name of a preset, or text of a layout")
    inspect.add_argument("--format", choices=text.FORMS, metavar="FORM", help=f"text form of the IDs: {forms}")
    inspect.add_argument("--json", action="store_true", help=json_help)

    show = verbs.add_parser("layouts", help="show layouts", description="Show all presets, or the given layouts.")
    show.set_defaults(run=_layouts)
    show.add_argument(
        "layouts", nargs="*", metavar="LAYOUT", help="names of presets, or texts of layouts [default: all presets]"
    )
    show.add_argument("--json", action="store_true", help=json_help)

    doctor = verbs.add_parser(
        "doctor",
        help="examine what a generator would do here",
        description="Examine what a generator would do here: its store, node and clock, and what must be mended. "
        "Connects to the store as a generator does, which makes missing tables, and claims no node.",
        epilog="Exit code 1: something must be mended.",
    )
    doctor.set_defaults(run=_doctor)
    doctor.add_argument(
        "--layout", help="name of a preset, or text of a layout [default: SNOWMINT_LAYOUT, otherwise snowmint]"
    )
    doctor.add_argument(
        "--node",
        help="node that the generator is given: 5, or datacenter=0,worker=5 [default: SNOWMINT_NODE, otherwise a "
        "leased node]",
    )
    doctor.add_argument(
        "--store",
        metavar="URL",
        help="store of the generator's lease [default: SNOWMINT_STORE, otherwise the slots of this machine]",
    )
    doctor.add_argument(
        "--namespace", help="namespace of the lease [default: SNOWMINT_NAMESPACE, otherwise the layout's]"
    )
    doctor.add_argument("--json", action="store_true", help=json_help)

    audit = verbs.add_parser(
        "audit",
        help="say why a pile of IDs has duplicates",
        description="Say why a pile of IDs has duplicates: nodes that two processes share, clocks that stepped back, "
        "and more. Reads one ID per line, in the order in which they were written down, or a column of a CSV or "
        "Parquet file.",
        epilog="Exit code 0: nothing found; 1: findings; 2: lines that are no ID, which are reported and passed over, "
        "or other wrong input.",
    )
    audit.set_defaults(run=_audit)
    audit.add_argument("file", nargs="?", help="file to read [default: standard input]")
    audit.add_argument("--layout", help="name of a preset, or text of a layout [default: snowmint]")
    read = audit.add_mutually_exclusive_group()
    read.add_argument(
        "--format",
        choices=text.FORMS,
        metavar="FORM",
        help=f"text form of the IDs: {forms} [default: the number without padding]",
    )
    read.add_argument(
        "--prefix", type=_prefix, help="prefix of each ID, with 13 characters after it: user_1asd13xh1f800"
    )
    audit.add_argument("--column", metavar="NAME", help="column with the IDs: the file is CSV, or Parquet")
    audit.add_argument(
        "--since",
        type=_instant,
        metavar="TIME",
        help="when the system began, in RFC 3339 or Unix ms: earlier IDs are findings [default: the epoch of the "
        "layout]",
    )
    audit.add_argument(
        "--until",
        type=_instant,
        metavar="TIME",
        help="later IDs are in the future, in RFC 3339 or Unix ms [default: a minute from now]",
    )
    audit.add_argument(
        "--jitter-ms",
        type=_count,
        metavar="MS",
        help="how late a line is at most, because threads overtake each other: smaller steps back are no finding "
        "[default: 10]",
    )
    audit.add_argument(
        "--unordered", action="store_true", help="the IDs stand in no order: report only findings that need none"
    )
    audit.add_argument("--svg", metavar="FILE", help="write a picture of the nodes over time, with the findings marked")
    audit.add_argument("--json", action="store_true", help="print the report as a JSON object")
    return parser


def _gen(options: argparse.Namespace) -> int:
    generator = Snowflake(
        options.layout,
        options.node,
        store=options.store,
        namespace=options.namespace,
        max_wait_ms=options.max_wait_ms,
    )
    with generator:
        # A batch of a quarter second ends well before its deadline.
        at_once = max(1, min(BATCH, generator.layout.ids_per_second // 4))
        left = options.count
        while left > 0:
            ids = generator.next_ids(min(left, at_once))
            left -= len(ids)
            sys.stdout.write("\n".join(map(_written(options), ids)) + "\n")
            sys.stdout.flush()
    return 0


def _written(options: argparse.Namespace) -> Callable[[int], str]:
    form, start = options.format, options.prefix
    if form is None and start is None:
        return (lambda id: json.dumps({"id": str(id)})) if options.json else str

    def written(id: int) -> str:
        return prefix.encode(start, id) if form is None else text.encode(id, form)

    return (lambda id: json.dumps({"id": str(id), "text": written(id)})) if options.json else written


def _inspect(options: argparse.Namespace) -> int:
    layout = None if options.layout is None else find_layout(options.layout)
    code = 0
    for value in options.ids or _lines(sys.stdin):
        try:
            id = value if options.format is None else text.decode(value, options.format)
            if layout is None:
                candidates = snowmint.inspect(id)
                code = code if candidates else max(code, 1)
                # A lone surrogate stands for a byte of the command line that is not text.
                printable = str(id).encode(errors="backslashreplace").decode()
                table = render_candidates(printable, candidates, options.json, _bold())
            else:
                table = render_decoded(_integer(id), layout, options.json)
        except (SnowmintError, ValueError) as error:
            # The other IDs may be right.
            _complain(f"{value}: {error}")
            code = 2
            continue
        sys.stdout.write(table)
        sys.stdout.flush()
    return code


def _lines(source: Iterable[str]) -> Iterator[str]:
    return (line.strip() for line in source if not line.isspace())


def _integer(value: str | int) -> int:
    if isinstance(value, str) and not re.fullmatch("-?[0-9]{1,40}", value):
        raise ValueError("an ID is an integer from -2^63 to 2^64-1; --format names another form")
    return int(value)


def _layouts(options: argparse.Namespace) -> int:
    chosen = [find_layout(each) for each in options.layouts]
    table = render_layouts(chosen or list(layouts.all().values()), bool(chosen), options.json, _bold())
    sys.stdout.write(table)
    return 0


def _doctor(options: argparse.Namespace) -> int:
    table, is_well = examine(options.layout, options.node, options.store, options.namespace, options.json, _bold())
    sys.stdout.write(table)
    return 0 if is_well else 1


def _audit(options: argparse.Namespace) -> int:
    reader = AuditReader(
        options.layout,
        options.since,
        options.until,
        options.jitter_ms,
        options.unordered,
        options.format,
        options.prefix,
        options.column,
    )
    stdin = cast("io.BufferedReader", sys.stdin.buffer)
    with open(options.file, "rb") if options.file else nullcontext(stdin) as source:
        try:
            if source.peek(4).startswith(b"PAR1"):
                _read_parquet(reader, source, options.column)
            else:
                while piece := source.read(PIECE):
                    reader.push(piece)
            report, wrong, sentences = reader.end()
        except ValueError as error:
            raise _WrongInputError(error) from error
    for sentence in sentences:
        _complain(sentence)
    if options.svg:
        Path(options.svg).write_text(report.svg(), encoding="utf-8")
    sys.stdout.write(render_audit(report, options.json, _bold()))
    return 2 if wrong else int(bool(report.findings))


class _WrongInputError(ValueError):
    """The input of an audit cannot be read at all."""


def _read_parquet(reader: AuditReader, source: io.BufferedReader, column: str | None) -> None:
    try:
        # They have no types.
        pyarrow: Any = importlib.import_module("pyarrow")
        parquet: Any = importlib.import_module("pyarrow.parquet")
    except ImportError as error:
        raise ValueError("the input is a Parquet file: install pyarrow, or export the column as CSV") from error
    file = parquet.ParquetFile(pyarrow.BufferReader(source.read()))
    schema = file.schema_arrow
    if column not in schema.names:
        raise ValueError(no_column(column or "", schema.names))
    kind = schema.field(column).type
    if kind not in (pyarrow.int64(), pyarrow.uint64(), pyarrow.string(), pyarrow.large_string()):
        double = ", and a double holds only 53 bits of an ID" if pyarrow.types.is_floating(kind) else ""
        raise ValueError(f'column "{column}" has the type {kind}{double}: IDs are a column of int64 or of text')
    for batch in file.iter_batches(columns=[column]):
        for value in batch.column(0).to_pylist():
            reader.add(value)


def _bold() -> bool:
    """Returns whether headlines are bold: on a terminal that shows bold text."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line and returns the exit code."""
    for stream in (sys.stdin, sys.stdout):
        # Bytes that are not text become \xff, which no ID contains.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    options = _arguments().parse_args(arguments)
    try:
        code: int = options.run(options)
        sys.stdout.flush()
    except KeyboardInterrupt:
        code = 130
    except BrokenPipeError:
        # The reader closed the output. The interpreter must not write the rest when it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    except (SnowmintError, OSError, _WrongInputError) as error:
        _complain(str(error))
        code = 2 if isinstance(error, ValueError) else 1
    return code


if __name__ == "__main__":
    sys.exit(main())
