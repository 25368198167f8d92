"""Puts what stands in a cell between drawn rules into one row with the other cells of its row. Pure.

A row of a table lies between two heights of rules, and rules that cross all of it part its cells. A cell without a rule
below it goes on in the next row, and stands in both. An empty cell keeps its place with a sign, as in web pages and
Word documents, so that those behind it keep their columns.
"""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, groupby, pairwise
from statistics import mean, median
from typing import NamedTuple

from .formats.tables import EMPTY, MAX_COLUMNS, MAX_REPEATED
from .words import CELL_GAP, CELL_GAP_EM, EVEN_EM, ROW_PITCH_EM, Rect, Run, Word, middle_of, same_row, union

NEAR_PT = 3.0  # between the ends of rules that meet; chosen
MIN_ROW_PT = 5.0  # lower are double rules
MIN_BORDER_PT = 20.0  # is a rule of a row long at least where no standing rules are drawn at its ends; chosen
MAX_RULES = 500  # in one direction on a page; more are a drawing or graph paper; chosen
MAX_CELL_CHARS = 300  # a longer cell is running text, and its table is laid out as a page is; chosen
MIN_CELLS = 2  # in a row of a table
MIN_WRAPPED = 3  # words of a line, and such lines, in a column of text; chosen
MIN_HEADS = 3  # over a table without rules; two may be two columns of anything; chosen
MAX_LINES = 500  # below heads; chosen
HYPHENS = "-\u2010"
FAR_EM = 5.0  # from row to row at most; chosen
BESIDE_EM = 0.8  # between the lines of cells that stand beside each other, in the middle of a row; less than any pitch
BLANK_EM = 0.2  # a narrow blank
SHORT_WORDS = 4  # in a cell, on average, of half the columns at least; columns of prose have more in a line; chosen
_NAME = re.compile(r"[^\W\d_]|(?:19|20)\d\d$")  # a figure heads no column, but a year may
ALIKE = 0.15  # part of the height of a row by which the steps between rows may differ from it; chosen
APART = 1.15  # times the distance of the lines of a cell are rows apart, at least; chosen

_Cells = dict[tuple[float, float], list[Word]]


@dataclass
class _Band:
    """The space between two heights of rules: its edges from left to right, and the numbers of the runs in it.

    `above` are the rules on top of it; None where none is drawn between two rows.
    """

    box: Rect
    edges: list[float]
    above: Sequence[Rect] | None
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
    tables: list[tuple[Rect, int]] = []  # each with the number of its first run
    for table in chain.from_iterable(map(_parts, _tables(lying, standing))):
        edges = max((band.edges for band in table), key=len)
        full = [band for band in table if _fill(band, edges, runs, boxes)]
        if not _is_table(full, len(edges) - 1):
            continue
        heights = [band.box[3] - band.box[1] for band in full if _lines_in(band)[1:] == []]
        pitch = median(heights) if 2 * len(heights) > len(full) else 0.0
        rows = [band for band in chain.from_iterable(_rows(band, boxes, pitch) for band in full) if band.runs]
        if not rows:
            continue
        _reach_down(rows)
        places = sorted(band.runs[0] for band in rows)
        for place, band in zip(places, rows, strict=True):
            whole[place] = runs[place]._replace(words=list(_written(band)))
            taken.update(band.runs)
        tables.append((union(band.box for band in full), places[0]))
    kept = [at for at in range(len(runs)) if at in whole or at not in taken]
    return [whole.get(at, runs[at]) for at in _with_names(kept, tables, boxes, taken)]


def _with_names(
    kept: list[int], tables: Sequence[tuple[Rect, int]], boxes: Sequence[Rect], taken: set[int]
) -> list[int]:
    """The numbers of runs, what stands right above one of several tables beside each other before that table."""
    for (x0, top, x1, low), first in tables:
        if any(box[1] < low and top < box[3] and not (box[0] < x1 and x0 < box[2]) for box, _ in tables):
            names = [
                at
                for at in kept
                if at not in taken and x0 - NEAR_PT <= boxes[at][0] and boxes[at][2] <= x1 + NEAR_PT
                if 0 <= top - boxes[at][3] + NEAR_PT <= ROW_PITCH_EM * (boxes[at][3] - boxes[at][1])
            ]
            kept = [at for at in kept if at not in names]
            place = kept.index(first)
            kept[place:place] = names
    return kept


def _tables(lying: Sequence[Rect], standing: Sequence[Rect]) -> Iterator[list[_Band]]:
    """The bands of rules that touch one another, as long as each standing rule crosses a band whole."""
    for across, down in _joined([rule for rule in lying if _is_border(rule, lying, standing)], standing):
        levels: list[list[Rect]] = []
        for rule in across:
            if levels and rule[1] - levels[-1][0][3] < MIN_ROW_PT:
                levels[-1].append(rule)
            else:
                levels.append([rule])
        # a cell at a side may go down over several rows, beside which the rules between them are shorter
        ends = [(min(rule[0] for rule in level), max(rule[2] for rule in level)) for level in levels]
        table: list[_Band] = []
        for at, (upper, lower) in enumerate(pairwise(levels), 1):
            top, bottom = (mean(side for rule in level for side in rule[1::2]) for level in (upper, lower))
            x0 = max(min(left for left, _ in part) for part in (ends[:at], ends[at:]))
            x1 = min(max(right for _, right in part) for part in (ends[:at], ends[at:]))
            inside = [
                rule
                for rule in down
                if x0 - NEAR_PT < rule[0] < x1 + NEAR_PT and min(rule[3], bottom) - max(rule[1], top) > NEAR_PT
            ]
            if all(rule[1] < top + NEAR_PT and bottom - NEAR_PT < rule[3] for rule in inside):
                edges = [x0]
                for x in sorted([*((rule[0] + rule[2]) / 2 for rule in inside), x1]):
                    if x - edges[-1] > NEAR_PT:
                        edges.append(x)
                table.append(_Band((x0, top, x1, bottom), edges, upper))
                continue
            yield table
            table = []
        yield table


def _joined(lying: Sequence[Rect], standing: Sequence[Rect]) -> Iterator[tuple[list[Rect], list[Rect]]]:
    """The lying and the standing rules that touch one another, in the order in which they are given."""
    touching = {
        at: {
            other
            for other, rule in enumerate(standing)
            if bar[0] - NEAR_PT <= rule[2] and rule[0] <= bar[2] + NEAR_PT
            if rule[1] - NEAR_PT <= bar[3] and bar[1] <= rule[3] + NEAR_PT
        }
        for at, bar in enumerate(lying)
    }
    while touching:
        first = next(iter(touching))
        inside, reached = [first], touching.pop(first)
        while more := [at for at, others in touching.items() if not reached.isdisjoint(others)]:
            inside += more
            reached = reached.union(*(touching.pop(at) for at in more))
        yield [lying[at] for at in sorted(inside)], [standing[at] for at in sorted(reached)]


def _is_border(rule: Rect, lying: Sequence[Rect], standing: Sequence[Rect]) -> bool:
    """Whether a lying rule ends at standing ones, or is long and ends where others do, unlike one of a sign."""
    twins = sum(_meet(rule[0], other[0]) and _meet(rule[2], other[2]) for other in lying)
    at_rules = all(any(_meet(rule[side], (other[0] + other[2]) / 2) for other in standing) for side in (0, 2))
    return at_rules or (twins > 1 and rule[2] - rule[0] >= MIN_BORDER_PT)


def _parts(table: Sequence[_Band]) -> Iterator[list[_Band]]:
    """A table, or several of one width that bands without inner edges part; these may be heads of what is below."""
    parts: list[list[_Band]] = []
    heads: list[_Band] = []
    for inner, group in groupby(table, key=lambda band: len(band.edges) > 2):
        part = list(group)
        if inner:
            parts.append([*heads, *part])
        heads = part
    for _, same in groupby(parts, key=lambda part: max(len(band.edges) for band in part)):
        yield list(chain.from_iterable(same))


def _fill(band: _Band, edges: list[float], runs: Sequence[Run], boxes: Sequence[Rect]) -> bool:
    """Put the words in a band into its cells; false where one stands over an edge, or text runs out of the band.

    In one without inner edges, which may be the heads, the words of two columns must stand apart, in most columns.
    """
    own = len(band.edges) > 2
    if not own and len(edges) <= MIN_HEADS:
        return False
    if not own:
        band.edges = edges
    x0, top, x1, bottom = band.box
    band.cells = [[] for _ in band.edges[1:]]
    for at, (run, box) in enumerate(zip(runs, boxes, strict=True)):
        if not (top < (box[1] + box[3]) / 2 < bottom and box[0] < x1 and x0 < box[2]):
            continue
        if run.direction != (1, 0):
            return False
        before = 0, run.words[0]
        for word in run.words:
            left, _, right, _ = word.box
            if any(left + NEAR_PT < edge < right - NEAR_PT for edge in band.edges):
                return False
            column = bisect(band.edges, (left + right) / 2) - 1
            if not 0 <= column < len(band.cells):
                return False
            if not own and column > before[0] and 0 < left - before[1].box[2] < CELL_GAP_EM * word.size:
                return False
            band.cells[column].append(word)
            before = column, word
        band.runs.append(at)
    _spread(band, edges)
    whole = band.edges is edges or all(map(_is_short, band.cells))
    return whole if own else 2 * sum(map(bool, band.cells)) > len(band.cells)


def _spread(band: _Band, edges: list[float]) -> None:
    """Put what is merged over columns into each of them, but for a label; a row with other edges has its own cells."""
    same = all(_meet(band.edges[end], edges[end]) for end in (0, -1))
    if same and all(any(_meet(edge, other) for other in edges) for edge in band.edges):
        over = [bisect(band.edges, mean(column)) - 1 for column in pairwise(edges)]
        band.cells = [
            band.cells[at] if number == over.index(at) or (at and _is_short(band.cells[at])) else []
            for number, at in enumerate(over)
        ]
        band.edges = edges


def _is_short(cell: Sequence[Word]) -> bool:
    return len(_said(cell)) <= MAX_REPEATED


def _lines_in(band: _Band) -> list[list[Word]]:
    words = sorted((word for cell in band.cells for word in cell), key=lambda word: word.box[1])
    lines: list[list[Word]] = []
    for word in words:
        if lines and same_row(lines[-1][0].box, word.box):
            lines[-1].append(word)
        else:
            lines.append([word])
    return lines


def _rows(band: _Band, boxes: Sequence[Rect], pitch: float) -> list[_Band]:
    """The rows between two rules: one, or one for each line where none goes on in the next."""
    lines = _lines_in(band)
    tops = [min(word.box[1] for word in line) for line in lines]
    even = all(abs(low - high - pitch) < ALIKE * pitch for high, low in pairwise(tops))
    if not tops[1:] or not all(
        _are_rows(*pair, even=even) for pair in pairwise(_placed_in(line, band.edges) for line in lines)
    ):
        return [band]
    x0, top, x1, bottom = band.box
    return [
        _Band(
            (x0, upper, x1, lower),
            band.edges,
            None if at else band.above,
            [run for run in band.runs if upper <= boxes[run][1] < lower],
            [[word for word in cell if upper <= word.box[1] < lower] for cell in band.cells],
        )
        for at, (upper, lower) in enumerate(pairwise([top - NEAR_PT, *tops[1:], bottom + NEAR_PT]))
    ]


def _reach_down(rows: Sequence[_Band]) -> None:
    """Put what stands in a cell that goes down over several rows into each of them; a long text into the first.

    Rows that each have a line there, level with other cells of theirs, have cells of their own.
    """
    edges = max((row.edges for row in rows), key=len)
    own = [row for row in rows if row.edges == edges]
    for column, middle in enumerate(map(mean, pairwise(edges))):
        group: list[_Band] = []
        for row in [*own, None]:
            if group and row and _meet(group[-1].box[3], row.box[1]) and row.above is not None:
                if not any(rule[0] - NEAR_PT <= middle <= rule[2] + NEAR_PT for rule in row.above):
                    group.append(row)
                    continue
            if len(group) > 1 and not all(_has_a_line(one, column) for one in group):
                words = [word for one in group for word in one.cells[column]]
                for one in group:
                    one.cells[column] = words if one is group[0] or _is_short(words) else []
            group = [row] if row else []


def _has_a_line(row: _Band, column: int) -> bool:
    """Whether what stands in a cell is one line, level with one of another cell of the row."""
    others = [word.box for at, cell in enumerate(row.cells) if at != column for word in cell]
    boxes = [word.box for word in row.cells[column]]
    return any(same_row(boxes[0], other) for other in others if boxes) and same_row(boxes[0], boxes[-1])


def _placed_in(line: Sequence[Word], edges: Sequence[float]) -> _Cells:
    """The words of a line by the ends of their columns."""
    cells: _Cells = {}
    for word in line:
        at = min(max(1, bisect(edges, middle_of(word.box)[0])), len(edges) - 1)
        cells.setdefault((edges[at - 1], edges[at]), []).append(word)
    return cells


def _is_figure(cell: Sequence[Word]) -> bool:
    text = _said(cell)
    return any(map(str.isdecimal, text)) and not _NAME.search(text)


def _are_rows(upper: _Cells, lower: _Cells, *, even: bool) -> bool:
    """Whether two lines between the same rules are a row each, one of whose cells had room for the first word below it.

    They are where each has a label and the step of the rows of the table, which is `even`; where heads stand over cells
    with figures; and where figures stand beside two labels.
    """
    first, *others = sorted(lower)
    room = {
        column: column[1] - upper[column][-1].box[2] - 2 * NEAR_PT > lower[column][0].box[2] - lower[column][0].box[0]
        for column in lower.keys() & upper.keys()
    }
    if not others or first not in room or first != min(upper):
        return False
    if not any(room.values()):
        return even and all(line[first][0].text[0].isdecimal() for line in (upper, lower))
    heads, cells = ([any(map(str.isdecimal, _said(cell))) for cell in line.values()] for line in (upper, lower))
    if even or (len(upper) == len(lower) == len(room) >= MIN_HEADS and not any(heads) and 2 * sum(cells) >= len(cells)):
        return len(upper) > 1
    return room[first] and all(
        _is_figure(line[column]) for line in (upper, lower) for column in others if column in line
    )


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
    """A line of a table without rules: the words of each column that is filled, and the rows that it comes from.

    One without cells is no line of the columns, as the name of a group over several of them.
    """

    cells: dict[int, list[Word]]
    top: float
    low: float  # the top of the last line that was put into it
    rows: list[int]

    @property
    def size(self) -> float:
        return next(iter(self.cells.values()))[0].size if self.cells else 0.0


def under_heads(rows: list[list[Run]]) -> Iterator[list[Run]]:
    """The rows, those below the heads of columns with all of their cells, where no rules are drawn.

    A cell stands under one head where it begins, ends or has its middle with it. The file may have the lines of the
    table in any order below the heads.
    """
    boxes = [union(word.box for run in row for word in run.words) for row in rows]
    taken: set[int] = set()
    for at, row in enumerate(rows):
        if at in taken:
            continue
        heads = _heads(row)
        lines = list(_wrapped(_lines(rows, boxes, at, heads, taken), heads)) if heads else []
        while lines and len(lines[-1].cells) < MIN_CELLS:
            lines.pop()
        if not _is_listed(lines, at, len(heads)):
            yield row
            continue
        taken.update(one for line in lines for one in line.rows)
        for line in lines:
            first = min(line.rows)
            yield from (rows[one] for one in range(at, first) if one not in taken)  # beside it, as names of groups
            taken.update(range(at, first))
            merged = len(line.rows) > 1
            if len(line.cells) > 1 and (merged or (0 in line.cells and len(line.cells) < len(heads))):
                yield [_whole(line, row[0], heads)]
            else:
                yield from (rows[one] for one in line.rows)


def _is_listed(lines: Sequence[_Line], first: int, width: int) -> bool:
    """Whether lines, the heads with them, fill all columns in two rows; and are no columns of prose.

    Prose is asked after where lines were put together, or stand in another order than in the file.
    """
    body = [line for line in lines[1:] if line.cells]
    if len(body) < 2 or {column for line in body for column in line.cells} != set(range(width)):
        return False
    order = [one for line in lines for one in line.rows]
    if len(order) == len(lines) and order == list(range(first, first + len(order))):
        return True
    words = ([len(line.cells[at]) for line in body if at in line.cells] for at in range(width))
    return 2 * sum(mean(count) > SHORT_WORDS for count in words) <= width


def _heads(row: list[Run]) -> list[Rect]:
    """The boxes of the cells of a row that may head columns; none where it does not, or where rules part its cells."""
    cells = _cells(row) if all(word.gap != CELL_GAP for word in row[0].words) else []
    named = all(_NAME.search(_said(cell)) for cell in cells)
    if len(cells) < MIN_HEADS or not named or row[0].direction != (1, 0):
        return []
    return [union(word.box for word in cell) for cell in cells]


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
    """The cells of a row by the one head that each is even with, or under; none where it is not, or two are."""
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
        under = under or over
        if len(under) != 1 or set(over) - set(under) or under[0] in found:
            return {}
        found[under[0]] = cell
    return found


def _lines(
    rows: Sequence[list[Run]], boxes: Sequence[Rect], start: int, heads: Sequence[Rect], taken: set[int]
) -> list[_Line]:
    """The heads, which are row `start`, and the lines below them, the last with those that wrap its cells.

    What stands in cells beside each other is one row where its lines are closer than any lines of one cell.
    """
    x0, top, x1, _ = boxes[start]
    below = (at for at in range(start + 1, min(len(rows), start + MAX_LINES)) if at not in taken)
    ordered = sorted((boxes[at][1], at) for at in below if boxes[at][1] > top and boxes[at][0] < x1 > x0 < boxes[at][2])
    found = [_Line(_placed(rows[start], heads), top, top, [start])]
    last: Collection[int] = ()  # the columns of the last row that was put into the last line
    for y, at in ordered:
        line, size = found[-1], rows[at][0].words[0].size
        cells = _placed(rows[at], heads) if rows[at][0].direction == (1, 0) else {}
        level = y - line.low < EVEN_EM / 2 * size
        if y - line.low > FAR_EM * size or not (cells or line.cells) or (level and not cells.keys().isdisjoint(last)):
            break
        beside = y - line.low < BESIDE_EM * size and cells.keys().isdisjoint(last)
        if len(found) > 1 and cells and line.cells and beside:
            line.cells.update({column: [*line.cells.get(column, ()), *words] for column, words in cells.items()})
            found[-1] = line._replace(low=y, rows=[*line.rows, at])
            last = [*last, *cells] if level else list(cells)
        else:
            found.append(_Line(dict(cells), y, y, [at]))
            last = list(cells)
    end = max(at for at, line in enumerate(found, 1) if len(line.cells) >= MIN_CELLS or at == 1)
    steps = [below.top - above.low for above, below in pairwise(found)]
    while 1 < end < len(found) and found[end].cells and steps[end - 1] <= APART * min(steps[: end - 1], default=0.0):
        end += 1
    return found[:end]


def _wrapped(lines: Sequence[_Line], heads: Sequence[Rect]) -> Iterator[_Line]:
    """The lines, those put together that are the lines of one row, of which figures have one.

    No others are as close; or all are, and the line above has no room for the first word of the one below.
    """
    if len(lines) < 3:
        return
    gaps = [below.top - above.low for above, below in pairwise(lines)]
    least = min(gaps[1:])
    close = [gap <= APART * least for gap in gaps[1:]]
    right = [max(line.cells[at][-1].box[2] for line in lines if at in line.cells) for at in range(len(heads))]
    starts = [*(box[0] for box in heads[1:]), float("inf")]
    edges = [right[at] if _is_text(lines, at) else starts[at] for at in range(len(heads))]
    fewer = [_is_part(below, above) and len(below.cells) < len(heads) for above, below in pairwise(lines)]
    # its label stands in the middle of a row
    before = [0 not in above.cells and 0 in below.cells and _is_part(above, below) for above, below in pairwise(lines)]
    joins = list(map(any, zip(fewer, before, strict=True)))
    several = not all(close) and all(join for join, near in zip(joins[1:], close, strict=True) if near)
    row = lines[0]
    for at, line in enumerate(lines[1:]):
        near = close[at - 1] if at else gaps[0] <= ROW_PITCH_EM * line.size
        full = fewer[at] and _has_no_room(lines[at], line, edges if at else right)
        if near and (joins[at] if at and several else full):
            row.cells.update({column: [*row.cells.get(column, ()), *words] for column, words in line.cells.items()})
            row.rows.extend(line.rows)
            continue
        yield row
        row = line
    yield row


def _is_part(line: _Line, other: _Line) -> bool:
    """Whether a line has words, and no figures, in columns that another one fills."""
    named = all(_NAME.search(_said(cell)) for cell in line.cells.values())
    return bool(line.cells) and named and line.cells.keys() <= other.cells.keys()


def _is_text(lines: Sequence[_Line], column: int) -> bool:
    return sum(len(line.cells.get(column, ())) >= MIN_WRAPPED for line in lines) >= MIN_WRAPPED


def _has_no_room(above: _Line, below: _Line, edges: Sequence[float]) -> bool:
    """Whether no first word of the cells below would have fitted behind those above; a label alone begins small."""
    pairs = ((above.cells[at][-1].box[2], words[0], edges[at]) for at, words in below.cells.items())
    small = list(below.cells) != [0] or below.cells[0][0].text[0].islower()
    return small and all(end + BLANK_EM * word.size + word.box[2] - word.box[0] > edge for end, word, edge in pairs)


def _whole(line: _Line, like: Run, heads: Sequence[Rect]) -> Run:
    size = line.size
    words: list[Word] = []
    for at, (x0, _, x1, _) in enumerate(heads):
        box = x0, line.top, x1, line.top + size
        words += _cell(line.cells.get(at) or [Word(EMPTY, box, size, bold=False, mono=False)])
    return like._replace(words=words)
