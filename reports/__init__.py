"""Programs that measure what the pages of docs/ say, and write it there.

They know the insides; nothing imports them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
END = "<!-- end of what is written -->"


def begin(program: str) -> str:
    """The mark on a page before what a program writes there."""
    return f"<!-- written by python -m reports.{program} -->"


def between_marks(page: str, program: str, new: str) -> str:
    """The page with `new` between the program's marks.

    Raises:
        ValueError: the marks are missing.
    """
    before, first, rest = page.partition(begin(program))
    _, last, after = rest.partition(END)
    if not first or not last:
        raise ValueError(f"the page needs the lines {begin(program)} and {END}")
    return f"{before}{first}\n\n{new}\n\n{END}{after}"


def as_markdown(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; cells hold no bar."""
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *rows))
