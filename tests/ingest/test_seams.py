"""Sentences over the end of a page or column: each is split at every word, and its beginning alone is never a unit."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import pymupdf
import pytest
from paper import embedder

from rag_core.domain.documents import Page
from rag_core.domain.ports import PageText
from rag_core.grounding.units import Unit, units
from rag_core.ingest.passages.chunk import chunk
from rag_core.ingest.passages.strategies import STRATEGIES
from rag_core.ingest.reading.pdf import read_pdf

WIDTH, HEIGHT = 595, 842
SIZE, PITCH = 11, 16
LEFT, RIGHT = 60, 330  # of two columns
COLUMN_CHARS, ROW_CHARS = 36, 80
MOST = 0.7  # of the places; a few words without a final mark may be a title or a name
FIRST, LAST = 90, 720  # rows of text


@dataclass(frozen=True)
class Text:
    """A sentence that is split, one before it, one behind it, and what stands around the text."""

    sentence: str
    before: str
    after: str
    header: str
    footer: str
    note: str
    caption: str


TEXTS = {
    "en": Text(
        "A member who wishes to withdraw more than 5,000 crowns gives notice of at least 90 days at the counter in "
        "Hill Street.",
        "These rules hold for all members of the society.",
        "Smaller sums are paid at once.",
        "Terms of the Alder Society",
        "Version of 1 March",
        "1 A counter is any office that bears the sign of the society.",
        "Figure 3: The counter",
    ),
    "de": Text(
        "Die Kündigungsfrist für einen Liegeplatz im Hafen des Vereins beträgt mindestens 3 Monate zum Ende eines "
        "Jahres.",
        "Diese Ordnung gilt für alle Mitglieder des Vereins.",
        "Der Vorstand vergibt die freien Plätze.",
        "Ordnung des Vereins Erle",
        "Fassung vom 1. März",
        "1 Ein Platz ist jede Stelle, die das Zeichen des Vereins trägt.",
        "Abbildung 3: Der Hafen",
    ),
    "cs": Text(
        "Výpovědní lhůta pro kotviště v přístavu spolku činí nejméně 3 měsíce a končí posledním dnem čtvrtletí v roce.",
        "Tato pravidla platí pro všechny členy spolku.",
        "Volná místa přiděluje výbor.",
        "Pravidla spolku Olše",
        "Znění od 1. března",
        "1 Místem je každé stání, které nese znak spolku.",
        "Obrázek 3: Přístav",
    ),
    "hi": Text(
        "जो सदस्य पाँच हजार रुपये से अधिक राशि निकालना चाहता है वह कम से कम 90 दिन पहले लिखित सूचना देता है।",
        "ये नियम समिति के सभी सदस्यों पर लागू होते हैं।",
        "छोटी राशि तुरंत दी जाती है।",
        "समिति के नियम",
        "पहली मार्च का संस्करण",
        "1 काउंटर वह कार्यालय है जिस पर समिति का चिह्न लगा है।",
        "चित्र 3: काउंटर",
    ),
}


Row = tuple[float, float, str, float]  # x and y in points, text, font size
Sheets = list[list[Row]]
Layout = Callable[[Text, str, str], Sheets]


def rows(top: float, *texts: str, left: float = LEFT, size: float = SIZE) -> list[Row]:
    return [(left, top + PITCH * index, text, size) for index, text in enumerate(texts)]


def plain(text: Text, beginning: str, rest: str) -> Sheets:
    return [
        [*rows(FIRST, text.before), *rows(LAST, *wrapped(beginning, ROW_CHARS))],
        rows(FIRST, *wrapped(rest, ROW_CHARS), text.after),
    ]


def margins(text: Text, beginning: str, rest: str) -> Sheets:
    return _with_margins(plain(text, beginning, rest), text, 9)


def margins_as_large_as_text(text: Text, beginning: str, rest: str) -> Sheets:
    return _with_margins(plain(text, beginning, rest), text, SIZE)


def numbers(text: Text, beginning: str, rest: str) -> Sheets:
    sheets = plain(text, beginning, rest)
    return [[*sheet, *rows(805, str(number), left=300)] for number, sheet in enumerate(sheets, start=1)]


def note(text: Text, beginning: str, rest: str) -> Sheets:
    first, second = plain(text, beginning, rest)
    return _with_margins([[*first, *rows(LAST + 40, text.note, size=8)], second], text, 9)


def figure(text: Text, beginning: str, rest: str) -> Sheets:
    first, _ = plain(text, beginning, rest)
    return [first, [*rows(300, text.caption), *rows(340, *wrapped(rest, ROW_CHARS), text.after)]]


def columns(text: Text, beginning: str, rest: str) -> Sheets:
    left = [*wrapped(text.before), *wrapped(beginning)]
    return [[*rows(FIRST, *left), *rows(FIRST + 7, *wrapped(f"{rest} {text.after}"), left=RIGHT)]]


def _with_margins(sheets: Sheets, text: Text, size: float) -> Sheets:
    return [
        [*rows(45, text.header, size=size), *sheet, *rows(805, f"{text.footer} – {number}", size=size)]
        for number, sheet in enumerate(sheets, start=1)
    ]


def wrapped(text: str, width: int = COLUMN_CHARS) -> list[str]:
    return textwrap.wrap(text, width, break_long_words=False)


def documents(layout: Layout, language: str) -> Iterator[tuple[Page, ...]]:
    """The pages of one document for each word at which its sentence is split; they are read together, which is much
    faster.
    """
    text, made = TEXTS[language], pymupdf.open()
    # 9: MuPDF's number of Devanagari
    font = pymupdf.Font(script=9) if language == "hi" else pymupdf.Font(language=language)
    words = text.sentence.split()
    for at in range(1, len(words)):
        sheets = layout(text, " ".join(words[:at]), " ".join(words[at:]))
        for sheet in sheets:
            drawn = made.new_page(width=WIDTH, height=HEIGHT)
            writer = pymupdf.TextWriter(drawn.rect)
            for left, top, row, size in sheet:
                writer.append((left, top), row, font=font, fontsize=size)
            writer.write_text(drawn)
    pages = read_pdf(made.tobytes(), "a.pdf", ocr=False).pages
    for first in range(0, len(pages), len(sheets)):
        yield tuple(
            replace(one, number=number) for number, one in enumerate(pages[first : first + len(sheets)], start=1)
        )


def units_of(pages: tuple[Page, ...], language: str) -> list[Unit]:
    passages = chunk(
        "sha256:" + "0" * 64, pages, language=language, title="A", strategy=STRATEGIES["technical"], embedder=embedder()
    )
    return [unit for passage in passages for unit in units(passage, texts_of(pages))]


def texts_of(pages: tuple[Page, ...]) -> PageText:
    texts = {one.number: one.text for one in pages}
    return lambda _, number: texts[number]


LAYOUTS = (plain, margins, margins_as_large_as_text, numbers, note, figure, columns)


@pytest.mark.parametrize(
    ("layout", "language"),
    [
        *((layout, "en") for layout in LAYOUTS),
        *((one, code) for one in (margins, columns) for code in ("de", "cs", "hi")),
    ],
)
def test_given_a_sentence_split_at_any_word_over_a_page_or_column_when_read_then_no_beginning_of_it_is_a_unit(
    layout: Layout, language: str
) -> None:
    sentence, whole = TEXTS[language].sentence, []

    for pages in documents(layout, language):
        found = {unit.text: unit for unit in units_of(pages, language)}
        assert not [text for text in found if text != sentence and sentence.startswith(text)], pages[0].text
        whole.append(sentence in found)
        if sentence in found:
            numbers = [one.spans[0].page for one in found[sentence].evidence(texts_of(pages))]
            assert sorted(set(numbers)) == [one.number for one in pages]

    assert sum(whole) >= MOST * len(whole)
