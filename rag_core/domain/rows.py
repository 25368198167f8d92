"""How a claim that is a row of a table is read: "Pressure: 16 bar (Value)", not "Parameter | Value | Unit: Pressure |
16 | bar".

Every word is one of the row or of its header. What cannot be told apart for certain is left as it stands.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from unicodedata import category

from rag_core.language import any_language, fold
from rag_core.language.scales import holds_scale

# between the cells of a row, and between the rows of a header: see `rag_core.grounding.units`
CELL, NEXT_ROW = (
    " | ",
    "; ",
)
EMPTY = "\u2012"  # an empty cell: see `rag_core.ingest.pdf_worker.formats.tables`, and `grid` for PDFs
_EMPTY = re.compile(r"(?<=\|) (?=\|)")
_BEHIND = frozenset((")", "%", ")%", ") %"))  # cells of their own in filings, which end the figure before them


def in_words(text: str) -> str:
    """A claim's text as it is read; that text itself where it is no row under a header whose columns fit."""
    return next(filter(None, (_read(text[:at], text[at + 2 :]) for at in _colons(text))), text)


def _colons(text: str) -> list[int]:
    """Where a header may end: at a colon and a space, behind a bar and before one."""
    if CELL not in text:  # nearly every claim
        return []
    return [at for at in range(len(text)) if text.startswith(": ", at) and CELL in text[:at] and CELL in text[at:]]


def columns(header: str, row: str) -> list[tuple[str, str]]:
    """The cells behind the first one, each with its column's head and unit; none where the header does not fit."""
    return _fitted(header, row)[0]


def counted_in(text: str, cell: str) -> str:
    """The scale of a row's cell in brackets: " (in thousands of euros)"; empty where nothing says one."""
    for parts, said in (_fitted(text[:at], text[at + 2 :]) for at in _colons(text)):
        if parts:
            return next(filter(holds_scale, (*(f" ({head})" for one, head in parts if one == cell), said)), "")
    return ""


def _fitted(header: str, row: str) -> tuple[list[tuple[str, str]], str]:
    """The cells with their heads, and what is said of all figures of the table."""
    cells = [cell.strip() for cell in _within(row).split(CELL)]
    rows = [_within(one).split(CELL) for one in header.split(NEXT_ROW)]
    if all(len(one) != len(cells) for one in rows):
        cells = figures(cells)
        rows = [["", *one] if len(one) == len(cells) - 1 and over_figures(one) else one for one in rows]
    over = [one for one in rows if len(one) == len(cells) > 1]
    above = [one[0] for one in rows if len(one) == 1]
    if not over or len(over) + len(above) < len(rows) or not any(map(str.isalpha, cells[0])):
        return [], ""
    parts: list[tuple[str, str]] = []
    for number, cell in enumerate(cells[1:], 1):
        head = " ".join(dict.fromkeys(one[number].strip() for one in over if one[number].strip() not in ("", EMPTY)))
        if fold(head) in any_language().unit_heads and parts:
            parts[-1] = (f"{parts[-1][0]} {cell}".strip(), parts[-1][1])
        else:
            parts.append((cell, head))
    corners = [one[0].strip() for one in over if _says_how_many(one[0])]
    return parts, "".join(f" {one}" if one.startswith("(") else f" ({one})" for one in (*above, *corners) if one)


def _read(header: str, row: str) -> str:
    parts, said = _fitted(header, row)
    cells = [(cell, head) for cell, head in parts if cell not in ("", EMPTY)]
    told = NEXT_ROW.join(f"{cell} ({head})" if head else cell for cell, head in cells)
    return f"{_within(row).split(CELL)[0].strip()}: {told}{said}" if told else ""


def _within(row: str) -> str:
    """A row without the bars at its ends, as Markdown has them, and with room for its empty cells."""
    bare = row.strip()
    bare = bare.removeprefix("| ").removesuffix(" |") if bare.startswith("| ") else row
    return _EMPTY.sub("  ", bare)


def _says_how_many(corner: str) -> bool:
    """Whether the head over the labels says what all figures are counted in: "In millions", "$", "v tis. Kč"."""
    return holds_scale(corner) or any(category(letter) == "Sc" for letter in corner)


def figures(cells: Sequence[str]) -> list[str]:
    """The cells of a row, those joined that are one figure: "$" and "46,298", "(4" and ")". The first one names the
    row.

    Of "$", "377 $" and "391" the second sign is that of the last figure, which stands close behind it on the page.
    """
    joined: list[str] = []
    for cell in cells:
        if len(joined) > 1 and (cell in _BEHIND or _is_sign(joined[-1])):
            joined[-1] += cell
        else:
            figure, _, sign = joined[-1].rpartition(" ") if len(joined) > 1 else ("", "", "")
            if figure and _is_sign(sign) and sign != "(" and joined[-1].startswith(sign):  # it has one of its own
                joined[-1], cell = figure, sign + cell
            joined.append(cell)
    return joined


def over_figures(heads: Sequence[str]) -> bool:
    """Whether each head can only stand over figures: it is a period. So the column that names the rows has no head."""
    return all(any(map(str.isdecimal, head)) for head in heads)


def _is_sign(cell: str) -> bool:
    return bool(cell) and all(letter == "(" or category(letter) == "Sc" for letter in cell)
