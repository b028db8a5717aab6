"""The functions of `python -m snowmint`."""

from snowmint._stubs._arguments import Int
from snowmint._stubs.audit import AuditReport
from snowmint._stubs.inspect import Candidate
from snowmint._stubs.layouts import Layout

def render_layouts(layouts: list[Layout], pictures: bool, json: bool, bold: bool) -> str:
    """Returns a table of layouts or a picture of each one, as the command line prints them."""

def render_decoded(id: Int, layout: Layout, json: bool) -> str:
    """Returns the parts of an ID on one line, as the command line prints them.

    Raises:
        InvalidIdError: The layout cannot have minted the ID.
    """

def render_candidates(value: str, found: list[Candidate], json: bool, bold: bool) -> str:
    """Returns a value and its candidates, as the command line prints them."""

def render_audit(report: AuditReport, json: bool, bold: bool) -> str:
    """Returns a report as the command line prints it."""

def examine(
    layout: str | None, node: str | None, store: str | None, namespace: str | None, json: bool, bold: bool
) -> tuple[str, bool]:
    """Examines what a generator would do here. Returns the findings as text, and whether nothing must be mended."""
