"""Puts what stands in a cell between drawn rules into one row with the other cells of its row. Pure.

A row of a table lies between two rules of one length, and rules that cross all of it part its cells. An empty cell
keeps its place with a sign, as in web pages and Word documents, so that those behind it keep their columns.
"""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, groupby, pairwise
from typing import NamedTuple

from .formats.tables import EMPTY, MAX_COLUMNS
from .words import CELL_GAP, CELL_GAP_EM, EVEN_EM, Rect, Run, Word, same_row, union

NEAR_PT = 3.0  # between the ends of rules that meet; chosen
MIN_ROW_PT = 5.0  # lower are double rules
MIN_BORDER_PT = 20.0  # is a rule of a row long at least where no standing rules are drawn at its ends; chosen
MAX_RULES = 500  # in one direction on a page; more are a drawing or graph paper; chosen
MAX_CELL_CHARS = 300  # a longer cell is running text, and its table is laid out as a page is; chosen
MIN_HEADS = 3  # over a table without rules; two may be two columns of anything; chosen
MAX_LINES = 100  # below heads; chosen
HYPHENS = "-\u2010"
FAR_EM = 5.0  # from row to row at most; chosen
_NAME = re.compile(r"[^\W\d_]|(?:19|20)\d\d$")  # a figure heads no column, but a year may
APART = 1.15  # times the distance of the lines of a cell are rows apart, at least; chosen


@dataclass
class _Band:
    """The space between two lying rules: its edges from left to right, and the numbers of the runs in it."""

    box: Rect
    edges: list[float]
    runs: list[int] = field(default_factory=list)
    cells: list[list[Word]] = field(default_factory=list)


def in_cells(runs: list[Run], rules: Sequence[Rect]) -> list[Run]:
    """The runs in reading order, a table's row as one with its cells told apart; `rules` are the painted bars."""
    lying = sorted((box for box in rules if box[2] - box[0] >= box[3] - box[1]), key=lambda box: box[1])
    standing = [box for box in rules if box[2] - box[0] < box[3] - box[1]]
    if not 3 <= len(lying) <= MAX_RULES or not 1 <= len(standing) <= MAX_RULES:
        return runs
    boxes = [run.box for run in runs]
    whole: dict[int, Run] = {}  # by the number of the first run of a row
    taken: set[int] = set()
    for table in chain.from_iterable(map(_parts, _tables(list(_bands(lying, standing))))):
        width = max(len(band.edges) for band in table)
        full = [band for band in table if len(band.edges) == width and _fill(band, runs, boxes)]
        if not _is_table(full, width - 1):
            continue
        for band in full:
            if band.runs:
                first = runs[band.runs[0]]
                whole[band.runs[0]] = first._replace(words=list(_written(band)))
                taken.update(band.runs)
    return [whole.get(at, run) for at, run in enumerate(runs) if at in whole or at not in taken]


def _bands(lying: Sequence[Rect], standing: Sequence[Rect]) -> Iterator[_Band]:
    lying = [rule for rule in lying if _is_border(rule, lying, standing)]
    for at, upper in enumerate(lying):
        below = (
            rule
            for rule in lying[at + 1 :]
            if rule[1] - upper[3] >= MIN_ROW_PT and min(rule[2], upper[2]) - max(rule[0], upper[0]) > NEAR_PT
        )
        lower = next(below, None)
        if lower is None or not _meet(upper[2], lower[2]):
            continue
        # a cell at the left may go down over several rows, beside which the rules between them are shorter
        x0, top, x1, bottom = box = (
            max(upper[0], lower[0]),
            (upper[1] + upper[3]) / 2,
            upper[2],
            (lower[1] + lower[3]) / 2,
        )
        inside = [
            rule
            for rule in standing
            if x0 - NEAR_PT < rule[0] < x1 + NEAR_PT and min(rule[3], bottom) - max(rule[1], top) > NEAR_PT
        ]
        if not _meet(upper[0], lower[0]) and not any(_meet(rule[0], x0) for rule in inside):
            continue
        if all(rule[1] < top + NEAR_PT and bottom - NEAR_PT < rule[3] for rule in inside):
            edges = [x0]
            for x in sorted([*((rule[0] + rule[2]) / 2 for rule in inside), x1]):
                if x - edges[-1] > NEAR_PT:
                    edges.append(x)
            yield _Band(box, edges)


def _is_border(rule: Rect, lying: Sequence[Rect], standing: Sequence[Rect]) -> bool:
    """Whether a lying rule ends at standing ones, or is long and ends where others do, unlike one of a sign."""
    twins = sum(_meet(rule[0], other[0]) and _meet(rule[2], other[2]) for other in lying)
    at_rules = all(any(_meet(rule[side], (other[0] + other[2]) / 2) for other in standing) for side in (0, 2))
    return at_rules or (twins > 1 and rule[2] - rule[0] >= MIN_BORDER_PT)


def _tables(bands: Sequence[_Band]) -> Iterator[list[_Band]]:
    """Bands that lie one below the other, between the same two ends."""
    ordered = sorted(bands, key=lambda band: (round(band.box[0] / NEAR_PT), band.box[1]))
    table: list[_Band] = []
    for band in ordered:
        if table and not (
            _meet(table[-1].box[3], band.box[1]) and all(_meet(table[-1].box[side], band.box[side]) for side in (0, 2))
        ):
            yield table
            table = []
        table.append(band)
    if table:
        yield table


def _parts(table: Sequence[_Band]) -> Iterator[list[_Band]]:
    """A table, or several of one width that a band without inner edges parts."""
    parts = [list(part) for inner, part in groupby(table, key=lambda band: len(band.edges) > 2) if inner]
    for _, same in groupby(parts, key=lambda part: max(len(band.edges) for band in part)):
        yield list(chain.from_iterable(same))


def _fill(band: _Band, runs: Sequence[Run], boxes: Sequence[Rect]) -> bool:
    """Put the words in a band into its cells; false where one stands over an edge, or text runs out of the band."""
    x0, top, x1, bottom = band.box
    band.cells = [[] for _ in band.edges[1:]]
    for at, (run, box) in enumerate(zip(runs, boxes, strict=True)):
        if not (top < (box[1] + box[3]) / 2 < bottom and box[0] < x1 and x0 < box[2]):
            continue
        if run.direction != (1, 0):
            return False
        for word in run.words:
            left, _, right, _ = word.box
            if any(left + NEAR_PT < edge < right - NEAR_PT for edge in band.edges):
                return False
            column = bisect(band.edges, (left + right) / 2) - 1
            if not 0 <= column < len(band.cells):
                return False
            band.cells[column].append(word)
        band.runs.append(at)
    return True


def _is_table(bands: Sequence[_Band], width: int) -> bool:
    """Whether there are rows of short cells, in half of which some cell has a single line; no column is empty."""
    columns = {at for band in bands for at, cell in enumerate(band.cells) if cell}
    longest = max((sum(len(word.text) + 1 for word in cell) for band in bands for cell in band.cells), default=0)
    single = sum(any(cell and same_row(cell[0].box, cell[-1].box) for cell in band.cells) for band in bands)
    short = longest <= MAX_CELL_CHARS and 2 * single >= len(bands)
    return len(bands) > 1 and 2 <= width <= MAX_COLUMNS and len(columns) == width and short


def _meet(one: float, other: float) -> bool:
    return abs(one - other) <= NEAR_PT


def _written(band: _Band) -> Iterator[Word]:
    size = max(word.size for cell in band.cells for word in cell)
    middle = (band.box[1] + band.box[3]) / 2
    for cell, (left, right) in zip(band.cells, pairwise(band.edges), strict=True):
        box = left + NEAR_PT, middle - size / 2, max(left + NEAR_PT, right - NEAR_PT), middle + size / 2
        yield from _cell(cell or [Word(EMPTY, box, size, bold=False, mono=False)])


def _cell(words: Sequence[Word]) -> Iterator[Word]:
    """The words of a cell, parted by blanks alone; a word or number broken at its hyphen is whole again."""
    yield words[0]._replace(gap=CELL_GAP)
    for before, word in pairwise(words):
        broken = before.text[-1] in HYPHENS and before.text[:-1] and not same_row(before.box, word.box)
        yield word._replace(gap="" if broken else " ")


class _Line(NamedTuple):
    """A baseline of a table without rules: the words of each column that is filled."""

    cells: dict[int, list[Word]]
    top: float


def under_heads(rows: list[list[Run]], rules: Sequence[Rect]) -> Iterator[list[Run]]:
    """The rows, those below the heads of columns with all of their cells, where no rules are drawn.

    A cell stands under one head where it begins, ends or has its middle with it. A line that fills only columns that
    the line above fills, and is closer to it than rows are, goes on with its cells.
    """
    standing = [rule for rule in rules if rule[3] - rule[1] > rule[2] - rule[0]]
    at = 0
    while at < len(rows):
        heads = _heads(rows[at], standing)
        end, lines = _lines(rows, at + 1, heads) if heads else (at + 1, [])
        wrapped = list(_wrapped(lines))
        if {column for line in wrapped for column in line.cells} != set(range(len(heads))) or len(wrapped) < 2:
            yield rows[at]
            at += 1
            continue
        yield rows[at]
        if len(wrapped) == len(lines):  # in the order of the file, which may be another one
            yield from (_completed(row, heads) for row in rows[at + 1 : end])
        else:
            yield from ([_whole(line, rows[at][0], heads)] for line in wrapped)
        at = end


def _heads(row: list[Run], standing: Sequence[Rect]) -> list[Rect]:
    """The boxes of the cells of a row that may head columns; none where it does not, or where rules part them."""
    cells = _cells(row)
    named = all(_NAME.search(_said(cell)) for cell in cells)
    if len(cells) < MIN_HEADS or not named or row[0].direction != (1, 0):
        return []
    x0, y0, x1, y1 = union(word.box for cell in cells for word in cell)
    ruled = any(x0 < rule[0] < x1 and rule[1] < (y0 + y1) / 2 < rule[3] for rule in standing)
    return [] if ruled else [union(word.box for word in cell) for cell in cells]


def _cells(row: Sequence[Run]) -> list[list[Word]]:
    cells: list[list[Word]] = []
    for word in (word for run in row for word in run.words):
        wide = bool(cells) and word.box[0] - cells[-1][-1].box[2] > CELL_GAP_EM * word.size
        if cells and not (wide if word.gap is None else word.gap == CELL_GAP):
            cells[-1].append(word)
        else:
            cells.append([word])
    return cells


def _said(cell: Sequence[Word]) -> str:
    return " ".join(word.text for word in cell)


def _placed(row: Sequence[Run], heads: Sequence[Rect]) -> dict[int, list[Word]]:
    """The cells of a row by the heads that they stand under; none where one stands under none, or two under one."""
    found: dict[int, list[Word]] = {}
    for cell in _cells(row):
        left, _, right, _ = union(word.box for word in cell)
        near = EVEN_EM * cell[0].size
        under = [
            at
            for at, (x0, _, x1, _) in enumerate(heads)
            if min(abs(left - x0), abs(right - x1), abs(left + right - x0 - x1) / 2) <= near
        ]
        over = [at for at, (x0, _, x1, _) in enumerate(heads) if left < x1 and x0 < right]
        if len(under) != 1 or set(over) - set(under) or under[0] in found:
            return {}
        found[under[0]] = cell
    return found


def _lines(rows: Sequence[list[Run]], start: int, heads: Sequence[Rect]) -> tuple[int, list[_Line]]:
    """Where the rows below these heads end, and their lines from the upper one to the lowest."""
    found: list[_Line] = []
    end = start
    low = heads[0][1]
    for row in rows[start : start + MAX_LINES]:
        box = union(word.box for run in row for word in run.words)
        cells = _placed(row, heads) if row[0].direction == (1, 0) else {}
        if not cells or box[1] < heads[0][1] or box[1] - low > FAR_EM * row[0].words[0].size:
            break
        same = next((line for line in found if abs(line.top - box[1]) < EVEN_EM * row[0].words[0].size), None)
        if same and same.cells.keys() & cells.keys():
            break
        if same:
            same.cells.update(cells)
        else:
            found.append(_Line(cells, box[1]))
        end, low = end + 1, max(low, box[1])
    return end, sorted(found, key=lambda line: line.top)


def _wrapped(lines: Sequence[_Line]) -> Iterator[_Line]:
    """The lines, those put together that are the lines of one row: no others are as close, and figures do not wrap."""
    gaps = [below.top - above.top for above, below in pairwise(lines)]
    fewer = [
        below.cells.keys() < above.cells.keys() and all(_NAME.search(_said(cell)) for cell in below.cells.values())
        for above, below in pairwise(lines)
    ]
    close = [gap <= APART * min(gaps) for gap in gaps]
    several = not all(close) and all(less for less, near in zip(fewer, close, strict=True) if near)
    row: _Line | None = None
    for line, goes_on in zip(lines, [False, *close], strict=False):
        if row and goes_on and several:
            row.cells.update({at: [*row.cells[at], *words] for at, words in line.cells.items()})
            continue
        if row:
            yield row
        row = _Line(dict(line.cells), line.top)
    if row:
        yield row


def _completed(row: list[Run], heads: Sequence[Rect]) -> list[Run]:
    """The row with its empty cells, where it has a label and a value, and not all of its cells."""
    cells = _placed(row, heads)
    fits = 0 in cells and 1 < len(cells) < len(heads)
    return [_whole(_Line(cells, row[0].words[0].box[1]), row[0], heads)] if fits else row


def _whole(line: _Line, like: Run, heads: Sequence[Rect]) -> Run:
    size = next(iter(line.cells.values()))[0].size
    words: list[Word] = []
    for at, (x0, _, x1, _) in enumerate(heads):
        box = x0, line.top, x1, line.top + size
        words += _cell(line.cells.get(at) or [Word(EMPTY, box, size, bold=False, mono=False)])
    return like._replace(words=words)
