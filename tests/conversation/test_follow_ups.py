"""Follow-ups as questions that stand alone, by rules: what is taken over, when nobody is sure, and that nothing comes
from elsewhere.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from rag_core.conversation.rules import rewritten
from rag_core.conversation.stand_alone import MAX_EARLIER, StandAlone, Stated, stand_alone
from rag_core.domain.bounds import MAX_QUESTION_CHARS
from rag_core.language import LANGUAGES, fold, intent, words
from rag_core.settings import Settings
from rag_core.wiring import open_engine

HERE = Path(__file__).parent
TABLE = yaml.safe_load((HERE / "follow_ups.yaml").read_text(encoding="utf-8"))
ROWS = [
    json.loads(line) for line in (HERE.parents[1] / "data" / "questions.jsonl").read_text(encoding="utf-8").splitlines()
]
STORES = "How many stores did Best Buy open in Q2 FY24?"
FRAGMENTS = {
    "en": [
        "And in 2021?",
        "And in Italy?",
        "What about Target?",
        "And how many?",
        "How many did it open?",
        "Why?",
        "And when does it end?",
    ],
    "de": ["Und im Jahr 2021?", "Und in Berlin?", "Was ist mit SAP?", "Und wie viele?", "Und wann endet er?", "Warum?"],
    "cs": ["A v roce 2021?", "A v Praze?", "A co Target?", "A kolik?", "A kdy končí?", "Proč?"],
    "hi": ["और 2021 में?", "और कब?", "यह कब समाप्त होता है?", "और उसने कब खोले?"],
}


def asked(language: str) -> list[str]:
    return [row["question"] for row in ROWS if row["language"] == language]


@cache
def known_words(language: str) -> frozenset[str]:
    """What a rewriting may add: function words, and the words around a period."""
    info = LANGUAGES[language]
    period = info.follow_ups.period.format("") if info.follow_ups else ""
    return frozenset(fold(word) for word in (*info.function_words, *period.split()))


@pytest.mark.parametrize("language", TABLE)
def test_given_a_follow_up_when_rewritten_then_it_takes_over_what_it_leans_on_or_says_that_it_is_not_sure(
    language: str,
) -> None:
    """S2-30: several turns."""
    wrong = {}
    for row in TABLE[language]:
        expected = {text: StandAlone(whole, text, "rules") for text, whole in row.get("sure", {}).items()}
        expected |= {
            text: StandAlone(text, text, "", guess or f"{row['earlier']} {text}")
            for text, guess in row.get("unsure", {}).items()
        }
        expected |= {text: StandAlone(text, text) for text in row.get("alone", [])}
        for text, wanted in expected.items():
            got = stand_alone(text, [row["earlier"]], [language])
            if got != wanted:
                wrong[row["earlier"], text] = got
    assert wrong == {}


def test_given_a_question_that_stands_alone_when_another_came_before_then_it_is_never_changed() -> None:
    changed = {}
    for row in ROWS:
        others = asked(row["language"])
        at = others.index(row["question"])
        for earlier in (others[(at + step) % len(others)] for step in (1, 5, 17)):
            if (got := stand_alone(row["question"], [earlier], [row["language"]])) != StandAlone(
                row["question"], row["question"]
            ):
                changed[row["question"]] = got
    assert changed == {}


def test_given_any_two_questions_when_rewritten_then_every_word_is_of_them_or_a_function_word() -> None:
    """What an answer or a document said has no way into a question: the rules read questions only, and add no word that
    says something.
    """
    foreign, made = {}, 0
    for language, fragments in FRAGMENTS.items():
        for earlier in asked(language):
            for fragment in fragments:
                found = rewritten(fragment, earlier, language)
                text = found.text if found else ""
                made += bool(text)
                source = {fold(word.text) for word in words(f"{earlier} {fragment}")} | known_words(language)
                if extra := {fold(word.text) for word in words(text)} - source:
                    foreign[earlier, fragment] = (text, extra)
    assert foreign == {}
    assert made > 300


@given(st.text(max_size=80), st.text(max_size=80), st.sampled_from(sorted(FRAGMENTS)))
def test_given_any_texts_when_rewritten_then_nothing_breaks_and_a_sure_question_can_be_asked(
    text: str, earlier: str, language: str
) -> None:
    got = stand_alone(text, [earlier], [language])

    assert got.typed == text
    assert got.question == text or got.by == "rules"
    assert len(got.question) <= max(len(text), MAX_QUESTION_CHARS)


def polite(text: str) -> str:
    """As the model would tell it."""
    return "greeting" if text.startswith("Hello") else "thanks" if "hanks" in text else ""


def test_given_several_turns_when_rewritten_then_each_leans_on_the_one_before_as_it_was_meant() -> None:
    turns = ["Hello!", STORES, "Thanks!", "And how many did it close?"]

    assert stand_alone("And in Q3?", turns, talk=polite).question == "How many stores did Best Buy close in Q3 FY24?"
    assert (
        stand_alone("And in Q3?", [*turns, "Tell me more"], talk=polite).question
        == "How many stores did Best Buy close in Q3 FY24?"
    )
    assert (
        stand_alone("And in Q3?", [*turns, "What is the notice period?"], talk=polite).question
        == "What is the notice period in Q3?"
    )
    assert stand_alone("And in Q3?", [STORES, *["Hello!"] * MAX_EARLIER]).question == "And in Q3?"  # too long ago


def test_given_small_talk_when_a_question_came_before_then_it_leans_on_nothing_and_nothing_on_it() -> None:
    talk = {"And thanks!": "thanks", "Hello": "greeting"}.get

    assert stand_alone("And thanks!", [STORES], talk=lambda text: talk(text, "")) == StandAlone(
        "And thanks!", "And thanks!"
    )
    assert (
        stand_alone("And in Q3?", [STORES, "Hello"], talk=lambda text: talk(text, "")).question
        == stand_alone("And in Q3?", [STORES]).question
    )


def test_given_a_follow_up_in_another_language_when_read_then_it_is_not_rewritten_and_both_are_offered() -> None:
    assert stand_alone("A kolik?", [STORES], ["en", "cs"]) == StandAlone(
        "A kolik?", "A kolik?", "", f"{STORES} A kolik?"
    )


@pytest.mark.parametrize(
    ("earlier", "typed", "asked"),
    [
        ("What is the quorum of the members?", "And who decides?", "quorum members: And who decides?"),
        ("How much is a key?", "And the boat?", "How much is the boat?"),
        ("Combien coûte une clé ?", "Et le bateau ?", "Combien coûte le bateau ?"),
        ("¿Cuándo abre la sala?", "¿Y quién la limpia?", "abre sala: ¿Y quién la limpia?"),
        ("Kolik stojí nájem bytu?", "A kauce?", "Kolik stojí kauce?"),
        ("Wie hoch ist die Kaution der Hütte?", "Und wer zahlt dafür?", "hoch Kaution Hütte: Und wer zahlt dafür?"),
        ("Kdy začíná nájem?", "And who owns the flat?", "začíná nájem: And who owns the flat?"),
    ],
)
def test_given_a_follow_up_that_no_rule_places_when_the_documents_answer_it_in_its_context_then_that_is_asked(
    earlier: str, typed: str, asked: str
) -> None:
    known = {earlier: (0.9, (("One.", ""),)), typed: (0.7, (("Other.", ""),)), asked: (0.8, (("Two.", ""),))}

    got = stand_alone(typed, [earlier], ["en", "de", "cs", "fr", "es"], answers=lambda text: known.get(text, (0.0, ())))

    assert got == StandAlone(asked, typed, "rules")


def test_given_a_follow_up_that_no_rule_places_when_the_samples_answer_it_in_its_context_then_that_is_asked(
    sample_library: Path,
) -> None:
    """S2-30: several turns."""
    engine, settings = open_engine(sample_library), Settings.load()

    whole = engine.stand_alone("A náhradní baterie?", ["Kolik stojí jeden průtokoměr řady MK-40?"], settings)
    decision = engine.ask(whole.question, settings, about=whole.about)

    assert (whole.question, whole.by) == ("Kolik stojí náhradní baterie?", "rules")
    assert "890" in decision.to_json()["answer"]


def test_given_a_follow_up_when_only_the_answer_to_the_question_before_is_found_then_it_is_asked_as_typed() -> None:
    earlier, typed = "How much is a key?", "And the boat?"
    got = stand_alone(typed, [earlier], ["en"], answers=lambda _: (0.9, (("One.", ""),)))

    assert (got.question, got.by) == (typed, "")


@pytest.mark.parametrize(
    ("typed", "asked"), [("Et le bateau ?", "Combien coûte le bateau ?"), ("Et pourquoi ?", "Et pourquoi ?")]
)
def test_given_a_follow_up_that_is_hardly_answered_then_it_is_asked_in_its_context_where_no_other_is_offered(
    typed: str, asked: str
) -> None:
    def answers(text: str) -> tuple[float, Stated]:
        return (0.9, (("One.", "1"),)) if text == "Combien coûte une clé ?" else (0.2, (("Two.", ""),))

    got = stand_alone(typed, ["Combien coûte une clé ?"], ["fr"], answers=answers, least=0.5)

    assert got.question == asked


def test_given_a_question_that_stands_alone_or_that_a_rule_places_then_the_documents_are_not_asked() -> None:
    def asked(text: str) -> tuple[float, Stated]:
        raise AssertionError(text)

    assert stand_alone("What is the notice period?", [STORES], ["en"], answers=asked).by == ""
    assert stand_alone("And in Q3?", [STORES], ["en"], answers=asked).by == "rules"


def test_given_no_question_before_when_a_follow_up_is_typed_then_nothing_is_done() -> None:
    for earlier in ([], [""], ["Hello"], ["And why?"]):
        assert stand_alone("And how many did it open?", earlier, talk=polite) == StandAlone(
            "And how many did it open?", "And how many did it open?"
        )


def test_given_a_rewriting_that_is_too_long_to_be_asked_when_made_then_it_is_only_suggested_in_part() -> None:
    long = f"What does the {'very ' * 30}{'x' * (MAX_QUESTION_CHARS - 200)} cost?"

    got = stand_alone("And in the financial year that is called 2021?", [long])

    assert len(got.suggestion) <= MAX_QUESTION_CHARS
    assert got.question == got.typed


def test_given_a_rewritten_question_when_its_intent_is_read_then_it_is_no_follow_up_any_more() -> None:
    sure = [
        (language, whole)
        for language, rows in TABLE.items()
        for row in rows
        for whole in row.get("sure", {}).values()
        if whole
    ]

    assert {whole: kind for language, whole in sure if (kind := intent(whole, language)) == "follow_up"} == {}
