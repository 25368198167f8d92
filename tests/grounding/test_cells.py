"""What the cells of a table's row state: only where they can be told to stand below those of the header."""

from __future__ import annotations

from folding import each

from rag_core.grounding.contradictions.statements import Statement, cell_statements


def stated(row: str, header: str = "", language: str = "en") -> list[tuple[str, str]]:
    """What each cell states, and the value of it that could be contradicted."""
    found = cell_statements(row, header, language)
    return [(one.source, next((value.shown for value in one.values if value.shown), "")) for one in found]


@each(
    ("row", "header", "expected"),
    [
        ("Senior | 28", "Grade | Vacation days", [("Senior Vacation days: 28", "28")]),
        (
            "Senior | 28 | 1,200",
            "Grade | Vacation days | Budget in pounds",
            [("Senior Vacation days: 28", "28"), ("Senior Budget in pounds: 1,200", "1,200")],
        ),
        ("Maximum pressure | 16 bar", "", [("Maximum pressure: 16 bar", "16 bar")]),
        (
            "Hotel in London | 160 | pounds a night",
            "Expense | Limit | Unit",
            [("Hotel in London pounds a night Limit: 160", "160")],
        ),
        (
            "Net sales | 500",
            "Year ended December 31; Item | 2022; (in millions)",
            [("Net sales 2022 Year ended December 31 (in millions): 500", "500")],
        ),
        ("Grade 3 | 28 days", "Grade | Vacation", [("Grade 3 Vacation: 28 days", "28 days")]),
        ("Parcel | 3-5 days", "Service | Time", [("Parcel Time: 3-5 days", "")]),
    ],
)
def test_given_a_row_below_its_header_then_each_cell_states_its_value_of_row_and_column(
    row: str, header: str, expected: list[tuple[str, str]]
) -> None:
    """S4-21: rows of tables as well as sentences."""
    assert stated(row, header) == expected


@each(
    ("row", "header"),
    [
        ("Market risk | 35", "Item | Page"),
        ("Senior | 28 | 30", "Grade | Days | Limit | Unit"),
        ("Debt | 46 | 47", "Rate | April 30, 2023; January 29,; 2023"),
        ("28 | 30", "Vacation days | Sick days"),
        ("Net sales | 500", "2022"),
        ("", ""),
        ("Senior | staff", "Grade | Group"),
        ("Rule | nobody may take more than 10 days in a row without the consent of two managers", "Name | Limit"),
    ],
)
def test_given_cells_that_cannot_be_told_then_nothing_can_be_contradicted(row: str, header: str) -> None:
    """A list of contents, a broken or missing header, a row without a name, a sentence in a cell."""
    assert not any(value for _, value in stated(row, header))


def test_given_a_cell_of_accounts_then_it_is_a_figure_of_a_period_and_a_sentence_with_the_word_is_not() -> None:
    """A balance of one year does not contradict that of another; "net" in a sentence says nothing of a period."""
    (cell,) = cell_statements("Net assets | 500 pounds", "Item | Amount", "en")

    assert cell.is_figure
    assert not Statement("The net price is 500 euros.", "en").is_figure
