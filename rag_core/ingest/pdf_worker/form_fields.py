"""Puts what is filled in a form beside its label: MuPDF gives the fields of a page behind all of its text.

A label that stands left of its field gets a colon: "Name of the child: Mira Tolland".
A box to tick is read as ☑ or ☐, by what the field holds: its mark is often a drawing.
"""

# mypy: allow-untyped-calls

from __future__ import annotations

from typing import Any, NamedTuple

from .geometry import Rect, union
from .rows import Run, Word, same_row

TICKED, OPEN = "☑", "☐"
BOXES = (2, 5)  # MuPDF's numbers for a box to tick and a radio button
BLOCK = -2  # a box stands in none of MuPDF's
ABOVE = 1.5  # heights of a label, in which it may stand over its field; chosen


class _Field(NamedTuple):
    box: Rect
    sign: str  # in a box to tick; empty for text


def beside_labels(page: Any, runs: list[Run]) -> list[Run]:
    """The runs of a page, those in a field of its form moved to their label."""
    fields = _fields(page)
    inside = (
        [next((field for field in fields if _lies_in(_box(run), field.box)), None) for run in runs] if fields else []
    )
    text = [run for run, field in zip(runs, inside, strict=False) if field is None]
    if not fields or not text:
        return runs
    plain = list(text)
    for field in fields:
        own = [run for run, other in zip(runs, inside, strict=True) if other is field]
        if field.sign:
            size = text[0].words[0].size
            own = [Run([Word(field.sign, field.box, size, bold=False, mono=False)], BLOCK, (1, 0))]
        if own:
            at = _place(text, _box(own[0]), either_side=bool(field.sign))
            if at and text[at - 1] in plain and _is_left(_box(text[at - 1]), _box(own[0])):
                *words, last = text[at - 1].words
                text[at - 1] = text[at - 1]._replace(words=[*words, last._replace(text=last.text.rstrip(":") + ":")])
                own[0] = own[0]._replace(words=[own[0].words[0]._replace(goes_on=True), *own[0].words[1:]])
            text[at:at] = own
    return text


def _fields(page: Any) -> list[_Field]:
    """The fields that show, in the coordinates of the page as it is shown."""
    if not getattr(page.parent, "is_pdf", False) or not page.first_widget:
        return []
    found = []
    for widget in page.widgets():
        if not widget.field_display & 1:  # it is hidden
            ticked = str(widget.field_value) not in ("Off", "False", "None", "")
            sign = (TICKED if ticked else OPEN) if widget.field_type in BOXES else ""
            found.append(_Field(tuple(widget.rect * page.rotation_matrix), sign))
    return sorted(found, key=lambda field: (field.box[1], field.box[0]))


def _place(runs: list[Run], box: Rect, *, either_side: bool) -> int:
    """Where in the runs a field belongs: behind what stands left of it, or over it; a box also before what is close to
    its right.
    """
    left: list[tuple[float, int]] = []
    right: list[tuple[float, int]] = []
    over: list[tuple[float, int]] = []
    for at, run in enumerate(runs):
        x0, y0, x1, y1 = _box(run)
        if same_row((x0, y0, x1, y1), box):
            side = left if _is_left((x0, y0, x1, y1), box) else right
            side.append((max(0.0, box[0] - x1 if side is left else x0 - box[2]), at))
        elif 0 <= box[1] - y1 + (y1 - y0) / 2 <= ABOVE * (y1 - y0) and x0 < box[2] and box[0] < x1:
            over.append((box[1] - y1, at))
    if right and (not left or min(right) < min(left)) and (either_side or not over):
        return min(right)[1]
    near = left or over
    return min(near)[1] + 1 if near else len(runs)


def _is_left(label: Rect, box: Rect) -> bool:
    return same_row(label, box) and label[2] <= box[2] and label[0] < box[0]


def _box(run: Run) -> Rect:
    return union(word.box for word in run.words)


def _lies_in(inner: Rect, outer: Rect) -> bool:
    x, y = (inner[0] + inner[2]) / 2, (inner[1] + inner[3]) / 2
    return outer[0] <= x <= outer[2] and outer[1] <= y <= outer[3]
