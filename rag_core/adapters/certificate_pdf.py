"""Prints a sheet as one page: paragraphs, a table of facts, and curves over a threshold.

matplotlib is imported when a page is drawn: it costs half a second. Every text is drawn as it stands, names are never
read as formulas, and the fonts are in the file. Equal input gives equal bytes.
"""

from __future__ import annotations

import io
import os
import tempfile
import textwrap
import threading
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from rag_core.adapters.optional import require

A4 = (8.27, 11.69)  # inches
LEFT, RIGHT = 0.09, 0.93  # shares of the page's width
CHARS, NARROW = 104, 72  # characters of a line of text, and of a value in the table
MAX_LINES = 46  # lines of text that fit above the curve
# Okabe and Ito's colours, told apart by those who do not see all of them; the lines differ in their strokes too
STYLES = (("#D55E00", "--"), ("#CC79A7", "-."), ("#0072B2", ":"))
COVERAGE = "#009E73"
_drawing = threading.Lock()  # matplotlib's settings are the process's


@dataclass(frozen=True, slots=True)
class Line:
    """Seen shares in [0, 1] by its name, None where there was nothing to count; `limit` is a thin line, or None."""

    name: str
    shares: Sequence[float | None]
    limit: float | None = None


@dataclass(frozen=True, slots=True)
class Plot:
    """Curves over a threshold, the first in front. `certified` values are shaded, `chosen` is marked."""

    title: str
    threshold: Sequence[float]
    lines: Sequence[Line]
    certified: Sequence[bool]
    chosen: float


@dataclass(frozen=True, slots=True)
class Sheet:
    """The words and numbers of the page, in the reader's language; `name` and the values of `facts` are untrusted.

    `paragraphs` are headings and texts, `facts` labels and values; `plots`, at least one, have the same lines.
    `threshold`, `share` and `certified` name the axes and the shaded range.
    """

    title: str
    name: str
    paragraphs: Sequence[tuple[str, str]]
    facts: Sequence[tuple[str, str]]
    plots: Sequence[Plot]
    threshold: str
    share: str
    certified: str
    foot: str


def to_pdf(sheet: Sheet) -> bytes:
    """One A4 page; raises MissingDependency where matplotlib is not installed."""
    require("certificate", "A printed certificate")
    with _drawing:
        _import_without_traces()
    from matplotlib import rc_context
    from matplotlib.backends.backend_pdf import FigureCanvasPdf
    from matplotlib.figure import Figure

    with _drawing, rc_context({"pdf.fonttype": 42, "font.family": "DejaVu Sans"}), warnings.catch_warnings():
        # a name in a script that the font lacks is drawn as boxes
        warnings.filterwarnings("ignore", message=r"Glyph .* missing")
        figure = Figure(figsize=A4)
        FigureCanvasPdf(figure)
        bottom = _write(figure, sheet)
        gap = 0.06
        width = (RIGHT - LEFT - gap * (len(sheet.plots) - 1)) / len(sheet.plots)
        for number, plot in enumerate(sheet.plots):
            axes = figure.add_axes((LEFT + number * (width + gap), 0.11, width, max(0.12, bottom - 0.17)))
            _draw(axes, plot, sheet)
        figure.axes[0].set_ylabel(sheet.share, fontsize=8, parse_math=False)
        figure.legend(
            *figure.axes[0].get_legend_handles_labels(),
            loc="lower center",
            ncols=5,
            fontsize=7,
            frameon=False,
            bbox_to_anchor=(0.5, 0.045),
        )
        _say(figure, LEFT, 0.03, sheet.foot, size=6.5, color="#555555")
        page = io.BytesIO()
        figure.savefig(page, format="pdf", metadata={"Title": sheet.title, "CreationDate": None})
        return page.getvalue()


@cache
def _import_without_traces() -> None:
    """Import matplotlib with a passing folder for the list of fonts that it writes, else into the home folder."""
    before = os.environ.get("MPLCONFIGDIR")
    with tempfile.TemporaryDirectory(prefix="plumbline-") as folder:
        os.environ["MPLCONFIGDIR"] = folder
        try:
            import matplotlib.font_manager  # noqa: F401  # it makes that list
        finally:
            del os.environ["MPLCONFIGDIR"]
            os.environ.update({} if before is None else {"MPLCONFIGDIR": before})


def _write(figure: Any, sheet: Sheet) -> float:
    """The text from the top; returns the height at which it ends, in [0, 1]."""
    y = 0.955
    _say(figure, LEFT, y, sheet.title, size=15, weight="bold")
    y -= 0.027
    for line in _lines(sheet.name, 80)[:2]:
        _say(figure, LEFT, y, line, size=11, color="#333333")
        y -= 0.019
    y -= 0.006
    left = MAX_LINES
    for heading, text in sheet.paragraphs:
        _say(figure, LEFT, y, heading, size=9, weight="bold")
        y -= 0.0165
        for line in _lines(text, CHARS)[: max(left, 1)]:
            _say(figure, LEFT, y, line, size=8.3)
            y, left = y - 0.0145, left - 1
        y -= 0.007
    for label, value in sheet.facts:
        _say(figure, LEFT, y, label, size=7.8, color="#555555")
        for line in _lines(value, NARROW)[:2]:
            _say(figure, LEFT + 0.26, y, line, size=7.8)
            y -= 0.0138
    return y


def _draw(axes: Any, plot: Plot, sheet: Sheet) -> None:
    for line, (color, stroke) in zip(plot.lines, ((COVERAGE, "-"), *STYLES), strict=True):
        shares = [float("nan") if share is None else share for share in line.shares]
        axes.plot(plot.threshold, shares, color=color, linestyle=stroke, label=line.name, linewidth=1.5)
        if line.limit is not None:
            axes.axhline(line.limit, color=color, linewidth=0.5, alpha=0.7)
    held = [value for value, certified in zip(plot.threshold, plot.certified, strict=True) if certified]
    axes.axvspan(min(held), max(held), color="#000000", alpha=0.06, linewidth=0, label=sheet.certified)
    axes.axvline(plot.chosen, color="#000000", linewidth=1)
    axes.set(xlim=(min(plot.threshold), max(plot.threshold)), ylim=(0, 1.02))
    axes.set_xlabel(sheet.threshold, fontsize=8, parse_math=False)
    axes.set_title(plot.title, fontsize=8, parse_math=False)
    axes.tick_params(labelsize=7)
    axes.grid(alpha=0.25, linewidth=0.5)


def _lines(text: str, chars: int) -> list[str]:
    """The text in lines; line breaks and other control characters of a name are spaces."""
    plain = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return textwrap.wrap(plain, chars, break_long_words=True) or [""]


def _say(figure: Any, x: float, y: float, text: str, *, size: float, **how: Any) -> None:
    figure.text(x, y, text, fontsize=size, parse_math=False, verticalalignment="top", **how)
