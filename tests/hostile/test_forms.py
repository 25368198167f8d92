"""Text that nobody can see, and text that looks odd and can be seen, in all the forms of `forms` and `own_forms`.

The reader of pages runs in this process here, as 120 child processes would take a minute; `test_hostile` runs it in its
child.
"""

from __future__ import annotations

import itertools
import random
import string
import zlib
from typing import Any

import forms
import own_forms
import pymupdf
import pytest
from folding import each

from rag_core.ingest.pdf_worker.glyphs import fonts
from rag_core.ingest.pdf_worker.glyphs.fonts import DASHES, DIGITS, SIDE, SIGNS, Fonts
from rag_core.ingest.pdf_worker.glyphs.shapes import references
from rag_core.ingest.pdf_worker.pages import Layers, read
from rag_core.ingest.pdf_worker.scans.ocr import Drawer
from rag_core.ingest.pdf_worker.words import Kind
from rag_core.ingest.reading.pdf import read_pdf
from rag_core.ingest.reading.pdf_findings import HIDDEN_KINDS

PIXELS = 25_000_000
REQUEST = {"page_chars": 200_000, "page_words": 200_000, "pixels": PIXELS, "ocr": False}
NO_OCR = Drawer(REQUEST, allow_cpu=lambda seconds: None)


def page_of(data: bytes) -> dict[str, Any]:
    document = pymupdf.open(stream=data, filetype="pdf")
    return read(document[0], NO_OCR, Fonts(), Layers(document, ""))


def test_given_each_form_of_hidden_text_when_read_then_it_is_counted_and_cannot_be_quoted() -> None:
    seen: set[str] = set()
    for name, form in (*forms.hidden_forms(), *own_forms.hidden_forms()):
        page = page_of(form.data)
        words = set(page["text"].split())

        assert not words & set(form.hidden.split()), (
            f"{name}: the page shows nothing of {form.hidden!r}, and it is read: {page['text']!r}"
        )
        assert words >= set(form.seen.split()), f"{name}: the page shows {form.seen!r}, and is read as {page['text']!r}"
        # notes that are not shown are no text of the page; of digits painted backwards none is hidden
        assert page["kinds"] or "note" in name or "backwards" in name, f"{name}: {form.hidden!r} is not counted"
        seen.add(name)
    assert len(seen) >= 88


def test_given_each_form_of_unusual_text_that_shows_when_read_then_all_of_it_stays() -> None:
    seen: set[str] = set()
    for name, form in (*forms.visible_forms(), *own_forms.visible_forms()):
        page = page_of(form.data)

        assert sorted(set(page["text"].split())) == sorted(set(form.seen.split())), (
            f"{name}: the page shows {form.seen!r}"
        )
        assert not page["kinds"], f"{name}: {page['kinds']} show, and are counted as hidden"
        seen.add(name)
    assert len(seen) >= 61


def test_given_a_bad_redaction_when_read_in_the_child_then_its_page_and_kind_are_told() -> None:
    made = pymupdf.open(stream=forms.visible("underlined").data)
    for name in ("under a black box", "replaced by ActualText"):
        made.insert_pdf(pymupdf.open(stream=forms.hidden(name).data))

    left = read_pdf(made.tobytes(), "a.pdf")

    assert left.problems == (
        "Pages 2-3: 50 characters of hidden text were left out: 25 covered, cut away, masked or in the colour of their "
        "ground (page 2); "
        "25 saying other letters than are shown (page 3).",
    )
    assert [forms.SECRET in page.text for page in left.pages] == [True, False, False]


def test_the_child_and_the_parent_know_the_same_kinds_of_hidden_text() -> None:
    assert {kind.value for kind in Kind} == set(HIDDEN_KINDS)


@each("size", [6, 8, 12, 30])
def test_given_any_size_of_print_when_a_box_covers_it_by_halves_then_only_what_shows_is_read(size: int) -> None:
    width = pymupdf.get_text_length("Settlement: ", fontsize=size)
    content = (
        forms.text("Settlement: 4200000", size=size) + f"0.3 g {72 + width} {600 - size / 2} {5 * size} {2 * size} re f"
    )

    assert page_of(forms.Paper().save(content))["text"].split() == [*forms.SHOWN.split(), "Settlement:"]


def test_given_a_broken_picture_under_text_when_drawn_then_the_text_is_not_said_to_be_damaged() -> None:
    paper, light = forms.Paper(), bytes(200 + n % 55 for n in random.Random(7).randbytes(64 * 64 * 3))
    keys = "/Type/XObject/Subtype/Image/Width 64/Height 64/ColorSpace/DeviceRGB/BitsPerComponent 8/Filter/FlateDecode"
    paper.name("XObject", "X", paper.stream(zlib.compress(light, 1)[:-4000], keys))

    content = read_pdf(paper.save("q 300 0 0 80 60 560 cm /X Do Q " + forms.WORDS), "a.pdf")

    assert content.problems == ()
    assert forms.SECRET in content.pages[0].text


def test_given_the_glyphs_of_common_fonts_when_held_against_their_characters_then_none_is_false() -> None:
    for name in ("helv", "heit", "hebi", "tiro", "tiit", "tibi", "cour", "cobi", "symb", "china-s", "japan"):
        font = pymupdf.Font(name)
        glyphs = {
            (font.has_glyph(ord(sign)), ord(sign)) for sign in (*string.ascii_letters, *string.digits, *SIGNS, *DASHES)
        }

        assert Fonts().false({1: (font.this, glyphs)}) == {}, name


@pytest.mark.parametrize("signs", [DIGITS, SIGNS], ids=["digits", "signs"])
def test_given_a_digit_or_sign_of_a_font_that_names_none_when_it_is_said_to_be_another_then_its_shape_tells(
    monkeypatch: pytest.MonkeyPatch, signs: str
) -> None:
    monkeypatch.setattr(Fonts, "_called", lambda *_: set())
    missed = []
    for name in ("helv", "heit", "hebo", "tiro", "tibo", "tibi", "cour", "cobo"):
        font = pymupdf.Font(name)
        for shown, said in itertools.permutations(signs, 2):
            glyph = font.has_glyph(ord(shown)), ord(said)
            if Fonts().false({1: (font.this, {glyph})}) != {font.name: {glyph}}:
                missed.append((name, shown, said))

    assert missed == []


@pytest.mark.parametrize(("foot", "found"), [("#", False), (".", True)], ids=["plus-minus", "plus"])
def test_given_a_plus_minus_of_strokes_as_thin_as_tex_draws_them_then_it_is_not_taken_for_a_plus(
    monkeypatch: pytest.MonkeyPatch, foot: str, found: bool
) -> None:
    font = pymupdf.Font("helv")
    half = SIDE // 2
    strokes = [
        "#" * SIDE if row in (half - 1, half) else "." * half + "#" + "." * (half - 1) for row in range(SIDE - 1)
    ]
    dark = bytes(pixel == "#" for row in (*strokes, foot * SIDE) for pixel in row)
    monkeypatch.setattr(fonts, "_shape", lambda *_: (int.from_bytes(dark, "big"), 1.0))
    monkeypatch.setattr(Fonts, "_called", lambda *_: set())

    assert bool(Fonts().false({1: (font.this, {(font.has_glyph(ord("±")), ord("±"))})})) is found


@each("name", ["helv", "heit"])
def test_given_a_glyph_like_a_slanted_digit_then_it_is_held_against_it_in_a_slanted_font_alone(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The narrow 7 of a font for headings (Bebas Neue) is like a slanted 1."""
    font = pymupdf.Font(name)
    slanted = next(shape for shape in references("0", slanted=True) if shape not in references("0", slanted=False))
    monkeypatch.setattr(fonts, "_shape", lambda *_: slanted)
    monkeypatch.setattr(Fonts, "_called", lambda *_: set())
    one = font.has_glyph(ord("1")), ord("1")

    assert list(Fonts().false({1: (font.this, {one})}).values()) == ([{one}] if name == "heit" else [])


def test_given_a_digit_as_near_to_another_as_the_own_one_of_its_font_then_it_is_false_only_without_that_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In a font for posters the 5 was taken for a 7, and each figure with a 5 was lost."""
    font = pymupdf.Font("helv")
    five, seven = ((font.has_glyph(ord(sign)), ord(sign)) for sign in "57")
    shapes = {five[0]: ((1 << SIDE * SIDE // 2) - 1, 1.0), seven[0]: (0, 1.0)}
    monkeypatch.setattr(fonts, "_shape", lambda font, number: shapes[number])
    monkeypatch.setattr(fonts, "_nearest", lambda shape, sign, *, slanted: 0.24 if sign == "7" else 0.9)
    monkeypatch.setattr(Fonts, "_called", lambda *_: set())

    assert Fonts().false({1: (font.this, {five, seven})}) == {}
    assert Fonts().false({1: (font.this, {five})}) == {font.name: {five}}
    monkeypatch.setattr(fonts, "_shape", lambda font, number: shapes[five[0]])
    assert Fonts().false({1: (font.this, {five, seven})}) == {font.name: {five}}


@each("comparison", itertools.permutations("≤≥<>", 2))
def test_given_a_font_that_a_file_only_names_when_it_says_another_comparison_than_it_draws_then_it_is_found(
    comparison: tuple[str, str],
) -> None:
    """MuPDF has one box for all glyphs of such a font, so that the ink has to be looked for."""
    shown, said = comparison
    font = pymupdf.Font("china-s")
    glyph = font.has_glyph(ord(shown)), ord(said)

    assert list(Fonts().false({1: (font.this, {glyph})}).values()) == [{glyph}]
