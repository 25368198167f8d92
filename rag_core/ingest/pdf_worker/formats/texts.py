"""Pages of text that a file of sheets or slides becomes: headings and tables in Markdown, as a table of values has."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from .tables import EMPTY

_HEX = re.compile("_x00(?:09|0[AD])_", re.IGNORECASE)  # a line break, as Excel writes it
MAX_LABEL_CHARS = 31  # Excel's own limit for the name of a sheet
_IN_A_LABEL = frozenset(" .–/-")


@dataclass
class TextPage:
    """A page: its text, the name or number that people know it by, what was left out of it, by
    `rag_core.ingest.reading.pdf_findings.HIDDEN_KINDS`, and why it could not be read.
    """

    text: str
    label: str
    kinds: Counter[str] = field(default_factory=Counter)
    problem: str = ""

    @property
    def source(self) -> str:
        """Where its text came from, as `rag_core.domain.documents.PageSource` names it."""
        return "text" if self.text else "unreadable" if self.problem else "empty"


@dataclass
class Texts:
    """The pages of a file, the title that it states, and what to know about how it was read."""

    title: str = ""
    pages: list[TextPage] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def note(self, what: str, names: Sequence[str], remedy: str = "") -> None:
        """Say what of these sheets or slides was not read, where it is any of them."""
        if names:
            more = f" and {len(names) - NAMED:,} more" if len(names) > NAMED else ""
            self.notes.append(f"{what}: {', '.join(names[:NAMED])}{more}.{remedy}")


NAMED = 5  # sheets or slides that a finding names; chosen


def one_line(text: str) -> str:
    """The text without line breaks, and without more than one blank at once."""
    return " ".join(_HEX.sub(" ", text).split())


def said(text: str) -> int:
    """How many characters it has, without white space."""
    return sum(map(len, text.split()))


def label_of(name: str) -> str:
    """A name as a label may be: letters, figures and a few signs, none of which is markup."""
    kept = (sign if unicodedata.category(sign)[0] in "LMN" or sign in _IN_A_LABEL else " " for sign in name)
    return one_line("".join(kept))[:MAX_LABEL_CHARS].strip(" .–/-")


def row_of(cells: Iterable[str]) -> str:
    """A row of a table; a bar within a cell becomes a broken one, so that no cell is parted."""
    return f"| {' | '.join(cell.replace('|', '¦') or EMPTY for cell in cells)} |"


def rule_of(columns: int) -> str:
    """The line below the heads of a table."""
    return "|" + "---|" * columns
