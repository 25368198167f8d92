"""Notes the lines and thin boxes of a page, as print is struck out with, while its painting is walked over. It decides nothing."""

# mypy: allow-untyped-calls

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

from pymupdf import mupdf

from ..basics.rows import Rect, meet, union
from .outline import Outline

THICK_PT = 8.0  # a thicker bar strikes out nothing but the largest of headlines
COVER_PT = 2.0  # a thinner one covers no other
SLIM = 2.0  # times as long as thick is a bar, at least
SLOPED_PT = 4.0  # a line that rises by less is drawn by hand along a row
LINE_BYTES, BOX_BYTES = 34, 60  # bytes of a single line, and of a box with its four corners, packed
PATH_BYTES = 1_500  # what is walked over of one path of a PDF, packed; charts and maps have longer ones
PAGE_BYTES = 4_000  # the same of all on a page: each corner is a call from MuPDF
ROW_BYTES = 16_000  # the same of those that lie on a row
LAID_OUT_BYTES = 1_000_000  # the same of pages that MuPDF lays out: it strikes a paragraph out by one path, and draws nothing else
FAINT = 0.2  # opacity of what nobody sees over print
PALE = 224  # lowest channel of a colour that does not show on white paper
GAP_PT = 3.0  # between bars on one height that strike out one text: programs draw one for each word, or part of one
DRAWN_BARS, DRAWN_SLOPED = 500, 20  # more are a drawing; the maps tried have 1,000 and 26
MOST = 5_000  # bars, and sloped lines; more are a drawing

Segment = tuple[float, float, float, float]


class Bar(NamedTuple):
    """A bar along the rows, or along the columns where it does not lie; `order` is its place in the order of painting."""

    box: Rect
    lying: bool
    pale: bool
    order: int


class Strokes:
    """Bars and sloped lines in points of the page as it is shown, and the opaque boxes that were painted."""

    def __init__(self, *, is_pdf: bool) -> None:
        self._bars: list[Bar] = []
        self.sloped: list[Segment] = []
        self._covers: list[tuple[int, Rect]] = []
        self._most = PATH_BYTES if is_pdf else LAID_OUT_BYTES
        self._left = {True: ROW_BYTES, False: PAGE_BYTES} if is_pdf else dict.fromkeys((True, False), LAID_OUT_BYTES)

    def note(self, path: Any, ctm: Any, box: Rect, width: float, colour: tuple[int, int, int] | None, alpha: float, order: int) -> None:
        """Note a path with this extent; `width` is that of its line as it is shown, 0 where it is filled."""
        if alpha < FAINT or len(self._bars) > MOST or box[0] > box[2] or box[1] > box[3]:
            return
        pale = colour is not None and min(colour) >= PALE
        thickness = min(box[2] - box[0], box[3] - box[1])
        size = mupdf.ll_fz_packed_path_size(path)
        if size <= (LINE_BYTES if width else BOX_BYTES) and (not width or thickness <= THICK_PT):
            if not width and thickness > COVER_PT and alpha > 1 - FAINT:
                self._covers.append((order, box))
            if thickness <= THICK_PT:
                self._bar(box, pale, order)
        elif size <= min(self._most, self._left[thickness <= THICK_PT]):
            self._left[thickness <= THICK_PT] -= size
            self._parts(Outline(path, ctm).parts, box, width / 2, pale, order)

    def _parts(self, parts: list[list[tuple[float, float]]], box: Rect, half: float, pale: bool, order: int) -> None:
        """Note the bars that a path is made of: of a line, `half` as thick, its sides, and of a shape its parts."""
        around = [union((x, y, x, y) for x, y in part) for part in parts]
        if half and len(parts) == 1 and min(around[0][2] - around[0][0], around[0][3] - around[0][1]) <= SLOPED_PT:  # drawn by hand
            x0, y0, x1, y1 = around[0]
            self._bar(meet((x0 - half, y0 - half, x1 + half, y1 + half), box), pale, order)
        elif half:
            for (x0, y0), (x1, y1) in (side for part in parts for side in pairwise(part)):
                if min(abs(x1 - x0), abs(y1 - y0)) <= SLOPED_PT:
                    line = min(x0, x1) - half, min(y0, y1) - half, max(x0, x1) + half, max(y0, y1) + half
                    self._bar(meet(line, box), pale, order)
                elif not pale and len(self.sloped) <= MOST:
                    self.sloped.append((x0, y0, x1, y1))
        else:
            for part in around:
                self._bar(meet(part, box), pale, order)

    def _bar(self, box: Rect, pale: bool, order: int) -> None:
        across, down = box[2] - box[0], box[3] - box[1]
        if 0 <= min(across, down) <= THICK_PT and max(across, down) >= SLIM * min(across, down):
            self._bars.append(Bar(box, across >= down, pale, order))

    def bars(self) -> Iterator[Bar]:
        """The bars, those that go on from one another as one."""
        last: Bar | None = None
        for bar in sorted(self._bars, key=lambda bar: (bar.lying, bar.pale, _height(bar), bar.box[0] if bar.lying else bar.box[1])):
            if last and _goes_on(last, bar):
                last = Bar(union((last.box, bar.box)), bar.lying, bar.pale, max(last.order, bar.order))
                continue
            if last:
                yield last
            last = bar
        if last:
            yield last

    def are_a_drawing(self) -> bool:
        """Whether they are those of a map or the like: tables have as many bars, and none that slope."""
        return len(self._bars) > DRAWN_BARS and len(self.sloped) > DRAWN_SLOPED

    def is_covered(self, bar: Bar) -> bool:
        """Whether an opaque box was painted over the middle of it afterwards."""
        x, y = (bar.box[0] + bar.box[2]) / 2, (bar.box[1] + bar.box[3]) / 2
        return any(order > bar.order and box[0] < x < box[2] and box[1] < y < box[3] for order, box in self._covers)


def _height(bar: Bar) -> int:
    return round(2 * (bar.box[1] + bar.box[3] if bar.lying else bar.box[0] + bar.box[2]))


def _goes_on(one: Bar, other: Bar) -> bool:
    """Whether `other` lies on the same height, and begins where `one` ends."""
    same = (one.lying, one.pale, _height(one)) == (other.lying, other.pale, _height(other))
    axis = 0 if one.lying else 1
    return same and other.box[axis] - one.box[axis + 2] <= GAP_PT
