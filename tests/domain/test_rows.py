"""A row of a table in words: every word is one of the row or its header, and what is not certain stays as it stands."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_core.domain.rows import columns, counted_in, in_words


@pytest.mark.parametrize(
    ("claim", "read"),
    [
        ("Part | Torque | Unit: Wheel nut | 110 | Nm", "Wheel nut: 110 Nm (Torque)"),
        ("Teil | Zeichen | Wert | Einheit: Düse | d1 | 3,5 | mm", "Düse: d1 (Zeichen); 3,5 mm (Wert)"),
        ("भाग | मान | इकाई: पहिया | 110 | न्यूटन", "पहिया: 110 न्यूटन (मान)"),
        ("Work | Unit | Tool: Grease the hinge | h | brush", "Grease the hinge: h (Unit); brush (Tool)"),
        ("Item | 2031 | 2030: Rents | 812 | 790", "Rents: 812 (2031); 790 (2030)"),
        (
            "(in thousands); Year ended | Year ended; Item | 2031: Rents | 812",
            "Rents: 812 (Year ended 2031) (in thousands)",
        ),
        ("In millions | 2031 | 2030: Rents | 812 | 790", "Rents: 812 (2031); 790 (2030) (In millions)"),
        ("(Mio. €) | 2031: Miete | 812", "Miete: 812 (2031) (Mio. €)"),
        ("v tis. Kč | 2031: Nájem | 812", "Nájem: 812 (2031) (v tis. Kč)"),
        ("Leased; Item | 2031: Rents | 812", "Rents: 812 (2031) (Leased)"),
        ("Item | 2031 | Note: Rents | 812 | ", "Rents: 812 (2031)"),
        ("Item | : Rents | 812", "Rents: 812"),
        ("| Item | 2031 |: | Rents | 812 |", "Rents: 812 (2031)"),  # as Markdown has it
        ("Ratio 3: 4 | Worth: Rents | 812", "Rents: 812 (Worth)"),
        ("2031 | 2030: Rents | $ | 812 | $ | 790", "Rents: $812 (2031); $790 (2030)"),
        # as it is read where columns stand close
        (
            "2031 | 2030: Rents | $ | 812 $ | 790",
            "Rents: $812 (2031); $790 (2030)",
        ),
        ("2031 | 2030: Rents | 812 $ | 790", "Rents: 812 $ (2031); 790 (2030)"),
        ("2031 | 2030: Tax rate | 20.7 | % | ( | 4.1 | )%", "Tax rate: 20.7% (2031); (4.1)% (2030)"),
        ("($ in millions); 2031 | 2030: Rents | 812 | 790", "Rents: 812 (2031); 790 (2030) ($ in millions)"),
        (
            "Year ended May 4, 2031 | Year ended May 5, 2030: Rents | € | 812 | –",
            "Rents: €812 (Year ended May 4, 2031); – (Year ended May 5, 2030)",
        ),
    ],
)
def test_given_a_row_under_its_header_then_each_cell_stands_with_its_unit_and_head(claim: str, read: str) -> None:
    assert in_words(claim) == read


@pytest.mark.parametrize(
    "claim",
    [
        "The lid is closed: then the pump starts.",
        "One | two: three",
        "Item | 2031 | 2030: Rents | 812",  # a cell is missing
        "Item | 2031; Part | 2 | 3: Rents | 812",  # a header of two widths
        "No. | 2031: 17 | 812",  # nothing names the row
        "Item | 2031: Rents | ",  # nothing is said
        "Item | 2031: Rents | 812 | 790",  # a column without a head, and the first one may be the rows'
        "2031 | Change: Rents | $ | 812 | $ | 3",  # not all are periods
        "2031 | 2030: Rents | $ | 812 | 790 | 5",  # a figure too many
    ],
)
def test_given_what_cannot_be_told_apart_then_it_stays_as_it_stands(claim: str) -> None:
    assert in_words(claim) == claim


@given(st.text(alphabet="ab1 |:;()", max_size=60))
def test_given_any_text_then_no_word_is_new(text: str) -> None:
    assert set(_words(in_words(text))) <= set(_words(text))


def _words(text: str) -> list[str]:
    return "".join(letter if letter.isalnum() else " " for letter in text).split()


@pytest.mark.parametrize(
    ("claim", "cell", "said"),
    [
        ("In TEUR; 2023 | 2022: Umsatz | 7.412 | 6.980", "7.412", " (In TEUR)"),
        ("Item | 2024 £'000 | 2023: Dues | 5,230 | 4,918", "5,230", " (2024 £'000)"),
        ("Item | 2024 £'000 | 2023: Dues | 5,230 | 4,918", "4,918", ""),
        ("Item: all | 2024: Dues | 5,230", "5,230", ""),
        ("The fee is 5 euros.", "5", ""),
    ],
)
def test_given_a_cell_then_what_its_figure_is_counted_in_is_said_with_it(claim: str, cell: str, said: str) -> None:
    assert counted_in(claim, cell) == said


def test_given_empty_cells_of_markdown_then_each_cell_stands_under_its_own_head() -> None:
    assert columns("| Tool | Price | Pieces |", "| Barrow | | 1 |") == [("", "Price"), ("1", "Pieces")]
    assert columns("| Tool | Price | Pieces | Room |", "| Barrow | | | 4 |")[-1] == ("4", "Room")
