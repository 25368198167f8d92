"""Words of a page, runs of words and rectangles, in points. Pure: it knows neither PDF nor PyMuPDF."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import Enum
from typing import Any, NamedTuple

Rect = tuple[float, float, float, float]
SLOPED = (0, 0)  # the direction of text that runs along no edge of the page, as a watermark does
BAND_PT = 16.0  # about a row of print
TALL = 100  # bands; what touches more is looked at each time
# share of the lower run's height; a superscript overlaps its line by about 0.65, the next line by about 0.1
SAME_ROW_OVERLAP = 0.6
CELL_GAP_EM = 1.0  # a stretched space of justified text mostly stays below about 0.8 em, where MuPDF itself parts runs
CELL_GAP = "\t"
ROW_PITCH_EM = 1.6  # from row to row of a column at most, where the other one has ended; chosen
UNKNOWN = -1.0  # how sure OCR is of a word that it did not read
EVEN_EM = 0.5  # how far the edges of what stands in one column may lie apart; chosen


def union(boxes: Iterable[Rect]) -> Rect:
    """The smallest rectangle around `boxes`, which must not be empty."""
    x0s, y0s, x1s, y1s = zip(*boxes, strict=True)
    return min(x0s), min(y0s), max(x1s), max(y1s)


def meet(a: Rect, b: Rect) -> Rect:
    """The part that two rectangles share; an edge lies before the opposite one where they share nothing."""
    return max(a[0], b[0]), max(a[1], b[1]), min(a[2], b[2]), min(a[3], b[3])


def overlap(a: Rect, b: Rect) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def turned(box: Rect, direction: tuple[int, int]) -> Rect:
    """`box` for a reader: first axis along the reading direction, second axis towards the next row."""
    x0, y0, x1, y1 = box
    if direction in ((1, 0), SLOPED):
        return box
    if direction == (-1, 0):
        return -x1, -y1, -x0, -y0
    if direction == (0, -1):  # bottom to top: the next row is to the right
        return -y1, x0, -y0, x1
    return y0, -x1, y1, -x0  # top to bottom: the next row is to the left


def is_within(x: float, y: float, box: Rect) -> bool:
    return box[0] <= x <= box[2] and box[1] <= y <= box[3]


def middle_of(box: Rect) -> tuple[float, float]:
    return (box[0] + box[2]) / 2, (box[1] + box[3]) / 2


class Bands:
    """Rectangles, found by the horizontal bands that they touch."""

    def __init__(self) -> None:
        self._bands: dict[int, list[Rect]] = {}
        self._tall: list[Rect] = []

    def add(self, box: Rect) -> None:
        first, last = band_of(box[1]), band_of(box[3])
        if last - first > TALL:
            self._tall.append(box)
            return
        for band in range(first, last + 1):
            self._bands.setdefault(band, []).append(box)

    def near(self, box: Rect) -> Iterator[Rect]:
        """The rectangles that `box` overlaps, some of them twice."""
        first, last = band_of(box[1]), band_of(box[3])
        bands: Iterable[int] = (
            range(first, last + 1)
            if last - first < len(self._bands)
            else [b for b in self._bands if first <= b <= last]
        )
        for boxes in (self._tall, *(self._bands.get(band, ()) for band in bands)):
            yield from (other for other in boxes if overlap(box, other))


def band_of(y: float) -> int:
    """The number of the band that `y` lies in, in points; far off the page, that of the farthest."""
    return int(min(max(y, -1e6), 1e6) // BAND_PT)


def lines_of(blocks: Iterable[dict[str, Any]]) -> dict[tuple[int, int], Any]:
    """The lines of PyMuPDF's blocks by the numbers of both."""
    return {(block["number"], at): line for block in blocks for at, line in enumerate(block.get("lines", ()))}


class Kind(Enum):
    """Why a word is not read; `rag_core.ingest.reading.pdf_findings` has the words for it."""

    NONE = "none"  # transparent, or not painted
    TINY = "tiny"
    NO_CONTEXT = "beside"  # the page
    UNSEEN = "unseen"  # painted over, cut away, masked, or in the colour of its ground
    OTHER = "other"  # says other letters than are shown
    LAYER = "layer"  # in a layer that is switched off
    STRUCK = "struck"  # can be seen, and is crossed out


class Ink(Enum):
    """How a word is painted."""

    PLAIN = "plain"
    PALE = "pale"  # depends on what is behind it
    NONE = "none"  # transparent, or neither filled nor stroked
    TINY = "tiny"


class Word(NamedTuple):
    """A word and where it is shown: points, origin at the top left. `size` is the font size in points.

    `gap` is what stands before it where that is not measured: a blank, where a struck-out word stood there or both are
    in one cell; a tab, where a drawn rule or the heads of columns part them; nothing in a word that is broken.
    """

    text: str
    box: Rect
    size: float
    bold: bool
    mono: bool
    gap: str | None = None
    ink: Ink = Ink.PLAIN
    kind: Kind | None = None
    sure: float = UNKNOWN  # as OCR has it


class Run(NamedTuple):
    """Words that MuPDF gives as one line: never empty. `direction` is the unit step of its reading direction.

    `block` and `line` are its numbers in MuPDF, where it is a line of its own.
    """

    words: list[Word]
    block: int
    direction: tuple[int, int]
    line: int = -1

    @property
    def place(self) -> tuple[int, int]:
        return self.block, self.line

    @property
    def signs(self) -> int:
        """How many characters its words have together."""
        return sum(len(word.text) for word in self.words)

    @property
    def box(self) -> Rect:
        return union(word.box for word in self.words)


def same_row(a: Rect, b: Rect) -> bool:
    lower = min(a[3] - a[1], b[3] - b[1])
    return min(a[3], b[3]) - max(a[1], b[1]) > SAME_ROW_OVERLAP * lower > 0
