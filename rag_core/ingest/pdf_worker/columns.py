"""Reads columns of prose one after the other where a file has their lines mixed, as from above to below. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from .scans.order import Place, at_a_gutter
from .words import CELL_GAP, Run

MAX_RUNS = 1_000  # on a page; more are a table or a map; chosen
COLUMN_WORDS = 4  # in a line of a column on average at least; chosen
MIN_CHANGES = 3  # from one column to another within a sentence; cells that are whole are a table's; chosen


def by_column(runs: list[Run]) -> list[Run]:
    """The runs, where columns of prose are mixed each to its end, and then the numbers of lines between them."""
    level = [at for at, run in enumerate(runs) if _is_text(run)]
    long = [runs[at].box for at in level if len(runs[at].words) >= COLUMN_WORDS]
    beside = sum(one[2] < other[0] or other[2] < one[0] for one, other in pairwise(long))
    if beside < MIN_CHANGES or len(level) > MAX_RUNS:
        return runs
    places = [Place(*run.box) for run in runs]
    columns = _columns(sorted(level, key=lambda at: places[at].middle), runs, places)
    column = {at: number for number, inside in enumerate(columns) for at in inside}
    order = sorted(column)
    changes = [closes(runs[one]) for one, other in pairwise(order) if column[one] != column[other]]
    if changes.count(False) < max(len(columns) - 1 + MIN_CHANGES, len(changes) / 2):
        return runs
    last = 1 + max(run.block for run in runs)  # no block of a column goes on in another one
    moved = (
        runs[at]._replace(block=runs[at].block + last * column[at]) for at in sorted(order, key=column.__getitem__)
    )
    return [*runs[: order[0]], *moved, *(run for at, run in enumerate(runs) if at > order[0] and at not in column)]


def _columns(lines: list[int], runs: Sequence[Run], places: Sequence[Place]) -> list[list[int]]:
    """The runs of the columns of prose, each from the left; `lines` come from above to below.

    Each column has its text run on from line to line.
    """
    parted = at_a_gutter(lines, places)
    if parted is None:
        return []
    above, left, right, below = parted
    top = max(places[side[0]].y0 for side in (left, right))
    left, right = ([at for at in side if places[at].y1 > top] for side in (left, right))  # a title stands above both
    texts = [[runs[at] for at in sorted(side)] for side in (left, right)]
    beside = [columns for side in (left, right) for columns in _columns(side, runs, places) or [side]]
    prose = len(beside) > 2 or all(map(_runs_on, texts))
    return [*_columns(above, runs, places), *(beside if prose else ()), *_columns(below, runs, places)]


def _is_text(run: Run) -> bool:
    return run.direction == (1, 0) and all(word.gap != CELL_GAP for word in run.words) and not is_number(run)


def is_number(run: Run) -> bool:
    """Whether a run is a number of a line or a page."""
    text = run.words[0].text
    return len(run.words) == 1 and text.isascii() and text.isdecimal() and len(text) <= 4 and run.direction == (1, 0)


def closes(run: Run) -> bool:
    """Whether a sentence ends with a run."""
    return run.words[-1].text.rstrip("\"'”’)]").endswith((".", "!", "?", ":", ";"))


def goes_on(one: Run, other: Run) -> bool:
    """Whether a run goes on, in small letters, with the open sentence of another one."""
    return not closes(one) and other.words[0].text[0].islower()


def _runs_on(column: Sequence[Run]) -> bool:
    """Whether a column is prose: a third of its lines go on with the sentence of the line above."""
    small = sum(goes_on(one, two) for one, two in pairwise(column))
    return 3 * small >= len(column) - 1 and sum(len(run.words) for run in column) >= COLUMN_WORDS * len(column)
