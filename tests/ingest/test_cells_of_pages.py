"""Tables, forms and struck rows on pages that are made by a program, each of which knows what it says."""

from __future__ import annotations

import random
from textwrap import wrap

import pymupdf
import pytest
from test_shown_units import units_of

from rag_core.domain.rows import EMPTY
from rag_core.grounding.units import Unit
from rag_core.ingest.reading.pdf import read_pdf

LABELS = "Pottery Weaving Singing Fishing Passports Crowns Bridges Cleaning Harbour Mill".split()
HEADS = "Tariff Monday Tuesday Remarks Evening Noon".split()
VALUES = ["9 to 12", "room 4", "80 %", "12 euros", "cash only", "7:10"]
PAGES = 12
Table = list[list[list[str]]]  # the lines of each cell


def made(draw: random.Random, *, wrapped: bool) -> Table:
    """A table whose first row is full, with empty cells, and perhaps cells of several lines."""
    columns, count = draw.randint(3, 5), draw.randint(4, 7)
    labels = draw.sample(LABELS, count)
    rows = []
    for at in range(count):
        lines = [f"{labels[at]} for", "all guests"] if wrapped and draw.random() < 0.4 else [labels[at]]
        values = [[draw.choice(VALUES)] if not at or draw.random() < 0.6 else [] for _ in range(columns - 1)]
        if not any(values):
            values[draw.randrange(columns - 1)] = [draw.choice(VALUES)]
        rows.append([lines, *values])
    return [[[head] for head in HEADS[:columns]], *rows]


def draw_table(page: pymupdf.Page, table: Table, *, ruled: bool, pitch: float = 12.0) -> list[float]:
    """Draw it, by columns between rules, else by rows; the middles of its rows."""
    width, top = 100.0, 80.0
    tops = [top]
    for row in table:
        tops.append(tops[-1] + pitch * max(len(cell) for cell in row) + 10)
    places = [(at, column) for at in range(len(table)) for column in range(len(table[0]))]
    for at, column in sorted(places, key=lambda place: place[::-1]) if ruled else places:
        for line, text in enumerate(table[at][column]):
            page.insert_text((54 + column * width, tops[at] + 12 + pitch * line), text, fontsize=10)
    right = 50 + len(table[0]) * width
    for y in tops if ruled else []:
        page.draw_line((50, y), (right, y))
    for column in range(len(table[0]) + 1) if ruled else []:
        page.draw_line((50 + column * width, tops[0]), (50 + column * width, tops[-1]))
    return [y + 9 for y in tops[:-1]]


def written(table: Table) -> str:
    return "\n".join("\t".join(" ".join(cell) or EMPTY for cell in row) for row in table)


def read(document: pymupdf.Document) -> list[str]:
    return [page.text for page in read_pdf(document.tobytes(), "a.pdf", ocr=False).pages]


@pytest.mark.parametrize("ruled", [True, False])
@pytest.mark.parametrize("wrapped", [True, False])
def test_given_tables_with_empty_and_wrapped_cells_when_read_then_each_cell_keeps_its_column(
    ruled: bool, wrapped: bool
) -> None:
    draw, document = random.Random(f"{ruled}{wrapped}"), pymupdf.open()
    tables = [made(draw, wrapped=wrapped) for _ in range(PAGES)]
    for table in tables:
        draw_table(document.new_page(), table, ruled=ruled)

    assert read(document) == [written(table) for table in tables]


def test_given_rows_that_head_others_in_a_ruled_table_then_they_go_with_those_below() -> None:
    document, rows = pymupdf.open(), [["Paid by the insurer", "", ""], ["Fillings", "80 %", "95 %"]]
    rows += [["Paid by the patient", "", ""], ["Crowns", "310 euros", "240 euros"], ["Bridges", "455 euros", "9 euros"]]
    table = [[[cell] if cell else [] for cell in row] for row in [["Treatment", "Plan A", "Plan B"], *rows]]
    draw_table(document.new_page(), table, ruled=True)
    pages = read_pdf(document.tobytes(), "a.pdf", ocr=False).pages

    def head(unit: Unit) -> str:
        return "".join(pages[0].text[span.start : span.end] for span in unit.group)

    assert [head(unit) for unit in units_of(pages) if "euros" in unit.text] == ["Paid by the patient"] * 2


def test_given_a_line_through_a_whole_row_when_read_then_only_that_row_is_struck_out() -> None:
    draw, document, expected = random.Random(7), pymupdf.open(), []
    for number in range(PAGES):
        table = made(draw, wrapped=False)
        page, ruled = document.new_page(), bool(number % 2)
        middles = draw_table(page, table, ruled=ruled)
        struck = draw.randrange(1, len(table))
        right = 50 + 100 * max(at + 1 for at, cell in enumerate(table[struck]) if cell)
        page.draw_line((54 - draw.uniform(0, 4), middles[struck]), (right - draw.uniform(0, 20), middles[struck]))
        expected.append([row[0][0] for at, row in enumerate(table) if at != struck])

    assert [[line.split("\t")[0] for line in text.split("\n")] for text in read(document)] == expected


def test_given_lines_of_a_chart_through_its_figures_when_read_then_nothing_is_struck_out() -> None:
    document = pymupdf.open()
    page = document.new_page()
    for at in range(5):
        page.insert_text((50, 100 + 40 * at), str(50 - 10 * at), fontsize=10)
        page.draw_line((70, 97 + 40 * at), (400, 97 + 40 * at))
    for x in (120, 220, 320):
        page.insert_text((x, 180), "30", fontsize=10)

    assert sorted(read(document)[0].split()) == ["10", "20", "30", "30", "30", "30", "40", "50"]


def test_given_figures_with_drawn_outlines_when_read_then_nothing_of_them_is_struck_out() -> None:
    draw, document, expected = random.Random(9), pymupdf.open(), []
    for _ in range(PAGES):
        page = document.new_page()
        figures = [f"{draw.randint(10, 99)}%" for _ in range(5)]
        for at, figure in enumerate(figures):
            page.insert_text((50, 100 + 30 * at), figure, fontsize=9)
        letters = [
            letter["bbox"]
            for block in page.get_text("rawdict")["blocks"]
            for line in block["lines"]
            for span in line["spans"]
            for letter in span["chars"]
        ]
        for x0, y0, x1, y1 in letters:  # as of a 4: its bar, and the stem that it crosses
            wide, high, stem = x1 - x0, y1 - y0, draw.uniform(0.6, 0.8)
            page.draw_line((x0 + 0.1 * wide, y0 + 0.6 * high), (x1 - 0.1 * wide, y0 + 0.6 * high), width=0.3)
            page.draw_line((x0 + stem * wide, y0 + 0.25 * high), (x0 + stem * wide, y0 + 0.75 * high), width=0.3)
        expected.append(figures)

    assert [text.split("\n") for text in read(document)] == expected


def test_given_drawn_boxes_before_words_when_read_then_each_is_ticked_or_open() -> None:
    draw, document, expected = random.Random(3), pymupdf.open(), []
    for _ in range(PAGES):
        page, rows = document.new_page(), []
        for at, label in enumerate(draw.sample(LABELS, 4)):
            ticked, y, side = draw.randrange(3), 100.0 + 30 * at, draw.choice([8.0, 10.0, 12.0])
            page.insert_text((50, y), f"{label}:", fontsize=11)
            for choice, word in enumerate(("North", "Hill", "Harbour")):
                x = 150.0 + 100 * choice
                page.draw_rect((x, y - side, x + side, y))
                if choice == ticked and at % 2:
                    page.draw_line((x + 1, y - side / 2), (x + side / 3, y - 1))
                    page.draw_line((x + side / 3, y - 1), (x + side, y - side - 1))
                elif choice == ticked:
                    page.draw_line((x + 1, y - side + 1), (x + side - 1, y - 1))
                    page.draw_line((x + 1, y - 1), (x + side - 1, y - side + 1))
                page.insert_text((x + side + 4, y), word, fontsize=11)
            signs = ["☑" if choice == ticked else "☐" for choice in range(3)]
            rows.append(f"{label}:\t{signs[0]} North\t{signs[1]} Hill\t{signs[2]} Harbour")
        expected.append("\n".join(rows))

    assert read(document) == expected


def test_given_a_column_of_drawn_boxes_close_to_each_other_when_read_then_each_is_ticked_or_open() -> None:
    draw, document, expected = random.Random(5), pymupdf.open(), []
    for _ in range(PAGES):
        page, rows, side, hang = document.new_page(), [], draw.uniform(8, 11), draw.uniform(6, 24)
        for at, label in enumerate(draw.sample(LABELS, 6)):
            y, ticked = 100.0 + (side + 2) * at, draw.random() < 0.5
            page.draw_rect((50, y - side, 50 + side, y))
            for start, end in (((51, y - side + 1), (49 + side, y - 1)), ((51, y - 1), (49 + side, y - side + 1))):
                page.draw_line(start, end) if ticked else None
            page.insert_text((50 + side + hang, y - 1), label, fontsize=9)
            rows.append(f"{'☑' if ticked else '☐'} {label}")
        expected.append(rows)

    assert [text.split("\n") for text in read(document)] == expected


def test_given_a_cell_beside_several_rows_of_a_ruled_table_when_read_then_each_of_these_is_whole() -> None:
    draw, document, expected = random.Random(11), pymupdf.open(), []
    for _ in range(PAGES):
        page, said, y = document.new_page(), [], 80.0
        edges = (50.0, 150.0, 330.0, 410.0, 470.0, 560.0)
        for label in draw.sample(LABELS, 2):
            page.draw_line((edges[0], y), (edges[-1], y))
            page.insert_text((54, y + 14), label, fontsize=10)
            for row in range(draw.randint(2, 3)):
                if row:
                    page.draw_line((edges[1], y), (edges[-1], y))
                lines = ["Clean all paths, and the lanes of", "the harbour in each season"][: draw.randint(1, 2)]
                date, person = f"20{draw.randint(20, 29)}", draw.choice(("Town council", "Harbour office"))
                for at, line in enumerate(lines):
                    page.insert_text((edges[1] + 4, y + 14 + 12 * at), line, fontsize=10)
                page.insert_text((edges[2] + 4, y + 14), date, fontsize=10)
                page.draw_line((edges[3] + 20, y + 12), (edges[3] + 28, y + 12))  # of a sign that is drawn
                page.insert_text((edges[3] + 4, y + 14), "" if row else "$", fontsize=10)
                page.insert_text((edges[4] + 4, y + 14), person, fontsize=10)
                cells = [" ".join(lines), date, EMPTY if row else "$", person]
                said.append("\t".join(cells if row else [label, *cells]))
                y += 34
        page.draw_line((edges[0], y), (edges[-1], y))
        for x in edges:
            page.draw_line((x, 80), (x, y))
        expected.append(said)

    assert [text.split("\n") for text in read(document)] == expected


TEXTS = [
    "Clean all paths, and the lanes of the harbour in each season of the year",
    "Paint the boats that lie on the beach, where the weather allows it",
    "Count the lamps of the mill, and write down which of them are broken by wind or by water",
]


@pytest.mark.parametrize("order", ["rows", "columns", "lines"])
@pytest.mark.parametrize("middle", [True, False])
def test_given_cells_of_several_lines_under_heads_in_any_order_when_read_then_each_row_is_whole(
    order: str, middle: bool
) -> None:
    draw, document, expected = random.Random(f"{order}{middle}"), pymupdf.open(), []
    for _ in range(PAGES):
        page, said, parts, y = document.new_page(), ["Place\tTask\tHours\tPrice"], [], 100.0
        gap = draw.choice([6.0, 12.0]) if middle else draw.choice([0.0, 6.0])
        for at, label in enumerate(draw.sample(LABELS, 5)):
            lines = wrap(draw.choice(TEXTS), 34)
            figures = [f"{draw.randint(2, 90)} hours", f"{draw.randint(100, 999)}.00"]
            down = 6.0 * (len(lines) - 1) if middle else 0.0
            parts += [(at, 1, 150.0, y + 12 * line, text) for line, text in enumerate(lines)]
            parts += [
                (at, column, x, y + down, text)
                for column, x, text in zip((0, 2, 3), (50.0, 360.0, 440.0), (label, *figures), strict=True)
            ]
            said.append("\t".join([label, " ".join(lines), *figures]))
            y += 12 * len(lines) + gap
        keys = {
            "rows": lambda part: part[:2],
            "columns": lambda part: part[1:2] + part[:1],
            "lines": lambda part: (part[3], part[1]),
        }
        for x, head in zip((50, 150, 360, 440), ("Place", "Task", "Hours", "Price"), strict=True):
            page.insert_text((x, 80), head, fontsize=10)
        for _, _, x, height, text in sorted(parts, key=keys[order]):
            page.insert_text((x, height), text, fontsize=10)
        expected.append(said)

    assert [text.split("\n") for text in read(document)] == expected


@pytest.mark.parametrize("ruled_head", [True, False])
def test_given_several_rows_between_two_rules_when_read_then_each_is_a_row(ruled_head: bool) -> None:
    draw, document, expected = random.Random(13), pymupdf.open(), []
    for _ in range(PAGES):
        page, labels = document.new_page(), draw.sample(LABELS, draw.randint(2, 8))
        rows = [[label, *(f"{draw.randint(1000, 99999):,}" for _ in range(3))] for label in labels]
        total = ["All", *(f"{draw.randint(1000, 99999):,}" for _ in range(3))]
        table = [["Place", "Men", "Women", "Total"], *rows, total]
        tops = [80.0 + 14 * at for at in range(len(table) + 1)]
        for top in (tops[0], *tops[1:2] * ruled_head, tops[-2], tops[-1]):
            page.draw_line((50, top), (450, top))
        for x in range(50, 451, 100):
            page.draw_line((x, tops[0]), (x, tops[-1]))
        for top, cells in zip(tops, table, strict=False):
            for column, text in enumerate(cells):
                page.insert_text((54 + 100 * column, top + 10), text, fontsize=10)
        expected.append(["\t".join(cells) for cells in table])

    assert [text.split("\n") for text in read(document)] == expected


def test_given_heads_without_standing_rules_over_a_ruled_table_when_read_then_an_empty_column_keeps_its_head() -> None:
    draw, document, expected = random.Random(17), pymupdf.open(), []
    for _ in range(PAGES):
        page, empty = document.new_page(), draw.randint(1, 3)
        rows = [
            [label, *(draw.choice(VALUES) if at != empty else "" for at in range(1, 4))]
            for label in draw.sample(LABELS, 5)
        ]
        table = [HEADS[:4], *rows]
        for at in range(len(table) + 1):
            page.draw_line((50, 80 + 20 * at), (450, 80 + 20 * at))
        for x in range(50, 451, 100):
            page.draw_line((x, 80 if x in (50, 450) else 100), (x, 80 + 20 * len(table)))
        for at, cells in enumerate(table):
            for column, text in enumerate(cells):
                page.insert_text((54 + 100 * column, 94 + 20 * at), text, fontsize=10)
        expected.append(["\t".join(cell or EMPTY for cell in cells) for cells in table])

    assert [text.split("\n") for text in read(document)] == expected
