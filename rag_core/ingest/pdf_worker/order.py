"""The order of the runs of a page where its file has them in another one than they are printed in. Pure.

A file may draw a title last, the boxes of a form by their names, or all figures of a chart before its labels.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import groupby
from statistics import mean

from .words import CELL_GAP, Rect, Run, same_row

MAX_RUNS = 2_000  # on a page; more are a map or a drawing; chosen
MAX_WORDS = 8  # in a label or a value; chosen
MIN_TURNED = 2  # values of a page that come before their labels, from which its order says nothing; chosen
MIN_NAMED = 4  # pairs of a label in bold and a value; chosen
MIN_TORN, TORN = 12, 0.75  # pairs of a page, and the part of them whose runs do not follow one another; chosen
PROSE_RUNS, PROSE_WORDS = 3, 3.5  # in a block of prose at least, and words in its runs on average; chosen
ALIKE = 1.4  # times as large are the letters of a chart beside those of a table; chosen
EDGE = 0.25  # part of its height by which a run may reach into the one above; chosen


def as_printed(runs: list[Run]) -> list[Run]:
    """The runs: a label with the values that stand right of it, and what stands above before what stands below."""
    if not 1 < len(runs) <= MAX_RUNS:
        return runs
    return _from_above(_with_values(runs))


def _with_values(runs: list[Run]) -> list[Run]:
    """The runs, a row's as one where a value comes before its label, or, on a page with more of them, anywhere."""
    boxes = [run.box for run in runs]
    links, torn = _links(runs, boxes)
    turned = [left for left, right in links.items() if right < left]
    apart = [left for left, right in links.items() if right != left + 1]
    found = list[Run | None](runs)
    before = {right: left for left, right in links.items()}
    for first in apart if torn or len(turned) >= MIN_TURNED else turned:
        while first in before:
            first = before[first]
        row = [first]
        while row[-1] in links:
            row.append(links[row[-1]])
        if any(at and at - 1 not in row and _stands_before(boxes[at - 1], boxes[at]) for at in row):
            continue  # the file has it behind another part of the row already
        for at in row:
            found[at] = None
        found[first] = runs[first]._replace(words=[word for at in row for word in runs[at].words])
    return [run for run in found if run is not None]


def _links(runs: Sequence[Run], boxes: Sequence[Rect]) -> tuple[dict[int, int], bool]:
    """Of two runs beside each other on a row, of which one is a value, or announces one, the right one by the left one.

    Any two are, and it says so, where the file has a table column by column: hardly two of a row follow one another. So
    are labels in bold at one edge and what stands beside them.
    """
    prose = {
        block
        for block, inside in groupby(sorted(runs, key=lambda run: run.block), key=lambda run: run.block)
        if len(words := [len(run.words) for run in inside]) >= PROSE_RUNS and mean(words) >= PROSE_WORDS
    }
    pairs = [pair for pair in _neighbours(runs, boxes) if _are_cells(runs[pair[0]], runs[pair[1]], prose)]
    apart = sum(right != left + 1 for left, right in pairs)
    rows = len(pairs) - len({left for left, _ in pairs} & {right for _, right in pairs})
    named = [pair for pair in pairs if runs[pair[0]].words[0].bold and not runs[pair[1]].words[0].bold]
    apart_too = sum(right != left + 1 for left, right in named) >= TORN * len(named)
    if len(named) >= MIN_NAMED and apart_too and len({round(boxes[left][0]) for left, _ in named}) == 1:
        return dict(named), True
    torn = len(pairs) >= max(MIN_TORN, 2 * rows) and apart >= TORN * len(pairs)  # two columns are no table
    return {
        left: right
        for left, right in pairs
        if torn or (all(map(_says, (runs[left], runs[right]))) and _belong(runs[left], runs[right]))
    }, torn


def _neighbours(runs: Sequence[Run], boxes: Sequence[Rect]) -> Iterator[tuple[int, int]]:
    """Each run with the nearest one right of it on its row; none is right of two."""
    level = [at for at, run in enumerate(runs) if run.direction == (1, 0) and run.words[0].gap != CELL_GAP]
    level.sort(key=lambda at: boxes[at][1])
    tops = [boxes[at][1] for at in level]
    taken = set[int]()
    for left in level:
        _, y0, x1, y1 = boxes[left]
        near = level[bisect_left(tops, y0 - (y1 - y0)) : bisect_right(tops, y1)]
        right = min(
            (at for at in near if at != left and boxes[at][0] >= x1 - 1 and same_row(boxes[left], boxes[at])),
            key=lambda at: boxes[at][0],
            default=left,
        )
        if right != left and right not in taken:
            taken.add(right)
            yield left, right


def _stands_before(left: Rect, right: Rect) -> bool:
    return same_row(left, right) and left[2] <= right[0] + 1


def _are_cells(left: Run, right: Run, prose: set[int]) -> bool:
    sizes = left.words[0].size, right.words[0].size
    short = max(len(left.words), len(right.words)) <= MAX_WORDS and not {left.block, right.block} & prose
    return short and max(sizes) <= ALIKE * min(sizes)


def _belong(left: Run, right: Run) -> bool:
    return _is_named(left) or _is_value(right) or (_is_value(left) and _is_named(right))


def _says(run: Run) -> bool:
    return any(map(str.isalnum, "".join(word.text for word in run.words)))


def _is_named(run: Run) -> bool:
    """Whether a label says that a value follows."""
    return run.words[-1].text.endswith(":")


def _is_value(run: Run) -> bool:
    text = "".join(word.text for word in run.words)
    return sum(map(str.isdecimal, text)) > sum(map(str.isalpha, text))


def _from_above(runs: list[Run]) -> list[Run]:
    """The runs, where parts that a file has one after the other have their own height of the page: the upper one first.

    A part ends where the next run stands higher, or where something else stands between both. Columns stand beside
    each other, and stay in the order of the file.
    """
    boxes = [run.box for run in runs]
    level = [box for run, box in zip(runs, boxes, strict=True) if run.direction == (1, 0)]
    parts: list[list[Run]] = [[]]
    places: list[tuple[float, float]] = []
    last: Rect | None = None
    for run, box in zip(runs, boxes, strict=True):
        if run.direction == (1, 0):
            edge = EDGE * (box[3] - box[1])
            if last is None or box[3] - edge <= last[1] or _is_between(level, last, box):
                parts.append([])
                places.append((box[1] + edge, box[3] - edge))
            places[-1] = min(places[-1][0], box[1] + edge), max(places[-1][1], box[3] - edge)
            last = box
        parts[-1].append(run)
    order = sorted(range(len(places)), key=lambda at: places[at])
    together: list[list[int]] = []
    low = float("-inf")
    for at in order:
        if together and places[at][0] < low:
            together[-1].append(at)
        else:
            together.append([at])
        low = max(low, places[at][1])
    return [run for same in ([-1], *map(sorted, together)) for at in same for run in parts[at + 1]]


def _is_between(boxes: Sequence[Rect], upper: Rect, lower: Rect) -> bool:
    """Whether one of the boxes stands below the upper one and above the lower one, in the column of either."""
    if lower[1] - upper[3] <= lower[3] - lower[1]:
        return False
    x0, x1 = min(upper[0], lower[0]), max(upper[2], lower[2])
    return any(upper[3] < (box[1] + box[3]) / 2 < lower[1] and box[0] < x1 and x0 < box[2] for box in boxes)
