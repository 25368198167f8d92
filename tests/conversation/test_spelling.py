"""Slips of the keyboard in a question, mended by the words of the passages that it brings."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from rag_core.conversation.spelling import respelt
from rag_core.language import is_known

RULES = (
    "The yearly rent of a plot is 96 euros. Guests may stay for two nights. The deposit is paid back by the treasurer."
)


@pytest.mark.parametrize(
    ("language", "question", "text", "meant"),
    [
        ("en", "What is the yeraly rnet of a plot?", RULES, "What is the yearly rent of a plot?"),
        ("en", "Who pays back the depsit?", RULES, "Who pays back the deposit?"),
        ("en", "Does the tresurer pay?", RULES, "Does the treasurer pay?"),
        ("en", "wich nights may guests stay", f"{RULES} Pets come with guests.", "which nights may guests stay"),
        (
            "de",
            "Wie hoch ist die jähliche Miete?",
            "Die jährliche Miete beträgt 90 Euro.",
            "Wie hoch ist die jährliche Miete?",
        ),
        ("cs", "Jaká je výpovednní lhůta?", "Výpovědní lhůta činí dva měsíce.", "Jaká je výpovědní lhůta?"),
        ("cs", "Jaka je vypovedni lhuta?", "Výpovědní lhůta činí dva měsíce.", "Jaka je výpovědní lhůta?"),
        ("es", "¿Cual es la direccion?", "La dirección es esta.", "¿Cual es la dirección?"),
        ("ru", "Сколько стоит арнеда?", "Аренда стоит 90 рублей.", "Сколько стоит аренда?"),
    ],
)
def test_given_a_slip_then_it_is_spelt_as_the_text_is(language: str, question: str, text: str, meant: str) -> None:
    assert respelt(question, language, [text]) == meant


@pytest.mark.parametrize(
    ("language", "question", "text"),
    [
        ("en", "May gets stay for two nights?", RULES),  # a real word
        ("en", "What does Tresurer Hall pay?", RULES),  # a name
        ("en", "What is the rnt of a plot?", RULES),  # too short
        ("en", "What is the gnarzlbix of a plot?", RULES),  # like no word
        ("en", "What is the code of a plotz9?", RULES),  # a code
        ("de", "Wie hoch sind die Kautionssummen?", "Die Kautionssumme beträgt 90 Euro."),  # another form
        ("en", "What is the yearly rent of a plot?", RULES),
        ("en", "What is the yeraly rnet?", ""),
    ],
)
def test_given_no_slip_or_nothing_near_then_the_question_stays(language: str, question: str, text: str) -> None:
    assert respelt(question, language, [text]) == question


@given(st.data())
def test_given_any_swap_in_an_unknown_word_then_it_becomes_the_word_of_the_text(data: st.DataObject) -> None:
    word = data.draw(st.sampled_from(["treasurer", "deposit", "nights", "yearly", "euros"]))
    at = data.draw(st.integers(1, len(word) - 2))
    wrong = word[:at] + word[at + 1] + word[at] + word[at + 2 :]
    assume(wrong != word and not is_known(wrong, "en") and at + 2 < len(word))

    assert respelt(f"about the {wrong}?", "en", [RULES]) == f"about the {word}?"


@given(st.text(max_size=60), st.text(max_size=60), st.sampled_from(["en", "cs", "hi", "und"]))
def test_given_any_texts_then_only_words_that_none_has_change(question: str, text: str, language: str) -> None:
    assert respelt(question, language, [question]) == question
    assert len(respelt(question, language, [text]).split()) == len(question.split())
