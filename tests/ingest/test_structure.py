"""Blocks of PDFs and text documents: headings, tables with their headers, lists, code, and what repeats on every
page.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from folding import each
from hypothesis import given
from hypothesis import strategies as st
from paper import Set, head, page, prose

from rag_core.domain.documents import Box, Page
from rag_core.ingest.blocks.structure import Block, BlockKind, blocks

SENTENCE = "The supplier delivers the goods to the place that the buyer has named."


def of_kind(pages: list[Page], kind: BlockKind) -> list[str]:
    texts = {each.number: each.text for each in pages}
    return [texts[block.page][block.start : block.end] for block in blocks(pages, "en") if block.kind is kind]


def text_page(text: str) -> list[Page]:
    return [Page(1, text)]


def header_of(pages: list[Page], block: Block) -> list[str]:
    texts = {each.number: each.text for each in pages}
    return [texts[span.page][span.start : span.end] for span in block.header]


@each(
    ("text", "title"),
    [
        (f"# Warranty\n{SENTENCE}", "Warranty"),
        (f"### Warranty ###\n\n{SENTENCE}", "Warranty"),
        (f"Warranty\n========\n\n{SENTENCE}", "Warranty"),
        (f"# Warranty\n---\n{SENTENCE}", "Warranty"),
        (f"WARRANTY PERIOD\n\n{SENTENCE}", "WARRANTY PERIOD"),
        (f"1.2 Warranty\n\n{SENTENCE}", "1.2 Warranty"),
        (f"§ 5 Záruka\n\n{SENTENCE}", "§ 5 Záruka"),
        (f"Článek III\n\n{SENTENCE}", "Článek III"),
        (f"Art. 5 Gewährleistung\n\n{SENTENCE}", "Art. 5 Gewährleistung"),
        (f"Item 7. Discussion\n\n{SENTENCE}", "Item 7. Discussion"),
        (f"PART II\n\n{SENTENCE}", "PART II"),
        (f"अनुच्छेद ५\n\n{SENTENCE}", "अनुच्छेद ५"),
    ],
)
def test_given_a_heading_in_a_text_document_when_read_then_the_text_below_has_it_as_section(
    text: str, title: str
) -> None:
    heading, below = blocks(text_page(text), "en")

    assert (heading.kind, heading.section[-1]) == (BlockKind.HEADING, title)
    assert (below.kind, below.section) == (BlockKind.PARAGRAPH, (title,))


@each(
    "text",
    [
        SENTENCE,
        f"{SENTENCE}\n\nThis ends as a sentence.\n\n{SENTENCE}",
        f"according to\nSection 5 of the contract, which\n{SENTENCE.lower()}",
        "IBM\n\nis a short word in capitals.",
        f"- an item\n- another\n\n{SENTENCE}",
    ],
)
def test_given_no_heading_when_read_then_none_is_found(text: str) -> None:
    assert of_kind(text_page(text), BlockKind.HEADING) == []


@each(
    "last",
    [
        "पद 47 है।",
        "योग 580 है॥",
        "此为约定。",
        "Dies ist „neu.“",
        "It is due.¹",
        "The fee, too,",
        "Board of Directors",
        "BOARD OF DIRECTORS",
        "Section 5 of the Act",
    ],
)
def test_given_a_short_last_row_of_a_paragraph_when_read_then_it_is_no_heading(last: str) -> None:
    rows = [*prose("The report was written by the members of the audit committee of the", last), *prose(SENTENCE)]

    assert of_kind([page(1, rows)], BlockKind.HEADING) == []


@each("heading", ["आम गलतियाँ", "Board of Directors", "BOARD OF DIRECTORS", "Section 5 of the Act"])
def test_given_a_short_row_of_its_own_over_a_text_when_read_then_it_is_a_heading(heading: str) -> None:
    assert of_kind([page(1, [*prose(SENTENCE, SENTENCE), Set(heading), *prose(SENTENCE)])], BlockKind.HEADING) == [
        heading
    ]


def test_given_a_heading_set_like_the_text_below_a_short_row_when_read_then_it_is_a_heading() -> None:
    rows = prose("Vendor Allowances", "Description", f"{SENTENCE} It names the price and the day.")

    assert of_kind([page(1, rows)], BlockKind.HEADING) == ["Description"]


def test_given_a_formula_on_a_row_of_its_own_when_read_then_it_is_no_heading() -> None:
    rows = [*prose("The sum of the first n terms is:"), Set("S = n/2 [2a + (n − 1)d]"), *prose(SENTENCE)]

    assert of_kind([page(1, rows)], BlockKind.HEADING) == []


def test_given_a_heading_with_a_ligature_when_read_then_its_title_is_in_reading_form() -> None:
    pages = [page(1, [head("The sum of the\u00a0ﬁrst n²"), *prose(SENTENCE)])]

    assert blocks(pages, "en")[0].section[-1] == "The sum of the first n²"


def test_given_headings_of_several_sizes_when_read_then_sections_nest_and_close() -> None:
    headings = [head("Manual", 18), head("Safety"), head("Use"), head("Annex", 18)]
    rows = [row for heading in headings for row in (heading, *prose(SENTENCE))]

    sections = [block.section for block in blocks([page(1, rows)], "en") if block.kind is BlockKind.PARAGRAPH]

    assert sections == [("Manual",), ("Manual", "Safety"), ("Manual", "Use"), ("Annex",)]


def test_given_parts_items_and_bold_headings_of_one_size_when_read_then_their_words_rank_them() -> None:
    rows = [
        Set(text, bold=True) if bold else Set(text)
        for text, bold in [
            ("PART II", True),
            (SENTENCE, False),
            ("Item 7.\tDiscussion", True),
            (SENTENCE, False),
            ("Overview", True),
            (SENTENCE, False),
            ("Item 8.\tStatements", True),
            (SENTENCE, False),
        ]
    ]

    sections = [block.section for block in blocks([page(1, rows)], "en") if block.kind is BlockKind.PARAGRAPH]

    assert sections[2:] == [("PART II", "Item 7. Discussion", "Overview"), ("PART II", "Item 8. Statements")]


def test_given_a_paragraph_in_bold_when_read_then_it_is_no_heading() -> None:
    rows = [
        Set("This warning is printed in bold from its first word to the last", bold=True, gap=index == 0)
        for index in range(5)
    ]

    assert of_kind([page(1, [*rows, *prose(SENTENCE)])], BlockKind.HEADING) == []


CASH_FLOWS = [
    Set("(in millions)"),
    Set("Year Ended December 31,"),
    Set("2015\t2016\t2017"),
    Set("OPERATING ACTIVITIES:"),
    Set("Net income\t596\t2,371\t3,033"),
    Set("Depreciation of property and equipment, including internal-use software and other"),
    Set("amortization, including capitalized content costs\t6,281\t8,116\t11,478", gap=False),
    Set("Inventories\t(2,187)\t(1,426)\t(3,583)"),
]


def test_given_a_financial_table_when_read_then_unit_period_and_years_are_its_header() -> None:
    pages = [
        page(
            1,
            [
                head("CONSOLIDATED STATEMENTS OF CASH FLOWS"),
                *CASH_FLOWS,
                *prose("See the notes to these statements below."),
            ],
        )
    ]

    heading, table, rest = blocks(pages, "en")

    assert header_of(pages, table) == ["(in millions)\nYear Ended December 31,\n2015\t2016\t2017"]
    assert pages[0].text[table.start : table.end].endswith("(3,583)")
    assert table.section == heading.section
    assert rest.kind is BlockKind.PARAGRAPH


def test_given_a_table_that_goes_on_over_the_page_break_when_read_then_it_keeps_its_header() -> None:
    pages = [
        page(1, CASH_FLOWS),
        page(2, [Set("Receivables\t(1,755)\t(3,367)\t(4,786)"), Set("Payables\t4,294\t5,030\t7,175")]),
    ]

    first, second = blocks(pages, "en")

    assert second.page == 2
    assert second.header == first.header != ()


def test_given_text_between_two_tables_when_read_then_the_second_does_not_take_the_header_of_the_first() -> None:
    between = [row for _ in range(3) for row in prose(SENTENCE, SENTENCE)]
    pages = [page(1, [*CASH_FLOWS, *between, Set("Alpha\t12\t13\t14"), Set("Beta\t15\t16\t17")])]

    tables = [block for block in blocks(pages, "en") if block.kind is BlockKind.TABLE]

    assert [bool(table.header) for table in tables] == [True, False]


def test_given_two_tables_one_after_the_other_when_read_then_each_has_its_own_header() -> None:
    other = [Set("(in thousands)"), Set("2020\t2021\t2022"), Set("Employees\t10\t11\t12"), Set("Offices\t1\t2\t3")]
    pages = [page(1, [*CASH_FLOWS, *other])]

    headers = [header_of(pages, block)[0].split("\n")[0] for block in blocks(pages, "en")]

    assert headers == ["(in millions)", "(in thousands)"]


@pytest.mark.parametrize(
    ("text", "header"),
    [
        ("| Part | Price |\n|------|-------|\n| Screw | 5 |\n| Nut | 7 |", "| Part | Price |"),
        ("Part\tPrice\nScrew\t5\nNut\t7", "Part\tPrice"),
        ("(v tis. Kč)\n\t2021\t2022\nVýnosy\t5 100\t6 200\nNáklady\t4 000\t4 100", "(v tis. Kč)\n\t2021\t2022"),
    ],
)
def test_given_a_table_in_a_text_document_when_read_then_its_columns_are_named(text: str, header: str) -> None:
    pages = text_page(text)

    (table,) = blocks(pages, "en")

    assert table.kind is BlockKind.TABLE
    assert header_of(pages, table) == [header]


CODES = [
    "E1\tNo flow\tCheck the valve",
    "E2\tFlow against the arrow\tTurn the meter",
    "E3\tBattery below 3.1 V\tReplace it",
]


@each(
    ("rows", "header"),
    [
        ([Set("Code\tMeaning\tRemedy", bold=True), *map(Set, CODES)], ["Code\tMeaning\tRemedy"]),
        ([Set("Code\tMeaning\tRemedy"), *map(Set, CODES)], ["Code\tMeaning\tRemedy"]),
        ([Set("Code\tMeaning\tRemedy"), *map(Set, CODES[:2])], ["Code\tMeaning\tRemedy"]),
        ([*map(Set, CODES)], []),
        (
            [Set("Term\tMeaning"), Set("Valve\tStops the flow"), Set("Seal\tStops a leak"), Set("Hose\t5 m")],
            ["Term\tMeaning"],
        ),
        ([Set("Assets\t(in millions)"), Set("Cash\t5"), Set("Stock\t7")], ["Assets\t(in millions)"]),
        (
            [Set("First plan\tSecond plan"), Set("Years ended December 31,\t2017\t2016"), Set("Costs\t5\t7")],
            ["First plan\tSecond plan\nYears ended December 31,\t2017\t2016"],
        ),
        (
            [Set("October 29,\tJanuary 29,"), Set("Other assets\t(in millions)"), Set("Cash\t5\t7")],
            ["October 29,\tJanuary 29,\nOther assets\t(in millions)"],
        ),
        ([Set("Plan\tNumber", bold=True), Set("name\tof shares"), Set("First\t5")], ["Plan\tNumber\nname\tof shares"]),
    ],
)
def test_given_a_table_when_read_then_rows_of_words_below_its_head_are_data(rows: list[Set], header: list[str]) -> None:
    pages = [page(1, rows)]

    (table,) = blocks(pages, "en")

    assert table.kind is BlockKind.TABLE
    assert header_of(pages, table) == header


def test_given_bullets_set_apart_by_a_gap_when_read_then_they_are_a_list_and_no_table() -> None:
    second = [Set("•\tsecond duty, which is long and"), Set("goes on in the next row", gap=False)]
    rows = [Set("•\tfirst duty of the supplier"), *second, Set("•\tthird")]

    (block,) = blocks([page(1, rows)], "en")

    assert block.kind is BlockKind.LIST
    assert len(block.parts) == 3


# a full row that ends no sentence
OPEN = "The company today announced changes to its accounts for the year and to its plans and"


def test_given_rows_that_each_are_a_block_of_the_file_when_read_then_an_open_first_row_goes_on() -> None:
    rows = [
        Set(OPEN),
        Set("Guidance for 2023, which shows its operations as they are after the sale."),
        Set(f"“{SENTENCE}”"),
    ]

    first, *_ = of_kind([page(1, rows)], BlockKind.PARAGRAPH)

    assert first.startswith(f"{OPEN}\nGuidance")


@given(st.sampled_from(["16 hours and", "640,000 pounds.", "€4 each day", "2.5 metres"]))
def test_given_an_open_row_and_a_figure_with_what_it_counts_when_read_then_the_sentence_goes_on(figure: str) -> None:
    rows = [Set("The surveyor examined the hull for"), Set(f"{figure} then wrote a report.")]
    assert of_kind([page(1, rows)], BlockKind.PARAGRAPH) == ["\n".join(row.text for row in rows)]
    listed = [Set("3 spades"), Set("4 rakes")]
    assert all("\n" not in one for one in of_kind([page(1, listed)], BlockKind.PARAGRAPH))


@each("following", ["³ Excludes the effect of currencies", "* Excludes the effect of currencies"])
def test_given_a_long_footnote_without_a_full_stop_when_read_then_the_next_one_stands_for_itself(
    following: str,
) -> None:
    texts = of_kind([page(1, [Set(f"² {OPEN} others"), Set(following)])], BlockKind.PARAGRAPH)

    assert not any("others\n" in text for text in texts)


def test_given_a_short_row_that_ends_no_sentence_when_read_then_the_next_block_does_not_go_on_with_it() -> None:
    assert len(blocks([page(1, [Set("Main Street 5"), Set("New Harbour"), *prose(SENTENCE, SENTENCE)])], "en")) > 1


@pytest.mark.parametrize("wide", [50, 60, 72])
def test_given_an_item_that_fills_its_row_when_a_name_stands_below_it_then_the_item_goes_on(wide: int) -> None:
    first = "(a) decides whatever concerns all and every one of the members of the Council"[:wide]
    rows = [
        Set(first, left=60.0),
        Set("Network;", left=78.0),
        Set("(b) names the members of its board for the years", left=60.0),
    ]

    assert of_kind([page(1, rows)], BlockKind.LIST) == ["\n".join(row.text for row in rows)]


def test_given_an_item_in_larger_print_when_read_then_its_second_row_is_no_heading() -> None:
    """Items of a notice are often larger than the text; the words of a wrapped one hang below its first words."""
    items = [
        Set(f"•\t{OPEN}", size=11.5),
        Set("Adjusted Growth of 6 %; Figures exclude the plant", size=11.5, left=66.0),
    ]
    pages = [page(1, [*items, *(Set(f"{SENTENCE} {SENTENCE}") for _ in range(5))])]

    assert of_kind(pages, BlockKind.HEADING) == []
    assert of_kind(pages, BlockKind.LIST) == [f"•\t{OPEN}\nAdjusted Growth of 6 %; Figures exclude the plant"]


@pytest.mark.parametrize(
    "code", ["def area(r):\n    return 3.14 * r * r\n\nprint(area(2))", "```\nmake app\nmake test\n```"]
)
def test_given_code_between_paragraphs_when_read_then_it_is_code(code: str) -> None:
    prose_rows = "\n\n".join([SENTENCE] * 8)

    assert "".join(of_kind(text_page(f"{prose_rows}\n\n{code}\n\n{SENTENCE}"), BlockKind.CODE)).replace(
        "\n", ""
    ) in code.replace("\n", "")
    assert of_kind(text_page(f"{prose_rows}\n\n{code}\n\n{SENTENCE}"), BlockKind.CODE)


def test_given_rows_in_a_fixed_width_font_when_read_then_they_are_code() -> None:
    rows = [
        *prose(SENTENCE, SENTENCE),
        Set("make app", mono=True),
        Set("make test", mono=True, gap=False),
        *prose(SENTENCE),
    ]

    assert of_kind([page(1, rows)], BlockKind.CODE) == ["make app\nmake test"]


def with_margins(number: int, body: list[Set]) -> Page:
    return page(number, [Set("Table of Contents"), *body, Set(f"Example Corp. | 2017 Form 10-K | {number}")])


def test_given_headers_and_footers_on_every_page_when_read_then_they_are_boilerplate_and_stay_in_the_text() -> None:
    pages = [
        with_margins(number, prose(f"Page {word} says something."))
        for number, word in enumerate(["one", "two", "three"], 1)
    ]

    found = of_kind(pages, BlockKind.BOILERPLATE)

    assert found == [
        text for number in (1, 2, 3) for text in ("Table of Contents", f"Example Corp. | 2017 Form 10-K | {number}")
    ]
    assert all("Table of Contents" in each.text for each in pages)


def test_given_margins_on_two_pages_only_when_read_then_the_first_header_is_content() -> None:
    footer = "Example Corp. | 2017 Form 10-K |"
    pages = [with_margins(number, prose(SENTENCE)) for number in (1, 2)]

    assert of_kind(pages, BlockKind.BOILERPLATE) == [f"{footer} 1", "Table of Contents", f"{footer} 2"]


@pytest.mark.parametrize(
    "other", [Set("Price: 30 crowns"), Set("Price: 20 crowns", left=80), Set("Price: 20 crowns", size=12)]
)
def test_given_rows_of_two_pages_that_differ_when_read_then_they_are_content(other: Set) -> None:
    pages = [page(1, [Set("Price: 20 crowns"), *prose(SENTENCE)]), page(2, [other, *prose(SENTENCE)])]

    assert of_kind(pages, BlockKind.BOILERPLATE) == []


def test_given_a_table_header_repeated_in_the_body_of_each_page_when_read_then_it_is_no_boilerplate() -> None:
    pages = [
        page(
            number,
            [
                Set("(in millions)"),
                Set("2016\t2017"),
                *(Set(f"Row {name}\t{number}1\t{number}2") for name in "abcdefgh"),
            ],
        )
        for number in (1, 2, 3, 4)
    ]

    assert of_kind(pages, BlockKind.BOILERPLATE) == []
    assert all(header_of(pages, block) == ["(in millions)\n2016\t2017"] for block in blocks(pages, "en"))


@each("number", ["7", "- 7 -", "Page 7", "Strana 7", "7 / 12", "Page 7 of 12"])
def test_given_a_lone_page_number_when_read_then_it_is_boilerplate_even_on_a_single_page(number: str) -> None:
    assert of_kind([page(7, [*prose(SENTENCE), Set(number)])], BlockKind.BOILERPLATE) == [number]


def test_given_a_number_that_is_not_the_pages_when_it_stands_last_then_it_is_content() -> None:
    assert of_kind([page(7, [*prose(SENTENCE), Set("42")])], BlockKind.BOILERPLATE) == []


ROWS = st.lists(
    st.builds(
        Set,
        st.sampled_from(
            [
                SENTENCE,
                "PART II",
                "Item 7.\tDiscussion",
                "(in millions)",
                "2016\t2017",
                "Net\t5\t7",
                "• item",
                "1.2 Scope",
                "12",
                "x = 1",
            ]
        ),
        st.sampled_from([8.0, 10.0, 14.0]),
        st.booleans(),
        st.booleans(),
        st.booleans(),
    ),
    max_size=12,
)


@given(st.lists(ROWS, max_size=4))
def test_given_any_rows_when_read_then_every_visible_character_lies_in_exactly_one_block(
    documents: list[list[Set]],
) -> None:
    pages = [page(number, rows) for number, rows in enumerate(documents, 1)]

    covered: dict[tuple[int, int], int] = {}
    for block in blocks(pages, "en"):
        assert all(block.start <= start < end <= block.end for start, end in block.parts)
        for start, end in block.parts:
            for offset in range(start, end):
                covered[block.page, offset] = covered.get((block.page, offset), 0) + 1

    visible = {(each.number, offset) for each in pages for offset, char in enumerate(each.text) if not char.isspace()}
    assert {place for place in covered if place in visible} == visible
    assert all(covered[place] == 1 for place in visible)


def test_given_a_table_after_other_content_on_the_next_page_when_read_then_it_does_not_take_the_header() -> None:
    pages = [page(1, CASH_FLOWS), page(2, [*prose(SENTENCE), Set("Alpha\t12\t13\t14"), Set("Beta\t15\t16\t17")])]

    assert [bool(block.header) for block in blocks(pages, "en") if block.kind is BlockKind.TABLE] == [True, False]


def test_given_a_running_header_of_one_chapter_when_read_then_it_is_boilerplate() -> None:
    tops = ["Risk factors of the year" if 10 < number <= 17 else f"{'x' * number} top" for number in range(1, 41)]
    pages = [page(number, [Set(top), *prose(SENTENCE)]) for number, top in enumerate(tops, 1)]

    assert of_kind(pages, BlockKind.BOILERPLATE).count("Risk factors of the year") == 7


def test_given_a_caption_repeated_on_far_pages_when_read_then_it_is_content() -> None:
    tops = ["Table of sales" if number % 7 == 0 else f"{'x' * number} top" for number in range(1, 50)]
    pages = [page(number, [Set(top), *prose(SENTENCE)]) for number, top in enumerate(tops, 1)]

    assert "Table of sales" not in of_kind(pages, BlockKind.BOILERPLATE)


def test_given_a_table_of_contents_without_gaps_when_read_then_its_rows_are_no_headings() -> None:
    rows = prose("Note 1 - Accounting policies 59", "Note 2 - Goodwill 70", "Note 22 - Segments 109")

    assert of_kind([page(1, [*rows, *prose(SENTENCE)])], BlockKind.HEADING) == []


def test_given_a_file_name_on_a_row_of_its_own_in_fixed_width_when_read_then_it_is_text() -> None:
    rows = [*prose("Open the file"), Set("settings.toml", mono=True, gap=False), *prose(SENTENCE)]

    assert of_kind([page(1, rows)], BlockKind.CODE) == []


def test_given_a_document_all_in_fixed_width_when_read_then_the_font_says_nothing() -> None:
    rows = [Set(SENTENCE, mono=True, gap=index == 0) for index in range(6)]

    assert of_kind([page(1, rows)], BlockKind.CODE) == []


def test_given_a_text_repeated_below_the_first_row_of_each_page_when_read_then_it_is_content() -> None:
    own = ["alpha", "beta", "gamma", "delta"]
    pages = [
        page(at, [Set(f"{word} opens"), Set("Summary"), *prose(f"The {word} text says more.")])
        for at, word in enumerate(own, 1)
    ]

    assert of_kind(pages, BlockKind.BOILERPLATE) == []


def test_given_a_text_that_reads_like_a_page_number_when_it_is_all_there_is_then_it_is_content() -> None:
    page = Page(1, "Text 1.")

    assert [block.kind for block in blocks([page], "en") if block.kind is not BlockKind.BOILERPLATE]


def test_given_a_number_of_two_parts_over_a_text_of_its_block_when_read_then_it_is_a_heading_and_a_wrapped_clause_is_none() -> (  # noqa: E501
    None
):
    over = prose("2.1 Garden shed", SENTENCE, SENTENCE)
    wrapped = prose(
        "2.1 The supplier delivers the goods to the place that is named in the",
        "Annex of the contract, at his own cost and at his risk.",
    )

    assert of_kind([page(1, over)], BlockKind.HEADING) == ["2.1 Garden shed"]
    assert of_kind([page(1, wrapped)], BlockKind.HEADING) == []
    # an item of a list looks like that
    assert of_kind([page(1, prose("2. Garden shed", SENTENCE))], BlockKind.HEADING) == []


@each("title", ["TABLE OF CONTENTS", "Contents", "Inhaltsverzeichnis", "Obsah", "Tabla de Contenidos", "विषय सूची"])
def test_given_the_title_of_a_table_of_contents_when_read_then_no_section_stands_under_it(title: str) -> None:
    found = blocks([page(1, [head(title, 18), *prose("Seats"), head("Section 1 Seats", 14), *prose(SENTENCE)])], "en")

    assert found[-1].section == ("Section 1 Seats",)


def test_given_an_item_behind_a_bullet_when_read_then_it_is_no_heading_unless_it_is_set_larger() -> None:
    item = "• Harbour office (HO) budget"
    rows = [Set(item), *prose(SENTENCE, SENTENCE)]

    assert of_kind([page(1, rows)], BlockKind.HEADING) == []
    assert of_kind([page(1, [head(item), *rows[1:]])], BlockKind.HEADING) == [item]


def test_given_an_item_in_lower_case_behind_its_number_when_read_then_it_is_no_heading() -> None:
    assert (
        of_kind([page(1, [Set("6. election of the board; and"), *prose(SENTENCE, SENTENCE)])], BlockKind.HEADING) == []
    )


def test_given_values_in_bold_one_below_the_other_when_read_then_they_are_no_heading() -> None:
    fields = [Set("Place: Harbour Hall", bold=True), Set("Date: 9 September at 1 pm", bold=True, gap=False)]
    single = [Set("Step 1: Open the lid", bold=True), *prose(SENTENCE)]

    assert of_kind([page(1, [*prose(SENTENCE), *fields])], BlockKind.HEADING) == []
    assert of_kind([page(1, [*prose(SENTENCE), *single])], BlockKind.HEADING) == ["Step 1: Open the lid"]


def test_given_a_small_o_apart_from_its_row_when_read_then_it_is_the_mark_of_an_item() -> None:
    items = prose("o\tCalls to duty at short notice", "o\tCeremonies and programmes")
    found = next(block for block in blocks([page(1, [*prose(SENTENCE), *items])], "en") if block.kind is BlockKind.LIST)

    assert len(found.parts) == 2
    assert (
        of_kind([page(1, prose("La llave se entrega en la portería", "o en la oficina de la torre."))], BlockKind.LIST)
        == []
    )


CLAUSES = [
    [
        "Article 1. The association has its seat in Levallois, its exact address is",
        "told to the prefecture of the department.",
    ],
    [
        "Article 2. It is led by a council, made up of 3 to 25",
        "persons. Their number is set by it for its",
        "next term of office.",
    ],
    ["Article 3. Whoever has belonged to it for more than six months may", "vote. Nobody else may."],
    ["Article 4. Membership ends by death, by notice in writing to the", "president, or by a decision of the council."],
]


@given(pitch=st.floats(1.0, 2.3), between=st.floats(1.5, 3.0), one_block_a_row=st.booleans())
def test_given_clauses_set_at_any_pitch_when_read_then_no_row_of_their_sentences_is_a_heading(
    pitch: float, between: float, one_block_a_row: bool
) -> None:
    """MuPDF gives each row of widely set text a block of its own; a clause that begins with its number runs on all the
    same.
    """
    rows = [
        Set(text, gap=one_block_a_row or number == 0) for clause in CLAUSES * 2 for number, text in enumerate(clause)
    ]
    made, top = page(1, rows), 40.0
    lines = []
    for line, (number, _) in zip(
        made.lines, [pair for clause in CLAUSES * 2 for pair in enumerate(clause)], strict=True
    ):
        top += 10 * pitch * (between if number == 0 else 1.0)
        lines.append(replace(line, box=Box(line.box.x0, top, line.box.x1, top + 10)))

    found = blocks([replace(made, lines=tuple(lines))], "en")

    assert {one.kind for one in found} == {BlockKind.PARAGRAPH}
    assert [made.text[one.start : one.end] for one in found] == ["\n".join(clause) for clause in CLAUSES * 2]


def test_given_an_enumeration_within_a_sentence_when_its_lines_end_at_a_mark_then_it_is_one_item() -> None:
    running = "We know three kinds: 1) stored,\n2) reflected and\n3) built in the browser."
    a_list = "We know three kinds:\n1) stored,\n2) reflected, and\n3) built in the browser."

    assert of_kind(text_page(running), BlockKind.PARAGRAPH) == [running]
    assert len(blocks(text_page(a_list), "en")[-1].parts) == 3
