"""Values in the fields of a form are read beside their labels, and a box as what it holds."""

from __future__ import annotations

from typing import Any

import pymupdf
from folding import each

from rag_core.domain.documents import Span
from rag_core.domain.passages import Passage, PassageKind
from rag_core.grounding.units import units
from rag_core.ingest.reading.pdf import read_pdf

FIELDS = [
    ("Name of the child", "Mira Tolland"),
    ("Day of birth", "14 June 2021"),
    ("Group", "Hedgehogs"),
    ("Insured with", "Calder Mutual"),
    ("Has an allergy to nuts", True),
    ("May be photographed", False),
    ("Swims alone", True),
]


def form(fields: list[tuple[str, str | bool]], *, right: bool, bare: bool) -> bytes:
    """A form of one page; the labels of boxes stand `right` of them. `bare` fields bring no appearance of their own."""
    document: Any = pymupdf.open()
    page = document.new_page()
    page.insert_text((72, 80), "Application for a place in the nursery", fontsize=14)
    for at, (label, value) in enumerate(fields):
        box = isinstance(value, bool)
        y = 130 + 30 * at
        page.insert_text((92 if box and right else 72, y), label)
        widget = pymupdf.Widget()
        widget.field_name = f"field{at}"
        left = 72 if box and right else 260
        widget.rect = pymupdf.Rect(left, y - 12, left + (14 if box else 160), y + 4)
        widget.field_type = pymupdf.PDF_WIDGET_TYPE_CHECKBOX if box else pymupdf.PDF_WIDGET_TYPE_TEXT
        widget.field_value = value
        page.add_widget(widget)
    page.insert_text((72, 130 + 30 * len(fields) + 20), "The place is confirmed by letter within ten days.")
    if bare:
        for widget in page.widgets():
            document.xref_set_key(widget.xref, "AP", "null")
    return bytes(document.tobytes())


@each(
    ("right", "bare", "kept"),
    [(right, bare, kept) for right in (True, False) for bare in (True, False) for kept in (1, 4, 7)],
)
def test_given_a_filled_form_when_read_then_each_value_stands_with_its_label(
    right: bool, bare: bool, kept: int
) -> None:
    fields = FIELDS[-kept:]
    (page,) = read_pdf(form(fields, right=right, bare=bare), "form.pdf", ocr=False).pages

    found = [line.replace("\t", " ") for line in page.text.split("\n")]

    for label, value in fields:
        if isinstance(value, str):
            assert f"{label}: {value}" in found
        else:
            sign = "☑" if value else "☐"
            assert (f"{sign} {label}" if right else f"{label}: {sign}") in found


def box(*, ticked: bool, kind: str, dots: int) -> bytes:
    """The picture of a box, as programs to sign contracts put it on a page: a tick, a cross or a filled middle."""
    with pymupdf.open() as made:
        page = made.new_page(width=dots, height=dots)
        page.draw_rect((1, 1, dots - 1, dots - 1), color=(0.2, 0.2, 0.2), width=dots / 12)
        ways = {"tick": [(0.25, 0.5), (0.45, 0.75), (0.8, 0.2)], "cross": [(0.2, 0.2), (0.8, 0.8)]}
        if ticked and kind == "filled":
            page.draw_rect((0.35 * dots, 0.35 * dots, 0.65 * dots, 0.65 * dots), fill=(0, 0, 0))
        elif ticked:
            page.draw_polyline([(x * dots, y * dots) for x, y in ways[kind]], width=dots / 8)
        return bytes(page.get_pixmap().tobytes("png"))


@each(("kind", "dots"), [(kind, dots) for kind in ("tick", "cross", "filled") for dots in (16, 26, 60)])
def test_given_boxes_that_are_pictures_when_read_then_each_says_whether_it_is_ticked(kind: str, dots: int) -> None:
    document: Any = pymupdf.open()
    page = document.new_page()
    services = {"water": True, "sewer": False, "gas": False, "internet": True}
    x, y = 72.0, 100.0
    for name, ticked in services.items():
        page.insert_image((x, y - 9, x + 8, y - 1), stream=box(ticked=ticked, kind=kind, dots=dots))
        page.insert_text((x + 11, y - 1), name)
        x += 90
    said = "The landlord furnishes the following:"
    page.insert_text((72, 130), said)
    x = 75 + pymupdf.get_text_length(said, fontsize=11)
    page.insert_image((x, 121, x + 8, 129), stream=box(ticked=True, kind=kind, dots=dots))

    first, last = read_pdf(document.tobytes(), "a.pdf", ocr=False).pages[0].text.split("\n")

    assert first.replace("\t", " ") == " ".join(f"{'☑' if one else '☐'} {name}" for name, one in services.items())
    assert last == f"{said} ☑"


def test_given_small_pictures_of_other_things_when_read_then_they_are_no_boxes() -> None:
    document: Any = pymupdf.open()
    page = document.new_page()
    with pymupdf.open() as made:
        sheet = made.new_page(width=20, height=20)
        sheet.draw_circle((10, 10), 8, fill=(0, 0, 0))
        dot = bytes(sheet.get_pixmap().tobytes("png"))
    for at in range(3):
        page.insert_image((72, 100 + 20 * at, 80, 108 + 20 * at), stream=dot)
        page.insert_text((90, 107 + 20 * at), f"item {at}")

    assert read_pdf(document.tobytes(), "a.pdf", ocr=False).pages[0].text == "item 0\nitem 1\nitem 2"


UNMADE = (
    "Pets in the flat\tYes\tNo",
    "Hund\tja\tnein",
    "☐ Photographs may be taken.",
    "[ ] Photographs may be taken.",
    "( ) Se pueden hacer fotos.",
    "Photographs: ☐",
    "Pes\t☐ ano\t☐ ne",
)
MADE = (
    "Pets in the flat\t☐ Yes\t☒ No",
    "Nuts\tx\tYes\tNo",
    "Has an allergy to nuts: ☑",
    "[x] Photographs may be taken.",
    "Parking\tYes",
    "The answer is no.",
)


@each(("text", "count"), [*((text, 0) for text in UNMADE), *((text, 1) for text in MADE)])
def test_given_a_choice_when_read_then_it_is_an_answer_where_it_is_made(text: str, count: int) -> None:
    kind = PassageKind.TABLE if "\t" in text else PassageKind.PARAGRAPH
    passage = Passage("p", "d", text.replace("\t", " "), (Span(1, 0, len(text)),), kind=kind)

    assert len([*units(passage, lambda document, page: text)]) == count
