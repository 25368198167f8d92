"""Questions that ask for more than finding are told from those that a sentence answers."""

from __future__ import annotations

import pytest

from rag_core.gating.asked import COMPUTED, asks_to_compute, computed_in_words
from rag_core.language import LANGUAGES
from tests.gating.test_asked import HOSTILE

ASKS = [
    ("en", "What is the FY2022 quick ratio of Acme?", "ratio"),
    ("en", "What was the gross margin in 2022?", "ratio"),
    ("en", "How did net sales change from 2021 to 2022?", "change"),
    ("en", "What is the year over year growth of revenue?", "change"),
    ("en", "How much has the tax rate changed between 2021 and 2022?", "change"),
    ("en", "What is the difference between plan A and plan B?", "difference"),
    ("en", "How many more people work in Oslo than in Bergen?", "difference"),
    ("en", "What is the sum of both fees and the deposit?", "sum"),
    ("en", "What is the three year average of capex?", "average"),
    ("en", "Which region has the highest share of women?", "extreme"),
    ("en", "Are there more men than women on the board?", "comparison"),
    ("en", "Which one is greater, the fee or the deposit?", "comparison"),
    ("en", "Is the company capital intensive?", "judgement"),
    ("en", "Should I buy the shares?", "judgement"),
    ("en", "Summarize the duties of the tenant.", "summary"),
    ("en", "How many tables are in the report?", "items"),
    ("en", "How many market names are listed under the northern area?", "items"),
    ("en", "What stands on page 3?", "layout"),
    ("en", "What colour is the line in the chart?", "picture"),
    ("en", "Calculate what remains.", "other"),
    ("de", "Wie hat sich der Umsatz entwickelt?", "change"),
    ("de", "Was ist der Unterschied zwischen A und B?", "difference"),
    ("de", "Wie viele Tabellen enthält der Bericht?", "items"),
    ("de", "Was steht auf Seite 3?", "layout"),
    ("de", "Fasse die Pflichten des Mieters zusammen", "summary"),
    ("es", "¿Qué color tiene la línea del gráfico?", "picture"),
    ("fr", "Quelle est la différence entre A et B ?", "difference"),
    ("it", "Qual è la differenza tra A e B?", "difference"),
    ("cs", "Jaký je rozdíl mezi A a B?", "difference"),
    ("sk", "Aký je rozdiel medzi A a B?", "difference"),
    ("pl", "Jaka jest różnica między A i B?", "difference"),
    ("ru", "Какова разница между А и Б?", "difference"),
    ("hi", "A और B के बीच अंतर क्या है?", "difference"),
]
FINDS = [
    ("en", "How long is the notice period?"),
    ("en", "Who signed the lease in 2021?"),
    ("en", "How many employees work there?"),
    ("en", "How many companies were listed on the exchange in 2009?"),
    ("en", "Is smoking allowed?"),
    ("en", "When was the summer house built?"),
    ("en", "What is the page size?"),
    ("en", "What does the chart company sell?"),
    ("de", "Wie lange ist die Kündigungsfrist?"),
    ("de", "Wer unterschrieb den Vertrag?"),
    ("cs", "Kolik zaměstnanců tam pracuje?"),
    ("ru", "Кто подписал договор?"),
    ("hi", "अनुबंध कब समाप्त होता है?"),
    ("xx", "What is the quick ratio?"),
]


def test_given_a_question_that_must_be_computed_then_its_kind_is_told() -> None:
    told = [(language, question, asks_to_compute(question, language)) for language, question, _ in ASKS]
    assert told == ASKS


def test_given_a_question_that_a_sentence_answers_then_no_kind_is_told() -> None:
    assert {question: kind for language, question in FINDS if (kind := asks_to_compute(question, language))} == {}


def test_given_a_kind_then_a_refusal_says_in_words_why_and_what_to_ask() -> None:
    for kind in COMPUTED:
        assert computed_in_words(kind).startswith(f"{COMPUTED[kind]} Ask ")


def test_given_every_language_file_then_it_knows_kinds_that_exist() -> None:
    for code, info in LANGUAGES.items():
        assert info.asked is not None, code
        assert set(info.asked.computes) == set(COMPUTED), code
        assert set(info.asked.results) <= set(COMPUTED), code


@pytest.mark.parametrize("language", [*LANGUAGES, "da", "und", ""])
def test_given_hostile_text_then_it_is_read(language: str) -> None:
    for text in HOSTILE:
        assert asks_to_compute(text, language) in ("", *COMPUTED)
