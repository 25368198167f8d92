"""What the figures of a table are counted in is a part of its head, wherever it is said."""

from __future__ import annotations

from folding import each
from hypothesis import given
from hypothesis import strategies as st
from paper import Set, head, page, prose

from rag_core.domain.documents import Page
from rag_core.ingest.blocks.structure import BlockKind, blocks
from rag_core.language.scales import names_scale


def listed(notes: str) -> list[str]:
    return [note.strip() for note in notes.split("|")]


NOTES = listed(
    """
    (in millions, except per share data) | In thousands of euros |
    All amounts in thousands of euros unless stated otherwise |
    Figures in millions of pounds; passengers in millions. | (in Mio. EUR) | Angaben in Tsd. € | v tis. Kč |
    údaje v mil. Kč | en milliers d'euros | (en millones de euros) | Montants en millions d'euros |
    (Amounts in thousands, unless otherwise stated) | в тыс. руб. | w tys. zł | (In Rs. crores) | ₹ in lakhs |
    Expressed in thousands of Canadian dollars, except per share amounts
    """
)
CELLS = listed(
    """
    EUR '000 | EUR ’000 | TEUR | T€ | €m | £ million | $ millions | (€ bn) | in Mio. € | tis. Kč |
    Millions of dollars
    """
)
ROWS = [("Revenue", "48,310", "45,102"), ("Staff costs", "(2,940)", "(2,515)"), ("Net profit", "10,118", "9,640")]
TEXT = "The board proposes to keep the profit in the company, and to pay it out when the new works are built."


def table(corner: str = "") -> list[Set]:
    return [
        Set(f"{corner}\t2024\t2023" if corner else "2024\t2023", left=50 if corner else 150),
        *(Set("\t".join(row)) for row in ROWS),
    ]


def heads(pages: list[Page]) -> list[str]:
    """The head of each table, its rows parted by line breaks."""
    texts = {page.number: page.text for page in pages}
    found = [block for block in blocks(pages, "en") if block.kind is BlockKind.TABLE]
    return ["\n".join(texts[span.page][span.start : span.end] for span in block.header) for block in found]


@given(st.sampled_from(NOTES), st.sampled_from(["above", "apart", "below", "title", "caption"]))
def test_given_a_note_near_a_table_when_read_then_its_head_holds_it(note: str, place: str) -> None:
    rows = table()
    match place:
        case "above":
            rows = [head("Statement of income"), Set(note), *rows]
        case "apart":
            rows = [head("Statement of income"), Set(note), Set("31 December"), *rows]
        case "below":
            rows = [head("Statement of income"), *rows, Set(note), *prose(TEXT)]
        case "title":
            rows = [head(f"Statement of income, {note}"), *rows]
        case _:
            rows = [Set(f"Table 3: Statement of income, {note}"), *rows]

    (said,) = heads([page(1, rows)])

    assert note in said


@given(st.sampled_from(CELLS))
def test_given_a_note_over_the_labels_when_read_then_the_head_holds_it(cell: str) -> None:
    assert heads([page(1, [head("Balance sheet"), *table(cell)])]) == [f"{cell}\t2024\t2023"]


def test_given_a_note_over_the_second_of_two_tables_when_read_then_the_first_is_not_counted_in_it() -> None:
    rows = [head("Staff"), *table(), *prose(TEXT, "Figures in millions of euros."), *table()]

    first, second = heads([page(1, rows)])

    assert "millions" not in first
    assert "Figures in millions of euros." in second


def test_given_a_note_when_the_table_goes_on_over_a_page_break_then_both_parts_hold_it() -> None:
    pages = [
        page(1, [head("Income"), Set("(in thousands of euros)"), *table()]),
        page(2, [Set("\t".join(row)) for row in ROWS]),
    ]

    assert [("in thousands" in said) for said in heads(pages)] == [True, True]


@each(
    "text",
    [
        "The company sold thousands of cars.",
        "In May the county bought thousands of trees.",
        "Millions of people saw the film in the first week.",
        "The plant made 4 million parts (about two million in May).",
        "In 2020 millions of people saw the film.",
        "Thousand Oaks branch",
        "Distance in miles",
    ],
)
def test_given_prose_with_a_large_number_when_asked_then_it_names_no_scale(text: str) -> None:
    assert not names_scale(text)
