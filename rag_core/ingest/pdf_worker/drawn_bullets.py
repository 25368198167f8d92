"""Bullets that are drawn, or that a file has apart from their words, before the first word of their item. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from .glyphs.symbols import MARKS
from .words import Rect, Run, Word, middle_of

NEAR_EM = 2.5  # between a bullet and its words at most; chosen
LEVEL_EM = 0.4  # that its middle may lie above or below theirs; chosen
DOT_EM = (0.12, 0.6)  # the size of a drawn one; browsers draw a third; chosen
MIN_DOTS = 2  # that stand one below the other: a dot alone may be a point of a chart; chosen
EVEN_PT = 0.5  # that their left edges may differ


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
        if 0 <= run.words[0].box[0] - box[2] <= NEAR_EM * run.words[0].size
        if abs(middle_of(run.words[0].box)[1] - level) <= LEVEL_EM * run.words[0].size
    ]
    return min(beside)[1] if beside else None


def _begun(run: Run, bullet: Word) -> Run:
    first, *rest = run.words
    return run._replace(words=[bullet._replace(gap=None), first._replace(gap=" "), *rest])
