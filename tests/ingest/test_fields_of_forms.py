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
