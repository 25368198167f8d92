"""Signs of the fonts Symbol and Wingdings that a file keeps in Unicode's private area, as Word writes its bullets."""

from __future__ import annotations

import pytest
from forms import Paper, cmap, text

from rag_core.domain.documents import Page
from rag_core.ingest.pdf_worker.glyphs.symbols import drawn_signs, has_private_signs
from rag_core.ingest.reading.pdf import read_pdf
from rag_core.language.sentences import sentences

ITEMS = ("Rent is due on the first of the month.", "Keys are returned on the last day.")


def page_with(font: str, code: int, items: tuple[str, ...] = ITEMS) -> Page:
    """A page with a list whose bullets are this code of the font, as the file's own map says in the private area."""
    paper = Paper()
    to_unicode = paper.stream(cmap(f"<{code:02x}> <{0xF000 + code:04x}>\n", 1))
    paper.name("Font", "F2", f"<</Type/Font/Subtype/Type1/BaseFont/{font}/ToUnicode {to_unicode} 0 R>>")
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
