"""What a sentence states, and the one value in which two sentences differ: rather none than a wrong one."""

from __future__ import annotations

import pytest
from folding import each
from hypothesis import given
from hypothesis import strategies as st

from rag_core.grounding.contradictions.statements import Statement, difference
from rag_core.grounding.contradictions.word_lists import word_lists
from rag_core.language import LANGUAGES


def apart(one: str, other: str, language: str = "en") -> tuple[str, str] | None:
    found = difference(Statement(one, language), Statement(other, language))
    return found and (found[0].shown, found[1].shown)


@each(
    ("language", "one", "other", "values"),
    [
        (
            "en",
            "Every full-time employee has 25 vacation days in a calendar year.",
            "Each full-time employee gets 20 vacation days per calendar year.",
            ("25 vacation days", "20 vacation days"),
        ),
        (
            "en",
            "Unused days must be taken before 30 June.",
            "Unused days must be taken before 31 March.",
            ("30 June", "31 March"),
        ),
        ("en", "The notice period is three months.", "The notice period is 2 months.", ("three months", "2 months")),
        ("cs", "Doba plnění je 30 dní od podpisu.", "Doba plnění činí 45 dní od podpisu.", ("30 dní", "45 dní")),
        (
            "de",
            "Jeder Mitarbeiter hat 30 Urlaubstage im Kalenderjahr.",
            "Jeder Mitarbeiter erhält 28 Urlaubstage im Kalenderjahr.",
            ("30 Urlaubstage", "28 Urlaubstage"),
        ),
        (
            "hi",
            "प्रत्येक कर्मचारी को साल में 25 दिन की छुट्टी मिलती है।",
            "हर कर्मचारी को साल में २० दिन की छुट्टी मिलेगी।",
            ("25 दिन", "२० दिन"),
        ),
    ],
)
def test_given_the_same_statement_with_another_value_then_both_values_are_named_with_what_they_count(
    language: str, one: str, other: str, values: tuple[str, str]
) -> None:
    """S4-21: in each of the four languages, with unit, currency, date or what is counted."""
    assert apart(one, other, language) == values


@each(
    ("one", "other"),
    [
        ("Full-time employees have 25 vacation days.", "Part-time employees have 20 vacation days."),
        ("The notice period is 30 days.", "The notice period of a lease is 90 days."),
        ("Revenue in 2022 was 5 million euros.", "Revenue in 2023 was 6 million euros."),
        ("The contract was signed with Alfa in 10 copies.", "The contract was signed with Beta in 12 copies."),
        ("The fee must be paid within 14 days.", "The fee must not be paid within 30 days."),
        ("Employees get at least 20 vacation days.", "Employees get at most 25 vacation days."),
        ("The trial period is 3 months.", "The trial period is 90 days."),
        ("The supplier pays 30 euros a day.", "The customer pays 50 euros a day."),
        ("The trial is to begin in September 2023.", "The trial is to begin in October 2023."),
        ("The trial begins in March with 10 guests.", "The trial begins in May with 12 guests."),
        ("The pump stands in Figure 3 of the manual.", "The pump stands in Figure 4 of the manual."),
        ("3. Employees wear a helmet on the site.", "4. Employees wear a helmet on the site."),
        ("The device with code A-12 is tested yearly.", "The device with code A-13 is tested yearly."),
        ("How many days are 3 working weeks?", "How many days are 4 working weeks?"),
        ("a stock plan of 40 shares,", "a stock plan of 84 shares,"),
        ("Employees have 25 vacation days beside sick leave.", "Employees have 20 sick days beside vacation leave."),
        ("The office opens from 9:30 to 16:00 each day.", "The office opens from 9:00 to 16:00 each day."),
        (
            "Employees get 25 days of vacation and sick leave on request.",
            "Employees get 20 days of sick leave and vacation on request.",
        ),
        ("Reports need 5 days of work and 8 days of review.", "Reports need 8 days of work and 10 days of review."),
        ("The deadline for applications is 15 May 2026.", "The deadline for applications is May 2026."),
        ("The front desk opens at 2:30 p.m. daily.", "The front desk opens at 2:30 daily."),
        ("The office is on the 3rd floor of the house.", "The office is on the 4th floor of the house."),
        ("", ""),
    ],
)
def test_given_any_other_difference_then_nothing_is_said(one: str, other: str) -> None:
    """Qualifier, year, name, negation, bound, unit, order, event, label, code, question, fragment."""
    assert apart(one, other) is None
    assert apart(other, one) is None


def test_given_one_value_that_differs_then_the_others_may_stand_in_another_order() -> None:
    assert apart("Within 30 days 2 copies are sent.", "2 copies are sent within 45 days.") == ("30 days", "45 days")


def test_given_a_number_that_may_be_several_then_it_is_not_compared() -> None:
    assert apart("The row of the table holds 250 300 pieces.", "The row of the table holds 250 400 pieces.") is None


@pytest.mark.parametrize(
    ("text", "figure"),
    [("Revenue was 5 euros.", True), ("The budget is 5 million euros.", True), ("The fee is 5 euros.", False)],
)
def test_given_a_figure_of_a_period_then_it_is_known_from_a_rule(text: str, figure: bool) -> None:
    assert Statement(text, "en").is_figure is figure


def test_given_the_word_lists_then_each_language_is_known_and_no_word_is_light_and_telling_at_once() -> None:
    assert set(word_lists()) == {"en", "cs", "de", "hi"} <= set(LANGUAGES)
    for lists in word_lists().values():
        assert not lists.light & (lists.figures | lists.own | lists.labels)


texts = st.lists(
    st.sampled_from(
        "The employee has 25 20 three vacation days not in 2024 before 30 June of May A-12 pounds £5 , .".split()
    ),
    max_size=12,
)


@given(one=texts.map(" ".join), other=texts.map(" ".join), language=st.sampled_from(["en", "cs", "de", "hi"]))
def test_given_any_two_sentences_then_the_difference_is_mutual_and_never_of_a_sentence_to_itself(
    one: str, other: str, language: str
) -> None:
    found = apart(one, other, language)

    assert apart(one, one, language) is None
    assert apart(other, one, language) == (found and found[::-1])
    if found:
        assert found[0] != found[1]
        assert found[0] in one
        assert found[1] in other
        assert Statement(one, language).outline == Statement(other, language).outline
