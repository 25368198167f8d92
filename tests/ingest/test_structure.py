"""Blocks of PDFs and text documents: headings, tables with their headers, lists, code, and what repeats on every
page.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from folding import each
from hypothesis import given
from hypothesis import strategies as st
from paper import Set, head, page, prose

from rag_core.domain.documents import Box, Page
from rag_core.ingest.blocks.structure import Block, BlockKind, blocks

SENTENCE = "The supplier delivers the goods to the place that the buyer has named."
TEXT = prose(SENTENCE, SENTENCE)
Given = str | list[Set]  # a text document, or the rows of a page of a PDF


def pages_of(*given: Given) -> list[Page]:
    return [Page(n, one) if isinstance(one, str) else page(n, one) for n, one in enumerate(given, 1)]


def of_kind(pages: list[Page], kind: BlockKind) -> list[str]:
    return [pages[one.page - 1].text[one.start : one.end] for one in blocks(pages, "en") if one.kind is kind]


def header_of(pages: list[Page], block: Block) -> list[str]:
    return [pages[span.page - 1].text[span.start : span.end] for span in block.header]


def bold(*texts: str) -> list[Set]:
    return [Set(text, bold=True, gap=index == 0) for index, text in enumerate(texts)]


@each(
    ("text", "title"),
    [
        (f"# Warranty\n{SENTENCE}", "Warranty"),
        (f"### Warranty ###\n\n{SENTENCE}", "Warranty"),
        (f"Warranty\n========\n\n{SENTENCE}", "Warranty"),
        (f"# Warranty\n---\n{SENTENCE}", "Warranty"),
        *(
            (f"{title}\n\n{SENTENCE}", title)
            for title in (
                *("WARRANTY PERIOD", "1.2 Warranty", "§ 5 Záruka", "Článek III", "Art. 5 Gewährleistung"),
                *("Item 7. Discussion", "PART II", "अनुच्छेद ५"),
            )
        ),
    ],
)
def test_given_a_heading_in_a_text_document_when_read_then_the_text_below_has_it_as_section(
    text: str, title: str
) -> None:
    heading, below = blocks(pages_of(text), "en")

    assert (heading.kind, heading.section[-1]) == (BlockKind.HEADING, title)
    assert (below.kind, below.section) == (BlockKind.PARAGRAPH, (title,))


LAST_ROWS = (
    *("पद 47 है।", "योग 580 है॥", "此为约定。", "Dies ist „neu.“", "It is due.¹", "The fee, too,"),
    *("Board of Directors", "BOARD OF DIRECTORS", "Section 5 of the Act"),
)
ITEM = "• Harbour office (HO) budget"


@each(
    ("rows", "headings"),
    [
        (SENTENCE, []),
        (f"{SENTENCE}\n\nThis ends as a sentence.\n\n{SENTENCE}", []),
        (f"according to\nSection 5 of the contract, which\n{SENTENCE.lower()}", []),
        ("IBM\n\nis a short word in capitals.", []),
        (f"- an item\n- another\n\n{SENTENCE}", []),
        # the short last row of a paragraph is none, and by itself over a text it is one
        *(
            ([*prose("The report was written by the members of the audit committee of the", row), *TEXT], [])
            for row in LAST_ROWS
        ),
        *(([*TEXT, Set(row), *TEXT], [row]) for row in ("आम गलतियाँ", *LAST_ROWS[-3:])),
        # set like the text below a short row
        (prose("Vendor Allowances", "Description", f"{SENTENCE} It names the price and the day."), ["Description"]),
        ([*prose("The sum of the first n terms is:"), Set("S = n/2 [2a + (n − 1)d]"), *TEXT], []),
        ([*bold(*["This warning is printed in bold from its first word to the last"] * 5), *TEXT], []),
        # a table of contents without gaps
        ([*prose("Note 1 - Accounting policies 59", "Note 2 - Goodwill 70", "Note 22 - Segments 109"), *TEXT], []),
        (prose("2.1 Garden shed", SENTENCE, SENTENCE), ["2.1 Garden shed"]),
        (prose("2. Garden shed", SENTENCE), []),  # an item of a list looks like that
        (
            prose(
                "2.1 The supplier delivers the goods to the place that is named in the",
                "Annex of the contract, at his own cost and at his risk.",
            ),
            [],
        ),
        ([Set(ITEM), *TEXT], []),
        ([head(ITEM), *TEXT], [ITEM]),
        ([Set("6. election of the board; and"), *TEXT], []),
        ([*TEXT, *bold("Place: Harbour Hall", "Date: 9 September at 1 pm")], []),
        ([*TEXT, *bold("Step 1: Open the lid"), *TEXT], ["Step 1: Open the lid"]),
        *(
            (
                [*TEXT, head(f"{first} in force before"), replace(head("the merger"), gap=False), *TEXT],
                [f"{first} in force before\nthe merger"],
            )
            for first in ("Annex C: rules", "Rules")
        ),
    ],
)
def test_given_rows_when_read_then_those_and_no_others_are_headings(rows: Given, headings: list[str]) -> None:
    assert of_kind(pages_of(rows), BlockKind.HEADING) == headings


@each(
    ("rows", "sections"),
    [
        ([head("The sum of the\u00a0ﬁrst n²"), *TEXT], [("The sum of the first n²",)]),
        (
            [row for one in (("Manual", 18), ("Safety",), ("Use",), ("Annex", 18)) for row in (head(*one), *TEXT)],
            [("Manual",), ("Manual", "Safety"), ("Manual", "Use"), ("Annex",)],
        ),
        # of one size: their words rank them
        (
            [
                row
                for one in ("PART II", "Item 7.\tDiscussion", "Overview", "Item 8.\tStatements")
                for row in (*bold(one), *TEXT)
            ],
            [
                ("PART II",),
                ("PART II", "Item 7. Discussion"),
                ("PART II", "Item 7. Discussion", "Overview"),
                ("PART II", "Item 8. Statements"),
            ],
        ),
        # nothing stands under the title of a table of contents
        *(
            ([head(title, 18), *prose("Seats"), head("Section 1 Seats", 14), *TEXT], [(), ("Section 1 Seats",)])
            for title in (
                *("TABLE OF CONTENTS", "Contents", "Inhaltsverzeichnis", "Obsah", "Tabla de Contenidos", "विषय सूची"),
            )
        ),
    ],
)
def test_given_headings_when_read_then_sections_nest(rows: list[Set], sections: list[tuple[str, ...]]) -> None:
    found = [one.section for one in blocks(pages_of(rows), "en") if one.kind is BlockKind.PARAGRAPH]

    assert found == sections


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
CODES = [
    "E1\tNo flow\tCheck the valve",
    "E2\tFlow against the arrow\tTurn the meter",
    "E3\tBattery below 3.1 V\tReplace it",
]
HEAD = "Code\tMeaning\tRemedy"


def rows_of(*texts: str) -> list[Set]:
    return [*map(Set, texts)]


PRODUCTS = (
    "TK-{}0",
    "TK-{}0/2",
    "BX-{}-S",
    "{}0-TK",
    "TK‑{}0 Pro",
    "Pump P-{}",
    "Model {}00",
    "Série {}000",
    "Typ {}0",
)
WEIGHTS = ("Weight\t186 kg\t241 kg", "Power\t2,4 kW\t3,1 kW")


@each(
    ("rows", "header"),
    [
        (CASH_FLOWS, "(in millions)\nYear Ended December 31,\n2015\t2016\t2017"),
        ("| Part | Price |\n|------|-------|\n| Screw | 5 |\n| Nut | 7 |", "| Part | Price |"),
        ("Part\tPrice\nScrew\t5\nNut\t7", "Part\tPrice"),
        ("(v tis. Kč)\n\t2021\t2022\nVýnosy\t5 100\t6 200\nNáklady\t4 000\t4 100", "(v tis. Kč)\n\t2021\t2022"),
        # rows of words below the head are data
        ([*bold(HEAD), *rows_of(*CODES)], HEAD),
        (rows_of("Term\tMeaning", "Valve\tStops the flow", "Seal\tStops a leak", "Hose\t5 m"), "Term\tMeaning"),
        (rows_of("Assets\t(in millions)", "Cash\t5", "Stock\t7"), "Assets\t(in millions)"),
        (
            rows_of("First plan\tSecond plan", "Years ended December 31,\t2017\t2016", "Costs\t5\t7"),
            "First plan\tSecond plan\nYears ended December 31,\t2017\t2016",
        ),
        (
            rows_of("October 29,\tJanuary 29,", "Other assets\t(in millions)", "Cash\t5\t7"),
            "October 29,\tJanuary 29,\nOther assets\t(in millions)",
        ),
        ([*bold("Plan\tNumber"), *rows_of("name\tof shares", "First\t5")], "Plan\tNumber\nname\tof shares"),
        *(
            (
                rows_of(f"Feature\t{name.format(4)}\t{name.format(6)}", *WEIGHTS),
                f"Feature\t{name.format(4)}\t{name.format(6)}",
            )
            for name in PRODUCTS
        ),
        *(
            (rows_of(row, *WEIGHTS), "")
            for row in ("Price\tEUR 400\tEUR 600", "Length\t-40\t-60", "Width\t40-60\t70-80")
        ),
    ],
)
def test_given_a_table_when_read_then_its_head_names_its_columns_and_unit(rows: Given, header: str) -> None:
    pages = pages_of(rows)
    (table,) = blocks(pages, "en")

    assert table.kind is BlockKind.TABLE
    assert header_of(pages, table) == [header] * bool(header)


MORE = rows_of("Alpha\t12\t13\t14", "Beta\t15\t16\t17")


@each(
    ("pages", "headers"),
    [
        ([CASH_FLOWS, MORE], ["(in millions)"] * 2),  # it goes on over the page break
        ([CASH_FLOWS, [*prose(SENTENCE), *MORE]], ["(in millions)", ""]),
        ([[*CASH_FLOWS, *TEXT, *TEXT, *TEXT, *MORE]], ["(in millions)", ""]),
        (
            [
                [
                    *CASH_FLOWS,
                    *rows_of("(in thousands)", "2020\t2021\t2022", "Employees\t10\t11\t12", "Offices\t1\t2\t3"),
                ]
            ],
            ["(in millions)", "(in thousands)"],
        ),
        # repeated in the body of each page, it is no running head
        (
            [
                rows_of("(in millions)", "2016\t2017", *(f"Row {name}\t{number}1\t{number}2" for name in "abcdefgh"))
                for number in (1, 2, 3, 4)
            ],
            ["(in millions)"] * 4,
        ),
    ],
)
def test_given_tables_when_read_then_each_has_its_own_header(pages: list[list[Set]], headers: list[str]) -> None:
    made = pages_of(*pages)
    tables = [block for block in blocks(made, "en") if block.kind is BlockKind.TABLE]

    assert ["".join(header_of(made, table)).split("\n")[0] for table in tables] == headers
    assert of_kind(made, BlockKind.BOILERPLATE) == []


def test_given_a_table_under_a_heading_when_read_then_it_ends_where_text_begins() -> None:
    pages = pages_of(
        [head("STATEMENTS OF CASH FLOWS"), *CASH_FLOWS, *prose("See the notes to these statements below.")]
    )
    heading, table, rest = blocks(pages, "en")

    assert pages[0].text[table.start : table.end].endswith("(3,583)")
    assert table.section == heading.section
    assert rest.kind is BlockKind.PARAGRAPH


# a full row that ends no sentence
OPEN = "The company today announced changes to its accounts for the year and to its plans and"
GROWTH = "Adjusted Growth of 6 %; Figures exclude the plant"
CODE = "def area(r):\n    return 3.14 * r * r\n\nprint(area(2))"
KINDS = "We know three kinds: 1) stored,\n2) reflected and\n3) built in the browser."


def hanging(first: str) -> list[Set]:
    """An item that fills its row, a name that hangs below it, and the next item."""
    rest = [Set("Network;", left=78.0), Set("(b) names the members of its board for the years", left=60.0)]
    return [Set(first, left=60.0), *rest]


@each(
    ("rows", "kind", "texts"),
    [
        # rows that each are a block of the file
        (
            rows_of(OPEN, "Guidance for 2023, which shows its operations after the sale.", f"“{SENTENCE}”"),
            BlockKind.PARAGRAPH,
            [f"{OPEN}\nGuidance for 2023, which shows its operations after the sale.", f"“{SENTENCE}”"],
        ),
        *(
            (rows_of(f"² {OPEN} others", note), BlockKind.PARAGRAPH, [f"² {OPEN} others", *more])
            for note, *more in (["³ Excludes the effect"] * 2, ["* Excludes the effect"])
        ),
        (rows_of("Main Street 5", "New Harbour"), BlockKind.PARAGRAPH, ["Main Street 5", "New Harbour"]),
        *(
            (hanging(first), BlockKind.LIST, [f"{first}\nNetwork;\n(b) names the members of its board for the years"])
            for wide in (50, 60, 72)
            for first in ["(a) decides whatever concerns all and every one of the members of the Council"[:wide]]
        ),
        # in larger print
        (
            [
                Set(f"•\t{OPEN}", size=11.5),
                Set(GROWTH, size=11.5, left=66.0),
                *rows_of(*[f"{SENTENCE} {SENTENCE}"] * 5),
            ],
            BlockKind.LIST,
            [f"•\t{OPEN}\n{GROWTH}"],
        ),
        (prose("La llave se entrega en la portería", "o en la oficina de la torre."), BlockKind.LIST, []),
        (KINDS, BlockKind.PARAGRAPH, [KINDS]),
        ("\n\n".join([*[SENTENCE] * 8, CODE, SENTENCE]), BlockKind.CODE, [CODE.split("\n\n")[0]]),
        (
            "\n\n".join([SENTENCE, "```\nmake app\nmake test\n```", SENTENCE]),
            BlockKind.CODE,
            ["```\nmake app\nmake test\n```"],
        ),
        (
            [*TEXT, Set("make app", mono=True), Set("make test", mono=True, gap=False), *TEXT],
            BlockKind.CODE,
            ["make app\nmake test"],
        ),
        ([*prose("Open the file"), Set("settings.toml", mono=True, gap=False), *TEXT], BlockKind.CODE, []),
        ([Set(SENTENCE, mono=True, gap=index == 0) for index in range(6)], BlockKind.CODE, []),
    ],
)
def test_given_rows_when_read_then_each_paragraph_list_and_code_is_whole(
    rows: Given, kind: BlockKind, texts: list[str]
) -> None:
    assert of_kind(pages_of(rows), kind) == texts


@each(
    "rows",
    [
        [
            *rows_of("•\tfirst duty of the supplier", "•\tsecond duty, which is long and"),
            *prose("goes on in the next row")[1:],
            *rows_of("•\tthird", "•\tfourth"),
        ],
        [*TEXT, *prose("o\tCalls to duty at short notice", "o\tCeremonies", "o\tprogrammes", "o\tand more")],
        KINDS.replace(": ", ":\n").replace("reflected", "reflected,\n3) hidden,").replace("3) built", "4) built"),
    ],
)
def test_given_marks_at_the_start_of_rows_when_read_then_each_begins_an_item(rows: Given) -> None:
    *_, listed = blocks(pages_of(rows), "en")

    assert listed.kind is BlockKind.LIST
    assert len(listed.parts) >= 3


@given(st.sampled_from(["16 hours and", "640,000 pounds.", "€4 each day", "2.5 metres"]))
def test_given_an_open_row_and_a_figure_with_what_it_counts_when_read_then_the_sentence_goes_on(figure: str) -> None:
    rows = [Set("The surveyor examined the hull for"), Set(f"{figure} then wrote a report.")]
    assert of_kind(pages_of(rows), BlockKind.PARAGRAPH) == ["\n".join(row.text for row in rows)]
    listed = rows_of("3 spades", "4 rakes")
    assert all("\n" not in one for one in of_kind(pages_of(listed), BlockKind.PARAGRAPH))


def with_margins(number: int) -> list[Set]:
    return [Set("Table of Contents"), *prose(f"Page {'x' * number} says so."), Set(f"A Corp. | 10-K | {number}")]


def topped(tops: Sequence[str]) -> list[list[Set]]:
    return [[Set(top), *prose(f"The {'y' * n} row says more.")] for n, top in enumerate(tops)]


def numbered(number: str) -> list[list[Set]]:
    """Seven pages, of which the last one ends with this."""
    return [*([Set(f"{'x' * n} text")] for n in range(1, 7)), [*prose(SENTENCE), Set(number)]]


@each(
    ("pages", "wanted"),
    [
        (
            [with_margins(n) for n in (1, 2, 3)],
            [text for n in (1, 2, 3) for text in ("Table of Contents", f"A Corp. | 10-K | {n}")],
        ),
        # on two pages the first head is content
        ([with_margins(n) for n in (1, 2)], ["A Corp. | 10-K | 1", "Table of Contents", "A Corp. | 10-K | 2"]),
        *(
            ([[Set("Price: 20 crowns"), *prose(SENTENCE)], [other, *prose(SENTENCE)]], [])
            for other in (
                *(Set("Price: 30 crowns"), Set("Price: 20 crowns", left=80), Set("Price: 20 crowns", size=12)),
            )
        ),
        *((numbered(text), [text]) for text in ("7", "- 7 -", "Page 7", "Strana 7", "7 / 12", "Page 7 of 12")),
        (numbered("42"), []),
        # of one chapter
        (topped(["Risk factors" if 10 < n <= 17 else f"{'x' * n} top" for n in range(1, 41)]), ["Risk factors"] * 7),
        (topped(["Table of sales" if n % 7 == 0 else f"{'x' * n} top" for n in range(1, 50)]), []),
        # below the first row
        ([[Set(f"{word} opens"), Set("Summary"), *prose(f"The {word} text.")] for word in ("a", "bb", "cc", "dd")], []),
        (["Text 1."], []),
    ],
)
def test_given_rows_at_the_edges_of_pages_when_read_then_what_repeats_is_boilerplate(
    pages: list[Given], wanted: list[str]
) -> None:
    made = pages_of(*pages)

    assert of_kind(made, BlockKind.BOILERPLATE) == wanted
    assert any(block.kind is not BlockKind.BOILERPLATE for block in blocks(made, "en"))


SOME = [
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
SIZES, YES = st.sampled_from([8.0, 10.0, 14.0]), st.booleans()
ROWS = st.lists(st.builds(Set, st.sampled_from([SENTENCE, *SOME]), SIZES, YES, YES, YES), max_size=12)


@given(st.lists(ROWS, max_size=4))
def test_given_any_rows_when_read_then_every_visible_character_lies_in_exactly_one_block(
    documents: list[list[Set]],
) -> None:
    pages = pages_of(*documents)

    covered: dict[tuple[int, int], int] = {}
    for block in blocks(pages, "en"):
        assert all(block.start <= start < end <= block.end for start, end in block.parts)
        for start, end in block.parts:
            for offset in range(start, end):
                covered[block.page, offset] = covered.get((block.page, offset), 0) + 1

    visible = {(each.number, offset) for each in pages for offset, char in enumerate(each.text) if not char.isspace()}
    assert {place for place in covered if place in visible} == visible
    assert all(covered[place] == 1 for place in visible)


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
] * 2


@given(pitch=st.floats(1.0, 2.3), between=st.floats(1.5, 3.0), one_block_a_row=st.booleans())
def test_given_clauses_set_at_any_pitch_when_read_then_no_row_of_their_sentences_is_a_heading(
    pitch: float, between: float, one_block_a_row: bool
) -> None:
    """MuPDF gives each row of widely set text a block of its own; a clause that begins with its number runs on all the
    same.
    """
    rows = [(number, text) for clause in CLAUSES for number, text in enumerate(clause)]
    made, top = page(1, [Set(text, gap=one_block_a_row or number == 0) for number, text in rows]), 40.0
    lines = []
    for line, (number, _) in zip(made.lines, rows, strict=True):
        top += 10 * pitch * (between if number == 0 else 1.0)
        lines.append(replace(line, box=Box(line.box.x0, top, line.box.x1, top + 10)))

    found = blocks([replace(made, lines=tuple(lines))], "en")

    assert {one.kind for one in found} == {BlockKind.PARAGRAPH}
    assert [made.text[one.start : one.end] for one in found] == ["\n".join(clause) for clause in CLAUSES]
