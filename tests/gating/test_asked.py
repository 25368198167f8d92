"""The words of a question, and which sentences of a document ask."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_core.gating.asked import asked_for, asks
from rag_core.language import LANGUAGES

HOSTILE = [
    "",
    " ",
    "?",
    "a" * 10_000,
    "which " * 2_000,
    "how much " * 1_200,
    "1" * 10_000,
    "§ " * 5_000,
    "مرحبا كيف " * 1_000,
    "\u202eabc\u0000",
    "𝟜𝟚 ²³½ ٣٤",
    "(" * 10_000,
    "wie viel " + "x " * 5_000,
    "A1-" * 3_000,
]


def test_given_a_question_then_its_words_are_folded_and_its_instructions_are_none_of_them() -> None:
    found = asked_for("What was the Net income in FY2022? Round to one decimal.", "en")

    assert found.words == {"what", "was", "the", "net", "income", "in", "fiscal", "year", "2022"}
    assert found.computes == ""
    assert asked_for("What is the quick ratio?", "en").computes == "ratio"


@given(st.text(max_size=200) | st.sampled_from(HOSTILE), st.sampled_from([*LANGUAGES, "und", ""]))
def test_given_any_text_then_it_is_read_and_the_same_again(text: str, language: str) -> None:
    found = asked_for(text, language)
    asked_for.cache_clear()
    assert asked_for(text, language) == found


@pytest.mark.parametrize(
    ("language", "asking", "stating"),
    [
        ("en", "Who pays when the goods are late?", "Who pays when the goods are late is said in § 4."),
        ("en", "(“Is the valve open?”)", "The valve is open (see “Is the valve open?” below)."),
        ("en", "Example: Find the sum of the first nine terms.", "Find the serial number under the lid."),
        ("en", "3. Prove that the two angles are equal.", "3. Prove your identity at the desk."),
        ("de", "Berechnen Sie die Summe der ersten neun Glieder.", "Berechnen Sie vier Stunden für die Anreise."),
        ("cs", "Určete součet prvních devíti členů.", "Určete jednu osobu, která klíč převezme."),
        ("sk", "Vypočítajte súčet prvých deviatich členov.", "Vypočítajte si čas na cestu."),
        ("es", "Calcule la suma de los nueve primeros términos.", "Calcule dos horas para el viaje."),
        ("fr", "Calculez la somme des neuf premiers termes.", "Calculez deux heures pour le trajet."),
        ("it", "Calcola la somma dei primi nove termini.", "Calcola due ore per il viaggio."),
        ("pl", "Oblicz sumę dziewięciu pierwszych wyrazów.", "Oblicz dwie godziny na dojazd."),
        ("ru", "Найдите сумму первых девяти членов.", "Найдите ключ под крышкой."),
        ("hi", "उदाहरण: पहले नौ पदों का योग ज्ञात कीजिए।", "पहले नौ पदों का योग 45 है।"),
        ("ar", "من يدفع الرسوم؟", "يدفع المشتري الرسوم."),
    ],
)
def test_given_a_sentence_that_asks_or_sets_a_task_then_known(language: str, asking: str, stating: str) -> None:
    assert asks(asking, language)
    assert not asks(stating, language)
