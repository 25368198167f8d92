"""No line of a document vanishes: each word stands in a unit, or in a heading with text below it. Files made by a
program.
"""

from __future__ import annotations

import pymupdf
import pytest
from folding import each
from hypothesis import given, settings
from hypothesis import strategies as st
from paper import Set, head, page, prose
from test_shown_units import PARAGRAPH, texts, units_of

from rag_core.domain.documents import Page
from rag_core.ingest.blocks.structure import BlockKind, blocks
from rag_core.ingest.normalise import normalise
from rag_core.ingest.reading.markdown import plain
from rag_core.ingest.reading.pdf import read_pdf

LINES = (
    "- IP पते",
    "- सममित NAT कैप में बदलाव",
    "- HTML, CSS",
    "* RAM 服务器",
    "1. بروتوكول HTTP",
    "2002年5月21日 市人民代表大会常务委员会通过",
    "OBJECTIVES",
    "JUNEAU, AK 99801",
    "Contact Ada",
    "See",
    "§77 verlangt die Angabe einer Frist.",
    "The harbour is open from seven in the morning, and it closes at dusk in winter.",
)


def words_of(text: str) -> list[str]:
    return "".join(char if char.isalnum() else " " for char in normalise(text).text).split()


@settings(max_examples=40)
@given(st.lists(st.sampled_from(LINES), min_size=1, max_size=8, unique=True), st.sampled_from(["\n", "\n\n"]))
def test_given_a_text_with_marked_headings_when_read_then_every_other_line_stands_in_a_unit(
    lines: list[str], between: str
) -> None:
    text = "# Rules\n\nThese are the rules of the harbour.\n\n## Lists\n\n" + between.join(lines) + "\n"

    said = words_of(" ".join(texts(units_of((Page(1, text),)))))

    assert not [word for line in lines for word in words_of(line) if word not in said]


@settings(max_examples=40)
@given(st.lists(st.sampled_from(["Ada Ray", "Universidad del Norte", "March 2026", "CIS22", "Thesis"]), unique=True))
def test_given_a_title_page_when_read_then_each_of_its_lines_stands_in_a_unit_or_over_text(titles: list[str]) -> None:
    pages = [page(1, [*(head(title) for title in titles), *prose(*PARAGRAPH)])]

    said = words_of(" ".join(texts(units_of(tuple(pages)))))

    headings = [block for block in blocks(pages, "en") if block.kind is BlockKind.HEADING]
    over = words_of(" ".join(pages[0].text[block.start : block.end] for block in headings))
    assert len(headings) <= 1
    assert not [word for title in titles[:-1] for word in words_of(title) if word not in (*said, *over)]


def test_given_short_lines_by_themselves_when_read_then_they_are_units() -> None:
    rows = [*prose(*PARAGRAPH), Set("Antoine Claisse"), Set("(Amended June 10, 2021)"), *prose(*PARAGRAPH)]

    assert {"(Amended June 10, 2021)", "Antoine Claisse"} <= set(texts(units_of((page(1, rows),))))


@each(
    ("heading", "says"),
    [
        ("1.2 版，2023 年 11 月 1 日生效", True),
        ("Silver ($2,500)", True),
        ("300 W के परे", True),
        ("Version 2.1", True),
        ("Contracting Officer: Aleseia Saunders", True),
        ("09700 SAVERDUN", True),
        ("Minutes of 22 June 2019", True),
        ("§31 The assembly is the highest organ of the club.", True),
        ("5.6 Resignations and Terminations", False),
        ("§ 15a Transitional Rules", False),
        ("Appendix 3 – Gross Misconduct", False),
        ("8-pin pinout", False),
        ("MK-40 Flow Meter", False),
        ("Which Term of 4, 10 and 16 Is 94?", False),
    ],
)
def test_given_a_heading_that_holds_a_fact_when_read_then_it_is_a_unit(heading: str, says: bool) -> None:
    for marks in (("## ", ""), ("", "\n=====")):
        text = f"# Rules\n\n{heading.join(marks)}\n\n{' '.join(PARAGRAPH)}\n"

        assert (normalise(heading).text in texts(units_of((Page(1, text),)))) is says


def test_given_heads_of_clauses_at_the_edge_of_pages_when_read_then_they_are_no_running_heads() -> None:
    numbers = (6, 8, 15, 33, 44)
    pages = [
        page(n, [Set(f"Artigo {number}º"), *prose(*PARAGRAPH), Set(f"Page {n + 200}", gap=True)])
        for n, number in enumerate(numbers, 1)
    ]

    aside = [page.text[one.start : one.end] for page in pages for one in blocks(pages, "pt") if one.page == page.number]
    kinds = {aside[at]: one.kind for at, one in enumerate(blocks(pages, "pt"))}

    assert all(kinds[f"Page {n + 200}"] is BlockKind.BOILERPLATE for n in range(1, 6))
    assert all(kinds[f"Artigo {number}º"] is not BlockKind.BOILERPLATE for number in numbers)


def test_given_a_sentence_that_begins_with_a_figure_when_read_then_it_is_no_caption() -> None:
    first = "Figure 3.110 shows that more than half of the pumps run at night."

    assert first in texts(units_of((page(1, [*prose(*PARAGRAPH), Set(first)]),)))


def test_given_fenced_code_in_a_list_when_read_then_the_next_item_is_no_part_of_it() -> None:
    text = (
        "# Build\n\n1. Make it:\n```shell\ncmake .. && make;\n./run --all;\n```\n2. Put it on the shelf of the shop.\n"
    )

    assert "2. Put it on the shelf of the shop." in texts(units_of((Page(1, text),)))


def test_given_a_line_between_sections_when_read_then_the_table_below_has_its_own_head() -> None:
    text = (
        "# Parts\n\nAll of them.\n\n---\n\n## Wires\n\nTake these:\n\n| Use | Wire |\n|---|---|\n| Stock | 16 AWG |\n"
    )
    pages = [Page(1, text)]

    table = next(block for block in blocks(pages, "en") if block.kind is BlockKind.TABLE)

    assert [text[span.start : span.end] for span in table.header] == ["| Use | Wire |"]
    assert table.section == ("Parts", "Wires")


@each(
    ("raw", "read"),
    [
        ("安全に暗\n号化します。", "安全に暗号化します。"),
        ("继续使用本服\n 务，\n否则", "继续使用本服务,否则"),
        ("a word\nand 中\nb", "a word and 中 b"),
        ("한국어\n문장", "한국어 문장"),
    ],
)
def test_given_lines_of_a_script_without_blanks_when_read_then_none_is_made_up(raw: str, read: str) -> None:
    assert normalise(raw).text == read


@each(
    ("written", "read"),
    [
        ('See the [leave page]({% page "/leave" %}).', "See the [leave page](/leave)."),
        ('Join {% slack_channel "alumni" "the alumni channel" %} now.', "Join the alumni channel now."),
        ("Vote {{< inenglish >}} today.", "Vote  today."),
        ("Tabs {% comment %} #classes {% endcomment %} end.", "Tabs  end."),
        (
            "![A seal](data:image/png;base64,iVBOR) and [![b](/b.png)](https://b.example)",
            "A seal and [b](https://b.example)",
        ),
        ("## Fees {#fees .wide}", "## Fees"),
        ("> Open at\n> seven.", "Open at\nseven."),
        ("> [!NOTE]\n> Wet paint.", "\nWet paint."),
        ("::: tip The law\nholds.\n:::", "The law\nholds.\n"),
        ("At <time datetime='19:00'>19:00</time> sharp.", "At 19:00 sharp."),
        ("**मोटा**में", "मोटामें"),
        ("{0.5, 3} and {:.2f} stay, so does {{ name }}", "{0.5, 3} and {:.2f} stay, so does {{ name }}"),
    ],
)
def test_given_markup_of_programs_when_read_then_what_a_page_shows_is_left(written: str, read: str) -> None:
    assert plain(written)[0] == read


@pytest.mark.parametrize("said", ["0069", "00660069", "FB01"])
def test_given_a_ligature_that_says_one_of_its_letters_when_read_then_it_is_all_of_them(said: str) -> None:
    """Ghostscript writes the last letter of "ffi" for all of them."""
    made = pymupdf.open()
    made.new_page().insert_text((72, 100), "The o\x01ce is open from \xadseven, in rooms 1\xad12.", fontname="helv")
    font = made[0].get_fonts()[0][0]
    names, map_ = made.get_new_xref(), made.get_new_xref()
    made.update_object(names, "<</Type/Encoding/BaseEncoding/WinAnsiEncoding/Differences[1/fi]>>")
    made.update_object(map_, "<<>>")
    made.update_stream(
        map_,
        b"/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /A def 1 begincodespacerange "
        b"<00> <ff> endcodespacerange 1 beginbfchar <01> <" + said.encode() + b"> endbfchar endcmap end end",
    )
    made.xref_set_key(font, "Encoding", f"{names} 0 R")
    made.xref_set_key(font, "ToUnicode", f"{map_} 0 R")

    text = normalise(read_pdf(made.tobytes(), "a.pdf", ocr=False).pages[0].text).text

    assert "The ofice is open" in text
    assert "rooms 1-12." in text


@pytest.mark.parametrize("drawn", [True, False])
def test_given_bullets_that_are_drawn_or_written_last_when_read_then_each_item_is_a_unit(drawn: bool) -> None:
    made = pymupdf.open()
    sheet = made.new_page()
    items = ("glue or sticky stuff", "liquids of any kind", "nets and ropes", "fire")
    sheet.insert_text((54, 100), "The following weapons are not allowed in the arena:", fontsize=11)
    for at, item in enumerate(items):
        sheet.insert_text((72, 124 + 16 * at), item, fontsize=11)
    for at in range(len(items)):
        if drawn:
            sheet.draw_circle((62, 120 + 16 * at), 1.9, color=None, fill=(0, 0, 0))
        else:
            sheet.insert_text((60, 124 + 16 * at), "\xb7", fontsize=11, fontname="helv")

    found = texts(units_of(read_pdf(made.tobytes(), "a.pdf", ocr=False).pages))

    assert [one[2:] for one in found[1:]] == list(items)
