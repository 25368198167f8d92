"""Where cited words stand on a page, and which part of the page is cut out around them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from rag_core.domain.claims import Citation
from rag_core.domain.documents import Box, Page, Span, WordBox

LINES = "lines"  # the name of a strip's frame
LINES_ROOM = (24.0, 48.0)  # points in view beside the words, and above and below them: about three lines each
LINES_LEAST = (360.0, 130.0)  # points in width and height that are in view at least, where the page has them
LINES_MOST = 490.0  # points in width up to which lines are shown whole: A4 and Letter with usual margins
NEAR_HEIGHT = 200.0  # points over which several marks are shown together: about fifteen lines; chosen
COLUMN_GAP = 36.0  # points between two words of a line, from which they stand in columns; chosen
MARGIN = 6.0  # points that are in view beyond the last word of a line
TEXT_LINE = 0.8  # part of a page's width from which a line without a gap is text, and no heading; chosen
FOLD_ROOM = 12.0  # points in view between a word and the fold; chosen


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


def strip(part: Box, page: Page) -> str:
    """The name of a strip's frame: plain, one that fades where words are cut, or one that scrolls since it is wide."""
    if part.x1 - part.x0 > LINES_MOST:
        return f"{LINES}_wide"
    cut = any(word.x0 < part.x1 < word.x1 + MARGIN and word.y1 > part.y0 and word.y0 < part.y1 for word in page.words)
    more = any(word.x0 >= part.x1 and word.y1 > part.y0 and word.y0 < part.y1 for word in page.words)
    return f"{LINES}_cut" if cut or more else LINES


def figures_end(boxes: Sequence[Box], page: Page, part: Box | None) -> float | None:
    """Where the figures of a marked row end, in percent of the width of a strip that is too wide for its frame.

    None where the marked words are text: no gap of `COLUMN_GAP` is within one of its lines.
    """
    if part is None:
        return None
    ends = []
    for box in boxes:
        row = sorted(
            (word.x0, word.x1)
            for word in page.words
            if box.x0 <= (word.x0 + word.x1) / 2 <= box.x1 and _same_line(word, box)
        )
        if any(after[0] - before[1] > COLUMN_GAP for before, after in pairwise(row)):
            ends.append(row[-1][1])
    return 100 * (max(ends) - part.x0) / (part.x1 - part.x0) if ends else None


def folded(boxes: Sequence[Box], page: Page, part: Box | None) -> tuple[Box, Box] | None:
    """Both ends of a strip too wide for its frame: what a marked row is called, and its figures.

    None where the strip fits, where its marked words are text, and where both ends together would not fit either.
    """
    if part is None or part.x1 - part.x0 <= LINES_MOST or figures_end(boxes, page, part) is None:
        return None
    there = [word for word in page.words if word.y1 > part.y0 and word.y0 < part.y1]
    marked = [word for word in there if any(_same_line(word, box) and box.x0 <= word.x0 <= box.x1 for box in boxes)]
    left, right = (
        max(part.x0, min(word.x0 for word in there) - MARGIN),
        min(part.x1, max(word.x1 for word in there) + MARGIN),
    )
    top, bottom = min(box.y0 for box in boxes), max(box.y1 for box in boxes)
    between = [word for word in there if word.y1 > top and word.y0 < bottom]
    folds = []
    # where no line is cut, else where no marked one is
    for low, high in (
        *_empty(there),
        *_empty(between),
        *_empty(marked),
    ):
        room = FOLD_ROOM + max(0.0, LINES_LEAST[0] - (right - left - (high - low) + 2 * FOLD_ROOM)) / 2
        if right - left - (high - low - 2 * room) <= LINES_MOST:
            folds.append((low + room, high - room))
    if not folds:
        return None
    low, high = min(
        folds, key=lambda fold: (sum(word.x0 < fold[1] and word.x1 > fold[0] for word in there), fold[0] - fold[1])
    )
    # nobody can read half a line
    text = [word for word in there if word.x0 < high and word.x1 > low and _is_text(word, there)]
    y0 = max([part.y0, *(word.y1 for word in text if word.y1 <= top)])
    y1 = min([part.y1, *(word.y0 for word in text if word.y0 >= bottom)])
    return Box(left, y0, low, y1), Box(high, y0, right, y1)


def _is_text(word: WordBox, there: Sequence[WordBox]) -> bool:
    """Whether a word stands in a line of text: one that is nearly as long as any, without a gap."""
    row = sorted((one.x0, one.x1) for one in there if _same_line(one, Box(word.x0, word.y0, word.x1, word.y1)))
    whole = max(one.x1 for one in there) - min(one.x0 for one in there)
    return row[-1][1] - row[0][0] > TEXT_LINE * whole and all(
        after[0] - before[1] <= COLUMN_GAP for before, after in pairwise(row)
    )


def _empty(words: Sequence[WordBox]) -> list[tuple[float, float]]:
    """The stretches from left to right between words, over all of their lines."""
    ordered = sorted((word.x0, word.x1) for word in words)
    ends = accumulate((end for _, end in ordered), max)
    return [(end, start) for end, (start, _) in zip(ends, ordered[1:], strict=False) if end < start]


def _same_line(word: WordBox, box: Box) -> bool:
    return box.y0 <= (word.y0 + word.y1) / 2 <= box.y1


def _widened(low: float, high: float, room: float, least: float, most: float) -> tuple[float, float]:
    """A stretch with room on both sides, at least so long, within 0 and `most`."""
    more = max(room, (least - (high - low)) / 2)
    low, high = low - more, high + more
    low, high = low - max(0.0, high - most), high + max(0.0, -low)
    return max(0.0, low), min(most, high)
