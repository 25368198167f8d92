"""A sentence that says the reverse of what is asked is surely of something else, and the score says so."""

from __future__ import annotations

from folding import each
from hypothesis import given
from hypothesis import strategies as st

from rag_core.gating.asked import asked_for
from rag_core.gating.fit import NOWHERE, Fit, fits
from rag_core.gating.opposite import is_reverse
from rag_core.gating.scores import FILE
from rag_core.gating.scores import read as read_calibration
from rag_core.gating.stated import read
from rag_core.language import LANGUAGES


def fit(question: str, sentence: str, language: str = "en") -> Fit:
    return fits(asked_for(question, language), sentence, NOWHERE, language)


@each(
    ("question", "sentence"),
    [
        ("Which valve shuts in a slow leak?", "A rapid leak shuts the red valve."),
        ("What is the maximum load of the lift?", "The minimum load of the lift is 20 kg."),
        ("Which herbs are rare on the island?", "Common herbs of the island are thyme and sage."),
        ("Who accepted the offer?", "The council rejected the offer in May."),
        ("Which gate opens before noon?", "The green gate opens after noon."),
    ],
)
def test_given_the_opposite_of_a_word_that_is_asked_for_then_the_sentence_is_of_something_else(question: str, sentence: str) -> None:
    """Issue 15: adversarial questions swap one word for its opposite."""
    found = fit(question, sentence)
    assert (found.contradicts, found.why) == (True, "opposite")


@each(
    ("question", "sentence"),
    [
        ("Which valve shuts in a slow leak?", "A slow leak shuts the blue valve."),
        ("Is the maximum or the minimum load printed on the plate?", "The minimum load is printed on the plate."),
        ("Who accepted the offer?", "The council rejected the first offer and accepted the second one."),
        ("How long is the break?", "The break is short: ten minutes."),
        ("How old is the bridge?", "The new bridge was finished in 1912."),
        ("Which gate is green?", "The low gate is green."),
        ("", "The low gate is green."),
        ("Which valve shuts in a slow leak?", ""),
    ],
)
def test_given_both_words_or_a_measure_or_no_pair_then_nothing_is_said_against_the_sentence(question: str, sentence: str) -> None:
    assert fit(question, sentence).why != "opposite"


@each("language", ["cs", "hi", "und", "ja"])
def test_given_a_language_without_pairs_then_nothing_is_told(language: str) -> None:
    assert not is_reverse({"slow"}, read("A rapid leak.", language), language)


@given(st.text(max_size=120), st.text(max_size=120))
def test_given_any_texts_then_a_sentence_is_never_the_reverse_of_itself(one: str, other: str) -> None:
    for question, sentence in ((one, one), (one, f"{one} {other}")):
        assert not is_reverse(read(question, "en").words, read(sentence, "en"), "en")


def test_given_the_pairs_of_a_language_then_no_word_stands_on_both_sides_of_one() -> None:
    for info in LANGUAGES.values():
        for one, other in info.asked.opposites if info.asked else ():
            for mine, theirs in ((one, other), (other, one)):
                words = (word.replace("[^ ]*", "").replace("\\", "") for word in mine.pattern.split("|"))
                assert not any(map(theirs.fullmatch, words)), (info.code, mine.pattern)


def test_given_a_sentence_that_is_surely_of_something_else_then_the_shipped_score_of_few_passages_and_of_many_falls_as_much() -> None:
    """`training/fit_reverse.py` wrote the weight; all else is as it was."""
    score = read_calibration(FILE).correctness
    assert score is not None
    assert score.narrow is not None
    for part in (score, score.narrow):
        at = part.features.index("fit_contradicts")
        assert (part.mean[at], part.scale[at]) == (0.0, 1.0)
        assert part.coefficients[at] < -2
