"""Words of which a file has two readings, and bullets that it says are letters: what is drawn is read, and no word
beside it is lost.
"""

from __future__ import annotations

import itertools
import string
from typing import Any

import pymupdf
import pytest
import readings
from forms import Paper, _type3, text
from test_forms import page_of

from rag_core.domain.documents import Page
from rag_core.ingest.pdf_worker.glyphs.actual_text import Drawn, Judgement, Span, judged
from rag_core.ingest.pdf_worker.glyphs.symbols import drawn_signs, has_private_signs, sign_of
from rag_core.ingest.reading.pdf import read_pdf
from rag_core.language.sentences import sentences

SIGNS = "•●■▪□◆►◄▲▼○✓✗➔➢➤⇒"


def doubted(page: dict[str, Any]) -> list[str]:
    return [page["text"][int(start) : int(end)] for start, end, *_, sure in page["words"] if 0 <= sure < 1]


def test_given_glyphs_of_a_wrong_value_when_their_common_text_is_drawn_then_it_is_read() -> None:
    for one in readings.wrong_values():
        page = page_of(one.data)

        assert page["text"].split() == one.shown.split(), f"{one.name}: {page['text']!r}"
        assert not page["kinds"], f"{one.name}: {page['kinds']} show"


def test_given_a_text_that_is_not_drawn_when_its_glyphs_say_what_is_then_they_are_read_and_it_is_counted() -> None:
    for one in readings.wrong_texts():
        page = page_of(one.data)

        assert page["text"].split() == one.shown.split(), f"{one.name}: {page['text']!r}"
        assert bool(page["kinds"]) is bool(one.hidden), one.name


def test_given_two_readings_and_a_digit_that_is_neither_then_the_word_is_not_read() -> None:
    for font in readings.FACES:
        page = page_of(readings.written([(None, "Term "), ("48", "28"), (None, " days")], {"2": "3"}, font))

        assert page["text"].split() == ["Term", "days"], font
        assert page["kinds"].keys() == {"other"}


@pytest.mark.parametrize("name", ["Tx", "Blob"], ids=["letters", "blobs"])
def test_given_shapes_that_are_neither_reading_then_the_word_is_kept_and_is_doubtful(name: str) -> None:
    """The file itself draws the glyphs: five spots, which are no letter."""
    paper = Paper()
    _type3(
        paper,
        "600 0 d0 0 g 0 0 200 100 re f 400 0 200 100 re f 200 300 200 100 re f 0 600 200 100 re f 400 600 200 100 re f",
        "F2",
    )
    content = paper.save(
        f"BT /F1 12 Tf 72 600 Td (It) Tj /F2 12 Tf 20 0 Td /Span <</ActualText(word)>> BDC ({name}) Tj EMC ET",
        shown=False,
    )

    page = page_of(content)

    assert page["text"].split() == ["It", "word"]
    assert doubted(page) == ["word"]
    assert not page["kinds"]
    (kept,) = read_pdf(content, "a.pdf").pages
    assert [word.sure for word in kept.words] == [1.0, 0.0]


def test_given_bullets_of_a_font_of_signs_when_read_then_each_begins_an_item_and_its_word_stays() -> None:
    for one in readings.bulleted():
        page = page_of(one.data)
        items = [line.split(None, 1) for line in page["text"].splitlines()]

        assert [words for _, words in items] == one.shown.splitlines(), f"{one.name}: {page['text']!r}"
        assert {sign for sign, _ in items} <= set(SIGNS), f"{one.name}: {page['text']!r}"
        assert len(sentences("\n".join(f"{sign} {words}" for sign, words in items), "en")) == len(items), one.name


@pytest.mark.parametrize("sign", "●■◆▲▼✓✗➔➢➤")
def test_given_a_font_without_a_telling_name_when_its_letters_are_drawn_as_signs_then_their_shape_tells(
    sign: str,
) -> None:
    for value in ("X", "l", "3", "\uf06c"):
        page = page_of(readings.written([(None, sign)], {sign: value}, "zadb", "Frutiger"))

        assert page["text"].split() == [sign], value


def test_given_letters_of_fonts_for_text_then_none_is_taken_for_a_sign() -> None:
    """Also where a page has few of them, as of a large initial."""
    for name, letter in itertools.product(
        (*readings.FACES, "tiit", "cobi", "tibi"), string.ascii_letters + string.digits + "äéßøØ§"
    ):
        font = pymupdf.Font(name)

        assert sign_of(font.this, font.has_glyph(ord(letter)), ord(letter), few=True) == "", (name, letter)


@pytest.mark.parametrize(
    ("said", "drawn", "values", "read"),
    [
        ("Smith and Jones", "SMITH and JONES", {}, "Smith and Jones"),
        ("co-operate", "cooperate", {}, "cooperate"),
        ("cooperate", "co-operate", {}, "co-operate"),
        ("Auf lösung", "Auflösung", {}, "Auflösung"),
        ("Hello world", "Hello, world.", {}, "Hello, world."),
        ("1 - 2", "1 – 2", {}, "1 – 2"),
        ("findet", "ﬁndet", {}, "findet"),
        ("½", "½", {"½": "\ufffd"}, "½"),
        ("€ 5", "€ 5", {"€": "x"}, "€ 5"),
        ("α-Strahlen", "α-Strahlen", {"α": "a"}, "α-Strahlen"),
        ("Größe", "Größe", {"ö": "\ufffd", "ß": "b"}, "Größe"),
    ],
)
def test_given_two_readings_of_a_word_that_hardly_differ_then_it_is_whole_and_read_as_drawn(
    said: str, drawn: str, values: dict[str, str], read: str
) -> None:
    for font in ("helv", "tiro"):
        page = page_of(readings.written([(said, drawn), (None, " stays")], values, font))

        assert (page["text"], sum(page["kinds"].values())) == (f"{read} stays", 0), font


def test_given_a_text_within_a_text_then_what_is_drawn_is_read_once() -> None:
    inner = "/Span <</ActualText(fee)>> BDC (fee) Tj EMC"
    for outer in ("The fee is due", "Nothing is due"):
        page = page_of(
            Paper().save(
                f"BT /F1 12 Tf 72 600 Td /Span <</ActualText({outer})>> BDC (The ) Tj {inner} ( is due) Tj EMC ET",
                shown=False,
            )
        )

        assert page["text"] == "The fee is due"


def test_given_letters_that_no_reference_has_then_the_text_of_the_file_is_kept_and_is_doubtful() -> None:
    glyphs = [Drawn(None, 0, number, sign, (0.0, 0.0)) for number, sign in enumerate("abc", 1)]

    found = judged(Span("日本語", glyphs), lambda *_: None, lambda _: False, lambda *_: False)

    assert found is not None
    assert ("".join(one.text for one in found), {one.judgement for one in found}) == ("日本語", {Judgement.DOUBTFUL})


ITEMS = ("Rent is due on the first of the month.", "Keys are returned on the last day.")


def page_with(font: str, code: int, items: tuple[str, ...] = ITEMS) -> Page:
    """A page with a list whose bullets are this code of the font, as the file's own map says in the private area."""
    paper = Paper()
    paper.font(font, rows=f"<{code:02x}> <{0xF000 + code:04x}>\n")
    rows = "".join(
        text(f"\\{code:03o}", y=600 - 16 * number, font="F2") + text(item, x=90, y=600 - 16 * number)
        for number, item in enumerate(items)
    )
    (page,) = read_pdf(paper.save(rows, shown=False), "a.pdf", ocr=False).pages
    return page


@pytest.mark.parametrize(
    ("font", "code", "shown"), [("Symbol", 0xB7, "•"), ("Symbol", 0xA3, "≤"), ("ABCDEF+Wingdings-Regular", 0xA7, "▪")]
)
def test_given_a_private_sign_of_a_known_font_when_read_then_it_is_what_is_drawn(
    font: str, code: int, shown: str
) -> None:
    page = page_with(font, code)

    assert [line.split()[0] for line in page.text.splitlines()] == [shown, shown]
    assert next(page.text[word.start : word.end] for word in page.words) == shown


def test_given_a_list_with_bullets_of_word_when_parted_then_each_item_is_a_sentence() -> None:
    page = page_with("Symbol", 0xB7, ("One bicycle for each flat", "Two chairs for each balcony"))

    assert len(sentences(page.text, "en")) == 2


@pytest.mark.parametrize(("font", "code"), [("Helvetica", 0x50), ("Symbolic", 0x41), ("Symbol", 0x32)])
def test_given_a_letter_or_a_digit_then_the_sign_stays_as_the_file_has_it(font: str, code: int) -> None:
    page = page_with(font, code)

    assert chr(0xF000 + code) in page.text


def test_given_signs_within_a_line_then_each_is_found_by_its_place_without_blanks() -> None:
    spans = [
        {"text": "Yes ", "font": "Arial"},
        {"text": "\uf078", "font": "Wingdings-Regular"},
        {"text": " No \uf0a8", "font": "Arial"},
    ]

    assert drawn_signs(spans) == {3: "☒"}
    assert [has_private_signs(span) for span in spans] == [False, True, True]
    assert drawn_signs(spans[:1]) == {}
