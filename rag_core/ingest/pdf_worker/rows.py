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

from .columns import COLUMN_WORDS, by_column, closes, goes_on, is_number
from .grid import HYPHENS, under_heads
from .words import CELL_GAP, CELL_GAP_EM, EVEN_EM, Rect, Run, Word, same_row, turned, union

MIN_STRETCHED = 4  # words of a row stretched further: fewer may stand as far apart in a table by chance; chosen
EQUAL_GAPS_EM = 0.1  # between the widest and the narrowest gap of such a row; PDFs of Word show up to 0.04
CLOSED_GAP = 1.35  # times a gap is one behind a sign of punctuation at most; TeX adds a quarter or a third
# the longest word over the shortest: words as long as each other leave equal gaps in equal columns; chosen
UNEQUAL_WORDS = 2.0
CELL_GAP_MONO_EM = 1.5  # a fixed-width space is 0.6 em, and two of them follow a full stop
MIN_NUMBERED = 5  # lines with numbers in the margin: fewer may be a short list; chosen
MIN_PARAGRAPHS = 2  # with numbers in a margin; chosen
LONG_WORDS = 8  # in two lines of prose whose sentence may go on with a capital; chosen
STRETCHED_EM = 2.0  # wide is a blank that was stretched, or written twice, at most; chosen
PROSE_PITCH_EM = 2.0  # from line to line of a paragraph at most; chosen
NO_BLANK_EM = 0.05  # the narrowest blank of print is a tenth and more; chosen
BACKSTEP_EM = 0.3  # kerning and italics may let a run begin a little before the last one ended


@dataclass
class Rows:
    """A page's text and what stands where in it, as compact lists of numbers that go into JSON as they are.

    `lines`: [start, end, x0, y0, x1, y1, size, bold, mono, block, [cell start, cell end, …]]; `words`: [start, end, x0,
        y0, x1, y1, how sure OCR is].
    Offsets are characters of `text`. `problem` says which limit was reached, as a sentence.
    """

    text: str = ""
    lines: list[list[object]] = field(default_factory=list)
    words: list[list[float]] = field(default_factory=list)
    problem: str = ""


def build(runs: Iterable[Run], max_chars: int, max_words: int) -> Rows:
    """The rows of `runs` up to either limit."""
    page = Rows()
    parts: list[str] = []
    length = 0
    for row in under_heads(list(_without_gaps(list(_rows(by_column(_numbers_last(list(runs)))))))):
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


def _without_gaps(rows: Sequence[list[Run]]) -> Iterator[list[Run]]:
    """The rows; one with wide gaps is a line of prose where its sentence goes on from or to a line that has none there.

    A gap behind the first word sets off the mark of an item, but for a word in small letters with which the sentence
    above goes on; one behind a colon sets off what stands behind a label.
    """
    texts = [Run([word for run in row for word in run.words], row[0].block, row[0].direction) for row in rows]
    gaps = [_gaps(text) for text in texts]
    for at, (row, text) in enumerate(zip(rows, texts, strict=True)):
        near = ((other, min(at, other), max(at, other)) for other in (at - 1, at + 1) if 0 <= other < len(rows))
        first = text.words[0]
        goes = at and len(first.text) > 1 and first.text.islower() and goes_on(texts[at - 1], text)
        wide = any(gap - before.box[2] > STRETCHED_EM * before.size for before, gap in gaps[at])
        said = [gap for before, gap in gaps[at] if (before is not first or goes) and not before.text.endswith(":")]
        if (
            said
            and any(map(str.isalpha, text.words[-1].text))
            and any(
                not gaps[other] and texts[other].box[2] > said[-1] and _is_a_paragraph(texts[one], texts[two], wide)
                for other, one, two in near
            )
        ):
            words = [
                word._replace(gap=word.gap if word.gap is not None or not place else " ")
                for place, word in enumerate(text.words)
            ]
            yield [text._replace(words=words)]
        else:
            yield row


def _gaps(row: Run) -> list[tuple[Word, float]]:
    """The words before the wide gaps of a row, and where these end; none where its cells are told."""
    if row.direction != (1, 0) or any(word.gap == CELL_GAP for word in row.words):
        return []
    return [
        (one, two.box[0])
        for one, two in pairwise(row.words)
        if two.gap is None and two.box[0] - one.box[2] > (CELL_GAP_MONO_EM if two.mono else CELL_GAP_EM) * two.size
    ]


def _is_a_paragraph(above: Run, below: Run, wide: bool) -> bool:
    """Whether a sentence goes on in the line right below, in small letters where one has `wide` gaps."""
    one, two = above.words[0], below.words[0]
    even = abs(one.box[0] - two.box[0]) <= EVEN_EM * two.size
    long = not wide and not closes(above) and min(len(above.words), len(below.words)) >= LONG_WORDS
    pitch = two.box[1] - one.box[1]
    return even and 0 < pitch <= PROSE_PITCH_EM * two.size and (long or goes_on(above, below))


def _numbers_last(runs: list[Run]) -> list[Run]:
    """The runs with the numbers in either margin as one run behind them, where text runs on from line to line."""
    for right in (True, False):
        at = [
            i + right
            for i, pair in enumerate(pairwise(runs))
            if is_number(pair[right]) and (right or not is_number(pair[1])) and _beside(*pair)
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
    closed = {closes(runs[i]) for i in lines}
    small = sum(runs[i].words[0].text[0].islower() for i in lines)
    words = [len(runs[i].words) for i in lines]
    of_text = 3 * small >= len(at) or (right and len(closed) > 1 and sum(words) >= COLUMN_WORDS * len(words))
    if len(at) >= MIN_NUMBERED and of_text:
        return True
    ends = any(closes(run) for i, run in enumerate(runs) if i not in places)
    return steps == {1} and closed == {False} and ends and min(words) >= COLUMN_WORDS


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
            if gap == " " and word.text[0] in HYPHENS and word.text[1:] and begin - end <= NO_BLANK_EM * word.size:
                gap = ""  # a hyphen was printed over the blank before it
            parts.append(gap)
            at += len(gap)
            if gap == CELL_GAP:
                cells += [at - 1, at]
        boxes.append([at, at + len(word.text), *(round(edge, 2) for edge in word.box), word.sure])
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
