"""Finds where a table starts and ends, and which of its rows name its columns and its unit.

A number in a filing means nothing without its column ("2017") and its unit ("in millions"). Both stand in the rows
above the figures, often rows of their own, and every piece that is cut from the table must keep them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from rag_core.domain.rows import EMPTY
from rag_core.ingest.blocks.rows import Row
from rag_core.language.bullets import BULLETS
from rag_core.language.scales import names_scale

MAX_HEADER_ROWS = 6  # rows that may head a table; chosen
GAP_ROWS = 3  # rows of one cell inside a table (group labels, wrapped labels) before the next row of several
INDENT = 3.0  # points, or columns of a text document: a row that starts further to the right has no label
MAX_LABEL_CHARS = 80  # a longer row of one cell is running text, unless figures follow within two rows

_PERIOD = re.compile(
    r"\b(?:years?|months?|quarters?|weeks?|period)\b.{0,30}\b(?:ended|ending)\b|"
    r"^\W*(?:(?:as of|as at|at|k|zum|per) )?"
    r"(?:[^\W\d]{3,10} \d{1,2},(?: \d{4})?|\d{1,2}\. ?(?:[^\W\d]{3,10}|\d{1,2}\.) ?\d{4}|(?:19|20)\d\d)\W*$",
    re.IGNORECASE,
)
# What has digits and yet is no figure: years, dates, "Level 1", "Q3", "1Q22", "TK-40/2", "40-TK", "Model 400" at the
# end of a cell, footnote marks.
_NAMES_WITH_DIGITS = re.compile(
    r"\b(?:19|20)\d\d\b|['’]?\b000s?\b|\b\d{1,2}[./] ?\d{1,2}[./]|[^\W\d]+\.? \d{1,2}\b(?![.,]?\d)|\b\d{1,2}\. "
    r"[^\W\d]{3,}|"
    r"\b[A-Za-z]+\d\w*|\b\d[A-Za-z]\w*|\(\d\)|"
    r"\b[^\W\d]+[-‐‑]\d\w*(?:[./‐‑-]\w+)*|\b\d+[-‐‑][^\W\d]\w*|[^\W\d]{4,} \d{3,4}(?=\s*(?:[\t|]|$))"
)
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_FIGURE = re.compile(r"\d|[—–]")
_RULE = re.compile(r"[\s|:+=-]+")
_MARKER = re.compile(  # begins a list's item or a heading: "Item 7.", "§ 5"
    r"(?:[·*o–—"
    + BULLETS
    + r"-]|\(?[0-9a-zA-Z]{1,4}[.)]|\d{1,2}(?:\.\d{1,2})+|(?:\w+\.?|§+) (?:[IVXLC]+|\d{1,3}[A-Z]?)\.?)\s+(?=.*[^\W\d]{3})"  # noqa: E501
)


_ASIDE = re.compile(r"\([^()]{3,30}\)", re.IGNORECASE)  # "(unaudited)", "(restated)"


def _has_figures(text: str) -> bool:
    return bool(_FIGURE.search(_NAMES_WITH_DIGITS.sub("", text)))


def is_rule(row: Row) -> bool:
    return bool(_RULE.fullmatch(row.text)) and "-" in row.text


def is_tabular(row: Row) -> bool:
    """Whether a row has several cells and is not an item of a list, whose marker stands apart like a cell."""
    marker = _MARKER.match(row.text) if row.cells == 2 else None
    return row.cells > 1 and not (marker and (row.size == 0 or "\t" in marker[0]))


def _opens(row: Row) -> bool:
    """Whether a row can only be the head of a table: a unit, a period, or nothing but years."""
    if row.cells == 1:
        return len(row.text) < MAX_LABEL_CHARS and (
            names_scale(row.text) or bool(_PERIOD.search(row.text) or _ASIDE.fullmatch(row.text))
        )
    return (
        len(_YEAR.findall(row.text)) > 1
        and not _has_figures(row.text)
        and not re.search(r"[^\W\d]{3,}.*\t.*(?:19|20)\d\d", row.text)
    )


def table_end(rows: Sequence[Row], start: int) -> int:
    """The index after the last row of the table that starts at `rows[start]`, or `start` when none starts there.

    It has at least two rows of several cells, or one of at least three, and ends at running text or another head.
    """
    index = start
    while index < min(len(rows), start + MAX_HEADER_ROWS) and not is_tabular(rows[index]) and _opens(rows[index]):
        index += 1
    end, figures = start, False
    while index < len(rows):
        row = rows[index]
        apart = row.cells == 1 and row.size > 1.15 * rows[start].size > 0
        parted = row.size == 0 and row.block != rows[index - 1].block and end > start  # by a blank line of a text
        if (figures and (apart or _opens(row))) or (
            parted and (row.cells == 1 or any(map(is_rule, rows[index + 1 : index + 2])))
        ):
            break
        if is_tabular(row) or (is_rule(row) and end > start):
            end, figures = index + 1, figures or _has_figures(row.text)
        elif end == start or index - end >= GAP_ROWS or not _is_label(row, rows[index + 1 : index + 3]):
            break
        index += 1
    body = [row for row in rows[start:end] if is_tabular(row)]
    return end if len(body) > 1 or any(row.cells > 2 for row in body) else start


def _is_label(row: Row, following: Sequence[Row]) -> bool:
    if len(row.text) > 60 and row.text.endswith("."):
        return False
    return len(row.text) <= MAX_LABEL_CHARS or any(is_tabular(each) for each in following)


def header_rows(table: Sequence[Row]) -> int:
    """How many of a table's first rows name its columns or unit, at most `MAX_HEADER_ROWS`."""
    for index, row in enumerate(table[: MAX_HEADER_ROWS + 1]):
        if is_rule(row):
            return index
    count, columns = 0, False
    for row in table[:MAX_HEADER_ROWS]:
        if _has_figures(row.text) or (columns and row.cells == 1 and not _opens(row)):
            break
        columns = columns or row.cells > 1
        count += 1
    if count < len(table) and (count < MAX_HEADER_ROWS or not columns):
        return _head_end(table, count)
    # a table of words: only its setting tells, or that cells are empty below its heads alone
    gaps = [EMPTY in row.text for row in table]
    return int(len(table) > 2 and ((table[0].bold and not table[1].bold) or (any(gaps) and not gaps[0])))


def _head_end(table: Sequence[Row], count: int) -> int:
    """The index after the last of `count` rows without figures that belongs to the head, and not to words below it."""
    first = next((index for index in range(count) if table[index].cells > 1), count)
    labels = min(row.left for row in table)
    for index in range(first + 1, count):
        row = table[index]
        names = names_scale(row.text) or len(_YEAR.findall(row.text)) > 1 or bool(_PERIOD.search(row.text))
        unlabelled = row.left > labels + INDENT or row.text.startswith(EMPTY)
        if not (names or row.bold or unlabelled or row.text[0].islower()):
            return index
    return count
