"""Where cited words stand on a page, and which part of the page is cut out around them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rag_core.domain.claims import Citation
from rag_core.domain.documents import Box, Page, Span

LINES_ROOM = (24.0, 48.0)  # points in view beside the words, and above and below them: about three lines each
LINES_LEAST = (360.0, 130.0)  # points in width and height that are in view at least, where the page has them
LINES_MOST = 490.0  # points in width up to which lines are shown whole: A4 and Letter with usual margins
NEAR_HEIGHT = 200.0  # points over which several marks are shown together: about fifteen lines; chosen
MARGIN = 6.0  # points that are in view beyond the last word of a line


@dataclass(frozen=True, slots=True)
class Place:
    """A page to show and what is cited there.

    Args:
        document: id.
        page: 1-based.
        marks: (page, rectangle in PDF points) of the words; empty where their place on the page is not certain.
        words: the stretches of raw text; empty when a page is shown for itself.
        doubted: as `marks`, of the words that OCR is not sure of.
        also: as `marks`, of what else the answer cites in this document. It is marked as well; the lines in view follow
            `marks`.
        also_words: the stretches of raw text of those others, one for each citation and page.
    """

    document: str
    page: int
    marks: tuple[tuple[int, Box], ...] = ()
    words: tuple[Span, ...] = ()
    doubted: tuple[tuple[int, Box], ...] = ()
    also: tuple[tuple[int, Box], ...] = ()
    also_words: tuple[Span, ...] = ()

    @classmethod
    def of(cls, citation: Citation, others: Sequence[Citation] = ()) -> Place:
        """Where a citation stands, and the others of its document."""
        beside = [one for one in others if one.document_id == citation.document_id and one != citation]
        doubted = (*citation.doubted, *(mark for one in beside for mark in one.doubted))
        also = tuple(mark for one in beside for mark in one.boxes)
        also_words = tuple(stretch for one in beside for stretch in _whole(one.spans))
        return cls(citation.document_id, citation.page, citation.boxes, citation.spans, doubted, also, also_words)

    def on(self, page: int) -> tuple[Box, ...]:
        """All marks on a page."""
        return tuple(box for number, box in (*self.marks, *self.also) if number == page)

    def in_view(self, page: int) -> tuple[Box, ...]:
        """The marks on a page that are shown with the lines around them: the citation's own, and others near them."""
        marks = [box for number, box in self.marks if number == page] or list(self.on(page)[:1])
        for number, box in self.also:
            if number == page and box not in marks and _height([*marks, box]) <= max(NEAR_HEIGHT, _height(marks)):
                marks.append(box)
        return tuple(marks)

    def shows(self, citation: Citation) -> bool:
        """Whether a citation's words are in view when this place is opened."""
        if (self.document, self.page) != (citation.document_id, citation.page):
            return False
        in_view = set(self.in_view(self.page))
        beside = bool(citation.boxes) and all(number == self.page and box in in_view for number, box in citation.boxes)
        return beside or (self.words, self.marks) == (citation.spans, citation.boxes)

    def stretches(self, page: int) -> list[tuple[int, int]]:
        """All cited stretches of a page's raw text from its beginning to its end, those that touch as one."""
        joined: list[tuple[int, int]] = []
        for start, end in sorted(
            (span.start, span.end) for span in (*_whole(self.words), *self.also_words) if span.page == page
        ):
            if joined and start <= joined[-1][1]:
                joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
            else:
                joined.append((start, end))
        return joined

    def holds(self, page: int) -> bool:
        """Whether any of the words stand on a page."""
        return any(span.page == page for span in self.words)


def _whole(spans: Sequence[Span]) -> tuple[Span, ...]:
    """One stretch for each page: of a row and its header what stands between them is shown as well."""
    pages = sorted({span.page for span in spans})
    there = {page: [span for span in spans if span.page == page] for page in pages}
    return tuple(
        Span(page, min(one.start for one in there[page]), max(one.end for one in there[page])) for page in pages
    )


def around(boxes: Sequence[Box], page: Page) -> Box:
    """The marked words of a page with the lines around them, in points: whole lines where they fit."""
    width, height = page.width, page.height
    x0, x1 = _widened(min(box.x0 for box in boxes), max(box.x1 for box in boxes), LINES_ROOM[0], LINES_LEAST[0], width)
    y0, y1 = _widened(min(box.y0 for box in boxes), max(box.y1 for box in boxes), LINES_ROOM[1], LINES_LEAST[1], height)
    there = [word for word in page.words if word.y1 > y0 and word.y0 < y1]
    left = min((word.x0 for word in there), default=x0 + MARGIN) - MARGIN
    right = max((word.x1 for word in there), default=x1 - MARGIN) + MARGIN
    if LINES_LEAST[0] <= right - left <= LINES_MOST:
        x0, x1 = max(0.0, left), min(width, right)
    return Box(x0, y0, x1, y1)


def _height(boxes: Sequence[Box]) -> float:
    return max(box.y1 for box in boxes) - min(box.y0 for box in boxes)


def is_cut(part: Box, page: Page) -> bool:
    """Whether lines go on to the right of a part of a page, so that its words are cut there."""
    return any(word.x1 + MARGIN > part.x1 and word.y1 > part.y0 and word.y0 < part.y1 for word in page.words)


def _widened(low: float, high: float, room: float, least: float, most: float) -> tuple[float, float]:
    """A stretch with room on both sides, at least so long, within 0 and `most`."""
    more = max(room, (least - (high - low)) / 2)
    low, high = low - more, high + more
    low, high = low - max(0.0, high - most), high + max(0.0, -low)
    return max(0.0, low), min(most, high)
