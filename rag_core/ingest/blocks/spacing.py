"""The setting of rows as a reader sees it: sizes that look alike are one, and more white above a row sets it apart.

Typesetting stretches letters (LaTeX gives 8.9, 9.0 and 9.1 points in one paragraph), so sizes are compared only after
this.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from statistics import median

from rag_core.ingest.blocks.rows import Row, ends_sentence

ALIKE = 0.03  # share of a size; stretched letters differ by 2 %, a heading from its text by 8 % and more
APART = 1.3  # times the distance of rows in a paragraph; a footnote's raised mark moves a row by up to a quarter of it
MIN_PITCH = 0.8  # font sizes; rows set without any white between them are 1 apart
MAX_PITCH = 2.6  # font sizes; rows of double-spaced text are 2.3 apart
ALIKE_PITCH, MIN_GAPS = 1.1, 5  # rows of a paragraph are set evenly; so many gaps within sentences tell how far; chosen
USUAL_PITCH = 1.2  # font sizes from row to row where a page does not say; the usual setting of type


def alike_sizes(pages: Iterable[Iterable[Row]]) -> dict[float, float]:
    """For each font size, in points, the commonest that looks like it; the first value is that of most characters."""
    sizes: Counter[float] = Counter()
    for page in pages:
        for row in page:
            sizes[row.size] += len(row.text)
    together = {size: sum(count for other, count in sizes.items() if _alike(size, other)) for size in sizes}
    found: dict[float, float] = {}
    for size in sorted(sizes, key=lambda size: (-together[size], -sizes[size])):
        found[size] = next((other for other in found.values() if _alike(size, other)), size)
    return found


def in_blocks(pages: Sequence[Sequence[Row]], sizes: Mapping[float, float]) -> list[list[Row]]:
    """The rows, where those of a paragraph have one block.

    MuPDF gives each row of widely set text a block of its own. Of a size of which no two rows share one, those are put
    together that stand as far apart as rows of one sentence do.
    """
    shared = {sizes[row.size] for page in pages for row, following in pairwise(page) if row.block == following.block}
    found: defaultdict[float, list[float]] = defaultdict(list)
    for page in pages:
        for row, following in pairwise(page):
            size, gap = sizes[row.size], _gap(row, following)
            runs_on = following.text[0].islower() and not ends_sentence(row.text)
            if size == sizes[following.size] and size not in shared and runs_on and MIN_PITCH < gap < MAX_PITCH:
                found[size].append(gap)
    wide = {size: ALIKE_PITCH * median(gaps) for size, gaps in found.items() if len(gaps) >= MIN_GAPS}
    return [_put_together(page, sizes, wide) if wide else list(page) for page in pages]


def _put_together(page: Sequence[Row], sizes: Mapping[float, float], wide: Mapping[float, float]) -> list[Row]:
    found = list(page)
    for index, (row, following) in enumerate(pairwise(page), start=1):
        size = sizes[row.size]
        if size == sizes[following.size] and 0 < _gap(row, following) <= wide.get(size, 0.0):
            found[index] = replace(following, block=found[index - 1].block)
    return found


def settled(page: Sequence[Row], sizes: Mapping[float, float], pitches: Mapping[float, float]) -> list[Row]:
    """The rows of a page with `size` equal where it looks equal, and `apart` set.

    Args:
        page: its rows in reading order.
        sizes: as `alike_sizes` gives them.
        pitches: as `row_pitches` gives them.
    """
    found = list(page)
    for index, row in enumerate(found):
        size = sizes[row.size]
        apart = index > 0 and _gap(found[index - 1], row) > APART * pitches.get(size, USUAL_PITCH)
        if size != row.size or apart:
            found[index] = replace(row, size=size, apart=apart)
    return found


def row_pitches(pages: Iterable[Sequence[Row]], sizes: Mapping[float, float]) -> dict[float, float]:
    """The usual distance of two rows of a paragraph, in font sizes, for each of the `sizes` that rows were set in."""
    gaps: defaultdict[float, list[float]] = defaultdict(list)
    for page in pages:
        for row, following in pairwise(page):
            together = (
                row.block == following.block
                and sizes[row.size] == sizes[following.size]
                and abs(row.left - following.left) < 1
            )
            if together and MIN_PITCH < (gap := _gap(row, following)) < MAX_PITCH:
                gaps[sizes[row.size]].append(gap)
    return {size: median(found) for size, found in gaps.items()}


def _gap(row: Row, following: Row) -> float:
    """How far below `row` the following one starts, in font sizes; 0 where it stands beside it, in another column or in
    no PDF.
    """
    size = max(row.size, following.size)
    return max(0.0, (following.top - row.top) / size) if size > 0 else 0.0


def _alike(size: float, other: float) -> bool:
    return abs(size - other) <= ALIKE * other
