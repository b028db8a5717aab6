"""The command line: `python -m snowmint gen`, `inspect`, `layouts` and `doctor`."""

import argparse
import io
import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NoReturn

import snowmint
from snowmint import Snowflake, SnowmintError, layouts, prefix, text
from snowmint._snowmint import examine, find_layout, render_candidates, render_decoded, render_layouts

BATCH = 4096


class _Parser(argparse.ArgumentParser):
    """Reports a mistake in one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"snowmint: {message} (see {self.prog} --help)\n")


def _count(given: str) -> int:
    if not given.isascii() or not given.isdigit():
        raise argparse.ArgumentTypeError(f"write a whole number from 0 on, not {given!r}")
    return int(given)


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
    verbs = parser.add_subparsers(metavar="gen | inspect | layouts | doctor", required=True)

    json_help = "print one JSON object per line"
    gen = verbs.add_parser("gen", help="mint IDs", description="Mint IDs, one per line.")
    gen.set_defaults(run=_gen)
    gen.add_argument("-n", "--count", type=_count, default=1, help="how many IDs to mint [default: 1]")
    gen.add_argument("--layout", help="name of a preset, or text of a layout [default: snowmint]")
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
    doctor.add_argument("--layout", help="name of a preset, or text of a layout [default: snowmint]")
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
                shown = render_candidates(printable, candidates, options.json, _bold())
            else:
                shown = render_decoded(_integer(id), layout, options.json)
        except (SnowmintError, ValueError) as error:
            # The other IDs may be right.
            print(f"snowmint: {value}: {error}", file=sys.stderr)
            code = 2
            continue
        sys.stdout.write(shown)
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
    shown = render_layouts(chosen or list(layouts.all().values()), bool(chosen), options.json, _bold())
    sys.stdout.write(shown)
    return 0


def _doctor(options: argparse.Namespace) -> int:
    shown, is_well = examine(options.layout, options.node, options.store, options.namespace, options.json, _bold())
    sys.stdout.write(shown)
    return 0 if is_well else 1


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
    except (SnowmintError, OSError) as error:
        print(f"snowmint: {error}", file=sys.stderr)
        code = 2 if isinstance(error, ValueError) else 1
    return code


if __name__ == "__main__":
    sys.exit(main())
