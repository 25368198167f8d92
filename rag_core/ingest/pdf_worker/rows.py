"""Puts words into rows, and rows into a page's text. Pure: it knows neither PDF nor PyMuPDF.

MuPDF parts what stands on one row wherever a gap is wide, so a table's row arrives as many short runs ("Net income",
"$", "596"). Runs that follow one another on the same baseline are put back into one row, their parts set apart by a
tab. The order of the runs is never changed: only neighbours in reading order are joined, which is what keeps the
columns of a two-column page apart; columns of prose that a file has row by row are parted again. Numbers of lines come
last.
"""

from __future__ import annotations

import base64
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, pairwise
from typing import Any

from .grid import under_heads
from .words import CELL_GAP, CELL_GAP_EM, EVEN_EM, Rect, Run, Word, same_row, turned, union

MIN_STRETCHED = 4  # words of a row stretched further: fewer may stand as far apart in a table by chance; chosen
EQUAL_GAPS_EM = 0.1  # between the widest and the narrowest gap of such a row; PDFs of Word show up to 0.04
CLOSED_GAP = 1.35  # times a gap is one behind a sign of punctuation at most; TeX adds a quarter or a third
# the longest word over the shortest: words as long as each other leave equal gaps in equal columns; chosen
UNEQUAL_WORDS = 2.0
CELL_GAP_MONO_EM = 1.5  # a fixed-width space is 0.6 em, and two of them follow a full stop
# rows with both columns at least, and words in a row of a column on average; chosen
MIN_COLUMN_ROWS, COLUMN_WORDS = 5, 4
# rows above the prose of two columns that may be none; more rows of a table are not tried one by one; chosen
HEAD_ROWS = 8
ROW_PITCH_EM = 1.6  # from row to row of a column at most, where the other one has ended; chosen
SHARED_WORDS = 0.05  # share of the shorter column's words; two columns of one language share a tenth and more; chosen
MIN_NUMBERED = 5  # lines with numbers in the margin: fewer may be a short list; chosen
MIN_PARAGRAPHS = 2  # with numbers in a margin; chosen
UNKNOWN = -1.0  # how sure OCR is of a word that it did not read
BACKSTEP_EM = 0.3  # kerning and italics may let a run begin a little before the last one ended


@dataclass
class Rows:
    """A page's text and what stands where in it, as compact lists of numbers that go into JSON as they are.

    `lines`: [start, end, x0, y0, x1, y1, size, bold, mono, block, [cell start, cell end, …]]; `words`: [start, end, x0,
        y0, x1, y1, UNKNOWN].
    Offsets are characters of `text`. `problem` says which limit was reached, as a sentence.
    """

    text: str = ""
    lines: list[list[object]] = field(default_factory=list)
    words: list[list[float]] = field(default_factory=list)
    problem: str = ""


def build(runs: Iterable[Run], max_chars: int, max_words: int, rules: Sequence[Rect] = ()) -> Rows:
    """The rows of `runs` up to either limit; `rules` are the bars that the page paints."""
    page = Rows()
    parts: list[str] = []
    length = 0
    for row in under_heads(list(_by_column(list(_rows(_numbers_last(list(runs)))))), rules):
        text, line, words = _row(row, length)
        crowded = len(page.words) + len(words) > max_words
        if crowded or length + len(text) > max_chars:
            most = f"{max_words:,} words" if crowded else f"{max_chars:,} characters"
            page.problem = f"Only the first {most} of this page were read."
            break
        parts.append(text)
        page.lines.append(line)
        page.words.extend(words)
        length += len(text) + 1
    page.text = "\n".join(parts)
    return page


def _rows(runs: Iterable[Run]) -> Iterable[list[Run]]:
    row: list[Run] = []
    core: Rect = (0, 0, 0, 0)  # the row's tallest run, so that a superscript does not move the row
    end = 0.0
    for run in runs:
        first, last = turned(run.words[0].box, run.direction), turned(run.words[-1].box, run.direction)
        box = first[0], min(first[1], last[1]), last[2], max(first[3], last[3])
        if (
            row
            and row[-1].direction == run.direction
            and same_row(core, box)
            and first[3] > last[1]  # words of several lines are a row of their own
            and box[0] >= end - BACKSTEP_EM * run.words[0].size
        ):
            row.append(run)
            if box[3] - box[1] > core[3] - core[1]:
                core = box
        else:
            if row:
                yield row
            row, core = [run], box
        end = box[2]
    if row:
        yield row


def _numbers_last(runs: list[Run]) -> list[Run]:
    """The runs with the numbers in either margin as one run behind them, where text runs on from line to line."""
    for right in (True, False):
        at = [
            i + right
            for i, pair in enumerate(pairwise(runs))
            if _is_number(pair[right]) and (right or not _is_number(pair[1])) and _beside(*pair)
        ]
        if len(at) >= MIN_PARAGRAPHS and _are_counted(runs, at, right=right):
            places = set(at)
            numbers = [runs[i].words[0] for i in at]
            runs = [*(run for i, run in enumerate(runs) if i not in places), Run(numbers, runs[at[0]].block, (1, 0))]
    return runs


def _are_counted(runs: Sequence[Run], at: Sequence[int], *, right: bool) -> bool:
    """Whether the runs at these places are the numbers of lines, or those of paragraphs, behind or before their lines.

    They count on by a fixed step, stand at one margin, and each has one run of words beside it. Lines are text and no
    list where a third of them begin with a small letter, or sentences end on some of those before their numbers: none
    ends with a title of a table of contents. Of the numbers of paragraphs, which count on by one, two are enough: no
    sentence ends on any line that has one, but on other lines.
    """
    numbers = [runs[i].words[0] for i in at]
    places = {*at, *(lines := [i - 1 if right else i + 1 for i in at])}
    steps = {int(two.text) - int(one.text) for one, two in pairwise(numbers)}
    apart = min(max(word.box[edge] for word in numbers) - min(word.box[edge] for word in numbers) for edge in (0, 2))
    cells = any(_beside(*runs[i - right : i - right + 2]) for i in lines if right <= i < len(runs) - (not right))
    if len(steps) != 1 or min(steps) < 1 or apart > EVEN_EM * numbers[0].size or cells:
        return False
    closed = {_closes(runs[i]) for i in lines}
    small = sum(runs[i].words[0].text[0].islower() for i in lines)
    words = [len(runs[i].words) for i in lines]
    of_text = 3 * small >= len(at) or (right and len(closed) > 1 and sum(words) >= COLUMN_WORDS * len(words))
    if len(at) >= MIN_NUMBERED and of_text:
        return True
    ends = any(_closes(run) for i, run in enumerate(runs) if i not in places)
    return steps == {1} and closed == {False} and ends and min(words) >= COLUMN_WORDS


def _by_column(rows: list[list[Run]]) -> Iterator[list[Run]]:
    """The rows, where two columns of prose on the same baselines are read one after the other.

    Each has its text run on from row to row. Sentences of one end where those of the other do not, since cells of a
    table end together; or both have next to no word in common: a contract in two languages.
    """
    start = tries = 0
    while start < len(rows):
        left, right, numbers, end = _columns(rows, start)
        prose = bool(left) and _runs_on(left) and _runs_on(right)
        if prose and (_are_strangers(left, right) or not _end_together(rows[start:end])):
            last = max(run.block for row in rows for run in row)
            yield from ([run] for run in left)
            yield from ([run._replace(block=last + 1)] for run in right)
            yield from ([run] for run in numbers)
            tries = 0
        elif left and tries < HEAD_ROWS:
            yield rows[start]
            end, tries = start + 1, tries + 1
        else:
            yield from rows[start:end]
            tries = 0
        start = end


def _columns(rows: list[list[Run]], start: int) -> tuple[list[Run], list[Run], list[Run], int]:
    """The runs of two columns from a row on, left and right, the numbers of lines between them, and where they end.

    All are empty where fewer rows than `MIN_COLUMN_ROWS` have both. A row of one column alone belongs to them right
    below its last row, before others of both, or where both columns go on so.
    """
    first = rows[start]
    if len(first) != 2 or first[0].direction != (1, 0):
        return [], [], [], start + 1
    edges, apart = (first[0].words[0].box[0], first[1].words[0].box[0]), EVEN_EM * first[0].words[0].size

    def side_of(run: Run) -> int | None:
        stands = (side for side in (0, 1) if abs(run.words[0].box[0] - edges[side]) <= apart)
        side = next(stands, None) if run.direction == (1, 0) else None
        return None if side == 0 and run.words[-1].box[2] >= edges[1] else side

    found: list[tuple[int, Run]] = []  # the column of each run, 2 for numbers
    kept, end, index = 0, start + 1, start
    lowest = [0.0, 0.0]  # the upper edge of the last row of each column
    while index < len(rows):
        texts = [run for run in rows[index] if not _is_number(run)]
        sides = [side_of(run) for run in texts]
        if sides not in ([0, 1], [0], [1], []):
            break
        tops = [(side, run, run.words[0].box[1]) for side, run in zip(sides, texts, strict=True) if side is not None]
        close = all(lowest[side] and top - lowest[side] <= ROW_PITCH_EM * run.words[0].size for side, run, top in tops)
        for side, run, top in tops:
            lowest[side] = top
            found.append((side, run))
        found += [(2, run) for run in rows[index] if _is_number(run)]
        index += 1
        if len(texts) > 1 or close or {0, 1} <= {side for side, _ in found[kept:]}:
            kept, end = len(found), index
    columns = [[run for side, run in found[:kept] if side == wanted] for wanted in range(3)]
    both = sum(len([run for run in row if not _is_number(run)]) > 1 for row in rows[start:end])
    return (columns[0], columns[1], columns[2], end) if both >= MIN_COLUMN_ROWS else ([], [], [], end)


def _runs_on(column: list[Run]) -> bool:
    """Whether a column is prose: a third of its rows go on in small letters with the open sentence of the row above."""
    small = sum(not _closes(one) and two.words[0].text[0].islower() for one, two in pairwise(column))
    return 3 * small >= len(column) - 1 and sum(len(run.words) for run in column) >= COLUMN_WORDS * len(column)


def _end_together(rows: list[list[Run]]) -> bool:
    """Whether sentences of both columns end on the same rows alone, as the cells of a table do."""
    beside = [row for row in rows if len(row) > 1 and not any(map(_is_number, row))]
    ends = [(_closes(row[0]), _closes(row[1])) for row in beside]
    return any(map(all, ends)) and all(one == other for one, other in ends)


def _are_strangers(left: list[Run], right: list[Run]) -> bool:
    """Whether two columns have next to no word in common, as texts of two languages do."""
    columns = ([word.text for run in column for word in run.words] for column in (left, right))
    mine, theirs = ({text.casefold() for text in texts if text.isalpha()} for texts in columns)
    return len(mine & theirs) <= SHARED_WORDS * min(len(mine), len(theirs))


def _closes(run: Run) -> bool:
    return run.words[-1].text.rstrip("\"'”’)]").endswith((".", "!", "?", ":", ";"))


def _is_number(run: Run) -> bool:
    text = run.words[0].text
    return len(run.words) == 1 and text.isascii() and text.isdecimal() and len(text) <= 4 and run.direction == (1, 0)


def _beside(left: Run, right: Run) -> bool:
    one, two = left.words[-1].box, right.words[0].box
    return left.direction == right.direction == (1, 0) and same_row(one, two) and two[0] > one[2]


def _row(runs: list[Run], start: int) -> tuple[str, list[object], list[list[float]]]:
    direction = runs[0].direction
    words = [word for run in runs for word in run.words]
    mono = _most(words, 4)
    parts: list[str] = []
    boxes: list[list[float]] = []
    cells = [start]
    at = start
    end = 0.0
    stretched = _is_stretched(words, direction)
    for word in words:
        begin, _, stop, _ = turned(word.box, direction)
        if parts:
            wide = not stretched and begin - end > (CELL_GAP_MONO_EM if word.mono else CELL_GAP_EM) * word.size
            gap = (CELL_GAP if wide else " ") if word.gap is None else word.gap
            parts.append(gap)
            at += len(gap)
            if gap == CELL_GAP:
                cells += [at - 1, at]
        boxes.append([at, at + len(word.text), *(round(edge, 2) for edge in word.box), UNKNOWN])
        parts.append(word.text)
        at += len(word.text)
        end = stop
    cells.append(at)
    box = [round(edge, 2) for edge in union(word.box for word in words)]
    return (
        "".join(parts),
        [start, at, *box, _dominant_size(words), int(_most(words, 3)), int(mono), runs[0].block, cells],
        boxes,
    )


def _is_stretched(words: list[Word], direction: tuple[int, int]) -> bool:
    """Whether a row is justified text: its words stand equally far apart, but for an item's mark and behind a comma.

    The cells of a table stand where their columns do, so that the gaps between words of several lengths differ.
    """
    return any(_equally_apart(part, direction) for part in (words, words[1:]))


def _equally_apart(words: Sequence[Word], direction: tuple[int, int]) -> bool:
    if len(words) < MIN_STRETCHED:
        return False
    boxes = [turned(word.box, direction) for word in words]
    gaps = [
        (two[0] - one[2], word.text[-1] in ",;:.") for word, (one, two) in zip(words, pairwise(boxes), strict=False)
    ]
    widths = [box[2] - box[0] for box in boxes]
    least = min(gap for gap, _ in gaps)
    most = max((gap for gap, closed in gaps if not closed or gap > CLOSED_GAP * least), default=least)
    size = words[0].size
    equal = max(gaps)[0] > CELL_GAP_EM * size and most - least <= EQUAL_GAPS_EM * size
    return equal and max(widths) >= UNEQUAL_WORDS * min(widths)


def _most(words: list[Word], flag: int) -> bool:
    yes = sum(len(word.text) if word[flag] else -len(word.text) for word in words)
    return yes > 0


def _dominant_size(words: list[Word]) -> float:
    sizes = Counter[float]()
    for word in words:
        sizes[round(word.size, 1)] += len(word.text)
    return max(sizes, key=lambda size: (sizes[size], size))


def packed(words: Sequence[Sequence[float]], lines: Sequence[Sequence[Any]]) -> dict[str, object]:
    """`words` (7 numbers each), `lines` (11) and `cells` of the event `page`; the arguments are those of `Rows`."""
    return {
        "words": _base64(chain.from_iterable(words)),
        "lines": _base64(number for line in lines for number in (*line[:-1], len(line[-1]))),
        "cells": _base64(chain.from_iterable(line[-1] for line in lines)),
    }


def _base64(numbers: Iterable[float]) -> str:
    return base64.b64encode(array("d", numbers).tobytes()).decode("ascii")
