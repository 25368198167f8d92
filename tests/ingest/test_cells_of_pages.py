"""Tables, forms, struck rows and parts of pages in any order, drawn by a program that knows what each page says."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from itertools import pairwise, product
from textwrap import wrap

import pymupdf
from folding import each
from test_pdf_rows import prose
from test_shown_units import units_of

from rag_core.domain.rows import EMPTY
from rag_core.grounding.units import Unit
from rag_core.ingest.reading.pdf import read_pdf

LABELS = "Pottery Weaving Singing Fishing Passports Crowns Bridges Cleaning Harbour Mill".split()
HEADS = "Tariff Monday Tuesday Remarks Evening Noon".split()
VALUES = ["9 to 12", "room 4", "80 %", "12 euros", "cash only", "7:10"]
ASKED = ["Total", "Payment", "Due on", "Order number", "Discount", "Town", "Tax number", "Delivered by"]
TOLD = ["122,00", "30 days", "27/03/2011", "4000-12345678", "10 %", "Hurlingham", "30-00000000-7", "Joao Da Silva"]
WORDS = "the boat of a house and its old door near every river is kept by some guard who lives here".split()
CROPS = "Straw Grass Oats Rye Barley Clover".split()
PITCH, PAGES = 18.0, 6
Table = list[list[list[str]]]  # the lines of each cell
Draw, Page = random.Random, pymupdf.Page


def write(page: Page, x: float, y: float, text: str, size: float = 10) -> None:
    page.insert_text((x, y), text, fontsize=size)


@each("size, offset", product([8, 14, 40], [(0.4, 0.0), (-0.3, 0.3), (1.1, -1.1)]))
def test_given_words_printed_over_themselves_to_be_bold_or_shaded_when_read_then_they_stand_once(
    size: int, offset: tuple[float, float]
) -> None:
    document = pymupdf.open()
    page = document.new_page()
    across, down = (step * size / 12 for step in offset)
    for x, y in ((60 + across, 200 + down), (60, 200)):
        write(page, x, y, "A kayak costs 11 euros", size)
    write(page, 60, 300, "A kayak costs 11 euros", size)

    assert read_pdf(document.tobytes(), "a.pdf").pages[0].text.splitlines() == 2 * ["A kayak costs 11 euros"]


def rules(page: Page, xs: Sequence[float], ys: Sequence[float]) -> None:
    """A rule along each of these heights, and one down each of these places."""
    for y in ys:
        page.draw_line((xs[0], y), (xs[-1], y))
    for x in xs:
        page.draw_line((x, ys[0]), (x, ys[-1]))


def made(draw: Draw, *, wrapped: bool) -> Table:
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


def draw_table(page: Page, table: Table, *, ruled: bool) -> list[float]:
    """Draw it, by columns between rules, else by rows; the middles of its rows."""
    tops = [80.0]
    for row in table:
        tops.append(tops[-1] + 12 * max(len(cell) for cell in row) + 10)
    places = [(at, column) for at in range(len(table)) for column in range(len(table[0]))]
    for at, column in sorted(places, key=lambda place: place[::-1]) if ruled else places:
        for line, text in enumerate(table[at][column]):
            write(page, 54 + 100 * column, tops[at] + 12 + 12 * line, text)
    if ruled:
        rules(page, [50 + 100.0 * column for column in range(len(table[0]) + 1)], tops)
    return [y + 9 for y in tops[:-1]]


def read(document: pymupdf.Document) -> list[list[str]]:
    return [page.text.split("\n") for page in read_pdf(document.tobytes(), "a.pdf", ocr=False).pages]


def tables(*, ruled: bool, wrapped: bool) -> Callable[[Draw, Page], list[str]]:
    """Each cell keeps its column, whatever is empty or wrapped."""

    def drawn(draw: Draw, page: Page) -> list[str]:
        table = made(draw, wrapped=wrapped)
        draw_table(page, table, ruled=ruled)
        return ["\t".join(" ".join(cell) or EMPTY for cell in row) for row in table]

    return drawn


def outlined_figures(draw: Draw, page: Page) -> list[str]:
    """The bars of a 4 strike nothing out, nor does the stem that they cross."""
    figures = [f"{draw.randint(10, 99)}%" for _ in range(5)]
    for at, figure in enumerate(figures):
        write(page, 50, 100 + 30 * at, figure, 9)
    spans = [span for block in page.get_text("rawdict")["blocks"] for line in block["lines"] for span in line["spans"]]
    for x0, y0, x1, y1 in [letter["bbox"] for span in spans for letter in span["chars"]]:
        wide, high, stem = x1 - x0, y1 - y0, draw.uniform(0.6, 0.8)
        page.draw_line((x0 + 0.1 * wide, y0 + 0.6 * high), (x1 - 0.1 * wide, y0 + 0.6 * high), width=0.3)
        page.draw_line((x0 + stem * wide, y0 + 0.25 * high), (x0 + stem * wide, y0 + 0.75 * high), width=0.3)
    return figures


def cross(page: Page, x0: float, y0: float, x1: float, y1: float) -> None:
    page.draw_line((x0, y0), (x1, y1))
    page.draw_line((x0, y1), (x1, y0))


def boxes_before_words(draw: Draw, page: Page) -> list[str]:
    """Each box is ticked or open."""
    rows = []
    for at, label in enumerate(draw.sample(LABELS, 4)):
        ticked, y, side = draw.randrange(3), 100.0 + 30 * at, draw.choice([8.0, 10.0, 12.0])
        write(page, 50, y, f"{label}:", 11)
        for choice, word in enumerate(("North", "Hill", "Harbour")):
            x = 150.0 + 100 * choice
            page.draw_rect((x, y - side, x + side, y))
            if choice == ticked and at % 2:
                page.draw_line((x + 1, y - side / 2), (x + side / 3, y - 1))
                page.draw_line((x + side / 3, y - 1), (x + side, y - side - 1))
            elif choice == ticked:
                cross(page, x + 1, y - side + 1, x + side - 1, y - 1)
            write(page, x + side + 4, y, word, 11)
        signs = ["☑" if choice == ticked else "☐" for choice in range(3)]
        rows.append(f"{label}:\t{signs[0]} North\t{signs[1]} Hill\t{signs[2]} Harbour")
    return rows


def boxes_close_to_each_other(draw: Draw, page: Page) -> list[str]:
    rows, side, hang = [], draw.uniform(8, 11), draw.uniform(6, 24)
    for at, label in enumerate(draw.sample(LABELS, 6)):
        y, ticked = 100.0 + (side + 2) * at, draw.random() < 0.5
        page.draw_rect((50, y - side, 50 + side, y))
        if ticked:
            cross(page, 51, y - side + 1, 49 + side, y - 1)
        write(page, 50 + side + hang, y - 1, label, 9)
        rows.append(f"{'☑' if ticked else '☐'} {label}")
    return rows


def cell_beside_several_rows(draw: Draw, page: Page) -> list[str]:
    """The rules between these rows are shorter, and a sign that is drawn has a rule."""
    said, y, edges = [], 80.0, (50.0, 150.0, 330.0, 410.0, 470.0, 560.0)
    for label in draw.sample(LABELS, 2):
        page.draw_line((edges[0], y), (edges[-1], y))
        write(page, 54, y + 14, label)
        for row in range(draw.randint(2, 3)):
            if row:
                page.draw_line((edges[1], y), (edges[-1], y))
            lines = ["Clean all paths, and the lanes of", "the harbour in each season"][: draw.randint(1, 2)]
            date, person = f"20{draw.randint(20, 29)}", draw.choice(("Town council", "Harbour office"))
            for at, line in enumerate(lines):
                write(page, edges[1] + 4, y + 14 + 12 * at, line)
            write(page, edges[2] + 4, y + 14, date)
            page.draw_line((edges[3] + 20, y + 12), (edges[3] + 28, y + 12))
            write(page, edges[3] + 4, y + 14, "" if row else "$")
            write(page, edges[4] + 4, y + 14, person)
            cells = [" ".join(lines), date, EMPTY if row else "$", person]
            said.append("\t".join([label, *cells]))
            y += 34
    page.draw_line((edges[0], y), (edges[-1], y))
    for x in edges:
        page.draw_line((x, 80), (x, y))
    return said


def cells_over_several_rows(draw: Draw, page: Page) -> list[str]:
    """Some at the left, in the middle and at the right go down over several rows, with their words in the middle."""
    xs, ys, heads = [50.0, 150.0, 300.0, 400.0, 500.0], [80.0 + 20 * at for at in range(9)], HEADS[:4]
    said = [heads, *([EMPTY] * 4 for _ in ys[2:])]
    page.draw_rect((xs[0], ys[0], xs[-1], ys[-1]))
    for x in xs[1:-1]:
        page.draw_line((x, ys[0]), (x, ys[-1]))
    for column, (x0, x1) in enumerate(pairwise(xs)):
        write(page, x0 + 4, ys[0] + 14, heads[column])
        at = 1
        while at < len(ys) - 1:
            end = min(len(ys) - 1, at + (draw.randint(1, 3) if column != 2 else 1))
            words = draw.choice(LABELS) if column < 2 else draw.choice(VALUES)
            write(page, x0 + 4, (ys[at] + ys[end]) / 2 + 4, words)
            page.draw_line((x0, ys[at]), (x1, ys[at]))
            for row in said[at:end]:
                row[column] = words
            at = end
    return ["\t".join(row) for row in said]


def row_below_heads_on_a_ground(draw: Draw, page: Page) -> list[str]:
    """No rule is drawn below the heads, nor around a row that has a ground of its own."""
    rows = [[label, draw.choice(VALUES[:3]), f"{draw.randint(1, 9)} hours"] for label in draw.sample(LABELS, 7)]
    table, colour = [HEADS[:3], *rows], (0.8, 0.9, 1.0)
    ys, marked = [80.0 + 18 * at for at in range(len(table) + 1)], draw.randint(3, 5)
    for at in (0, marked):
        page.draw_rect((50, ys[at], 350, ys[at + 1]), color=None, fill=colour)
    for at, y in enumerate(ys):
        if at not in (1, marked, marked + 1):
            page.draw_line((50, y), (350, y))
    for x in (50, 150, 250, 350):
        page.draw_line((x, ys[0]), (x, ys[-1]))
    for at, cells in enumerate(table):
        for column, text in enumerate(cells):
            write(page, 54 + 100 * column, ys[at] + 13, text)
    return ["\t".join(cells) for cells in table]


TASKS = [
    "Clean all paths, and the lanes of the harbour in each season of the year",
    "Paint the boats that lie on the beach, where the weather allows it",
    "Count the lamps of the mill, and write down which of them are broken by wind or by water",
]
Part = tuple[int, int, float, float, str]
ORDERS: dict[str, Callable[[Part], object]] = {
    "rows": lambda part: part[:2],
    "columns": lambda part: part[1:2] + part[:1],
    "lines": lambda part: (part[3], part[1]),
}


def cells_under_heads(order: str, *, middle: bool) -> Callable[[Draw, Page], list[str]]:
    """Cells of several lines, in any order of the file, where no rules are drawn."""

    def drawn(draw: Draw, page: Page) -> list[str]:
        said, parts, y = ["Place\tTask\tHours\tPrice"], list[Part](), 100.0
        gap = draw.choice([6.0, 12.0]) if middle else draw.choice([0.0, 6.0])
        for at, label in enumerate(draw.sample(LABELS, 5)):
            lines = wrap(draw.choice(TASKS), 34)
            figures = [f"{draw.randint(2, 90)} hours", f"{draw.randint(100, 999)}.00"]
            down = 6.0 * (len(lines) - 1) if middle else 0.0
            parts += [(at, 1, 150.0, y + 12 * line, text) for line, text in enumerate(lines)]
            places = zip((0, 2, 3), (50.0, 360.0, 440.0), (label, *figures), strict=True)
            parts += [(at, column, x, y + down, text) for column, x, text in places]
            said.append("\t".join([label, " ".join(lines), *figures]))
            y += 12 * len(lines) + gap
        for x, head in zip((50, 150, 360, 440), ("Place", "Task", "Hours", "Price"), strict=True):
            write(page, x, 80, head)
        for _, _, x, height, text in sorted(parts, key=ORDERS[order]):  # type: ignore[arg-type]
            write(page, x, height, text)
        return said

    return drawn


def rows_between_two_rules(*, ruled_head: bool) -> Callable[[Draw, Page], list[str]]:
    def drawn(draw: Draw, page: Page) -> list[str]:
        labels = draw.sample(LABELS, draw.randint(2, 8))
        rows = [[label, *(f"{draw.randint(1000, 99999):,}" for _ in range(3))] for label in labels]
        total = ["All", *(f"{draw.randint(1000, 99999):,}" for _ in range(3))]
        table = [["Place", "Men", "Women", "Total"], *rows, total]
        tops = [80.0 + 14 * at for at in range(len(table) + 1)]
        rules(page, range(50, 451, 100), (tops[0], *tops[1:2] * ruled_head, tops[-2], tops[-1]))
        for top, cells in zip(tops, table, strict=False):
            for column, text in enumerate(cells):
                write(page, 54 + 100 * column, top + 10, text)
        return ["\t".join(cells) for cells in table]

    return drawn


def heads_without_standing_rules(draw: Draw, page: Page) -> list[str]:
    """An empty column keeps its head."""
    empty = draw.randint(1, 3)
    rows = [
        [label, *(draw.choice(VALUES) if at != empty else "" for at in range(1, 4))] for label in draw.sample(LABELS, 5)
    ]
    table = [HEADS[:4], *rows]
    for at in range(len(table) + 1):
        page.draw_line((50, 80 + 20 * at), (450, 80 + 20 * at))
    for x in range(50, 451, 100):
        page.draw_line((x, 80 if x in (50, 450) else 100), (x, 80 + 20 * len(table)))
    for at, cells in enumerate(table):
        for column, text in enumerate(cells):
            write(page, 54 + 100 * column, 94 + 20 * at, text)
    return ["\t".join(cell or EMPTY for cell in cells) for cells in table]


def figures_behind_all_labels(draw: Draw, page: Page) -> list[str]:
    table = [
        [crop, *(f"{draw.uniform(1, 99):.2f}" for _ in range(3)), f"{crop} report"] for crop in draw.sample(CROPS, 4)
    ]
    places = [(row, column) for row in range(4) for column in (1, 2, 3)]
    draw.shuffle(places)
    for row, column in [*((row, column) for row in range(4) for column in (0, 4)), *places]:
        write(page, 50 + 90 * column, 100 + PITCH * row, table[row][column])
    return ["\t".join(row) for row in table]


def box_or_title_drawn_last(draw: Draw, page: Page) -> list[str]:
    parts = [prose(WORDS, draw), [f"{at} - {crop}" for at, crop in enumerate(CROPS)], prose(WORDS, draw)]
    last, y, places = draw.randrange(2), 100.0, []
    for part in parts:
        places.append([(y + 14 * at, line) for at, line in enumerate(part)])
        y += 14 * len(part) + 20
    for part in [*(part for at, part in enumerate(places) if at != last), places[last]]:
        for height, line in part:
            write(page, 50, height, line)
    return [line for part in parts for line in part]


def columns_with_gaps(draw: Draw, page: Page) -> list[str]:
    """Each is read to its end, though a figure may stand in its gap."""
    said = []
    for x in (50, 320):
        y = 100.0
        for _ in range(2):
            lines = prose(WORDS, draw)
            for at, line in enumerate(lines):
                write(page, x, y + 14 * at, line)
            said += lines
            y += 14 * len(lines) + draw.choice([20, 90])
    return said


def accents_over_letters(draw: Draw, page: Page) -> list[str]:
    """With old fonts of TeX both are one letter."""
    words = "Universit`a `e cos`ı pu`o Gr¨undung M¨unchen r´esum´e ga¸con No¨el".split()
    said = "Università è così può Gründung München résumé gaçon Noël".split()
    rows = []
    for row in range(5):
        order = [draw.randrange(len(words)) for _ in range(4)]
        x, y = 50.0, 100 + PITCH * row
        for at in order:
            for letter in words[at].replace("ı", "i"):
                write(page, x, y, letter)
                x += 0.0 if letter in "`´¨¸" else pymupdf.get_text_length(letter, fontsize=10)
            x += 3.0
        rows.append(" ".join(said[at] for at in order))
    write(page, 50, 300, "Type `date` here, or ´ and ¨ alone.")
    return [*rows, "Type `date` here, or ´ and ¨ alone."]


@each(
    ("seed", "drawn"),
    [
        *(
            (f"{ruled}{wrapped}", tables(ruled=ruled, wrapped=wrapped))
            for ruled in (True, False)
            for wrapped in (True, False)
        ),
        *((f"{order}{way}", cells_under_heads(order, middle=way)) for order in ORDERS for way in (True, False)),
        *((13, rows_between_two_rules(ruled_head=way)) for way in (True, False)),
        *((9, outlined_figures), (3, boxes_before_words), (5, boxes_close_to_each_other)),
        *((seed, cells_over_several_rows) for seed in range(3)),
        *(
            (11, row_below_heads_on_a_ground),
            (11, cell_beside_several_rows),
            (17, heads_without_standing_rules),
            (2, figures_behind_all_labels),
        ),
        *((3, box_or_title_drawn_last), (4, columns_with_gaps), (6, accents_over_letters)),
    ],
    ids=lambda value: getattr(value, "__qualname__", value),
)
def test_given_pages_of_a_program_when_read_then_their_rows_are_as_they_are_drawn(
    seed: str | int, drawn: Callable[[Draw, Page], list[str]]
) -> None:
    draw, document = random.Random(seed), pymupdf.open()
    expected = [drawn(draw, document.new_page()) for _ in range(PAGES)]

    assert read(document) == expected


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
        page = document.new_page()
        middles = draw_table(page, table, ruled=bool(number % 2))
        struck = draw.randrange(1, len(table))
        right = 50 + 100 * max(at + 1 for at, cell in enumerate(table[struck]) if cell)
        page.draw_line((54 - draw.uniform(0, 4), middles[struck]), (right - draw.uniform(0, 20), middles[struck]))
        expected.append([row[0][0] for at, row in enumerate(table) if at != struck])

    assert [[line.split("\t")[0] for line in lines] for lines in read(document)] == expected


def test_given_lines_of_a_chart_through_its_figures_when_read_then_nothing_is_struck_out() -> None:
    document = pymupdf.open()
    page = document.new_page()
    for at in range(5):
        write(page, 50, 100 + 40 * at, str(50 - 10 * at))
        page.draw_line((70, 97 + 40 * at), (400, 97 + 40 * at))
    for x in (120, 220, 320):
        write(page, x, 180, "30")

    assert sorted(" ".join(read(document)[0]).split()) == ["10", "20", "30", "30", "30", "30", "40", "50"]


def test_given_a_form_whose_fields_are_drawn_by_their_names_when_read_then_each_value_stands_behind_its_label() -> None:
    draw, document, expected = random.Random(1), pymupdf.open(), []
    for _ in range(PAGES):
        page, fields = document.new_page(), list(zip(ASKED, draw.sample(TOLD, len(TOLD)), strict=True))
        draw.shuffle(fields)
        parts = [(x, row, text) for row, field in enumerate(fields) for x, text in zip((50, 200), field, strict=True)]
        draw.shuffle(parts)
        parts.sort(key=lambda part: part[0] == 50 or part[1] > 1)  # some values come before their labels
        for x, row, text in parts:
            write(page, x, 100 + PITCH * row, f"{text}:" if x == 50 else text)
        expected.append({f"{label}:\t{value}" for label, value in fields})

    assert list(map(set, read(document))) == expected


def test_given_two_ruled_tables_of_one_width_when_read_then_the_cells_of_both_keep_their_rows() -> None:
    document, top = pymupdf.open(), 80.0
    page = document.new_page()
    both = [[[f"{crop} {at}-{n}" for n in range(count)] for at, crop in enumerate(CROPS[:4])] for count in (3, 5)]
    for table in both:
        wide = 500 / len(table[0])
        rules(page, [50 + wide * at for at in range(len(table[0]) + 1)], [top + 20 * row for row in range(5)])
        for column in reversed(range(len(table[0]))):  # a file may have its columns one after the other
            for row, cells in enumerate(table):
                write(page, 54 + wide * column, top + 14 + 20 * row, cells[column])
        top += 95

    assert read(document)[0] == ["\t".join(cells) for table in both for cells in table]


def test_given_a_sign_drawn_last_between_a_label_and_its_figures_when_read_then_they_stay_together() -> None:
    draw, document, expected = random.Random(8), pymupdf.open(), []
    for _ in range(PAGES):
        page, rows = document.new_page(), []
        for at, crop in enumerate(CROPS):
            figures = [f"{draw.randint(1000, 9999):,}" for _ in range(3)]
            write(page, 50, 100 + PITCH * at, crop)
            for column, figure in enumerate(figures):
                write(page, 200 + 80 * column, 100 + PITCH * at, figure)
            rows.append("\t".join([crop, *figures]))
        for at in draw.sample(range(len(CROPS)), 3):
            write(page, 90, 96 + PITCH * at, draw.choice(("®", "*")))
        expected.append(rows)

    assert [[row for row in rows if row[0] in "SGORBC"] for rows in read(document)] == expected


def test_given_labels_in_bold_drawn_before_all_values_when_read_then_each_stands_before_its_own() -> None:
    draw, document, expected = random.Random(21), pymupdf.open(), []
    for _ in range(PAGES):
        page, rows = document.new_page(), [(label, draw.choice(TOLD)) for label in draw.sample(LABELS, 6)]
        for column, font in enumerate(("hebo", "helv")):
            for at, row in enumerate(rows):
                page.insert_text((50 + 200 * column, 100 + PITCH * at), row[column], fontsize=10, fontname=font)
        expected.append(["\t".join(row) for row in rows])

    assert read(document) == expected


def test_given_bold_words_anywhere_on_a_map_when_read_then_they_label_nothing_beside_them() -> None:
    document = pymupdf.open()
    page = document.new_page()
    for column, font in enumerate(("hebo", "helv")):
        for at, label in enumerate(LABELS):
            page.insert_text((50 + 40 * (at % 2) + 150 * column, 100 + 40 * at), label, fontsize=10, fontname=font)

    assert read(document) == [LABELS * 2]


def test_given_a_list_of_results_drawn_column_by_column_when_read_then_its_rows_are_whole() -> None:
    draw, document, expected = random.Random(11), pymupdf.open(), []
    for _ in range(PAGES):
        page, said = document.new_page(), []
        for part in range(draw.randint(2, 4)):
            rows = [
                [name, str(draw.randint(300, 400)), ":", str(draw.randint(300, 400)), name.swapcase()]
                for name in draw.sample(LABELS, draw.randint(5, 7))
            ]
            for column, x in enumerate((50, 180, 250, 300, 400)):
                for at, row in enumerate(rows):
                    write(page, x, 80 + 170 * part + PITCH * at, row[column])
            said += ["\t".join(row) for row in rows]
        expected.append(said)

    assert read(document) == expected


def test_given_two_lists_of_names_with_prices_beside_each_other_when_read_then_each_is_read_to_its_end() -> None:
    draw, document, expected = random.Random(12), pymupdf.open(), []
    for _ in range(PAGES):
        page, said = document.new_page(), []
        for x in (50, 320):
            rows = [f"{name} {draw.randint(200, 900)}" for name in draw.sample(LABELS, 9)]
            for at, row in enumerate(rows):
                write(page, x, 80 + PITCH * at, row)
            said += rows
        expected.append(said)

    assert read(document) == expected


def test_given_ruled_tables_beside_each_other_when_read_then_each_has_its_own_name() -> None:
    draw, document, expected = random.Random(13), pymupdf.open(), []
    for _ in range(PAGES):
        page, said = document.new_page(), []
        names = draw.sample(["Adults", "Children up to 12 years", "Guests of members"], 2)
        for x, name in zip((50, 320), names, strict=True):
            write(page, x, 90, name)
        for x, name in zip((50, 320), names, strict=True):
            rows = [["Position", "Fee"], *([one, f"{draw.randint(2, 90)} euros"] for one in draw.sample(LABELS, 3))]
            rules(page, [x, x + 120, x + 200], [100 + 20 * at for at in range(len(rows) + 1)])
            for at, row in enumerate(rows):
                for column, cell in enumerate(row):
                    write(page, x + 4 + 120 * column, 114 + 20 * at, cell)
            said += [name, *("\t".join(row) for row in rows)]
        expected.append(said)

    assert read(document) == expected


def test_given_hundreds_of_cells_each_a_box_of_its_own_when_read_then_empty_ones_keep_their_places() -> None:
    draw, document, expected = random.Random(14), pymupdf.open(), []
    for _ in range(2):
        page, said = document.new_page(), []
        for at in range(36):
            label, filled = f"{draw.choice(LABELS)} {at}", draw.sample(range(1, 7), draw.randint(1, 6))
            cells = [label, *(draw.choice(VALUES) if column in filled or at < 2 else "" for column in range(1, 7))]
            for column, cell in enumerate(cells):
                page.draw_rect((40 + 75 * column, 60 + PITCH * at, 115 + 75 * column, 60 + PITCH * (at + 1)), width=0.5)
                write(page, 43 + 75 * column, 73 + PITCH * at, cell, 9)
            said.append("\t".join(cell or EMPTY for cell in cells))
        expected.append(said)

    assert read(document) == expected


def test_given_cells_merged_over_columns_when_read_then_what_they_hold_stands_in_each_column() -> None:
    draw, document, expected = random.Random(15), pymupdf.open(), []
    edges = [40, 150, 230, 310, 390, 470]
    for _ in range(PAGES):
        page, said = document.new_page(), ["\t".join(HEADS[:5])]
        rules(page, edges, [80, 100])
        for column, head in enumerate(HEADS[:5]):
            write(page, edges[column] + 4, 94, head)
        for at, label in enumerate(draw.sample(LABELS, 5)):
            top, row, column = 100 + 20 * at, [label], 1
            rules(page, edges[:2], [top, top + 20])
            write(page, edges[0] + 4, top + 14, label)
            while column < 5:
                over = draw.choice((1, 1, 2)) if column < 4 else 1
                value = draw.choice(VALUES)
                rules(page, [edges[column], edges[column + over]], [top, top + 20])
                write(page, edges[column] + 4, top + 14, value)
                row += [value] * over
                column += over
            said.append("\t".join(row))
        expected.append(said)

    assert read(document) == expected
