"""The download of a table of the pages.

What a cell holds is shown as it is; in the file no cell can be run by a spreadsheet.

Streamlit's own download of tables writes formulas as they are; `.streamlit/config.toml` turns it off.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import streamlit as st

from rag_core.evaluation.labelled import csv_cell
from ui.app.texts import LANGUAGE, say, speaking

Rows = Sequence[Mapping[str, Any]]


def to_csv(rows: Rows) -> bytes:
    """Comma-separated with a header, UTF-8 with the mark that spreadsheets look for; texts that begin like a formula
    are quoted.
    """
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    if rows:
        writer.writerow(rows[0])
        writer.writerows(
            [[csv_cell(value) if isinstance(value, str) else value for value in row.values()] for row in rows]
        )
    return out.getvalue().encode("utf-8-sig")


def offer(rows: Callable[[], Rows], name: str) -> None:
    """A button that saves the rows as `name`.csv, in English; the file is written when it is clicked."""
    st.download_button(
        say("lab_results.download"),
        lambda: to_csv(speaking(LANGUAGE)(rows)()),
        f"{name}.csv",
        "text/csv",
        key=f"lab_csv_{name}",
        icon=":material/download:",
        on_click="ignore",
        type="tertiary",
    )
