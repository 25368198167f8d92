"""Questions as people type them: what is changed, and what stays."""

from __future__ import annotations

import random
from difflib import SequenceMatcher

from hypothesis import given
from hypothesis import strategies as st

from training.reader.typed import FRAMES, slipped, typed

QUESTION = "Jaká je doba plnění smlouvy?"


@given(st.integers())
def test_given_any_draw_then_the_question_is_still_the_same_one(seed: int) -> None:
    said = typed(QUESTION, "cs", random.Random(seed))

    assert (
        any(said == f"{before}{QUESTION}{behind}" for before, behind in FRAMES["cs"])
        or SequenceMatcher(None, said, QUESTION).ratio() > 0.7
    )
    assert len(said.split()) >= len(QUESTION.split())


@given(st.from_regex(r"\A[a-z]{5,12}\Z"), st.integers())
def test_given_a_word_when_the_finger_slips_then_one_place_differs_and_its_first_letter_stays(
    word: str, seed: int
) -> None:
    said = slipped(word, random.Random(seed))

    assert said[0] == word[0]
    assert abs(len(said) - len(word)) <= 1
    assert sum(one != other for one, other in zip(said, word, strict=False)) <= 2 or abs(len(said) - len(word)) == 1


def test_given_many_draws_then_slips_bare_letters_and_polite_words_all_come_up() -> None:
    said = {typed(QUESTION, "cs", random.Random(seed)) for seed in range(60)}

    assert "jaka je doba plneni smlouvy" in said
    assert any(one.startswith("Dobrý den") for one in said)
    assert any(one.endswith("?") and one[0] == "J" and one != QUESTION for one in said)
