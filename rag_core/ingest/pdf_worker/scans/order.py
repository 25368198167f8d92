"""The order in which the lines of a picture are read. Pure: it knows neither pictures nor the engine."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from statistics import median
from typing import NamedTuple

MIN_COLUMN_LINES = 4  # on each side of a gutter: fewer may be cells of a table; chosen
# median width of the lines of a column of prose, in their heights: the narrowest newspaper has 25 letters; a cell has
# fewer
PROSE_EM = 10.0
# the least width of a gutter, in heights of lines; lines are found with half a height of margin around them
GUTTER_EM = 0.4
SAME_HEIGHT = 0.5  # a row's parts stand within this share of a height of one another
PARAGRAPH = 1.2  # times the usual step from row to row of a column: a larger one parts paragraphs; chosen


class Place(NamedTuple):
    """Where a line stands on a page that lies straight: left, top, right, bottom."""

    x0: float
    y0: float
    x1: float
    y1: float

    @property
    def middle(self) -> float:
        """Its height on the page."""
        return (self.y0 + self.y1) / 2

    @property
    def high(self) -> float:
        """The height of its letters, with their margin."""
        return max(1.0, self.y1 - self.y0)


class Ordered(NamedTuple):
    """A line in reading order: its number, whether a paragraph starts with it, and whether its row does."""

    at: int
    starts: bool
    first: bool


def in_order(places: Sequence[Place]) -> list[Ordered]:
    """The lines in reading order: columns of prose one after the other, everything else row by row, from the left."""
    found: list[Ordered] = []
    for region in _regions(sorted(range(len(places)), key=lambda at: places[at].middle), places):
        rows = _rows(region, places)
        steps = [places[row[0]].middle - places[before[0]].middle for before, row in pairwise(rows)]
        usual = median(steps) if steps else 0.0
        for number, row in enumerate(rows):
            far = number == 0 or steps[number - 1] > PARAGRAPH * usual
            found += [Ordered(at, far and part == 0, part == 0) for part, at in enumerate(row)]
    return found


def _regions(lines: list[int], places: Sequence[Place]) -> list[list[int]]:
    """Lines, which come from above to below, parted where they stand in columns."""
    parted = at_a_gutter(lines, places)
    if parted is None:
        return [lines] if lines else []
    return [region for part in parted for region in _regions(part, places)]


def at_a_gutter(lines: list[int], places: Sequence[Place]) -> tuple[list[int], ...] | None:
    """The lines above a gutter, left of it, right of it and below it, of the gutter along most lines; or None."""
    best: tuple[int, int, int, float] | None = None  # lines beside it, first and last of them, where it is
    for x in sorted({places[at].x1 for at in lines}):
        band: list[int] = []
        for number, at in enumerate([*lines, None]):
            if at is not None and not places[at].x0 < x + GUTTER_EM / 2 * places[at].high < places[at].x1:
                band.append(number)
                continue
            if band and (best is None or len(band) > best[0]) and _is_gutter([lines[one] for one in band], x, places):
                best = len(band), band[0], band[-1], x
            band = []
    if best is None:
        return None
    _, first, last, x = best
    beside = lines[first : last + 1]
    sides = [[at for at in beside if (places[at].x0 >= x) == right] for right in (False, True)]
    return lines[:first], *sides, lines[last + 1 :]


def _is_gutter(band: list[int], x: float, places: Sequence[Place]) -> bool:
    """Whether prose stands on both sides of x, at the same heights, and white between."""
    left = [places[at] for at in band if places[at].x1 <= x]
    right = [places[at] for at in band if places[at].x0 > x]
    if len(left) + len(right) < len(band) or min(len(left), len(right)) < MIN_COLUMN_LINES:
        return False
    if any(median((one.x1 - one.x0) / one.high for one in side) < PROSE_EM for side in (left, right)):
        return False
    high = median(one.high for one in (*left, *right))
    if min(one.x0 for one in right) - max(one.x1 for one in left) < GUTTER_EM * high:
        return False
    shared = min(left[-1].y1, right[-1].y1) - max(left[0].y0, right[0].y0)
    return shared > 0.5 * min(left[-1].y1 - left[0].y0, right[-1].y1 - right[0].y0)


def _rows(region: list[int], places: Sequence[Place]) -> list[list[int]]:
    rows: list[list[int]] = []
    for at in region:
        if rows and abs(places[at].middle - places[rows[-1][0]].middle) < SAME_HEIGHT * min(
            places[at].high, places[rows[-1][0]].high
        ):
            rows[-1].append(at)
        else:
            rows.append([at])
    return [sorted(row, key=lambda at: places[at].x0) for row in rows]
