"""Running heads can be quoted once, watermarks are no headings, a large heading is the title of its document, and the
numbers that pages print are read from the file.
"""

from __future__ import annotations

import math
import random
from functools import cache

import pymupdf
import pytest

from rag_core.domain.documents import Page, PageSource
from rag_core.ingest.blocks.headings import believed_title, page_title
from rag_core.ingest.blocks.structure import BlockKind, blocks
from rag_core.ingest.reading.pdf import read_pdf
from tests.folding import each

SEASONS = ("in spring", "all summer", "till winter")
TEXT = (
    "The keys of the boat house hang behind the door.",
    "A berth costs 230 euros a year.",
    "Dogs are kept on a lead on the quay.",
    "Guests give their names at the gate.",
    "Boats are washed after each trip.",
)


def made(heads=(), mark="", angle=0.0, title="", pages=3):
    with pymupdf.open() as document:
        for number in range(pages):
            page = document.new_page(width=595, height=842)
            for at, head in enumerate(heads):
                page.insert_text((72, 40 + 14 * at), head.format(number + 1), fontsize=8)
            if mark:
                middle = pymupdf.Point(300, 200)
                turn = pymupdf.Matrix(math.cos(angle), -math.sin(angle), math.sin(angle), math.cos(angle), 0, 0)
                page.insert_text((120, 200), mark, fontsize=60, color=(0.8,) * 3, morph=(middle, turn))
            if title and not number:
                page.insert_text((72, 100), title, fontsize=18)
            for at, line in enumerate(TEXT):
                page.insert_text((72, 150 + 20 * at), f"{line[:-1]} {SEASONS[number]}.", fontsize=11)
        return read_pdf(document.tobytes(), "m.pdf").pages


@cache
def printed(title):
    return made(title=title)


def one_page(*lines):
    """A page of lines, as (x, y, text, and how it is set)."""
    with pymupdf.open() as document:
        page = document.new_page(width=595, height=842)
        for x, y, text, *how in lines:
            page.insert_text((x, y), text, **{"fontsize": 11, **dict(*how)})
        return read_pdf(document.tobytes(), "m.pdf").pages


def below(y):
    return [(72, y + 20 * at, line) for at, line in enumerate(TEXT)]


def of_kind(pages, *kinds):
    texts = {page.number: page.text for page in pages}
    return [texts[one.page][one.start : one.end] for one in blocks(pages, "en") if one.kind in kinds]


@pytest.mark.parametrize("head", ["Insured: Marta Oswin", "Policy HX-40917-B", "Ref. 2023/441-K, of the port"])
def test_given_a_head_with_a_value_on_every_page_when_cut_then_it_can_be_quoted_once(head):
    pages = made((head, "Page {} of 3"))

    quotable = of_kind(pages, *(set(BlockKind) - {BlockKind.BOILERPLATE}))

    assert sum(head in text for text in quotable) == 1
    assert not any("of 3" in text for text in quotable)


@pytest.mark.parametrize("head", ["The rules of the harbour", "harbour.example"])
def test_given_a_head_without_a_value_when_cut_then_it_is_left_out_as_before(head):
    pages = made((head, "Page {} of 3"))

    assert not any(head in text for text in of_kind(pages, *(set(BlockKind) - {BlockKind.BOILERPLATE})))


@each("opens, closes", ["()", "[]"])
def test_given_a_remark_in_bold_that_ends_its_paragraph_on_a_row_of_its_own_then_that_row_heads_nothing(opens, closes):
    bold = {"fontname": "hebo"}
    rows = [
        (72, 120, f"Keys {opens}of boats{closes}", bold),
        (72, 150, "A boat that lies at the quay is washed after each trip and before it is lifted out,"),
        (72, 164, last := "and its keys hang behind the door of the boat house."),
        (76 + pymupdf.get_text_length(last, fontsize=11), 164, f"{opens}Added 5-29-2013 STM,", bold),
        (72, 178, f"approved 10-8-2013{closes}", bold),
    ]

    found = blocks(one_page(*rows, *below(230)), "en")

    assert {heading for one in found for heading in one.section} == {f"Keys {opens}of boats{closes}"}


@pytest.mark.parametrize("seed", range(6))
def test_given_any_word_across_a_page_when_cut_then_it_heads_nothing(seed):
    draw = random.Random(seed)
    mark = draw.choice(("ENTWURF", "Sample copy", "CONFIDENTIAL", "Kopie 7"))
    pages = made(
        mark=mark, angle=draw.choice((0.5, 0.8, -0.6)), title="Use of the boat house", pages=draw.choice((1, 3))
    )

    assert mark in of_kind(pages, BlockKind.BOILERPLATE)
    assert not any(mark in heading for one in blocks(pages, "en") for heading in one.section)
    assert page_title(pages[0]) == "Use of the boat house"


def test_given_no_heading_larger_than_the_text_when_asked_for_the_title_then_there_is_none():
    assert page_title(made()[0]) == ""


@pytest.mark.parametrize("seed", range(4))
def test_given_a_stamp_up_the_margin_when_cut_then_it_heads_nothing_and_the_sentence_goes_on(seed):
    draw, side = random.Random(seed), (30, 565)[seed % 2]
    stamp, halves = f"Archive {draw.randint(1, 999)}-{seed} 12 Jan 2016", ("a boat that lies", "at the quay is washed.")
    with pymupdf.open() as document:
        for number in range(2):
            page = document.new_page(width=595, height=842)
            if seed < 2 or not number:
                page.insert_text((side, 600), stamp, fontsize=20, rotate=draw.choice((90, 270)))
            for at in range(30):
                page.insert_text((72, 120 + 20 * at), f"{TEXT[at % 5][:-1]} {SEASONS[at % 3]} {at}.", fontsize=11)
            y = 740 if not number else 100
            page.insert_text((72, y), f"After each trip {halves[0]}" if not number else halves[1], fontsize=11)
        pages = read_pdf(document.tobytes(), "m.pdf").pages

    assert all(stamp in page.text for page in pages[: 1 + (seed < 2)])
    assert not of_kind(pages, BlockKind.HEADING)
    assert page_title(pages[0]) == ""


@pytest.mark.parametrize(
    ("second", "size", "font"),
    [
        ("of the harbour of 2024", 18, "hebo"),
        ("and who may use them", 18, "hebo"),
        ("Harbour Office of the Port", 18, "helv"),
        ("Hafenordnung 2024", 17.8, "hebo"),
        ("Řád přístavu", 18, "hebo"),
    ],
)
def test_given_a_title_on_two_lines_when_cut_then_both_are_one_heading(second, size, font):
    titles = (("The rules for the boats and the quays", 90, 18), (second, 170, size))
    rows = [(x, 80 + 24 * at, text, {"fontsize": pt, "fontname": font}) for at, (text, x, pt) in enumerate(titles)]
    pages = one_page(*rows, *below(150))
    second = pages[0].text.split("\n")[1]

    assert of_kind(pages, BlockKind.HEADING) == [f"The rules for the boats and the quays\n{second}"]
    assert page_title(pages[0]) == f"The rules for the boats and the quays {second}"


HOUSE = "Rules of the boat house"


@each(
    ("stated", "pages", "title"),
    [
        *(
            (stated, HOUSE, HOUSE)
            for stated in (
                *("ManualsLib - Makes it easy to find manuals online!", "Destinataire", "Contents", "about:blank"),
                *("https://boats.example/house/rules?of=boat", "www.boats.example/rules", "New Default Template"),
                *("(anonymous)", "PowerPoint Presentation", "Šablona dopisu"),
            )
        ),
        *(
            (stated, HOUSE, stated)
            for stated in ("Boat House Rules 2024", "RULES_of_the_boat_house", "The boats of Upper Wend")
        ),
        ("Kiosk", "Kiosk", "Kiosk"),
        ("New Default Template", "Harbour Ltd.", ""),  # the firm's name is no title
        ("New Default Template", "", ""),
        ("Rules of the quay", [Page(1, "", PageSource.UNREADABLE)], "Rules of the quay"),  # nothing says otherwise
        ("会員規約の案内", [Page(1, "# 会員規約の案内\n\n第一条")], "会員規約の案内"),
        ("नाव घर के नियम", [Page(1, "नाव घर के नियम\n\nनाव")], "नाव घर के नियम"),
    ],
)
def test_given_a_stated_title_that_no_page_prints_when_read_then_the_printed_one_stands_for_it(stated, pages, title):
    assert believed_title(stated, printed(pages) if isinstance(pages, str) else pages) == title


@pytest.mark.parametrize("head", ["Contact: the keys are kept by Ada Oswin,", "Summary: The harbour hires boats to"])
def test_given_a_row_with_a_heading_in_it_when_cut_then_its_words_stay_with_their_sentence(head):
    rows = (head, "Quay 7, who gives them out to guests", "from nine to five on any day of the year.")
    looks = ({"fontname": "hebo"}, {}, {})
    pages = one_page(*((72, 100 + 13 * at, row, looks[at]) for at, row in enumerate(rows)), *below(180))

    assert not of_kind(pages, BlockKind.HEADING)
    assert any(text.startswith(f"{head}\nQuay 7") for text in of_kind(pages, BlockKind.PARAGRAPH))


def test_given_rows_that_begin_with_a_number_and_have_a_cell_when_cut_then_they_are_a_table():
    rows = [("0.1 First draft", "01/11/2017"), ("0.2 Second draft", "28/01/2018"), ("1.0 Approved", "16/02/2018")]
    table = [("Version", "Date"), *rows]
    cells = ((x, 100 + 22 * at, row[n]) for at, row in enumerate(table) for n, x in enumerate((72, 300)))
    pages = one_page(*cells, *below(240))

    assert of_kind(pages, BlockKind.TABLE) == ["\n".join("\t".join(row) for row in table)]


RULES = [
    {"startpage": 0, "prefix": "Cover", "firstpagenum": 1},
    {"startpage": 1, "prefix": "", "style": "r", "firstpagenum": 2},
    {"startpage": 3, "prefix": "A-", "style": "D", "firstpagenum": 1},
]


def labelled(rules: list[dict[str, object]], pages: int = 5) -> bytes:
    made = pymupdf.open()
    for number in range(pages):
        made.new_page().insert_text((72, 100), f"Sentence {number + 1} of this file stands here.")
    if rules:
        made.set_page_labels(rules)
    return bytes(made.tobytes())


@pytest.mark.parametrize(
    ("rules", "labels"),
    [
        (RULES, ["Cover", "ii", "iii", "A-1", "A-2"]),
        ([{"startpage": 0, "prefix": "", "style": "D", "firstpagenum": 1}], [""] * 5),  # what everybody expects
        ([], [""] * 5),
        ([{"startpage": 0, "prefix": "**[x](http://y)**", "style": "D", "firstpagenum": 1}], [""] * 5),
        ([{"startpage": 0, "prefix": "L" * 400, "style": "D", "firstpagenum": 1}], ["L" * 20] * 5),
    ],
)
def test_given_page_labels_when_read_then_those_that_say_more_than_the_place_are_kept(
    rules: list[dict[str, object]], labels: list[str]
) -> None:
    assert [page.label for page in read_pdf(labelled(rules), "a.pdf").pages] == labels
