"""The day that a question names, and the question without it."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_core.conversation.moments import moments
from rag_core.language import LANGUAGES
from rag_core.retrieval.versions import last_day

TODAY = date(2026, 11, 29)
NOW = TODAY.isoformat()


@pytest.mark.parametrize(
    ("language", "question", "bare", "days"),
    [
        ("en", "How high is the deposit today?", "How high is the deposit?", (NOW,)),
        ("en", "How high was the deposit in 2024?", "How high was the deposit?", ("2024-12-31",)),
        ("en", "On 1 March 2025, how high was the deposit?", "How high was the deposit?", ("2025-03-01",)),
        ("en", "How high was the deposit in February 2024?", "How high was the deposit?", ("2024-02-29",)),
        ("de", "Wie hoch ist derzeit die Kaution?", "Wie hoch ist die Kaution?", (NOW,)),
        ("cs", "Jak vysoká je nyní kauce?", "Jak vysoká je kauce?", (NOW,)),
        ("sk", "Aká vysoká je teraz kaucia?", "Aká vysoká je kaucia?", (NOW,)),
        ("pl", "Jak wysoka jest obecnie kaucja?", "Jak wysoka jest kaucja?", (NOW,)),
        ("fr", "Quel est actuellement le loyer ?", "Quel est le loyer?", (NOW,)),
        ("es", "¿Cuánto es ahora el alquiler?", "Cuánto es el alquiler?", (NOW,)),
        ("it", "Quanto costa oggi l'affitto?", "Quanto costa l'affitto?", (NOW,)),
        ("ru", "Сколько сейчас стоит аренда?", "Сколько стоит аренда?", (NOW,)),
        ("hi", "आज किराया कितना है?", "किराया कितना है?", (NOW,)),
    ],
)
def test_given_a_question_about_a_day_then_the_day_and_the_question_without_it_are_known(
    language: str, question: str, bare: str, days: tuple[str, ...]
) -> None:
    """S3-32: time."""
    found = moments(question, language, TODAY)

    assert (found.question, found.days, found.compared) == (bare, days, False)


@pytest.mark.parametrize(
    ("language", "question", "subject", "days"),
    [
        ("en", "What changed in the deposit from 2024 to 2026?", "deposit", ("2024-12-31", "2026-12-31")),
        ("en", "How has the fee for a key changed since 2024?", "fee for a key", ("2024-12-31",)),
        ("de", "Was hat sich bei der Kaution von 2024 auf 2026 geändert?", "Kaution", ("2024-12-31", "2026-12-31")),
        ("cs", "Jak se od roku 2024 změnila výpovědní lhůta?", "výpovědní lhůta", ("2024-12-31",)),
        ("es", "¿Qué cambió en las vacaciones de 2024 a 2026?", "vacaciones", ("2024-12-31", "2026-12-31")),
    ],
)
def test_given_a_question_about_a_change_then_its_subject_and_both_days_are_known(
    language: str, question: str, subject: str, days: tuple[str, ...]
) -> None:
    found = moments(question, language, TODAY)

    assert (found.question, found.days, found.compared) == (subject, days, True)


@pytest.mark.parametrize(
    "question",
    [
        "How high is the deposit?",
        "What does a new key cost?",
        "What changes when the lease ends?",
        "How high is the deposit in 2031?",
        "How many are 2,024 plus 2?",
        "What changed since 2024?",
    ],
)
def test_given_a_question_about_no_day_or_about_nothing_else_then_no_day_is_known(question: str) -> None:
    """S3-32: nobody knows what will be in force in a year to come."""
    assert moments(question, "en", TODAY) is None


@given(st.text(max_size=80), st.sampled_from(sorted(LANGUAGES)))
def test_given_any_text_then_its_days_are_of_the_calendar(question: str, language: str) -> None:
    found = moments(question, language, TODAY)

    if found:
        assert all(date.fromisoformat(day) for day in found.days)
        assert len(found.question) <= len(question)


def test_given_a_period_then_its_last_day_is_known() -> None:
    days = [last_day(2024, 2), last_day(2023, 12), last_day(2023), last_day(2023, 5, 6), last_day(2023, 2, 31)]

    assert days == ["2024-02-29", "2023-12-31", "2023-12-31", "2023-05-06", "2023-02-28"]
