"""Two questions in one, each as it stands alone, and what is one question after all."""

from __future__ import annotations

import json
from pathlib import Path

from folding import each
from hypothesis import given
from hypothesis import strategies as st

from rag_core.conversation.halves import halves
from rag_core.language import LANGUAGES, fold, words

ROWS = [
    json.loads(line)
    for line in (Path(__file__).parents[2] / "data" / "questions.jsonl").read_text(encoding="utf-8").splitlines()
]


@each(
    ("language", "first", "and_", "second"),
    [
        ("en", "How large is a plot", ", and how high may a hut be?", "How high may a hut be?"),
        ("en", "How large is a plot", "? How high may a hut be?", "How high may a hut be?"),
        ("en", "When does the lease begin", " and when does it end?", "When does it end?"),
        ("de", "Wie hoch ist die Kaution", " und wann beginnt die Ruhezeit?", "Wann beginnt die Ruhezeit?"),
        ("cs", "Kdy začíná nájem", " a kolik činí kauce?", "Kolik činí kauce?"),
        ("fr", "Quand commence le bail", " et combien coûte la place ?", "Combien coûte la place?"),
        ("ru", "Когда начинается аренда", " и сколько стоит парковка?", "Сколько стоит парковка?"),
        ("en", "May I park here", " and what does it cost?", "What does it cost?"),
        ("de", "Ist Lärm verboten", " und wann ist Ruhezeit?", "Wann ist Ruhezeit?"),
        ("es", "¿Se admiten perros", " y cuánto cuesta la plaza?", "Cuánto cuesta la plaza?"),
        ("en", "How many judges has the Acme jury", " and who names them?", "Who names them?"),
        ("hi", "किराया कितना है", " और अनुबंध कब समाप्त होता है?", "अनुबंध कब समाप्त होता है?"),
    ],
)
def test_given_two_questions_in_one_then_both_are_parted(language: str, first: str, and_: str, second: str) -> None:
    assert halves(f"{first}{and_}", language) == (f"{first}?", second)


@each(
    "question",
    [
        "Who wrote the report and when?",  # one sentence says both
        "When and where was the meeting held?",
        "What do Brno and Prague have in common?",
        "What is the fee for those who leave early and do not pay?",
        "How many huts were there in 2024, and how many are there now?",
        "Where is it? Who owns it? What does it cost?",
        "Are members who are ill and who do not pay expelled?",
        "May I bring cats and dogs?",
        "Thanks! And how high may a hut be?",
        "What is the notice period? Thank you!",
        "",
    ],
)
def test_given_one_question_when_parted_then_it_stays_whole(question: str) -> None:
    assert halves(question, "en") is None


def test_given_the_questions_of_the_samples_when_parted_then_they_stay_whole() -> None:
    assert {row["question"]: found for row in ROWS if (found := halves(row["question"], row["language"]))} == {}


@given(
    st.text(max_size=80)
    | st.lists(st.sampled_from("how what when is the fee it and ? , Brno".split()), max_size=16).map(" ".join),
    st.sampled_from([*LANGUAGES, "und"]),
)
def test_given_any_text_when_parted_then_nothing_is_asked_that_it_does_not_say(text: str, language: str) -> None:
    found = halves(text, language)

    if found:
        assert all(len(words(one)) >= 3 for one in found)
        assert {fold(word.text) for half in found for word in words(half)} <= {fold(word.text) for word in words(text)}
