"""An answer that is one row of a table, shown as that row: each cell under its column's head."""

from __future__ import annotations

import streamlit as st

from rag_core.domain.decision import Decision
from rag_core.grounding.contradictions.cells import CELL, NEXT_ROW
from rag_core.grounding.rows import figures, in_words, over_figures

MOST_CELLS = 6  # beside one another in half a window; a longer row is read as text


def row_of(text: str) -> tuple[tuple[str, str], ...]:
    """Head and cell of each column of a claim "head | head: cell | cell"; empty where it is no such row, or too long a one."""
    heads, parted, row = text.partition(": ")
    columns, cells = heads.split(CELL), row.split(CELL)
    if parted and len(columns) != len(cells) and over_figures(columns):
        columns, cells = ["", *columns], figures(cells)
    if not parted or not 2 <= len(cells) <= MOST_CELLS or len(columns) != len(cells) or NEXT_ROW in heads:
        return ()
    return tuple(zip(columns, cells, strict=True))


def show_row(decision: Decision) -> bool:
    """Show an answer that is one row; whether it was."""
    row = row_of(decision.claims[0].text) if len(decision.claims) == 1 else ()
    if not row:
        return False
    with st.container(key="answer_row"):
        for column, (head, cell) in zip(st.columns(len(row), gap="small"), row, strict=True):
            with column:
                st.text(head)
                st.text(cell)
    if mark := decision.answer.removeprefix(in_words(decision.claims[0].text)).strip():
        st.text(mark)
    return True
