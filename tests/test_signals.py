"""The numbers measured on a retrieval: each in its documented range, each meaning what the table says."""

from __future__ import annotations

import math
import re

import pytest
from builders import HashEmbedder, MemoryCorpus, Text, hit, hits, passage
from hypothesis import given
from hypothesis import strategies as st

from rag_core import signals as module
from rag_core.domain import Hit
from rag_core.language import terms
from rag_core.signals import SIGNALS, Weights, measure, weigh

RANGES = {
    **{name: (-1.0, 1.0) for name in SIGNALS if "cosine" in name or "best_sentence" in name},
    **{name: (0.0, 2.0) for name in ("cosine_gap", "known_cosine_gap")},
    "length": (0.0, 5.0),
    "searched": (0.0, 2.0),
}
CORPUS = MemoryCorpus(
    [Text("a", "The notice period is thirty days.\nThe supplier delivers.\nThe price is five.\nThe price of notice.")], HashEmbedder()
)


def weights(*order: str, **idf: float) -> Weights:
    return Weights({term: idf.get(term, 1.0) for term in dict.fromkeys(order)}, order, 4.0)


def of(found: tuple[Hit, ...], asked: Weights, *, known: bool = True, missing: float = 0.0, sentence: float = 0.3) -> dict[str, float]:
    return measure(known, asked, found, missing, sentence)


def text_hit(text: str, cosine: float = 0.5, number: int = 1, **fields: object) -> Hit:
    return hit(cosine, number, of=passage(number, text), **fields)  # type: ignore[arg-type]


def index_terms(*words: str) -> tuple[str, ...]:
    return tuple(terms(" ".join(words), "en"))


@given(
    cosines=st.lists(st.floats(-1, 1), max_size=8),
    lexical=st.floats(0, 1e4),
    texts=st.lists(st.sampled_from(["notice", "notice period", "", "price. notice. period"]), min_size=8, max_size=8),
    order=st.lists(st.sampled_from(index_terms("notice", "period", "price", "moon")), max_size=300),
    idf=st.floats(0, 12),
    known=st.booleans(),
    missing=st.floats(0, 1),
    sentence=st.floats(-1, 1),
    searched=st.integers(0, 10**12),
)
def test_given_any_retrieval_then_every_signal_is_there_finite_and_in_its_range(
    cosines: list[float],
    lexical: float,
    texts: list[str],
    order: list[str],
    idf: float,
    known: bool,
    missing: float,
    sentence: float,
    searched: int,
) -> None:
    found = tuple(
        text_hit(texts[n] or "none", cosine, n + 1, lexical=lexical / (n + 1), dense_rank=n, lexical_rank=n)
        for n, cosine in enumerate(cosines)
    )
    asked = Weights(dict.fromkeys(order, idf), tuple(order), max(idf, 1e-9))

    measured = measure(known, asked, found, missing, sentence, searched=searched)

    assert tuple(measured) == SIGNALS or set(measured) == set(SIGNALS)
    for name, value in measured.items():
        low, high = RANGES.get(name, (0.0, 1.0))
        assert low <= value <= high, name


def test_given_the_table_of_the_module_then_every_signal_has_a_row() -> None:
    rows = set(
        re.findall(r"\b[a-z]+(?:_[a-z]+)*\b", " ".join(line.split("|")[1] for line in (module.__doc__ or "").splitlines() if "|" in line))
    )

    assert {name for name in SIGNALS if not name.startswith("known_") or name == "known_language"} <= rows


def test_given_nothing_retrieved_then_every_signal_is_there_and_the_rarest_word_is_missing() -> None:
    measured = of((), weights("notice"), missing=0.5, sentence=0.9)

    assert measured == dict.fromkeys(SIGNALS, 0.0) | {"missing_entities": 0.5, "rarest_missing": 1.0}


def test_given_cosines_then_top_mean_of_five_and_gap_are_theirs_whatever_their_order() -> None:
    found = hits(0.1, 0.9, 0.5, 0.3, 0.4, -0.6)

    measured = of(found, weights("notice"))

    assert measured["top_cosine"] == 0.9
    assert measured["mean_cosine"] == pytest.approx((0.9 + 0.5 + 0.4 + 0.3 + 0.1) / 5)
    assert measured["cosine_gap"] == pytest.approx(0.9 - (0.5 + 0.4 + 0.3 + 0.1) / 4)
    assert of(hits(0.7), weights("notice"))["cosine_gap"] == 0.7
    assert of(hits(-0.7), weights("notice"))["cosine_gap"] == 0.0


def test_given_a_language_the_model_does_not_know_then_its_cosines_count_nothing() -> None:
    known, unknown = (of(hits(0.9, 0.5), weights("notice"), known=flag) for flag in (True, False))

    for name in ("top_cosine", "mean_cosine", "cosine_gap", "best_sentence"):
        assert known[f"known_{name}"] == known[name] == unknown[name]
        assert unknown[f"known_{name}"] == 0.0
    assert (known["known_language"], unknown["known_language"]) == (1.0, 0.0)


def test_given_word_scores_then_they_are_held_against_the_questions_own_maximum() -> None:
    found = tuple(hit(0.5, n, lexical=value) for n, value in enumerate((3.0, 2.0, 1.0, 1.0, 0.5, 0.1), 1))

    measured = of(found, weights("notice", "period", notice=3.0, period=1.0))

    assert measured["top_lexical"] == 3 / 4
    assert measured["lexical_gap"] == (3.0 - 0.5) / 4
    assert of(found[:2], weights("notice", notice=4.0))["lexical_gap"] == (3.0 - 2.0) / 4


def test_given_passages_then_coverage_is_the_weighted_share_of_the_words_they_hold() -> None:
    notice, period, price = index_terms("notice", "period", "price")
    asked = weights(notice, period, price, **{notice: 3.0, period: 2.0, price: 1.0})
    found = (text_hit("The price.", 0.9), text_hit("Notice and period.", 0.2, 2))

    measured = of(found, asked)

    assert measured["coverage_best"] == pytest.approx(5 / 6)
    assert measured["coverage_dense"] == pytest.approx(1 / 6)
    assert measured["coverage_all"] == 1.0
    assert measured["rarest_missing"] == 0.0
    assert of(found[:1], asked)["rarest_missing"] == 3.0 / 4.0


def test_given_equal_cosines_then_the_closest_passage_is_the_first() -> None:
    notice, period = index_terms("notice", "period")
    found = (text_hit("Notice."), text_hit("Notice period.", 0.5, 2))

    assert of(found, weights(notice, period))["coverage_dense"] == 0.5


def test_given_two_sentences_that_hold_it_together_then_the_window_covers_more_than_either() -> None:
    notice, period, price = index_terms("notice", "period", "price")
    asked = weights(notice, period, price)

    assert of((text_hit("A notice is given. The period follows. Unrelated. The price."),), asked)["coverage_sentence"] == pytest.approx(
        2 / 3
    )
    assert of((text_hit("The notice period."),), asked)["coverage_sentence"] == pytest.approx(2 / 3)
    assert of((text_hit("Nothing here."), text_hit("The notice period.", 0.5, 2)), asked)["coverage_sentence"] == pytest.approx(2 / 3)
    far = tuple(text_hit("Nothing here.", 0.5, n) for n in range(1, 6))
    assert of((*far, text_hit("The notice period.", 0.5, 6)), asked)["coverage_sentence"] == 0.0


def test_given_titles_and_sections_then_their_words_count_for_the_passage_they_stand_over() -> None:
    notice, period = index_terms("notice", "period")
    asked, found = weights(notice, period), (text_hit("It is 30 days.", 0.9), text_hit("The notice.", 0.2, 2))

    bare = of(found, asked)
    first = measure(True, asked, found, 0.0, 0.0, where=["Periods of notice"])
    both = measure(True, asked, found, 0.0, 0.0, where=["", "Period"])

    assert (bare["coverage_dense"], bare["coverage_best"], bare["coverage_all"]) == (0.0, 0.5, 0.5)
    assert (first["coverage_dense"], first["coverage_best"]) == (1.0, 1.0)
    assert (both["coverage_dense"], both["coverage_best"]) == (0.0, 1.0)
    assert bare["pairs"] == first["pairs"] == 0.0


@pytest.mark.parametrize(("passages", "value"), [(0, 0.0), (9, 1 / 3), (999, 1.0), (10**9, 2.0)])
def test_given_more_searched_passages_then_the_signal_grows_with_their_magnitude(passages: int, value: float) -> None:
    assert measure(True, weights("x"), hits(0.5), 0.0, 0.0, searched=passages)["searched"] == pytest.approx(value)


@pytest.mark.parametrize(
    ("text", "share"),
    [
        ("the notice period of price", 1.0), ("notice of period price", 1.0), ("notice and of period", 0.0), ("period notice price", 0.5),
        ("price", 0.0),
    ],
)  # fmt: skip
def test_given_neighbouring_words_then_pairs_counts_those_near_each_other_in_order(text: str, share: float) -> None:
    assert of((text_hit(text),), weights(*index_terms("notice", "period", "price")))["pairs"] == share
    assert of((text_hit(text),), weights(*index_terms("notice")))["pairs"] == 0.0


def test_given_both_rankings_then_agreement_is_the_share_of_the_five_best_in_common() -> None:
    def ranked(*ranks: tuple[int, int]) -> tuple[Hit, ...]:
        return tuple(hit(0.5, n, dense_rank=dense, lexical_rank=lexical) for n, (dense, lexical) in enumerate(ranks, 1))

    assert of(ranked((1, 5), (2, 6), (5, 1), (0, 2), (6, 3), (3, 0)), weights("x"))["agreement"] == 2 / 5
    assert of(ranked((1, 1), (2, 0)), weights("x"))["agreement"] == 1 / 2
    assert of(ranked((0, 0)), weights("x"))["agreement"] == 0.0


def test_given_many_words_then_length_is_their_logarithm_and_bounded() -> None:
    assert of(hits(0.5), weights("a", "b", "a"))["length"] == math.log1p(3)
    assert of(hits(0.5), weights(*["a"] * 1000))["length"] == 5.0


def test_given_a_question_then_its_content_words_are_weighed_by_the_whole_library() -> None:
    weighed = weigh("What is the notice period of the price?", "en", CORPUS.lexical)

    notice, period, price, unknown = index_terms("notice", "period", "price", "zzz")
    assert weighed.order == (notice, period, price)
    assert weighed.idf == dict(zip((notice, period, price), CORPUS.lexical.idf([notice, period, price]), strict=True))
    assert weighed.idf[period] > weighed.idf[notice]
    assert weighed.maximum == CORPUS.lexical.idf([unknown])[0]


def test_given_a_question_of_stop_words_only_then_all_its_words_are_weighed() -> None:
    assert weigh("Who is it?", "en", CORPUS.lexical).order == index_terms("Who", "is", "it")


def test_given_no_words_at_all_then_the_coverage_is_zero_and_nothing_divides_by_it() -> None:
    weighed = weigh("???", "en", MemoryCorpus([], HashEmbedder()).lexical)

    assert (weighed.order, weighed.total, weighed.coverage({"x"})) == ((), 0, 0.0)
    assert weighed.maximum > 0
    assert of(hits(0.5), weighed)["top_lexical"] <= 1.0
