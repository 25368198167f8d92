"""The words and rows of a page as columns of numbers: 56 bytes a word. Tuples of Python's numbers take about 250.

They read like tuples of `WordBox` and `Line`, whose values are made one by one when somebody asks for them.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from rag_core.domain.documents import Box, Line, WordBox

T_co = TypeVar("T_co", covariant=True)
Floats = NDArray[np.float64]
WORD_NUMBERS = 7  # start, end, x0, y0, x1, y1, and how sure OCR is of the word, from 0 to 1, or UNKNOWN
UNKNOWN = -1.0
SURE = 0.7  # as `rag_core.ingest.pdf_worker.scans.ocr` has it
LINE_NUMBERS = 11  # start, end, x0, y0, x1, y1, size, bold, mono, block, and how many numbers its cells take


class _Column(Sequence[T_co]):
    """A sequence of values that are made when they are asked for; equal to any sequence of equal values."""

    __slots__ = ("table",)

    def __init__(self, table: Floats) -> None:
        self.table = table
        self.table.setflags(write=False)

    def __len__(self) -> int:
        return len(self.table)

    @overload
    def __getitem__(self, index: int) -> T_co: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[T_co, ...]: ...
    def __getitem__(self, index: int | slice) -> T_co | tuple[T_co, ...]:
        if isinstance(index, slice):
            return tuple(self._value(row) for row in range(len(self))[index])
        return self._value(range(len(self))[index])

    def __iter__(self) -> Iterator[T_co]:
        return map(self._value, range(len(self)))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, tuple | _Column):
            return NotImplemented
        return len(self) == len(other) and all(one == two for one, two in zip(self, other, strict=True))

    def __hash__(self) -> int:
        return hash(tuple(self))

    def _value(self, row: int) -> T_co:
        raise NotImplementedError


class Words(_Column[WordBox]):
    """Word boxes; `table` has shape (words, 7), and nobody else may change it."""

    __slots__ = ()

    def _value(self, row: int) -> WordBox:
        return _word(self.table[row].tolist())

    def __iter__(self) -> Iterator[WordBox]:
        return map(_word, self.table.tolist())  # all numbers at once: four times as fast as row by row

    @classmethod
    def of(cls, words: Sequence[WordBox]) -> Words:
        if isinstance(words, cls):
            return words
        return cls(_table(((*word[:6], UNKNOWN if word.sure is None else word.sure) for word in words), WORD_NUMBERS))


def _word(row: Sequence[float]) -> WordBox:
    start, end, x0, y0, x1, y1, sure = row
    return WordBox(int(start), int(end), x0, y0, x1, y1, None if sure == UNKNOWN else sure)


class Lines(_Column[Line]):
    """Rows of a page: `table` has shape (rows, 11), see `LINE_NUMBERS`.

    `cells` are the offsets of all rows' cells, one after the other: start, end, start, end, …
    """

    __slots__ = ("_ends", "cells")

    def __init__(self, table: Floats, cells: NDArray[np.int64]) -> None:
        super().__init__(table)
        self.cells = cells
        self._ends = np.cumsum(table[:, -1].astype(np.int64))
        if (self._ends[-1] if len(table) else 0) != len(cells) or (table[:, -1] % 2).any() or (table[:, -1] < 0).any():
            raise ValueError(f"{len(cells)} numbers are not the cells of these {len(table)} rows")

    def _value(self, row: int) -> Line:
        start, end, x0, y0, x1, y1, size, bold, mono, block, count = self.table[row].tolist()
        cells = self.cells[self._ends[row] - int(count) : self._ends[row]].tolist()
        pairs = tuple(zip(cells[::2], cells[1::2], strict=True))
        return Line(int(start), int(end), Box(x0, y0, x1, y1), size, bool(bold), bool(mono), int(block), pairs)

    @classmethod
    def of(cls, lines: Sequence[Line]) -> Lines:
        if isinstance(lines, cls):
            return lines
        rows = (
            (one.start, one.end, *one.box, one.size, one.bold, one.mono, one.block, 2 * len(one.cells)) for one in lines
        )
        cells = chain.from_iterable(cell for line in lines for cell in line.cells)
        return cls(_table(rows, LINE_NUMBERS), np.fromiter(cells, np.int64))

    @property
    def bytes(self) -> int:
        return self.table.nbytes + self.cells.nbytes + self._ends.nbytes


def layout_to_json(words: Sequence[WordBox], lines: Sequence[Line]) -> dict[str, Any]:
    rows = Lines.of(lines)
    return {"words": Words.of(words).table.tolist(), "lines": rows.table.tolist(), "cells": rows.cells.tolist()}


def layout_from_json(row: Mapping[str, Any]) -> tuple[Words, Lines]:
    """The words and rows that `layout_to_json` was given; a ValueError, KeyError or TypeError for anything else."""
    lines = Lines(_table(row["lines"], LINE_NUMBERS), np.array(row["cells"], np.int64))
    return Words(_table(row["words"], WORD_NUMBERS)), lines


def received(words: str, lines: str, cells: str, chars: int) -> tuple[Words, Lines]:
    """The layout that `pdf_worker.rows.packed` sent for so many characters; a ValueError where it does not fit."""
    table = _decoded(lines, LINE_NUMBERS)
    offsets = _decoded(cells, 1).reshape(-1)
    boxes = _decoded(words, WORD_NUMBERS)
    for numbers in (boxes[:, :2], table[:, :2], offsets, table[:, -1]):
        if ((numbers < 0) | (numbers != np.floor(numbers))).any():
            raise ValueError("an offset is no whole number")
    for numbers in (boxes[:, :2], table[:, :2], offsets):
        if (numbers > chars).any():
            raise ValueError(f"an offset is beyond the page's {chars} characters")
    if (((boxes[:, -1] < 0) | (boxes[:, -1] > 1)) & (boxes[:, -1] != UNKNOWN)).any():
        raise ValueError("how sure a word is lies between 0 and 1")
    return Words(boxes), Lines(table, offsets.astype(np.int64))


def sure_share(part: Mapping[str, Any]) -> float:
    """The share of the letters of a recognised part that stand in words that are sure."""
    words = _decoded(part["words"], WORD_NUMBERS)
    letters = words[:, 1] - words[:, 0]
    return float(letters[words[:, 6] >= SURE].sum() / max(1.0, letters.sum()))


def with_part(page: Mapping[str, Any], part: Mapping[str, Any]) -> dict[str, Any]:
    """Text and layout of a page with those of a part that was read apart, before the first row that begins below it."""
    (lines, words, cells), (more_lines, more_words, more_cells) = (
        (_decoded(one["lines"], LINE_NUMBERS), _decoded(one["words"], WORD_NUMBERS), _decoded(one["cells"], 1))
        for one in (page, part)
    )
    low = more_lines[:, 5].max(initial=0.0)
    at = next((row for row, top in enumerate(lines[:, 3]) if top >= low), len(lines))
    text, more = str(page["text"]), str(part["text"])
    cut = int(lines[at, 0]) if at < len(lines) else len(text) + 1
    text = f"{text}\n"[:cut] + more + "\n" + text[cut:]
    more_lines[:, 9] += lines[:, 9].max(initial=-1.0) + 1  # no block of the page goes on in one of the part
    for own, other in ((lines[:, :2], more_lines[:, :2]), (words[:, :2], more_words[:, :2]), (cells, more_cells)):
        own[own >= cut] += len(more) + 1
        other += cut
    place, offsets = int(np.searchsorted(words[:, 0], cut)), int(lines[:at, -1].sum())
    return {
        "text": text.removesuffix("\n"),
        "words": _encoded(np.insert(words, place, more_words, axis=0)),
        "lines": _encoded(np.insert(lines, at, more_lines, axis=0)),
        "cells": _encoded(np.insert(cells, offsets, more_cells, axis=0)),
    }


def _encoded(table: Floats) -> str:
    return base64.b64encode(table.tobytes()).decode("ascii")


def _table(rows: Iterable[Sequence[float]], width: int) -> Floats:
    return np.array(list(rows), dtype=np.float64).reshape(-1, width)


def _decoded(packed: str, width: int) -> Floats:
    table = np.frombuffer(base64.b64decode(packed, validate=True), dtype=np.float64).reshape(-1, width)
    return np.nan_to_num(table, nan=0.0, posinf=0.0, neginf=0.0)  # whatever a font says
