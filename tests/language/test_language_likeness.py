"""How alike two index terms are: compounds, inflected names, and what only looks alike."""

from __future__ import annotations

import pytest
from folding import each
from hypothesis import given
from hypothesis import strategies as st

from rag_core.language import alike
from rag_core.language import string_similarity as string_similarity
from rag_core.language.string_similarity import MIN_COUNT

TERM = st.text("abcdř", min_size=1, max_size=12)


@each(
    ("term", "other", "value"),
    [
        ("notice", "notice", 1.0),
        ("vertrag", "vertragsrecht", (7 / 13) ** 0.5),  # the first part of a compound
        ("recht", "vetorecht", (5 / 9) ** 0.5),  # its last part
        ("kostelec", "kostelci", 6 / 8),  # a case ending that changes the stem
        ("кубл", "кублай", (4 / 6) ** 0.5),
        ("rat", "vertrat", 0.0),  # three letters are no part
        ("haus", "maus", 0.0),  # another beginning
        ("internation", "internet", 0.0),  # five of eleven letters
    ],
)
def test_given_two_terms_then_their_common_letters_say_how_alike_they_are(term: str, other: str, value: float) -> None:
    assert string_similarity(term, other) == pytest.approx(value)


@given(TERM, TERM)
def test_given_any_two_terms_then_likeness_is_symmetric_and_either_nothing_or_more_than_the_least(
    term: str, other: str
) -> None:
    value = string_similarity(term, other)

    assert value == string_similarity(other, term)
    assert value == 0.0 or MIN_COUNT <= value <= 1.0
    assert (value == 1.0) == (term == other)


@given(TERM, st.sets(TERM, max_size=8))
def test_given_a_vocabulary_then_every_like_term_is_found_and_no_other(term: str, vocabulary: set[str]) -> None:
    assert alike(term, vocabulary) == {
        other: string_similarity(term, other) for other in vocabulary if string_similarity(term, other)
    }
