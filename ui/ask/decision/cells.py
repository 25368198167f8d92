"""An answer that is one row of a table, shown as that row: each cell under its column's head."""

from __future__ import annotations

import re
from collections.abc import Sequence

import streamlit as st

from rag_core.domain.decision import Decision
from rag_core.domain.rows import CELL, NEXT_ROW, figures, in_words, over_figures
from rag_core.language import any_language, fold

YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
DIGIT = re.compile(r"\d")
MAX_CELLS = 6  # beside one another in half a window; a longer row is read as text


def row_of(text: str) -> tuple[tuple[str, str], ...]:
    """Head and cell of each column of a claim "head | head: cell | cell"; empty where it is no such row, or too long a one."""
    heads, parted, row = text.partition(": ")
    columns, cells = heads.split(CELL), row.split(CELL)
    if parted and len(columns) != len(cells) and over_figures(columns):
        columns, cells = ["", *columns], figures(cells)
    if not parted or not 2 <= len(cells) <= MAX_CELLS or len(columns) != len(cells) or NEXT_ROW in heads:
        return ()
    return tuple(zip(columns, cells, strict=True))


def asked_column(question: str, row: Sequence[tuple[str, str]]) -> int | None:
    """The one column whose head names a year that the question names; where it names none, the only one with a figure. Else None."""
    asked = set(YEAR.findall(question))
    if asked:
        found = [number for number, (head, _) in enumerate(row) if asked & set(YEAR.findall(head))]
    else:
        units = any_language().unit_heads  # "m3/h" has a figure and is none
        found = [number for number, (head, cell) in enumerate(row) if number and DIGIT.search(cell) and fold(head) not in units]
    return found[0] if len(found) == 1 else None


def show_row(decision: Decision) -> bool:
    """Show an answer that is one row; whether it was."""
    row = row_of(decision.claims[0].text) if len(decision.claims) == 1 else ()
    if not row:
        return False
    asked = asked_column(decision.question, row)
    with st.container(key="answer_row"):
        for number, (column, (head, cell)) in enumerate(zip(st.columns(len(row), gap="small"), row, strict=True)):
            with column, st.container(key="asked_cell" if number == asked else None, gap="small"):
                st.text(head)
                st.text(cell)
    if mark := decision.answer.removeprefix(in_words(decision.claims[0].text)).strip():
        st.text(mark)
    return True
