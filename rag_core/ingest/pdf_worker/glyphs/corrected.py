"""Reads the text of a page again where the file says other letters than are drawn, or letters for what is a sign: as it
is shown.

Most pages have no such glyph, and are not read again.
"""

# mypy: allow-untyped-calls

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pymupdf
from pymupdf import mupdf

from ..devices import TEXT, TEXT_CLIPS, HandOn, glyphs_of, spans_of
from .actual_text import FURTHER, Glyph, Judgement, Shown, Span, judged, rejected
from .fonts import Fonts, shows_another_digit
from .shapes import is_blank

Point = tuple[float, float]
Signs = Mapping[tuple[int, Glyph], str]  # by the address of a font


@dataclass
class Correction:
    """A page's text as it is shown, and where that differs from what the file says: middles of glyphs, as the page is
    shown.

    `settled`: their shape is that of the text that the file has for all of them together. `doubtful`: it is that of
        neither reading.
    `false`: a digit that neither reading says. `rejected`: words that are not drawn, each text with a place of it.
    """

    text_page: Any
    settled: list[Point] = field(default_factory=list)
    doubtful: list[Point] = field(default_factory=list)
    false: list[Point] = field(default_factory=list)
    rejected: list[tuple[list[str], Point]] = field(default_factory=list)


def corrected(
    page: Any, used: Mapping[int, tuple[Any, set[Glyph]]], spans: Sequence[Span], fonts: Fonts, flags: int
) -> Correction | None:
    """The page's text as it is shown; None where the file says it right.

    `used` are its fonts with their glyphs, by address; `spans` are glyphs that the file has a text for, as painted.
    """
    signs = fonts.signs(used)
    judgements = [_judged(span, used, signs, fonts) for span in spans]
    if not signs and not any(judgements):
        return None
    found = Correction(None)
    places = {Judgement.SAID: found.settled, Judgement.DOUBTFUL: found.doubtful, Judgement.FALSE: found.false}
    for span, shown in zip(spans, judgements, strict=True):
        for glyph, one in zip(span.glyphs, shown or (), strict=False):
            if one.judgement in places:
                places[one.judgement].append(glyph.middle)
        if shown is not None and (not shown or any(one.judgement is Judgement.PAINTED for one in shown)):
            found.rejected.append((rejected(span.said, shown), span.glyphs[0].middle if span.glyphs else (0.0, 0.0)))
    found.text_page = _read_again(page, signs, judgements, flags)
    return found


def _judged(span: Span, used: Mapping[int, tuple[Any, set[Glyph]]], signs: Signs, fonts: Fonts) -> list[Shown] | None:
    for place, glyph in enumerate(span.glyphs if signs else ()):
        sign = signs.get((glyph.address, (glyph.number, ord(glyph.text[0]) if glyph.text else 0)))
        if sign:
            span.glyphs[place] = glyph._replace(text=sign, sign=sign.endswith(" "))
    return judged(
        span,
        lambda glyph, text: fonts.away(glyph.address, glyph.font, glyph.number, text.strip(), used[glyph.address][1]),
        lambda glyph: is_blank(glyph.font, glyph.number),
        lambda glyph, text: shows_another_digit(glyph.font, glyph.number, text),
    )


def _read_again(page: Any, signs: Signs, judgements: Sequence[list[Shown] | None], flags: int) -> Any:
    read = mupdf.FzStextPage(mupdf.FzRect(*pymupdf.INFINITE_RECT()))
    device = mupdf.fz_new_stext_device(read, mupdf.FzStextOptions(flags))
    upright = mupdf.FzMatrix(*page.derotation_matrix) if page.rotation else mupdf.FzMatrix()
    mupdf.fz_run_page(page.this, _Corrector(device, signs, judgements), upright, mupdf.FzCookie())
    mupdf.fz_close_device(device)
    return pymupdf.TextPage(read)


class _Corrector(HandOn):
    """A device that hands text on, with other characters for some glyphs."""

    def __init__(self, device: Any, signs: Signs, judgements: Sequence[list[Shown] | None]) -> None:
        super().__init__(device, (*TEXT, *TEXT_CLIPS, "ignore_text", "begin_metatext", "end_metatext"))
        self._signs = signs
        self._judgements = iter(judgements)
        self._open: list[bool] = []  # for each text that is begun, whether it was handed on
        self._shown: Iterator[Shown] | None = None

    def begin_metatext(self, _ctx: Any, meta: int, text: str) -> None:
        hand_on = False
        if meta == mupdf.FZ_METATEXT_ACTUALTEXT and True not in self._open and self._shown is None:
            judgement = next(self._judgements, None)
            hand_on = judgement is None
            self._shown = None if judgement is None else iter(judgement)
        self._open.append(hand_on)
        if hand_on:
            mupdf.ll_fz_begin_metatext(self.target, meta, text)

    def end_metatext(self, _ctx: Any) -> None:
        if self._open and self._open.pop():
            mupdf.ll_fz_end_metatext(self.target)
        if not self._open:
            self._shown = None

    def shown(self, name: str, text: Any) -> Any:
        """The text with the characters that its glyphs show; itself where they are its own."""
        pieces = [(span, list(self._pieces(span))) for span in spans_of(text)]
        if not any(said != shown for _, glyphs in pieces for _, said, shown in glyphs):
            return text
        new = self._new = mupdf.fz_new_text()  # kept until the device is called
        for span, glyphs in pieces:
            more = (span.wmode, span.bidi_level, span.markup_dir, span.language)
            trm = mupdf.ll_fz_make_matrix(span.trm.a, span.trm.b, span.trm.c, span.trm.d, 0, 0)
            for (x, y, advance, number), _, shown in glyphs:
                trm.e, trm.f = x, y
                for place, sign in enumerate(shown):
                    at = (advance, number) if not place else (0.0, FURTHER)
                    mupdf.ll_fz_show_glyph_aux(new.m_internal, span.font, trm, *at, ord(sign), 0, *more)
        return new.m_internal

    def _pieces(self, span: Any) -> Iterator[tuple[tuple[float, float, float, int], str, str]]:
        """Each glyph of a span: where it stands, the characters of the file, and those that it shows."""
        address = int(span.font.this)
        for x, y, advance, number, said in glyphs_of(span):
            shown = said
            if self._shown is not None:
                shown = next(self._shown, Shown(said, None)).text
            elif sign := self._signs.get((address, (number, ord(said[0]) if said else 0))):
                shown = sign
            yield (x, y, advance, number), said, shown
