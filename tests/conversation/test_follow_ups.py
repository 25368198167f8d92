"""Follow-ups as questions that stand alone: what is taken over, when nobody is sure, and that nothing comes from
elsewhere.
"""

from __future__ import annotations

import json
from pathlib import Path

from folding import each
from hypothesis import given
from hypothesis import strategies as st

from rag_core.conversation.stand_alone import MAX_EARLIER, StandAlone, Stated, stand_alone
from rag_core.domain.bounds import MAX_QUESTION_CHARS
from rag_core.language import fold, words
from rag_core.settings import Settings
from rag_core.wiring import open_engine

SAMPLES = Path(__file__).parents[2] / "data" / "questions.jsonl"
STORES = "How many stores did Best Buy open in Q2 FY24?"
LANGUAGES = ["en", "de", "cs", "fr", "es", "hi"]
SURE = {  # one name, number or code in the place of the one that is written alike: no document is asked
    (STORES, "And in Q3?"): "How many stores did Best Buy open in Q3 FY24?",
    (STORES, "What about Target?"): "How many stores did Target open in Q2 FY24?",
    (STORES, "And FY23?"): "How many stores did Best Buy open in Q2 FY23?",
    ("How many days do employees have?", "And in 2024?"): "How many days do employees have in 2024?",  # no like
    ("What does error code E3 mean?", "E4?"): "",
    ("What does error code E3 mean?", "And E4?"): "What does error code E4 mean?",
    ("What may a hotel in London cost?", "And in Berlin?"): "What may a hotel in Berlin cost?",
    ("Wer zahlt den Strom?", "Und das Wasser?"): "Wer zahlt den Wasser?",
    ("Was kostet es in London?", "Und in Berlin?"): "Was kostet es in Berlin?",
    ("Kolik prodejen otevřel Best Buy v roce 2020?", "A v roce 2021?"): "Kolik prodejen otevřel Best Buy v roce 2021?",
    ("2020 में कितने स्टोर खोले?", "और 2021 में?"): "2021 में कितने स्टोर खोले?",
}
IN_CONTEXT = [  # what the documents are likeliest to answer is asked
    ("What is the quorum of the members?", "And who decides?", "quorum members: And who decides?"),
    ("How much is a key?", "And the boat?", "How much is the boat?"),
    ("Combien coûte une clé ?", "Et le bateau ?", "Combien coûte le bateau ?"),
    ("¿Cuándo abre la sala?", "¿Y quién la limpia?", "abre sala: ¿Y quién la limpia?"),
    ("Kolik stojí nájem bytu?", "A kauce?", "Kolik stojí kauce?"),
    ("Wie hoch ist die Kaution der Hütte?", "Und wer zahlt dafür?", "hoch Kaution Hütte: Und wer zahlt dafür?"),
    ("Kdy začíná nájem?", "And who owns the flat?", "začíná nájem: And who owns the flat?"),
    ("What is the MK-40?", "How much does it weigh?", "MK 40: How much does it weigh?"),
    ("Who runs Target and Costco?", "And Walmart?", "Who runs Target and Walmart?"),
    ("What may a hotel in Rome cost?", "And in Berlin for students?", "What may a hotel in Berlin for students?"),
]


def folded(text: str) -> set[str]:
    return {fold(word.text) for word in words(text)}


def asked(typed: str, *earlier: str, **known: tuple[float, Stated]) -> StandAlone:
    return stand_alone(typed, earlier, LANGUAGES, answers=lambda text: known.get(text, (0.0, ())))


@each(("pair", "whole"), SURE.items())
def test_given_a_name_number_or_code_then_it_takes_its_like_s_place(pair: tuple[str, str], whole: str) -> None:
    """S2-30: several turns."""
    earlier, typed = pair
    assert asked(typed, earlier) == (StandAlone(whole, typed, "rules") if whole else StandAlone(typed, typed))


@each(("earlier", "typed", "whole"), IN_CONTEXT)
def test_given_a_follow_up_when_answered_in_context_then_that_is_asked(earlier: str, typed: str, whole: str) -> None:
    known = {earlier: (0.9, (("One.", ""),)), typed: (0.7, (("Other.", ""),)), whole: (0.8, (("Two.", ""),))}
    assert asked(typed, earlier, **known) == StandAlone(whole, typed, "rules")


def test_given_a_follow_up_when_the_samples_answer_it_in_its_context_then_that_is_asked(sample_library: Path) -> None:
    """S2-30: several turns."""
    engine, settings = open_engine(sample_library), Settings.load()

    whole = engine.stand_alone("A náhradní baterie?", ["Kolik stojí jeden průtokoměr řady MK-40?"], settings)
    decision = engine.ask(whole.question, settings, about=whole.about)

    assert (whole.question, whole.by) == ("Kolik stojí náhradní baterie?", "rules")
    assert "890" in decision.to_json()["answer"]


def test_given_a_follow_up_that_nothing_new_answers_then_it_is_asked_as_typed_and_both_are_offered() -> None:
    one = (0.9, (("One.", ""),))
    for typed in ("And the boat?", "Why?", "A kolik?"):
        got = stand_alone(typed, [STORES], LANGUAGES, answers=lambda _: one)

        assert got == StandAlone(typed, typed, "", f"{STORES} {typed}")


def test_given_a_follow_up_that_is_hardly_answered_then_only_one_that_says_enough_is_asked_in_its_context() -> None:
    earlier, key = "Combien coûte une clé ?", "How much is a key?"

    def answers(text: str) -> tuple[float, Stated]:
        return (0.9, (("One.", "1"),)) if text in (earlier, key) else (0.2, (("Two.", ""),))

    for typed, whole in (("Et le bateau ?", "Combien coûte le bateau ?"), ("Et pourquoi ?", "Et pourquoi ?")):
        assert stand_alone(typed, [earlier], ["fr"], answers=answers, least=0.5).question == whole
    short = "What about the boat?"
    assert stand_alone(short, [key], ["en"], answers=answers, least=0.5).question == short


def test_given_a_question_that_stands_alone_when_another_came_before_then_no_document_is_asked_for_it() -> None:
    def answers(text: str) -> tuple[float, Stated]:
        raise AssertionError(text)

    for line in SAMPLES.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if {"it", "they", "sie", "er", "यह"}.isdisjoint(map(str.lower, row["question"].split())):
            got = stand_alone(row["question"], [STORES], [row["language"]], answers=answers)
            assert got == StandAlone(row["question"], row["question"]), row


def test_given_several_turns_when_rewritten_then_each_leans_on_the_one_before_as_it_was_meant() -> None:
    def talk(text: str) -> str:
        return "greeting" if text.startswith("Hello") else "thanks" if "hanks" in text else ""

    def whole(typed: str, *turns: str) -> str:
        return stand_alone(typed, turns, talk=talk).question

    target = "How many stores did Target open in Q3 FY24?"
    turns = ("Hello!", STORES, "Thanks!", "And Target?")
    assert whole("And in Q3?", *turns) == target
    assert whole("And in Q3?", *turns, "Tell me more") == target
    assert whole("And in Q3?", STORES, *["Hello!"] * MAX_EARLIER) == "And in Q3?"  # too long ago
    assert whole("And thanks!", STORES) == "And thanks!"
    for earlier in ([], [""], ["Hello"], ["And why?"]):
        assert whole("And how many did it open?", *earlier) == "And how many did it open?"


def test_given_a_rewriting_that_is_too_long_to_be_asked_when_made_then_it_is_only_suggested_in_part() -> None:
    long = f"What does the {'very ' * 30}{'x' * (MAX_QUESTION_CHARS - 200)} cost?"

    got = stand_alone("And in the financial year that is called 2021?", [long])

    assert len(got.suggestion) <= MAX_QUESTION_CHARS
    assert got.question == got.typed


@given(
    st.text(max_size=80) | st.sampled_from(["And in 2021?", "What about Target?", "Why?", "And when does it end?"]),
    st.text(max_size=80) | st.just(STORES),
    st.sampled_from(LANGUAGES),
)
def test_given_any_two_questions_when_rewritten_then_every_word_is_of_them(typed: str, earlier: str, code: str) -> None:
    """What an answer or a document said has no way into a question: nothing else is read."""
    for answers in (lambda _: (0.0, ()), lambda text: (0.9, ((text, ""),))):
        got = stand_alone(typed, [earlier], [code], answers=answers)

        assert got.typed == typed
        assert got.question == typed or got.by == "rules"
        assert {fold(one.text) for one in words(got.question)} <= {
            fold(one.text) for one in words(f"{earlier} {typed}")
        }


def test_given_a_question_of_many_words_when_another_came_before_then_it_leans_on_nothing() -> None:
    assert asked(f"And {'what is it ' * 20}?", STORES) == StandAlone(*[f"And {'what is it ' * 20}?"] * 2)
