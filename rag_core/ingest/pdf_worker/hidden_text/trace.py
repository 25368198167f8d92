"""Walks over what a page paints, in the order of painting, and notes where text may be unseen.

A place is a suspect where something opaque is painted after the text, where the text stands on a ground of nearly its
own colour or on a picture, where a clip cuts it, where a mask, a group or a pattern rules over it, and where its glyphs
have no extent. `rendering` looks at those places. Most pages of ordinary files have none, and need no picture.
"""

# mypy: allow-untyped-calls

from __future__ import annotations

from array import array
from typing import Any

from pymupdf import mupdf

from ..devices import CLIPS, GROUPS, ITEM_BYTES, PAINTING, TEXT, TEXT_CLIPS, call_back, glyphs_of, spans_of
from ..glyphs.actual_text import FURTHER, Drawn, Glyph, Span, crowded
from ..words import Bands, Rect, band_of, meet, union
from .strikethrough import Colour, Outline, Strokes

# a dense table has 2,000; more would take longer to walk over than to render, and all of the page is a suspect
MAX_OPERATIONS = 30_000
THIN_PT = 1.2  # a rule; it cannot cover print, unless there are many
# the longest bar of a fraction, its least length in thicknesses, and how many are noted
BAR_PT, BAR_SHAPE, MAX_BARS = 60.0, 3.0, 5_000
DOT_PT, DOT_SHAPE, MAX_DOTS = (1.0, 8.0), 1.2, 500  # drawn bullets, and more of them than a page of lists has
MANY_RULES = 6  # rules at different places within one band of BAND_PT: a table has at most four
CONTRAST = 30  # steps of 255 in some channel: what differs less from its ground cannot be read
# MuPDF gives text an extent that is about a point wider than its ink; no clip within it cuts a letter off
LOOSE_PT = 1.5
MARK_PT = 18.0  # the least size of letters that stand over others as a watermark
# share of a text's height, above and below, that others may touch: ascenders and descenders reach into the next line
CORE = 0.15

GRAY, RGB = 1, 2  # values of MuPDF's fz_colorspace_type, which its bindings do not name
MIDDLE_EM = 0.25  # the middle of a letter above its baseline
EVERYWHERE: Rect = (float("-inf"), float("-inf"), float("inf"), float("inf"))


class Trace(mupdf.FzDevice2):  # type: ignore[misc]
    """The findings on one page, in points of the page as it is shown.

    `spans`: glyphs that the file has a text for. `texts`: the extents of what was written, in order. `fonts`: by an
        address that names it
    while it is kept, each font with the glyphs that were used. `crowded`: by the same address, what one glyph is said
    to show and cannot. `bars`: short lines and bars, as fractions and minuses are drawn. `strokes`: lines and thin
    boxes. `dots`: small squares and circles. `pictures`: where some are. `marks`: the extents and sizes, in points, of
    large texts, as a watermark is.
    """

    def __init__(self, page: Any) -> None:
        super().__init__()
        call_back(
            self, (*TEXT, *TEXT_CLIPS, "ignore_text", "begin_metatext", "end_metatext", *PAINTING, *CLIPS, *GROUPS)
        )
        self.suspects = Bands()
        self.spans: list[Span] = []
        self.texts: list[Rect] = []
        self.bars: list[Rect] = []
        self.dots: list[Rect] = []
        self.pictures: list[Rect] = []
        self.marks: list[tuple[Rect, float]] = []
        self.strokes = Strokes(is_pdf=page.parent.is_pdf)
        self.fonts: dict[int, tuple[Any, set[Glyph]]] = {}
        self.crowded: dict[int, set[Glyph]] = {}
        self._texts = Bands()
        self._placeless = False
        self._grounds: dict[Colour | None, Bands] = {}  # by colour; None for pictures and whatever has many colours
        self._close: dict[Colour, list[Colour | None]] = {}
        self._rules: dict[tuple[str, int], dict[int, Rect]] = {}
        # what is left to paint on, and whether it is not a plain rectangle
        self._clips: list[tuple[Rect, bool]] = [(tuple(page.rect), False)]
        self._strange = 0  # depth of masks being painted, tiles, and groups that mix with their ground
        self._groups: list[bool] = []
        self._said: list[bool] = []  # for each metatext that is open, whether it is what is to be read
        self._operations = 0
        self._cookie = mupdf.FzCookie()
        try:
            mupdf.fz_run_page(page.this, self, mupdf.FzMatrix(), self._cookie)
            mupdf.fz_close_device(self)
        # MuPDF raises on a damaged page whose text came out all the same: what was not walked over is looked at
        except Exception:
            self._operations = MAX_OPERATIONS + 1
        if self._operations > MAX_OPERATIONS:
            self.suspects.add(EVERYWHERE)

    def is_suspect(self, box: Rect) -> bool:
        core = _core(box)
        if any(True for _ in self.suspects.near(core)):
            return True
        return self._placeless and not any(True for _ in self._texts.near(core))

    def _step(self) -> bool:
        self._operations += 1
        if self._operations > MAX_OPERATIONS:
            self._cookie.m_internal.abort = 1
            return False
        return True

    def _painted(self, box: Rect, colour: Colour | None) -> None:
        box = meet(box, self._clips[-1][0])
        x0, y0, x1, y1 = box
        if not (x0 < x1 and y0 < y1):
            return
        short, long = sorted((x1 - x0, y1 - y0))
        if BAR_SHAPE * short <= long <= BAR_PT and len(self.bars) < MAX_BARS:
            self.bars.append(box)
        if DOT_PT[0] <= short and long <= min(DOT_PT[1], DOT_SHAPE * short) and len(self.dots) < MAX_DOTS:
            self.dots.append(box)
        if short <= THIN_PT:
            self._rule(box)
            return
        for text in self._texts.near(box):
            self.suspects.add(meet(text, box))
        self._ground(box, colour)

    def _ground(self, box: Rect, colour: Colour | None) -> None:
        if colour not in self._grounds:
            self._grounds[colour] = Bands()
            for ink, close in self._close.items():
                if _is_alike(ink, colour):
                    close.append(colour)
        self._grounds[colour].add(box)

    def _rule(self, box: Rect) -> None:
        """One rule covers nothing; many that stand close do."""
        x0, y0, x1, y1 = box
        lying = x1 - x0 >= y1 - y0
        key = ("lying", band_of(y0)) if lying else ("standing", band_of(x0))
        near = self._rules.setdefault(key, {})
        place = int(4 * (y0 if lying else x0))
        near[place] = union((near.get(place, box), box))
        if len(near) >= MANY_RULES:
            around = union(near.values())
            for text in self._texts.near(around):
                self.suspects.add(meet(text, around))
            self._ground(around, None)

    def _text(self, text: Any, stroke: Any, ctm: Any, colour: Colour | None) -> None:
        if not self._step():
            return
        if True in self._said:
            self._note(text, ctm)
        box = _rect(mupdf.ll_fz_bound_text(text, stroke, ctm))
        self.texts.append(box)
        size = _size(text, ctm)
        if size >= MARK_PT:
            self.marks.append((box, size))
        written = self._glyphs(text)
        clip, shaped = self._clips[-1]
        if not (box[0] < box[2] and box[1] < box[3]):
            # blanks; or glyphs without ink, which have no place here: then words that stand in no text's place are
            # looked at
            self._placeless = self._placeless or any(not chr(max(0, code)).isspace() for code in written)
            return
        core = _core(box)
        across = clip[0] - LOOSE_PT <= box[0] and box[2] <= clip[2] + LOOSE_PT
        inside = across and clip[1] <= core[1] and core[3] <= clip[3]
        own = text.head and text.head.font.t3procs  # the file itself draws the letters, in colours of their own
        if self._strange or shaped or colour is None or not inside or own:
            self.suspects.add(box)
        else:
            for ground in self._alike(colour):
                for other in self._grounds[ground].near(core):
                    self.suspects.add(meet(box, other))
        self._texts.add(core)

    def _glyphs(self, text: Any) -> set[int]:
        codes: set[int] = set()
        for span in spans_of(text):
            address = self._font(span)
            items = array("i", mupdf.raw_to_python_bytes(span.items, ITEM_BYTES * span.len))
            numbers, characters = items[3::6], items[4::6]
            self.fonts[address][1].update(zip(numbers, characters, strict=True))
            if FURTHER in numbers:
                self.crowded.setdefault(address, set()).update(crowded(zip(numbers, characters, strict=True)))
            codes.update(characters)
        return codes

    def _font(self, span: Any) -> int:
        address = int(span.font.this)
        if address not in self.fonts:
            self.fonts[address] = mupdf.FzFont(mupdf.ll_fz_keep_font(span.font)), set()
        return address

    def _alike(self, colour: Colour) -> list[Colour | None]:
        """The colours painted so far on which `colour` cannot be read."""
        if colour not in self._close:
            self._close[colour] = [other for other in self._grounds if _is_alike(colour, other)]
        return self._close[colour]

    # What MuPDF calls. The first argument after self is MuPDF's context; its own parameters follow in its order.

    def fill_path(self, _ctx: Any, path: Any, _even_odd: Any, ctm: Any, *paint: Any) -> None:
        self._path(path, None, ctm, *paint)

    def stroke_path(self, _ctx: Any, path: Any, stroke: Any, ctm: Any, *paint: Any) -> None:
        self._path(path, stroke, ctm, *paint)

    def _path(self, path: Any, stroke: Any, ctm: Any, space: Any, color: Any, alpha: float, params: Any) -> None:
        if not self._step():
            return
        colour = _colour(space, color, params)
        box = _rect(mupdf.ll_fz_bound_path(path, stroke, ctm))
        self._painted(box, colour)
        width = stroke.linewidth * abs(ctm.a * ctm.d - ctm.b * ctm.c) ** 0.5 if stroke else 0.0
        opacity = min(alpha, 0.5) if self._strange else alpha  # what mixes with its ground covers nothing
        self.strokes.note(path, ctm, meet(box, self._clips[-1][0]), width, colour, opacity, self._operations)

    def fill_text(self, _ctx: Any, text: Any, ctm: Any, space: Any, color: Any, _alpha: float, params: Any) -> None:
        self._text(text, None, ctm, _colour(space, color, params))

    def stroke_text(self, _ctx: Any, text: Any, stroke: Any, ctm: Any, space: Any, color: Any, *more: Any) -> None:
        self._text(text, stroke, ctm, _colour(space, color, more[1]))

    def fill_shade(self, _ctx: Any, _shade: Any, _ctm: Any, _alpha: float, _params: Any) -> None:
        """A gradient, over all of what the clip leaves."""
        if self._step():
            self._painted(EVERYWHERE, None)

    def fill_image(self, _ctx: Any, _image: Any, ctm: Any, *_: Any) -> None:
        if self._step():
            self.pictures.append(_unit(ctm))
            self._painted(self.pictures[-1], None)

    fill_image_mask = fill_image  # a stencil, through which colour is painted

    def begin_metatext(self, _ctx: Any, meta: int, text: str) -> None:
        """Text until `end_metatext` is to be read as `text`."""
        is_said = meta == mupdf.FZ_METATEXT_ACTUALTEXT
        if is_said and True not in self._said:
            self.spans.append(Span(text, []))
        elif is_said:
            self.spans[-1].nested = True
        self._said.append(is_said)

    def end_metatext(self, _ctx: Any) -> None:
        if self._said:
            self._said.pop()

    def ignore_text(self, _ctx: Any, text: Any, ctm: Any) -> None:
        if True in self._said:
            self._note(text, ctm)

    def _note(self, text: Any, ctm: Any) -> None:
        for span in spans_of(text):
            address, trm = self._font(span), span.trm
            for x, y, advance, number, said in glyphs_of(span):
                x, y = x + trm.a * advance / 2 + trm.c * MIDDLE_EM, y + trm.b * advance / 2 + trm.d * MIDDLE_EM
                middle = x * ctm.a + y * ctm.c + ctm.e, x * ctm.b + y * ctm.d + ctm.f
                self.spans[-1].glyphs.append(Drawn(self.fonts[address][0], address, number, said, middle))

    def clip_path(self, _ctx: Any, path: Any, _even_odd: Any, ctm: Any, _scissor: Any) -> None:
        self._step()
        shaped = not mupdf.ll_fz_path_is_rect(path, ctm) and not Outline(path, ctm).is_rectangle()
        self._push(_rect(mupdf.ll_fz_bound_path(path, None, ctm)), shaped=shaped)

    def clip_stroke_path(self, *_: Any) -> None:
        self._push(EVERYWHERE, shaped=True)

    def clip_text(self, _ctx: Any, text: Any, *how: Any) -> None:
        self.ignore_text(_ctx, text, how[-2])
        self._push(EVERYWHERE, shaped=True)

    clip_stroke_text = clip_text

    def clip_image_mask(self, _ctx: Any, _image: Any, ctm: Any, _scissor: Any) -> None:
        self._push(_unit(ctm), shaped=True)

    def _push(self, box: Rect, *, shaped: bool) -> None:
        around, before = self._clips[-1]
        self._clips.append((meet(box, around), shaped or before))

    def pop_clip(self, _ctx: Any) -> None:
        if len(self._clips) > 1:
            self._clips.pop()

    def begin_mask(self, *_: Any) -> None:
        self._strange += 1

    def end_mask(self, *_: Any) -> None:
        """The mask ends; all up to `pop_clip` is painted through it."""
        self._strange -= 1
        self._push(EVERYWHERE, shaped=True)

    def begin_group(self, _ctx: Any, *how: Any) -> None:
        """How: box, space, isolated, knockout, blend, alpha."""
        *_, blend, alpha = how
        self._groups.append(bool(blend) or alpha < 1)
        self._strange += self._groups[-1]

    def end_group(self, _ctx: Any) -> None:
        if self._groups:
            self._strange -= self._groups.pop()

    def begin_tile(self, *_: Any) -> int:
        """A tile begins, which is repeated over all that the clip leaves."""
        self._painted(EVERYWHERE, None)
        self._strange += 1
        return 0

    def end_tile(self, _ctx: Any) -> None:
        self._strange -= 1


def _is_alike(ink: Colour, ground: Colour | None) -> bool:
    """Whether `ink` may not be read on `ground`: twice the contrast, as colours of print are converted variously."""
    return ground is None or max(abs(a - b) for a, b in zip(ink, ground, strict=True)) <= 2 * CONTRAST


def _rect(box: Any) -> Rect:
    return box.x0, box.y0, box.x1, box.y1


def _unit(ctm: Any) -> Rect:
    xs, ys = (
        (ctm.e, ctm.e + ctm.a, ctm.e + ctm.c, ctm.e + ctm.a + ctm.c),
        (ctm.f, ctm.f + ctm.b, ctm.f + ctm.d, ctm.f + ctm.b + ctm.d),
    )
    return min(xs), min(ys), max(xs), max(ys)


def _size(text: Any, ctm: Any) -> float:
    """The font size in points as it is shown; 0 of a text without letters."""
    if not text.head:
        return 0.0
    trm = text.head.trm
    return float(abs((trm.a * trm.d - trm.b * trm.c) * (ctm.a * ctm.d - ctm.b * ctm.c)) ** 0.5)


def _core(box: Rect) -> Rect:
    margin = CORE * (box[3] - box[1])
    return box[0], box[1] + margin, box[2], box[3] - margin


def _colour(space: Any, color: Any, params: Any) -> Colour | None:
    if not space:
        return None
    if space.type == GRAY:
        grey = round(255 * mupdf.floats_getitem(color, 0))
        return grey, grey, grey
    if space.type == RGB:
        return tuple(round(255 * mupdf.floats_getitem(color, channel)) for channel in range(3))
    red, green, blue, _ = mupdf.ll_fz_convert_color(space, color, mupdf.ll_fz_device_rgb(), None, params)
    return round(255 * red), round(255 * green), round(255 * blue)
