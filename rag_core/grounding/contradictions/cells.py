"""The statements of a table's row: each cell with the words of its row and its column.

Rather silent than wrong: a row whose cells cannot be told to stand below those of the header states nothing, nor does a
bare number without a header; a list of contents has them.
"""

from __future__ import annotations

from collections.abc import Sequence

import regex

from rag_core.domain.rows import CELL, NEXT_ROW
from rag_core.grounding.contradictions.statements import Statement, statement
from rag_core.grounding.contradictions.word_lists import word_lists
from rag_core.language import fold, words

_DIGIT = regex.compile(r"\d")
_MAX_WORDS = 8  # words of a cell that states a value; a longer one tells something, and is no cell of figures


def cell_statements(row: str, header: str, language: str) -> tuple[Statement, ...]:
    """One statement for each cell with a value, of bar-parted `row` under `header` rows by semicolons."""
    cells = row.split(CELL)
    named = regex.search(r"\p{L}", cells[0])
    label = " ".join(cell for n, cell in enumerate(cells) if not _DIGIT.search(cell) or (named and n == 0))
    if len(cells) < 2 or not cells[0] or not words(label):
        return ()
    columns, caption = _columns(header, len(cells), language)
    if columns is None and (header or len(cells) > 2):
        return ()
    found = []
    for n, cell in enumerate(cells):
        column = columns[n] if columns else ""
        if n and _DIGIT.search(cell) and len(words(cell)) <= _MAX_WORDS and _states(cell, column, language):
            before = " ".join(filter(None, (label, column, caption))) + ": "
            found.append(statement(before + cell, language, (len(before), len(before) + len(cell))))
    return tuple(found)


def _columns(header: str, count: int, language: str) -> tuple[Sequence[str] | None, str]:
    """The telling words above each cell, and above all, also of captions and units; None where they do not fit."""
    rows = [row.split(CELL) for row in header.split(NEXT_ROW) if row]
    caption = " ".join(row[0] for row in rows if len(row) == 1)
    over = [row if len(row) == count else ["", *row] for row in rows if len(row) in (count, count - 1) and len(row) > 1]
    first = next((n for n, row in enumerate(rows) if len(row) > 1), 0)
    below = [row[0] for row in rows[first:] if len(row) == 1]
    if (
        not over
        or len(over) + sum(len(row) == 1 for row in rows) < len(rows)
        or not all(text.startswith("(") for text in below)
    ):
        return None, caption
    plain = word_lists()[language].columns
    return [
        " ".join(word.text for row in over for word in words(row[n]) if fold(word.text) not in plain)
        for n in range(count)
    ], caption


def _states(cell: str, column: str, language: str) -> bool:
    """Whether a cell can be contradicted: a number with a column or a unit, of no page, step or line."""
    labels = word_lists()[language].labels
    return not any(fold(word.text) in labels for word in words(column)) and bool(
        column or regex.search(r"[\p{L}\p{Sc}%°]", cell)
    )
