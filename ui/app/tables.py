"""Tables of the pages, and their download.

What a cell holds is shown as it is; in the file no cell can be run by a spreadsheet. Streamlit's own download of tables
writes formulas as they are; `.streamlit/config.toml` turns it off.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import streamlit as st

from rag_core.evaluation.labelled import csv_cell
from ui.app.downloads import download
from ui.app.texts import LANGUAGE, say, screen, speaking

Rows = Sequence[Mapping[str, Any]]
HEAD_PIXELS, ROW_PIXELS = 38, 35  # heights in Streamlit's table
_NONE: Mapping[str, Any] = MappingProxyType({})


def show(
    rows: Rows,
    words: str,
    key: str | None = None,
    *,
    wide: Mapping[str, int | str] = _NONE,
    forms: Mapping[str, str] = _NONE,
    columns: Mapping[str, Any] = _NONE,
    in_view: int = 0,
    alt: str = "",
    **more: Any,
) -> Any:
    """A table with the heads of `heads`; what `st.dataframe` gives.

    Args:
        rows: at least one, with the same names in each.
        words: how the keys of the heads begin.
        key: of the widget.
        wide: widths by column, in pixels or as Streamlit names them.
        forms: formats of numbers by column.
        columns: columns of another kind, whole.
        in_view: rows; a longer table scrolls. 0 leaves the height to Streamlit.
        alt: key of the alternative text.
        more: as `st.dataframe` takes it.
    """
    height = {"height": HEAD_PIXELS + ROW_PIXELS * min(max(len(rows), 1), in_view)} if in_view else {}
    config = {**heads(words, [name for name in rows[0] if name not in columns], wide, forms), **columns}
    said = say(alt) if alt else None
    return st.dataframe(
        rows, hide_index=True, column_config=config, key=key, alt=said, **{"placeholder": "–"} | height | more
    )


def heads(
    words: str,
    names: Iterable[str],
    wide: Mapping[str, int | str] = _NONE,
    forms: Mapping[str, str] = _NONE,
    kind: Callable[..., Any] = st.column_config.Column,
) -> dict[str, Any]:
    """The heads of columns, by name: each has the text `words` and its name, and the help of that key with `_help`."""
    columns = {}
    for name in names:
        help = say(f"{words}{name}_help") if f"{words}{name}_help" in screen() else None
        about: dict[str, Any] = {"width": wide.get(name), "help": help}
        form = forms.get(name)
        if form:
            columns[name] = st.column_config.NumberColumn(say(f"{words}{name}"), format=form, **about)
        else:
            columns[name] = kind(say(f"{words}{name}"), **about)
    return columns


def show_rows(rows: Rows, words: str, key: str, act: Callable[[int], object], **more: Any) -> None:
    """A table as `show`, which calls `act` with the number of a row that is chosen; unchoosing it changes nothing."""

    def take() -> None:
        found: Sequence[int] = st.session_state[key].selection.rows
        if found and found[0] < len(rows):
            act(found[0])

    show(rows, words, key, on_select=take, selection_mode="single-row", **more)


def to_csv(rows: Rows) -> bytes:
    """Comma-separated, UTF-8 with the mark that spreadsheets look for; texts that begin like a formula are quoted."""
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    if rows:
        writer.writerow(rows[0])
        writer.writerows(
            [[csv_cell(value) if isinstance(value, str) else value for value in row.values()] for row in rows]
        )
    return out.getvalue().encode("utf-8-sig")


def offer(rows: Callable[[], Rows], name: str) -> None:
    """A button that saves the rows as `name`.csv, in English."""
    make = speaking(LANGUAGE)(rows)
    download("lab_results.download", lambda: to_csv(make()), f"{name}.csv", f"lab_csv_{name}", type="tertiary")
