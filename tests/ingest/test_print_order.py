"""Pages whose file draws its parts in another order than they are printed in, made by a program that knows what each
says.
"""

from __future__ import annotations

import random

import pymupdf
from test_cells_of_pages import read
from test_pdf_rows import prose

PAGES = 12
LABELS = ["Total", "Payment", "Due on", "Order number", "Discount", "Town", "Tax number", "Delivered by"]
VALUES = ["122,00", "30 days", "27/03/2011", "4000-12345678", "10 %", "Hurlingham", "30-00000000-7", "Joao Da Silva"]
WORDS = "the boat of a house and its old door near every river is kept by some guard who lives here".split()
CROPS = "Straw Grass Oats Rye Barley Clover".split()
PITCH = 18.0


def write(page: pymupdf.Page, at: tuple[float, float], text: str) -> None:
    page.insert_text(at, text, fontsize=10)


def test_given_a_form_whose_fields_are_drawn_by_their_names_when_read_then_each_value_stands_behind_its_label() -> None:
    draw, document, expected = random.Random(1), pymupdf.open(), []
    for _ in range(PAGES):
        page, fields = document.new_page(), list(zip(LABELS, draw.sample(VALUES, len(VALUES)), strict=True))
        draw.shuffle(fields)
        parts = [(x, row, text) for row, field in enumerate(fields) for x, text in zip((50, 200), field, strict=True)]
        draw.shuffle(parts)
        parts.sort(key=lambda part: part[0] == 50 or part[1] > 1)  # some values come before their labels
        for x, row, text in parts:
            write(page, (x, 100 + PITCH * row), f"{text}:" if x == 50 else text)
        expected.append({f"{label}:\t{value}" for label, value in fields})

    assert [set(text.split("\n")) for text in read(document)] == expected


def test_given_figures_drawn_behind_all_labels_of_a_table_when_read_then_each_row_has_its_own() -> None:
    draw, document, expected = random.Random(2), pymupdf.open(), []
    for _ in range(PAGES):
        page = document.new_page()
        table = [
            [crop, *(f"{draw.uniform(1, 99):.2f}" for _ in range(3)), f"{crop} report"]
            for crop in draw.sample(CROPS, 4)
        ]
        places = [(row, column) for row in range(4) for column in (1, 2, 3)]
        draw.shuffle(places)
        for row, column in [*((row, column) for row in range(4) for column in (0, 4)), *places]:
            write(page, (50 + 90 * column, 100 + PITCH * row), table[row][column])
        expected.append(["\t".join(row) for row in table])

    assert [text.split("\n") for text in read(document)] == expected


def test_given_a_box_or_a_title_drawn_last_when_read_then_it_stands_where_it_is_printed() -> None:
    draw, document, expected = random.Random(3), pymupdf.open(), []
    for _ in range(PAGES):
        page = document.new_page()
        parts = [prose(WORDS, draw), [f"{at} - {crop}" for at, crop in enumerate(CROPS)], prose(WORDS, draw)]
        last, y, places = draw.randrange(2), 100.0, []
        for part in parts:
            places.append([(y + 14 * at, line) for at, line in enumerate(part)])
            y += 14 * len(part) + 20
        for part in [*(part for at, part in enumerate(places) if at != last), places[last]]:
            for height, line in part:
                write(page, (50, height), line)
        expected.append([line for part in parts for line in part])

    assert [text.split("\n") for text in read(document)] == expected


def test_given_columns_with_gaps_when_read_then_each_is_still_read_to_its_end() -> None:
    draw, document, expected = random.Random(4), pymupdf.open(), []
    for _ in range(PAGES):
        page, said = document.new_page(), []
        for x in (50, 320):
            y = 100.0
            for _ in range(2):
                lines = prose(WORDS, draw)
                for at, line in enumerate(lines):
                    write(page, (x, y + 14 * at), line)
                said += lines
                y += 14 * len(lines) + draw.choice([20, 90])  # a figure may stand there
        expected.append(said)

    assert [text.split("\n") for text in read(document)] == expected


def test_given_two_ruled_tables_of_one_width_when_read_then_the_cells_of_both_keep_their_rows() -> None:
    document = pymupdf.open()
    page, top = document.new_page(), 80.0
    tables = [
        [[f"{crop} {at}-{column}" for column in range(count)] for at, crop in enumerate(CROPS[:4])] for count in (3, 5)
    ]
    for table in tables:
        for row in range(len(table) + 1):
            page.draw_line((50, top + 20 * row), (550, top + 20 * row))
        for column in range(len(table[0]) + 1):
            page.draw_line((50 + 500 * column / len(table[0]), top), (50 + 500 * column / len(table[0]), top + 80))
        for column in reversed(range(len(table[0]))):  # a file may have its columns one after the other
            for row, cells in enumerate(table):
                write(page, (54 + 500 * column / len(table[0]), top + 14 + 20 * row), cells[column])
        top += 95

    assert read(document)[0].split("\n") == ["\t".join(cells) for table in tables for cells in table]


def test_given_accents_drawn_over_letters_as_with_old_fonts_of_tex_when_read_then_both_are_one_letter() -> None:
    draw, document, expected = random.Random(6), pymupdf.open(), []
    words = "Universit`a `e cos`ı pu`o Gr¨undung M¨unchen r´esum´e ga¸con No¨el".split()
    said = "Università è così può Gründung München résumé gaçon Noël".split()
    for _ in range(PAGES):
        page, rows = document.new_page(), []
        for row in range(5):
            order = [draw.randrange(len(words)) for _ in range(4)]
            x, y = 50.0, 100 + PITCH * row
            for at in order:
                for letter in words[at].replace("ı", "i"):
                    wide = pymupdf.get_text_length(letter, fontsize=10)
                    write(page, (x, y), letter)
                    x += 0.0 if letter in "`´¨¸" else wide
                x += 3.0
            rows.append(" ".join(said[at] for at in order))
        write(page, (50, 300), "Type `date` here, or ´ and ¨ alone.")
        expected.append([*rows, "Type `date` here, or ´ and ¨ alone."])

    assert [text.split("\n") for text in read(document)] == expected


def test_given_a_sign_drawn_last_between_a_label_and_its_figures_when_read_then_they_stay_together() -> None:
    draw, document, expected = random.Random(8), pymupdf.open(), []
    for _ in range(PAGES):
        page, rows = document.new_page(), []
        for at, crop in enumerate(CROPS):
            figures = [f"{draw.randint(1000, 9999):,}" for _ in range(3)]
            write(page, (50, 100 + PITCH * at), crop)
            for column, figure in enumerate(figures):
                write(page, (200 + 80 * column, 100 + PITCH * at), figure)
            rows.append("\t".join([crop, *figures]))
        for at in draw.sample(range(len(CROPS)), 3):
            write(page, (90, 96 + PITCH * at), draw.choice(("®", "*")))
        expected.append(rows)

    assert [[row for row in text.split("\n") if row[0] in "SGORBC"] for text in read(document)] == expected
