"""Puts what is filled in a form beside its label: MuPDF gives the fields of a page behind all of its text.

A label that stands left of its field gets a colon: "Name of the child: Mira Tolland".
A box to tick is read as ☑ or ☐, by what the field holds: its mark is often a drawing. So is one that is drawn. Bullets
that are drawn, or that a file has apart from their words, stand before the first word of their item.
"""

# mypy: allow-untyped-calls

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import permutations
from typing import Any, NamedTuple

import pymupdf

from .glyphs.symbols import MARKS
from .words import Rect, Run, Word, is_within, middle_of, same_row

TICKED, OPEN = "☑", "☐"
BOXES = (2, 5)  # MuPDF's numbers for a box to tick and a radio button
BLOCK = -2  # a box stands in none of MuPDF's
MAX_SIDES = 200  # that are looked at as those of drawn boxes; chosen
BOX_PT = (5.0, 18.0)  # the sides of a box that is drawn; chosen
SQUARE = 0.2  # by which they may differ; chosen
DOTS, DARK = 24, 128  # across the picture of a box, and the grey below which one is ink; chosen
FULL = 0.9  # part of the middle of such a picture that is ink where it is a bullet; chosen
NEAR_EM, FAR_EM = 1.5, 3.0  # from a drawn box to its word at most, and from one that opens its row; chosen
BULLET_EM = 2.5  # between a bullet and its words at most; chosen
LEVEL_EM = 0.4  # that its middle may lie above or below theirs; chosen
DOT_EM = (0.12, 0.6)  # the size of a drawn one; browsers draw a third; chosen
MIN_DOTS = 2  # that stand one below the other: a dot alone may be a point of a chart; chosen
EVEN_PT = 0.5  # that their left edges may differ
ABOVE = 1.5  # heights of a label, in which it may stand over its field; chosen


def drawn_boxes(rules: Sequence[Rect], sloped: Sequence[Rect]) -> Iterator[tuple[Rect, bool]]:
    """Boxes to tick, and whether a stroke crosses each.

    `rules` are painted bars, among them the sides of boxes; `sloped` are lines that make ticks and crosses.
    """
    middles = list(map(middle_of, sloped))
    for x0, y0, x1, y1 in _squares(rules):
        yield (x0, y0, x1, y1), any(x0 < x < x1 and y0 - BOX_PT[0] < y < y1 for x, y in middles)


def pictured_boxes(page: Any, pictures: Sequence[Rect]) -> Iterator[tuple[Rect, bool]]:
    """Boxes to tick that are small pictures: dark at all four sides, and ticked where the middle is not bare."""
    drawn = None  # once, and not for each of them
    for x0, y0, x1, y1 in pictures[:MAX_SIDES]:
        if BOX_PT[0] <= x1 - x0 <= BOX_PT[1] and abs(x1 - x0 - y1 + y0) <= SQUARE * (x1 - x0):
            zoom = pymupdf.Matrix(DOTS / (x1 - x0), DOTS / (x1 - x0))
            drawn = drawn or page.get_displaylist()
            picture = drawn.get_pixmap(zoom, pymupdf.csGRAY, alpha=False, clip=(x0, y0, x1, y1))
            rows = [picture.samples[at : at + picture.width] for at in range(0, len(picture.samples), picture.stride)]
            edge, inside = len(rows) // 6, [row[len(rows) // 4 : -len(rows) // 4] for row in rows]
            dark = [dot < DARK for row in inside[len(rows) // 4 : -len(rows) // 4] for dot in row]
            framed = all(
                max(sum(dot < DARK for dot in line) for line in side) > len(rows) / 2
                for across in (rows, list(zip(*rows, strict=True)))
                for side in (across[:edge], across[-edge:])
            )
            if framed and sum(dark) < FULL * len(dark):
                yield (x0, y0, x1, y1), any(dark)


def with_boxes(runs: list[Run], boxes: Iterable[tuple[Rect, bool]]) -> list[Run]:
    """The runs with ☑ or ☐ before each word with a box close to its left, or behind one with a box to its right."""
    found = list(runs)
    for box, ticked in boxes:
        x0, y0, x1, y1 = box
        row = [
            (word, at, index)
            for at, run in enumerate(found)
            for index, word in enumerate(run.words)
            if run.direction == (1, 0) and same_row(word.box, box) and y1 - y0 < 2 * word.size
        ]
        reach = NEAR_EM if any(word.box[2] <= x0 for word, _, _ in row) else FAR_EM
        right = [(word.box[0] - x1, at, index) for word, at, index in row if 0 <= word.box[0] - x1 <= reach * word.size]
        left = [(x0 - word.box[2], at, index + 1) for word, at, index in row if -1 <= x0 - word.box[2] <= word.size]
        if (right or left) and not any(is_within(*middle_of(word.box), box) for run in found for word in run.words):
            _, at, index = min(right or left)
            before, behind = found[at].words[:index], found[at].words[index:]
            like = (behind or before[::-1])[0]
            sign = like._replace(text=TICKED if ticked else OPEN, box=(x0, like.box[1], x1, like.box[3]), gap=None)
            behind = [behind[0]._replace(gap=" "), *behind[1:]] if right else behind
            found[at] = found[at]._replace(words=[*before, sign, *behind])
    return found


def _squares(rules: Sequence[Rect]) -> Iterator[Rect]:
    """The squares between two bars of one length and bars at both of their ends, which may go on to boxes below."""
    lying = [box for box in rules if BOX_PT[0] <= box[2] - box[0] <= BOX_PT[1] and box[3] - box[1] < BOX_PT[0]]
    standing = [box for box in rules if box[3] - box[1] >= BOX_PT[0] > box[2] - box[0]]
    found: list[tuple[float, Rect]] = []
    for upper, lower in permutations(lying[:MAX_SIDES], 2):
        side = lower[3] - upper[1]
        same = abs(upper[0] - lower[0]) <= 1 and abs(upper[2] - lower[2]) <= 1
        if same and (uneven := abs(side - (upper[2] - upper[0]))) <= SQUARE * side:
            box = upper[0], upper[1], upper[2], lower[3]
            at = {x for x0, y0, x1, y1 in standing if y0 - box[1] <= 2 and box[3] - y1 <= 2 for x in (x0, x1)}
            if all(any(abs(x - edge) <= 1 for x in at) for edge in (box[0], box[2])):
                found.append((uneven, box))
    taken: list[Rect] = []
    for _, (x0, y0, x1, y1) in sorted(found):  # the space between two boxes is less of a square
        if not any(x0 < box[2] and box[0] < x1 and y0 + 1 < box[3] and box[1] < y1 - 1 for box in taken):
            taken.append((x0, y0, x1, y1))
            yield taken[-1]


def with_bullets(runs: list[Run], dots: Sequence[Rect]) -> list[Run]:
    """The runs with • before each that has a drawn dot close to its left, and a bullet alone moved to its words."""
    found = list(runs)
    for box in dots:
        if sum(abs(box[0] - other[0]) <= EVEN_PT for other in dots) >= MIN_DOTS:
            at = _behind(found, box)
            first = found[at].words[0] if at is not None else None
            if at is not None and first and DOT_EM[0] <= (box[3] - box[1]) / first.size <= DOT_EM[1]:
                found[at] = _begun(
                    found[at], first._replace(text="•", box=(box[0], first.box[1], box[2], first.box[3]))
                )
    for index, run in enumerate(runs):
        bullet = run.words[0]
        if len(run.words) == 1 and len(bullet.text) == 1 and bullet.text in MARKS:
            at = _behind(found, bullet.box)
            if at is not None and at != index + 1:
                found[at] = _begun(found[at], bullet)
                found[index] = run._replace(words=[])
    return [run for run in found if run.words]


def _behind(runs: Sequence[Run], box: Rect) -> int | None:
    """The number of the run whose first word stands close behind `box` on its row; None where there is none."""
    level = middle_of(box)[1]
    beside = [
        (run.words[0].box[0] - box[2], at)
        for at, run in enumerate(runs)
        if run.words and run.direction == (1, 0) and run.words[0].text[0] not in MARKS
        if 0 <= run.words[0].box[0] - box[2] <= BULLET_EM * run.words[0].size
        if abs(middle_of(run.words[0].box)[1] - level) <= LEVEL_EM * run.words[0].size
    ]
    return min(beside)[1] if beside else None


def _begun(run: Run, bullet: Word) -> Run:
    first, *rest = run.words
    return run._replace(words=[bullet._replace(gap=None), first._replace(gap=" "), *rest])


class _Field(NamedTuple):
    box: Rect
    sign: str  # in a box to tick; empty for text


def beside_labels(page: Any, runs: list[Run]) -> list[Run]:
    fields = _fields(page)
    inside = (
        [next((field for field in fields if is_within(*middle_of(run.box), field.box)), None) for run in runs]
        if fields
        else []
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
            at = _place(text, own[0].box, either_side=bool(field.sign))
            if at and text[at - 1] in plain and _is_left(text[at - 1].box, own[0].box):
                *words, last = text[at - 1].words
                text[at - 1] = text[at - 1]._replace(words=[*words, last._replace(text=last.text.rstrip(":") + ":")])
                own[0] = own[0]._replace(words=[own[0].words[0]._replace(gap=" "), *own[0].words[1:]])
            text[at:at] = own
    return text


def _fields(page: Any) -> list[_Field]:
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
    """Where a field belongs: behind what is left of it, or over it; a box also before what is close to its right."""
    left: list[tuple[float, int]] = []
    right: list[tuple[float, int]] = []
    over: list[tuple[float, int]] = []
    for at, run in enumerate(runs):
        x0, y0, x1, y1 = run.box
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
