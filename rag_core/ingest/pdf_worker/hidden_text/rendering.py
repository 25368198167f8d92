"""Says which words of a page can be seen: draws the page as it is, and again without its text.

Where the two pictures are alike, the text shows nothing: it was painted over, clipped, masked, or has the colour of its
ground. Where the letters would be is known from a third picture, of the text alone. Only the part of the page with the
words in question is drawn.
"""

# mypy: allow-untyped-calls

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

import pymupdf
from pymupdf import mupdf

from ..devices import CLIPS, GROUPS, PAINTING, TEXT, TEXT_CLIPS, HandOn
from ..render import fitting_zoom
from ..words import Rect, union
from .trace import CONTRAST

MAX_PIXELS = 6_000_000  # one drawing: A4 at three pixels a point is 4.5 million
# from this font size in points, pixels a point: a stem is then about a pixel wide
ZOOMS = ((8.0, 2.0), (5.0, 3.0), (0.0, 4.0))
DENSE = 100  # a pixel that a letter covers by that much of 255 belongs to its ink
FAINT = 24  # the same for letters that are transparent, or thinner than a pixel
ENOUGH = 3  # pixels of ink, from which they are a sample
SHOWN_SHARE = 0.4  # share of a word's ink that must show; a rule through a word takes up to a fifth
LETTER_SHARE = 0.3  # the same for each letter and digit: "38" with its 3 covered is not "38"
MARKED_SHARE = 0.25  # the same of a word under a watermark, which is to be read through it
MAX_LOOKS = 24  # at texts by themselves; more words in one another's places than that are no print
MIN_COUNT = 8  # steps of 255; smaller differences are rounding

# for each value of a pixel, 0 to 255, whether it passes
_DENSE = bytes(value >= DENSE for value in range(256))
_FAINT = bytes(value >= FAINT for value in range(256))
# difference that ink of this density makes when it can be read
_NEEDED = bytes(max(MIN_COUNT, value * CONTRAST // 255) for value in range(256))
_OTHERS = ("ignore_text", *PAINTING, *CLIPS, *TEXT_CLIPS, *GROUPS)  # what is no text


@dataclass
class Question:
    """A word to be looked at: its box, the boxes of its letters and digits, and its font size; all in points as the
    page is shown.

    `texts` are the places of its text, or texts, among those of the page in the order of painting, where other words
    stand in the same place; none where none do, and the page is compared with one that has no text at all.
    `under_mark`: a watermark stands over it, which covers letters of a word without hiding it.
    """

    box: Rect
    letters: Sequence[Rect]
    size: float
    texts: frozenset[int] = frozenset()
    under_mark: bool = False


def unseen(page: Any, questions: Sequence[Question], max_pixels: int) -> list[bool]:
    """For each word, whether it or one of its letters does not show; raises what MuPDF raises."""
    if not questions:
        return []
    area = pymupdf.Rect(union(question.box for question in questions)) & page.rect
    if area.is_empty:
        return [True] * len(questions)
    smallest = min(question.size for question in questions)
    zoom = fitting_zoom(page.rect, next(zoom for size, zoom in ZOOMS if smallest >= size), max_pixels)
    zoom = min(zoom, (MAX_PIXELS / max(1.0, area.get_area())) ** 0.5)
    asked: dict[frozenset[int], list[int]] = {}
    for place, question in enumerate(questions):
        if question.texts in asked or len(asked) <= MAX_LOOKS:
            asked.setdefault(question.texts, []).append(place)
    seen: set[int] = set()
    for texts, places in asked.items():
        around = pymupdf.Rect(union(questions[place].box for place in places)) & page.rect
        if not around.is_empty:
            look = _Look(page, around, zoom, texts)
            seen.update(place for place in places if not look.misses(questions[place]))
    return [place not in seen for place in range(len(questions))]


class _Look:
    """One part of a page as it is, without its text (or the texts that are asked about), and that text alone.

    All three are of one frame: cut out of a larger one, a line's edge may differ by some steps of its colour.
    """

    def __init__(self, page: Any, area: Any, zoom: float, texts: frozenset[int]) -> None:
        self._zoom = zoom
        self._frame = pymupdf.IRect(*((area * pymupdf.Matrix(zoom, zoom)).round()))
        self._width = self._frame.width
        rgb = mupdf.fz_device_rgb()
        self._page = _draw(page, self._frame, zoom, rgb)
        if texts:
            self._bare = _draw(page, self._frame, zoom, rgb, wanted=lambda number: number not in texts)
            self._ink = _draw(page, self._frame, zoom, None, _OTHERS, lambda number: number in texts)
        else:
            self._bare = _draw(page, self._frame, zoom, rgb, TEXT)
            self._ink = _draw(page, self._frame, zoom, None, _OTHERS)

    def misses(self, question: Question) -> bool:
        shown, ink = self._count(question.box)
        if ink < ENOUGH or shown < (MARKED_SHARE if question.under_mark else SHOWN_SHARE) * ink:
            return True
        if question.under_mark:
            return False
        for letter in question.letters:
            shown, ink = self._count(letter)
            if ink >= ENOUGH and shown < LETTER_SHARE * ink:
                return True
        return False

    def _count(self, box: Rect) -> tuple[int, int]:
        """Pixels of ink that show, and pixels of ink, in `box`."""
        frame, height = self._frame, self._frame.height
        left, right = (max(0, min(self._width, round(x * self._zoom) - frame.x0)) for x in (box[0], box[2]))
        top, bottom = (max(0, min(height, round(y * self._zoom) - frame.y0)) for y in (box[1], box[3]))
        if left >= right or top >= bottom:
            return 0, 0
        starts = range(top * self._width, bottom * self._width, self._width)
        density = b"".join([self._ink[start + left : start + right] for start in starts])
        ink = density.translate(_DENSE)
        if ink.count(1) < ENOUGH:
            ink = density.translate(_FAINT)
        shown = int.from_bytes(ink, "little")
        if not shown:
            return 0, 0
        page, bare = (
            b"".join([picture[3 * (start + left) : 3 * (start + right)] for start in starts])
            for picture in (self._page, self._bare)
        )
        differs = _differs(page, bare, density.translate(_NEEDED))
        return (shown & int.from_bytes(differs, "little")).bit_count(), ink.count(1)


def _differs(one: bytes, other: bytes, needed: bytes) -> bytes:
    """1 for each pixel of which a channel differs by what is `needed` there: bytes as lanes of a large number."""
    found = 0
    limit = _lanes(needed)
    above = int.from_bytes(b"\x00\x01" * len(needed), "little")  # 256 in each lane: no lane borrows from the next
    for channel in range(3):
        a, b = _lanes(one[channel::3]), _lanes(other[channel::3])
        found |= _over(a, b, limit, above) | _over(b, a, limit, above)
    return found.to_bytes(2 * len(needed), "little")[1::2]


def _lanes(values: bytes) -> int:
    wide = bytearray(2 * len(values))
    wide[::2] = values
    return int.from_bytes(wide, "little")


def _over(a: int, b: int, limit: int, above: int) -> int:
    """A 1 in the upper byte of each lane where a - b >= limit."""
    # a - b - limit + 512 is in 2..767 for bytes: bit 9 says that it is not negative
    return ((2 * above + a - b - limit) >> 1) & above


def _draw(
    page: Any,
    frame: Any,
    zoom: float,
    space: Any,
    without: Collection[str] = (),
    wanted: Callable[[int], bool] | None = None,
) -> bytes:
    """The `frame` of a page, of its texts those `wanted`, in `space` on white; for None one byte of density a pixel."""
    picture = mupdf.fz_new_pixmap_with_bbox(
        space or mupdf.fz_device_gray(), mupdf.FzIrect(*frame), mupdf.FzSeparations(), int(not space)
    )
    if space:
        mupdf.fz_clear_pixmap_with_value(picture, 255)
    else:
        mupdf.fz_clear_pixmap(picture)
    device = mupdf.fz_new_draw_device(mupdf.FzMatrix(zoom, 0, 0, zoom, 0, 0), picture)
    for name in without:
        setattr(device.m_internal, name, None)  # MuPDF leaves out what a device has no function for
    mupdf.fz_run_page(
        page.this, device if wanted is None else _Chosen(device, wanted, without), mupdf.FzMatrix(), mupdf.FzCookie()
    )
    mupdf.fz_close_device(device)
    samples = bytes(pymupdf.Pixmap("raw", picture).samples)
    return samples if space else samples[1::2]


class _Chosen(HandOn):
    """Hands on all but the operations `without`; a text only where `wanted` says so of its place among the texts."""

    def __init__(self, target: Any, wanted: Callable[[int], bool], without: Collection[str]) -> None:
        super().__init__(target, {*TEXT, *_OTHERS}.difference(without, ("ignore_text",)))
        self._wanted, self._texts = wanted, -1

    def shown(self, name: str, text: Any) -> Any:
        """The text where it is wanted; texts that cut what follows are no paint."""
        if name not in TEXT:
            return text
        self._texts += 1
        return text if self._wanted(self._texts) else None
