"""The cells of a table, one in each column of each row, whatever is merged or empty; and pages of text, which a file of
sheets or slides becomes: headings and tables in Markdown, as a table of values has.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from html import unescape
from typing import NamedTuple

# stands in an empty cell, so that those behind it keep their columns; `rag_core.domain.rows` has the same
EMPTY = "\u2012"
MAX_COLUMNS = 63  # Word's own limit
# characters of a merged cell that is written in each of its places; a longer one is written once; chosen
MAX_REPEATED = 200
_TAG = re.compile(r"<[^<>]*>")
# that holds no other table
TABLE = re.compile(r"<table\b[^<>]*>(?:(?!<table\b).)*?</table>?", re.IGNORECASE | re.DOTALL)
_PARTS = re.compile(r"<(/?)(tr|t[dh])\b([^<>]*)>|</?(?:thead|tbody|tfoot)\b[^<>]*>", re.IGNORECASE)
_CAPTION = re.compile(r"<(/?)caption\b[^<>]*>", re.IGNORECASE)
_MERGED = re.compile(r"\b(col|row)span\s*=\s*[\"']?\s*(\d{1,3})", re.IGNORECASE)
_SPAN = re.compile(r"\b(?:col|row)span\s*=\s*(?:\"[^\"]*\"|'[^']*'|[^\s>]+)", re.IGNORECASE)
_HEX = re.compile("_x00(?:09|0[AD])_", re.IGNORECASE)  # a line break, as Excel writes it
MAX_LABEL_CHARS = 31  # Excel's own limit for the name of a sheet
_IN_A_LABEL = frozenset(" .–/-")
NAMED = 5  # sheets or slides that a finding names; chosen


class Cell(NamedTuple):
    """A cell as markup between its two tags, over so many columns and rows."""

    content: str
    columns: int = 1
    rows: int = 1
    tag: str = "td"
    looks: str = ""


Grid = list[list[Cell]]


def spread(rows: Sequence[Sequence[Cell]]) -> Grid | None:
    """The table with a cell in each column of each row. None where its columns are not those of a list of values.

    They are where each column has a word or figure in a cell of its own; filings and forms part one value over several
    columns. What is merged is repeated in all its places, but for the label of a row, which stands once, and a row that
    is one cell.
    """
    placed = list(_placed(rows))
    width = max((len(row) for row in placed), default=0)
    own = {
        at
        for row in placed
        for at, cell in enumerate(row)
        if cell and cell.columns == 1 and any(map(str.isalnum, text_of(cell.content)))
    }
    if len(placed) < 2 or not 2 <= width <= MAX_COLUMNS or len(own) < width:
        return None
    return [list(_written(row, width, number)) for number, row in enumerate(placed)]


def _placed(rows: Sequence[Sequence[Cell]]) -> Iterator[list[Cell | None]]:
    """For each row the cell that covers each of its columns."""
    above: dict[int, tuple[Cell, int]] = {}  # by column: what reaches down into the next row, and how many rows further
    for cells in rows:
        row: list[Cell | None] = []
        waiting = list(cells)
        reaching, above = above, {}
        while (waiting or any(at >= len(row) for at in reaching)) and len(row) <= MAX_COLUMNS:
            cell, left = reaching.get(len(row), (None, 0))
            if cell is None and waiting:
                cell = waiting.pop(0)
                left, columns = cell.rows, max(1, cell.columns)
            else:
                columns = 1
            for _ in range(min(columns, MAX_COLUMNS + 1)):
                if cell and left > 1:
                    above[len(row)] = cell, left - 1
                row.append(cell)
        yield row


def _written(row: Sequence[Cell | None], width: int, number: int) -> Iterator[Cell]:
    first = row[0] if row else None
    if first and len(row) == width and all(cell is first for cell in row):
        yield first
        return
    # on the line of the others
    sign = f"<p>{EMPTY}</p>" if any(cell and "<p" in cell.content for cell in row) else EMPTY
    for at in range(width):
        cell = row[at] if at < len(row) else None
        again = cell is not None and at > 0 and cell is row[at - 1]
        text = text_of(cell.content) if cell else ""
        if cell is None or not text or (again and ((cell is first and number > 0) or len(text) > MAX_REPEATED)):
            yield Cell(sign, tag=cell.tag if cell else "td")
        else:
            yield cell


def text_of(markup: str) -> str:
    return unescape(_TAG.sub("", markup)).strip()


def in_place(page: str) -> str:
    """A web page with all cells of its tables in their columns: MuPDF takes no notice of merged ones."""
    return TABLE.sub(_whole, page)


def _whole(found: re.Match[str]) -> str:
    caption, rows = table_cells(found[0])
    grid = spread(rows)
    caption = caption and f"<caption>{caption}</caption>"
    return f"{found[0].partition('>')[0]}>{caption}{written(grid)}</table>" if grid else found[0]


def table_cells(table: str) -> tuple[str, Grid]:
    """The caption and the cells of each row of a table in HTML, as markup."""
    inside = table.partition(">")[2]
    start, end = (
        next((mark.end() for mark in _CAPTION.finditer(inside) if bool(mark[1]) is closes), 0)
        for closes in (False, True)
    )
    caption = re.sub("</caption[^<>]*>$", "", inside[start:end], flags=re.IGNORECASE) if 0 < start < end else ""
    inside = inside[end if caption else 0 :]
    parts = list(_PARTS.finditer(inside))
    rows: Grid = []
    for number, part in enumerate(parts):
        closed, tag, looks = part.groups()
        if closed or not tag:
            continue
        if tag.lower() == "tr":
            rows.append([])
            continue
        close = parts[number + 1].start() if number + 1 < len(parts) else inside.rindex("</")
        wide = {name.lower(): int(count) for name, count in _MERGED.findall(looks)}
        rows = rows or [[]]
        rows[-1].append(
            Cell(inside[part.end() : close], wide.get("col", 1), wide.get("row", 1), tag.lower(), _SPAN.sub("", looks))
        )
    return caption, [row for row in rows if row]


def written(grid: Sequence[Sequence[Cell]]) -> str:
    return "".join(
        f"<tr>{''.join(f'<{one.tag}{one.looks}>{one.content}</{one.tag}>' for one in row)}</tr>" for row in grid
    )


@dataclass
class TextPage:
    """A page of text, with its name, what was left out by kind (`HIDDEN_KINDS`), and why it could not be read."""

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
        if names:
            more = f" and {len(names) - NAMED:,} more" if len(names) > NAMED else ""
            self.notes.append(f"{what}: {', '.join(names[:NAMED])}{more}.{remedy}")


def one_line(text: str) -> str:
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
    return "|" + "---|" * columns
