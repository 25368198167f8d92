"""How a sentence fits what is asked for: the row that it is, and the result that it states."""

from __future__ import annotations

from dataclasses import astuple

import pytest
from folding import each
from hypothesis import given
from hypothesis import strategies as st

from rag_core.domain.rows import EMPTY
from rag_core.gating.asked import asked_for
from rag_core.gating.fit import Fit, fits
from rag_core.gating.row import ROW_WORDS, asks_for_empty, asks_for_other_year
from rag_core.language import LANGUAGES
from tests.gating.test_asked import HOSTILE


def fit(question: str, text: str, language: str = "en", section: str = "", title: str = "") -> Fit:
    return fits(asked_for(question, language), text, section, title, language)


@each(
    ("question", "text", "above", "row"),
    [
        ("How much were total current assets?", "Total current assets | 8,802", "", 1.0),
        ("How much were total assets?", "Total current assets | 8,802", "", 2 / 3),
        ("What is the pressure loss at the maximum flow rate?", "Maximum flow rate | 40", "", 9 / 25),
        ("How much was the goodwill of Northfield in 2023?", "Goodwill (net) | 12 | 14", "Northfield", 1.0),
        ("How much was the goodwill of Northfield in 2023?", "Goodwill | 12 | 14", "", 1 / 4),
        (
            "What is the extension of the service desk?",
            "Passwords | Service desk | 222",
            "Topic | Team | Extension",
            1.0,
        ),
        ("How much was the goodwill?", "Goodwill was 12.", "", 0.0),
        ("How much was the goodwill?", "2023 | 12", "", 0.0),
        ("How much was it?", "Goodwill | 12", "", 0.0),
        ("How much was the goodwill?", f"{'goodwill ' * (ROW_WORDS + 1)} | 12", "", 0.0),
    ],
)
def test_given_a_row_then_label_and_above_say_how_sure(question: str, text: str, above: str, row: float) -> None:
    assert fit(question, text, section=above).row == pytest.approx(row)
    assert fit(question, text, title=above).row == pytest.approx(row)


@pytest.mark.parametrize(
    ("language", "question", "text", "result"),
    [
        ("en", "What was the revenue in 2020?", "Revenue | 40 | 30", 1.0),
        ("en", "What was the percentage change in revenue from 2019 to 2020?", "Revenue | 40 | 30", 0.0),
        ("en", "What was the percentage change in revenue from 2019 to 2020?", "Revenue grew by a third in 2020.", 1.0),
        ("en", "What was the average in rent from 2019 to 2020?", "Rent | 40 | 30", 0.0),
        ("en", "What was the average in rent from 2019 to 2020?", "On average, the rent was 35.", 1.0),
        ("en", "What is the quick ratio?", "Current assets | 40", 0.0),
        ("en", "What was the ROE?", "ROE | 12.5 | 11.0", 1.0),  # the word that asks is there
        ("de", "Wie hoch war die Umsatzrendite?", "Umsatzrendite | 8,2", 1.0),
        ("en", "How do I change the battery?", "Insert two cells.", 1.0),
        ("en", "How much cash was there in total?", "Cash | 689", 1.0),  # a sum may be any figure
        ("en", "Calculate the VAT amount.", "The VAT amount is 76 euros.", 1.0),
        ("en", "How long do customers wait on average?", "Customers usually wait ten minutes.", 1.0),
        ("de", "Wie lange dauert der Anschluss im Durchschnitt?", "Üblicherweise dauert er zwei Wochen.", 1.0),
        ("cs", "Kolik nocí host v průměru zůstane?", "Host obvykle zůstane tři noci.", 1.0),
        ("en", "What is the highest pressure?", "Maximum pressure | 16 bar", 1.0),  # a label may be the highest itself
        # what is told is no figure
        (
            "en",
            "What is the difference between a term and a sum?",
            "A sum adds terms.",
            1.0,
        ),
        ("de", "Um wie viel Prozent stieg der Umsatz von 2019 auf 2020?", "Umsatz | 40 | 30", 0.0),
        ("de", "Um wie viel Prozent stieg der Umsatz von 2019 auf 2020?", "Der Umsatz stieg um ein Drittel.", 1.0),
        ("ja", "What was the percentage change in revenue from 2019 to 2020?", "40", 1.0),  # nobody knows its words
    ],
)
def test_given_a_result_asked_for_then_words_for_it(language: str, question: str, text: str, result: float) -> None:
    assert fit(question, text, language).result == result


def test_given_a_heading_that_says_average_then_its_rows_state_one() -> None:
    row = fit("What is the average price per kWh of the Home tariff?", "Home | 31.2", section="Average price per kWh")
    assert row.result == 1.0


@given(
    st.text(max_size=120) | st.sampled_from(HOSTILE),
    st.text(max_size=160) | st.sampled_from(HOSTILE),
    st.sampled_from([*LANGUAGES, "und", ""]),
)
def test_given_any_texts_then_the_features_stay_in_their_range(question: str, text: str, language: str) -> None:
    found = fit(question, text, language, section=text, title=text)
    assert all(0 <= value <= 1 for value in astuple(found))


@each(
    ("question", "row", "empty"),
    [
        ("Where is Pottery on Monday?", f"Pottery | {EMPTY} | room 4", True),
        ("Where is Pottery on Monday?", "Pottery |  | room 4", True),
        ("Where is Pottery on Wednesday?", f"Pottery | {EMPTY} | room 4", False),
        ("Where is Pottery?", f"Pottery | {EMPTY} | room 4", False),  # names no column
        ("Where is Pottery on Monday and Wednesday?", f"Pottery | {EMPTY} | room 4", False),  # one of them is there
        ("Where is Pottery on Monday?", "Pottery | – | room 4", False),  # a dash that is printed says something
        ("Where is Pottery on Monday?", f"Pottery | {EMPTY}", False),  # nobody knows below which head
    ],
)
def test_given_an_empty_cell_where_asked_then_the_row_says_nothing(question: str, row: str, empty: bool) -> None:
    assert asks_for_empty(asked_for(question, "en"), row, "Course | Monday | Wednesday") is empty


@each(
    ("question", "header", "above", "other"),
    [
        ("What was the profit in 2022?", "Item | 2024 | 2023", "Accounts", True),
        ("What was the profit in 2023?", "Item | 2024 | 2023", "Accounts", False),
        ("What was the profit from 2022 to 2024?", "Item | 31.12.2024 | 31.12.2023", "Accounts", False),
        ("What was the profit in 2022?", "Item | 2024 | 2023", "Accounts of 2022", False),
        ("What was the profit in 2022?", "Item | Spring | Autumn", "Accounts", False),  # the columns are no years
        ("What was the profit in 2022?", "Item | 20245 | 120230", "Accounts", False),
        ("What was the profit?", "Item | 2024 | 2023", "Accounts", False),
    ],
)
def test_given_a_year_then_a_table_of_other_years_is_told(question: str, header: str, above: str, other: bool) -> None:
    assert asks_for_other_year(asked_for(question, "en"), "Profit | 7 | 9", header, above) is other


def test_given_a_year_then_a_row_that_has_it_is_of_no_other_year() -> None:
    asked = asked_for("What was the profit in 2022?", "en")
    assert not asks_for_other_year(asked, "Profit (since 2022) | 7 | 9", "Item | 2024 | 2023", "")
