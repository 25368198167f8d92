"""Workbooks and presentations: what they show is read as they print it, in the child, and nothing that is hidden."""

from __future__ import annotations

import io
import random
import re
import zipfile
from contextlib import suppress
from pathlib import Path

import pytest
from folding import each
from hypothesis import given
from hypothesis import strategies as st
from office_files import (
    KINDS,
    Cell,
    P,
    R,
    S,
    Sheet,
    Slide,
    deck,
    frame,
    group,
    letters,
    packed,
    relations,
    shape,
    table,
    words,
    workbook,
)

from rag_core.domain.rows import EMPTY
from rag_core.errors import EmptyDocument, NotAPdf
from rag_core.ingest.blocks.structure import BlockKind, blocks
from rag_core.ingest.pdf_worker.failure import Failure
from rag_core.ingest.pdf_worker.formats import sheets, slides
from rag_core.ingest.pdf_worker.formats.numbers import printed, printed_text
from rag_core.ingest.pdf_worker.formats.office import MAX_PART_BYTES
from rag_core.ingest.reading.pdf import PdfContent, read_pdf
from rag_core.library.stored.sources import READABLE, Source

EURO = '#,##0.00 "€"'
ACCOUNTING = '_-* #,##0.00\\ [$€-407]_-;\\-* #,##0.00\\ [$€-407]_-;_-* "-"??\\ [$€-407]_-;_-@_-'
DAY = "46086"  # 5 March 2026
# as Excel prints them with the separators of the United States
PRINTED = [
    ("1234.5", EURO, "1,234.50 €"),
    ("-1234.5", EURO, "-1,234.50 €"),
    ("1234.5", '#,##0.00\\ "Kč"', "1,234.50 Kč"),
    ("-12.5", ACCOUNTING, "-12.50 €"),
    ("0", ACCOUNTING, "- €"),
    ("0.08", "0%", "8%"),
    ("0.1234", "0.00%", "12.34%"),
    ("1234567", "#,##0", "1,234,567"),
    ("1234567", "#,##0,", "1,235"),
    ("1250000", '0.0,,"M"', "1.3M"),
    ("0.5", "0", "1"),
    ("2.5", "0", "3"),
    ("1.005", "0.00", "1.01"),
    ("-0.001", "0.00", "0.00"),
    ("5", "00000", "00005"),
    ("420123456789", "+000 000 000 000", "+420 123 456 789"),
    ("12", "0.##", "12"),  # Excel leaves a point behind it
    ("0.5", "#.##", ".5"),
    ("0", "#", ""),
    ("12345", "0.00E+00", "12345"),
    ("3.75", "# ?/?", "3.75"),
    ("-5", "0;(0)", "(5)"),
    ("0", '0;-0;"none"', "none"),
    ("7", ";;;", ""),
    ("7", "[Red]0_);(0)", "7"),
    ("150", '[>100]"many";0', "150"),
    ("3", '"Zone "0', "Zone 3"),
    ("3", 'General" items"', "3 items"),
    ("0.30000000000000004", "General", "0.3"),
    ("123456789012", "General", "123456789012"),
    ("1E+21", "General", "1E+21"),
    (DAY, "dd.mm.yyyy", "05.03.2026"),
    (DAY, "d/m/yy", "5/3/26"),
    (DAY, "mmm yyyy", "Mar 2026"),
    (DAY, "[$-407]d. mmmm yyyy;@", "5. März 2026"),
    (DAY, "[$-405]d\\. mmmm yyyy", "5. března 2026"),
    (DAY, "[$-F800]dddd, mmmm dd, yyyy", "2026-03-05"),
    (DAY, "[$-7F]mmmm", "March"),
    ("46086.58819", "yyyy-mm-dd hh:mm", "2026-03-05 14:07"),
    ("0.38", "h:mm AM/PM", "9:07 AM"),
    ("1.25", "[h]:mm", "30:00"),
    ("0.001", "mm:ss.0", "01:26.4"),
    ("59", "d.m.yyyy", "28.2.1900"),
    ("-1", "yyyy", "-1"),
    ("5", "0" * 300, "5"),
]


@each(("value", "code", "said"), PRINTED)
def test_given_a_number_and_its_format_when_printed_then_it_is_as_its_sheet_prints_it(
    value: str, code: str, said: str
) -> None:
    assert printed(value, code) == said


def test_given_a_text_or_days_from_1904_when_printed_then_the_format_may_add_to_them_or_hide_them() -> None:
    codes = ("General", "0.00", '"Tree: "@', ";;;", "0;0;0;@!")
    assert [printed_text("Oak", code) for code in codes] == ["Oak", "Oak", "Tree: Oak", "", "Oak!"]
    assert printed("44624", "dd.mm.yyyy", apple=True) == "05.03.2026"


@given(st.floats(allow_nan=False, allow_infinity=False), st.text('0#?.,%E+-/;[]$"_*\\@yMdhs Genral:€', max_size=12))
def test_given_any_number_and_any_format_then_it_is_printed(number: float, code: str) -> None:
    assert isinstance(printed(repr(number), code), str)


def pages(data: bytes, form: str) -> PdfContent:
    return read_pdf(data, f"a.{form}", form=form)


FEES = Sheet(
    [
        ["Price list of the ferry", None, None, None],
        [],
        ["Zone", 2025, 2026, "From"],
        ["Zone 1", Cell(10.5, EURO), Cell(11, EURO), Cell(46023, "dd.mm.yyyy")],
        ["Zone 2", Cell(0.08, "0%"), Cell(None, formula="SUM(B1:B2)"), "a | b"],
        ["Zone 3", Cell(14, EURO), Cell(1534.5, EURO, formula="A1*2"), Cell("old", struck=True)],
    ],
    merged=["A1:D1"],
)


def test_given_a_workbook_when_read_then_each_row_stands_as_printed_below_its_heads_and_the_label_names_the_cells() -> (
    None
):
    content = pages(workbook(FEES), "xlsx")

    assert content.pages[0].text.splitlines() == [
        *("# Prices", "", "Price list of the ferry", "", "| Zone | 2025 | 2026 | From |", "|---|---|---|---|"),
        "| Zone 1 | 10.50 € | 11.00 € | 01.01.2026 |",
        f"| Zone 2 | 8% | {EMPTY} | a ¦ b |",
        f"| Zone 3 | 14.00 € | 1,534.50 € | {EMPTY} |",
    ]
    assert [page.label for page in content.pages] == ["Prices A1:D6"]
    assert content.problems == (
        "Formulas that were saved without a value were not read, on the sheets: Prices. "
        "Open the workbook, calculate and save it, and add that copy.",
        "Page 1: 3 characters of text that is crossed out or marked as void were left out.",
    )
    (found,) = (block for block in blocks(content.pages, "en") if block.kind is BlockKind.TABLE)
    assert [content.pages[0].text[span.start : span.end] for span in found.header] == ["| Zone | 2025 | 2026 | From |"]


def test_given_hidden_sheets_rows_and_columns_when_read_then_none_of_them_is_and_a_finding_names_the_sheets() -> None:
    rows = [["Zone", "secret", "Price"], ["secret", "secret", "secret"], ["Zone 1", "secret", Cell(11, EURO)]]
    hidden = [Sheet([["secret"]], name=f"{state} sheet", state=state) for state in ("hidden", "veryHidden")]
    content = pages(workbook(Sheet(rows, hidden=[2, "B"]), *hidden, Sheet(name="Blank")), "xlsx")

    assert content.pages[0].text.splitlines()[2:] == ["| Zone | Price |", "|---|---|", "| Zone 1 | 11.00 € |"]
    assert len(content.pages) == 1
    assert content.problems == (
        "Hidden sheets were not read: hidden sheet, veryHidden sheet.",
        "Hidden rows or columns were not read, on the sheets: Prices.",
    )


def test_given_notes_on_cells_and_a_row_of_no_height_when_read_then_they_are_not() -> None:
    flat = f"<worksheet {S}><sheetData><row ht='0' customHeight='1'><c t='str'><v>secret</v></c></row>"
    flat += (
        "<row><c t='inlineStr'><is><r><t>Rent of 20 m</t></r><r><rPr><vertAlign val='superscript'/></rPr><t>2</t></r>"
    )
    flat += "<r><rPr><strike/></rPr><t> gone</t></r></is></c><c t='b'><v>1</v></c><c t='e'><v>#DIV/0!</v></c></row>"
    data = workbook(
        Sheet(parts=[("comments", "../comments1.xml")]),
        parts={"xl/worksheets/sheet1.xml": f"{flat}</sheetData></worksheet>"},
    )
    content = pages(data, "xlsx")

    assert content.pages[0].text.splitlines()[2:] == ["| Rent of 20 m² | TRUE | #DIV/0! |"]
    assert content.pages[0].label == "Prices A2:C2"
    assert "Notes on cells were not read, on the sheets: Prices." in content.problems


def test_given_merged_cells_when_read_then_each_stands_in_its_places_and_heads_in_two_rows_name_the_columns() -> None:
    rows = [
        ["Tariff", "Summer", "under it", "Winter"],
        [None, "Day", "Night", "Day"],
        ["House", 0.31, 0.22, 0.36],
        [None, 0.3, 0.2, 0.35],
        ["All prices hold without tax", None, None, None],
    ]
    page = pages(workbook(Sheet(rows, merged=["B1:C1", "A1:A2", "A3:A4", "A5:D5"])), "xlsx").pages[0]

    assert page.text.splitlines()[2:] == [
        "| Tariff | Summer | Summer | Winter |",
        *("| Tariff | Day | Night | Day |", "|---|---|---|---|"),
        *("| House | 0.31 | 0.22 | 0.36 |", "| House | 0.3 | 0.2 | 0.35 |"),
        f"| All prices hold without tax | {EMPTY} | {EMPTY} | {EMPTY} |",
    ]
    (found,) = (block for block in blocks([page], "en") if block.kind is BlockKind.TABLE)
    assert found.header[0].end == page.text.index("\n|---")


def test_given_a_long_sheet_and_twelve_alike_when_read_then_each_page_has_its_cells_and_no_head_is_taken_for_a_running_one() -> (  # noqa: E501
    None
):
    long = Sheet([["Item", "Count"], *([f"Item {n}", n] for n in range(1, 120))], name="Räume & (alt)_1")
    months = [Sheet([["Zone", "Price"], ["Zone 3", 7], ["Zone", 3]], name=f"Sheet {n}") for n in range(1, 13)]
    content = pages(workbook(long, *months), "xlsx")

    assert [page.label for page in content.pages[:4]] == [
        *("Räume alt 1 A1:B50", "Räume alt 1 A51:B100", "Räume alt 1 A101:B120", "Sheet 1 A1:B3")
    ]
    assert content.pages[1].text.startswith("# Räume & (alt)_1\n\n| Item | Count |\n|---|---|\n| Item 50 | 50 |")
    found = blocks(content.pages, "en")
    assert not [block for block in found if block.kind is BlockKind.BOILERPLATE]
    assert all(block.header for block in found if block.kind is BlockKind.TABLE)


WORDS = st.text("abcdefgh", min_size=3, max_size=6)
VALUES = st.sampled_from([(float(value), code, said) for value, code, said in PRINTED if said and code != "0" * 300])


@given(
    st.lists(st.lists(st.one_of(st.none(), WORDS, VALUES), min_size=1, max_size=5), min_size=1, max_size=8),
    st.sets(st.integers(1, 8)),
    st.sets(st.integers(1, 5)),
)
def test_given_any_sheet_when_read_then_every_cell_that_shows_stands_on_its_page_and_nothing_hidden_does(
    rows: list[list[str | tuple[float, str, str] | None]], rows_hidden: set[int], columns_hidden: set[int]
) -> None:
    made, shown, hidden = list[list[Cell]](), dict[int, list[str]](), list[str]()
    for number, row in enumerate(rows, 1):
        made.append([])
        for column, value in enumerate(row, 1):
            mark = f"r{number}c{column}"  # so that each text stands in one place
            match value:
                case None:
                    made[-1].append(Cell(None))
                    continue
                case str():
                    said, cell = f"{mark}{value}", Cell(f"{mark}{value}")
                case float(one), code, told:
                    said, cell = told, Cell(one, code)
            made[-1].append(cell)
            if number not in rows_hidden and column not in columns_hidden:
                shown.setdefault(number, []).append(said)
            elif isinstance(value, str):
                hidden.append(said)
    data = workbook(Sheet(made, hidden=[*rows_hidden, *map(letters, columns_hidden)]))
    if not shown:
        with pytest.raises(Failure):
            sheets.read(data)
        return
    text = "\n".join(page.text for page in sheets.read(data).pages)

    lines = [[cell for cell in line.strip("| ").split(" | ") if cell != EMPTY] for line in text.splitlines()]
    assert all(row in lines for row in shown.values()), (shown, text)
    assert not [one for one in hidden if one in text]


BAD_BOOKS = {
    "no archive": (b"PK\x03\x04" + b"x" * 100, "DamagedPdf"),
    "a presentation": (deck(Slide()), "NotAPdf"),
    "a bomb": (workbook(FEES, parts={"xl/texts.xml": " " * (MAX_PART_BYTES + 1)}), "LimitExceeded"),
    "many small bombs": (
        workbook(*[Sheet([["x"]], more=f"<!--{' ' * (MAX_PART_BYTES // 8)}-->", name=str(n)) for n in range(9)]),
        "LimitExceeded",
    ),
    "empty cells": (
        workbook(
            FEES,
            parts={"xl/worksheets/sheet1.xml": f"<w {S}><sheetData><row>{'<c/>' * 4_100_000}</row></sheetData></w>"},
        ),
        "LimitExceeded",
    ),
    "entities": (
        workbook(FEES, parts={"xl/texts.xml": f'<!DOCTYPE s [<!ENTITY a "b">]><sst {S}><si><t>&a;</t></si></sst>'}),
        "DamagedPdf",
    ),
    "nested deep": (workbook(FEES, parts={"xl/texts.xml": "<a>" * 300 + "</a>" * 300}), "LimitExceeded"),
    "texts that are not there": (workbook(FEES, parts={"xl/texts.xml": f"<sst {S}/>"}), "DamagedPdf"),
    "a part from elsewhere": (
        workbook(FEES, parts={"xl/_rels/workbook.xml.rels": relations(("worksheet", "../../etc/passwd"))}),
        "DamagedPdf",
    ),
    "cells on a slant": (workbook(Sheet([[None] * n + [1, 2] for n in range(900)])), "LimitExceeded"),
    "cells merged again and again": (workbook(Sheet([["x"] * 80] * 80, merged=["A1:CB80"] * 200)), "LimitExceeded"),
    "a place beyond the last": (
        workbook(
            FEES, parts={"xl/worksheets/sheet1.xml": f"<w {S}><sheetData><row><c r='ZZZ1'/></row></sheetData></w>"}
        ),
        "DamagedPdf",
    ),
    "nothing that shows": (workbook(Sheet([["x"]], state="hidden")), "EmptyDocument"),
}


@each("name", BAD_BOOKS)
def test_given_a_hostile_workbook_when_read_then_it_is_one_known_error(name: str) -> None:
    data, kind = BAD_BOOKS[name]

    with pytest.raises(Failure) as bad:
        sheets.read(data)

    assert bad.value.args[0] == kind
    assert all(bad.value.args)


def test_given_two_cells_a_million_rows_apart_and_all_between_merged_when_read_then_two_cells_are_read() -> None:
    far = f"<worksheet {S}><dimension ref='A1:XFD1048576'/><cols><col min='1' max='16384' width='9'/></cols><sheetData>"
    far += "<row r='1'><c r='A1' t='str'><v>first</v></c></row><row r='1048576'><c r='XFD1048576'><v>7</v></c></row>"
    far += "</sheetData><mergeCells><mergeCell ref='A1:XFD1048575'/></mergeCells></worksheet>"
    (page,) = pages(workbook(FEES, parts={"xl/worksheets/sheet1.xml": far}), "xlsx").pages

    assert page.text.split("\n\n") == ["# Prices", "first", "7"]
    assert page.label == "Prices A1:XFD1048576"


ODD = ("", "-1", "0", "99999999999", "1E999", "nan", "x", "A0", "B1:A1", "0?/?", "$-", "é")


def test_given_a_text_longer_than_a_page_may_be_when_read_then_the_page_is_cut_and_a_finding_says_so() -> None:
    content = pages(deck(Slide(words("so " * 100_000)), Slide(words("short"))), "pptx")

    assert [len(page.text) for page in content.pages] == [200_000, 5]
    assert content.problems == ("Page 1: Only the first 200,000 characters of this page were read.",)


def test_given_bytes_or_values_changed_at_random_when_read_then_it_is_read_or_refused() -> None:
    drawn = random.Random(7)
    for data, read in ((workbook(FEES), sheets.read), (deck(TARIFF, NOTED), slides.read)):
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            parts = {name: archive.read(name).decode() for name in archive.namelist()[1:]}
        for _ in range(300):
            name = drawn.choice(list(parts))
            values = list(re.finditer(r"(?<=')[^'<>]*(?=')|(?<=>)[^<>]+(?=<)", parts[name])) or [re.search("", "")]
            value = drawn.choice(values)
            text = f"{parts[name][: value.start()]}{drawn.choice(ODD)}{parts[name][value.end() :]}"
            changed = bytearray(data)
            for _ in range(drawn.randint(1, 8)):
                changed[drawn.randrange(len(changed))] = drawn.randrange(256)
            for one in (bytes(changed), packed({**parts, name: text})):
                with suppress(Failure):
                    read(one)


TARIFF = Slide(
    words("The year 2026", kind="title")
    + words("Zone 1 costs 11 euros", "Dogs travel free", kind="")
    + table(
        ["Zone", "Summer", ""],
        ["Zone 3", "15 €", "14 €"],
        ["", "16 €", "15 €"],
        merged={(0, 1): "gridSpan='2'", (0, 2): "hMerge='1'", (1, 0): "rowSpan='2'", (2, 0): "vMerge='1'"},
    )
    + words("Ferry company", kind="ftr")
    + words("1", kind="sldNum")
)
NOTED = Slide(words("Ferry company", kind="ftr") + words("Harbour", kind="ctrTitle"), notes="Greet everybody.")


def test_given_a_presentation_when_read_then_each_slide_is_a_page_with_its_title_lists_tables_and_notes() -> None:
    content = pages(deck(TARIFF, NOTED), "pptx")

    assert content.pages[0].text == (
        "# The year 2026\n\n- Zone 1 costs 11 euros\n- Dogs travel free\n\n"
        "| Zone | Summer | Summer |\n|---|---|---|\n| Zone 3 | 15 € | 14 € |\n| Zone 3 | 16 € | 15 € |\n\nFerry company"
    )
    assert content.pages[1].text == "# Harbour\n\n## Notes\n\nGreet everybody."
    assert [page.label for page in content.pages] == ["", ""]  # a slide's number is its place in the file
    assert content.problems == ()


def test_given_hidden_slides_and_shapes_when_read_then_none_of_them_is_and_findings_say_so() -> None:
    unseen = words("secret beside", place="1000 0 50 50") + words("secret above", place="0 -60 50 50")
    unseen += words("secret", looks="hidden='1'") + group(words("secret group"), looks="hidden='true'")
    seen = words("Half of it shows", place="-10 0 50 50") + group(words("left"), group(words("right")), words("below"))
    chart = frame("<c:chart xmlns:c='x'/>")
    content = pages(
        deck(
            Slide(words("secret", kind="title"), hidden=True, notes="secret"),
            Slide(unseen + seen + chart),
            Slide(chart),
            Slide(),
        ),
        "pptx",
    )

    assert [page.text for page in content.pages] == ["Half of it shows\n\nleft\n\nright\n\nbelow", "", ""]
    assert [page.label for page in content.pages] == ["2", "3", "4"]
    assert [page.source for page in content.pages] == ["text", "unreadable", "empty"]
    assert content.problems == (
        "Hidden slides were not read: 1.",
        "Charts and diagrams were not read, on the slides: 2.",
        f"Page 2: {slides.NO_WORDS}",
        "Page 1: 40 characters of hidden text were left out: 23 beside the page (page 1); "
        "17 transparent or not painted (page 1).",
    )


def test_given_runs_of_a_paragraph_when_read_then_they_are_one_line_without_what_is_struck_out() -> None:
    run = "<a:r><a:rPr {}/><a:t>{}</a:t></a:r>"
    runs = run.format("", "20 m") + run.format("baseline='30000'", "2") + "<a:br/>"
    runs += run.format("strike='sngStrike'", "gone ") + run.format("strike='noStrike'", "of &lt;b&gt; land")
    marked = f"<a:p><a:pPr lvl='1'><a:buChar char='x'/></a:pPr>{run.format('', 'item')}</a:p>"
    plain = f"<a:p><a:pPr><a:buNone/></a:pPr>{run.format('', 'no item')}</a:p>"
    content = pages(
        deck(Slide(shape(f"<a:p>{runs}</a:p>") + shape(marked + marked) + shape(plain, kind="body"))), "pptx"
    )

    assert content.pages[0].text == "20 m² of <b> land\n\n  - item\n  - item\n\nno item"
    assert content.problems == ("Page 1: 4 characters of text that is crossed out or marked as void were left out.",)


@given(st.lists(st.tuples(st.booleans(), st.lists(st.tuples(st.booleans(), WORDS), max_size=4)), max_size=6))
def test_given_any_deck_when_read_then_all_that_shows_stands_on_its_slide_and_nothing_hidden_does(
    drawn: list[tuple[bool, list[tuple[bool, str]]]],
) -> None:
    made, shown, hidden = list[Slide](), dict[str, list[str]](), list[str]()
    for number, (gone, shapes) in enumerate(drawn, 1):
        said = [(unseen, f"s{number}n{at}{word}") for at, (unseen, word) in enumerate(shapes)]
        made.append(
            Slide("".join(words(word, looks="hidden='1'" if unseen else "") for unseen, word in said), hidden=gone)
        )
        hidden += [word for unseen, word in said if gone or unseen]
        if not gone:
            shown[str(number)] = [word for unseen, word in said if not unseen]
    read = slides.read(deck(*made)).pages

    assert {page.label: page.text.split() for page in read} == shown
    assert not [word for page in read for word in hidden if word in page.text]


def test_given_a_presentation_that_names_one_slide_again_and_again_when_read_then_it_is_refused() -> None:
    big = Slide(words("x" * 200_000))
    rows = "".join(f"<p:sldId id='{n}' r:id='rId1'/>" for n in range(1000))
    parts = {"ppt/presentation.xml": f"<p:presentation {P} {R}><p:sldIdLst>{rows}</p:sldIdLst></p:presentation>"}

    with pytest.raises(Failure, match="LimitExceeded"):
        slides.read(deck(big, parts=parts))
    with pytest.raises(EmptyDocument):
        pages(deck(), "pptx")


def test_given_the_strict_form_and_a_stated_title_when_read_then_they_are_as_good() -> None:
    core = '<c xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>Fees</dc:title></c>'
    strict = "http://purl.oclc.org/ooxml"
    book = f"<workbook xmlns='{strict}/spreadsheetml/main' xmlns:r='{strict}/officeDocument/relationships'><sheets>"
    parts = {
        "xl/workbook.xml": f"{book}<sheet name='A' r:id='rId1'/></sheets></workbook>",
        "xl/_rels/workbook.xml.rels": relations(("worksheet", "worksheets/a.xml")).replace(KINDS, strict),
        "xl/worksheets/a.xml": f"<worksheet xmlns='{strict}/spreadsheetml/main'><sheetData><row><c><v>7</v></c></row>"
        "</sheetData></worksheet>",
        "docProps/core.xml": core,
    }
    content = pages(packed(parts), "xlsx")

    assert (content.metadata.title, content.pages[0].text) == ("Fees", "# A\n\n7")


def test_given_a_file_of_a_wrong_kind_when_named_then_one_error_lists_the_right_ones(tmp_path: Path) -> None:
    for name in ("a.xls", "b.doc", "c.odt", "d.pages", "e.png", "f.xlsb", "g"):
        (tmp_path / name).write_bytes(b"x")
        with pytest.raises(NotAPdf, match=name) as wrong:
            Source.from_path(tmp_path / name)
        assert all(end in wrong.value.remedy for end in (*READABLE, ".jsonl"))
    with pytest.raises(NotAPdf, match="or one with a password") as locked:
        pages(b"\xd0\xcf\x11\xe0" + b"x" * 600, "xlsx")
    assert ".xlsx" in locked.value.remedy
