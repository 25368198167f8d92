"""The numbers measured on a retrieval: each in its documented range, each meaning what the table says."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import pytest
from builders import HashEmbedder, MemoryCorpus, Text, claim, hit, hits, passage
from folding import each
from hypothesis import given
from hypothesis import strategies as st

from rag_core.domain.passages import Hit, Passage, PassageKind
from rag_core.gating import features as module
from rag_core.gating.asked import asked_for
from rag_core.gating.features import FEATURES, FITS, NO_ODDS, Weights, measure, weigh
from rag_core.gating.fit import NOWHERE, fits
from rag_core.language import terms

RANGES = {
    **{name: (-1.0, 1.0) for name in FEATURES if "cosine" in name},
    "cosine_gap": (0.0, 2.0),
    **{name: (-10.0, 10.0) for name in ("answer_best", "answer_first", "unit_best", "unit_next")},
    "draft_words": (0.0, 2.0),
    "length": (0.0, 5.0),
    "searched": (0.0, 2.0),
}
CORPUS = MemoryCorpus(
    [Text("a", "The notice period is thirty days.\nThe supplier delivers.\nThe price is five.\nThe price of notice.")], HashEmbedder()
)


def weights(*order: str, **idf: float) -> Weights:
    return Weights({term: idf.get(term, 1.0) for term in dict.fromkeys(order)}, order, 4.0)


def of(found: tuple[Hit, ...], asked: Weights, *, known: bool = True, missing: float = 0.0) -> dict[str, float]:
    return measure(known, asked, found, missing)


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
    searched=st.integers(0, 10**12),
    odds=st.lists(st.floats(-10, 10), max_size=3),
    drafted=st.lists(st.floats(-10, 10), max_size=3),
    others=st.lists(st.floats(-10, 10), max_size=3),
    entities=st.lists(st.sampled_from(["Notice", "MK-80", "", "42"]), max_size=3),
)
def test_given_any_retrieval_then_every_signal_is_there_finite_and_in_its_range(
    cosines: list[float],
    lexical: float,
    texts: list[str],
    order: list[str],
    idf: float,
    known: bool,
    missing: float,
    searched: int,
    odds: list[float],
    drafted: list[float],
    others: list[float],
    entities: list[str],
) -> None:
    found = tuple(
        text_hit(texts[n] or "none", cosine, n + 1, lexical=lexical / (n + 1), dense_rank=n, lexical_rank=n)
        for n, cosine in enumerate(cosines)
    )
    asked = Weights(dict.fromkeys(order, idf), tuple(order), max(idf, 1e-9))

    claims = [claim(one.passage) for one in found[:2]]

    measured = measure(
        known, asked, found, missing, searched=searched, claims=claims, entities=entities, answerability_logit=odds,
        drafted=drafted, others=others, fit=fits(asked_for("How long is the notice period?", "en"), "It is 30 days.", NOWHERE, "en"),
    )  # fmt: skip

    assert tuple(measured) == FEATURES or set(measured) == set(FEATURES)
    for name, value in measured.items():
        low, high = RANGES.get(name, (0.0, 1.0))
        assert low <= value <= high, name


def test_given_the_table_of_the_module_then_every_signal_has_a_row() -> None:
    rows = set(
        re.findall(r"\b[a-z]+(?:_[a-z]+)*\b", " ".join(line.split("|")[1] for line in (module.__doc__ or "").splitlines() if "|" in line))
    )

    assert set(FEATURES) <= rows


def test_given_nothing_retrieved_then_every_signal_is_there_and_the_rarest_word_is_missing() -> None:
    measured = of((), weights("notice"), missing=0.5)

    assert measured == dict.fromkeys(FEATURES, 0.0) | {"missing_entities": 0.5, "rarest_missing": 1.0, "near_missing": 1.0}


def drafted_with(*, drafted: tuple[float, ...] = (), others: tuple[float, ...] = ()) -> dict[str, float]:
    return measure(True, weights("notice"), hits(0.9), 0.0, drafted=drafted, others=others)


def test_given_what_was_said_of_sentences_then_the_best_the_next_and_the_share_of_the_drafted_ones_are_told() -> None:
    names = ("unit_best", "unit_next", "unit_share")
    both = drafted_with(drafted=(0.0, 2.0), others=(1.0, -3.0))
    alone = drafted_with(drafted=(-2.0,))

    odds = [math.exp(one) for one in (0.0, 2.0, 1.0, -3.0)]
    assert [both[name] for name in names] == [2.0, 1.0, pytest.approx(sum(odds[:2]) / sum(odds))]
    assert [alone[name] for name in names] == [-2.0, NO_ODDS, 1.0]
    assert [drafted_with(others=(5.0,))[name] for name in names] == [0.0, 0.0, 0.0]


def test_given_a_draft_then_its_words_its_parts_and_its_rows_of_tables_are_told() -> None:
    table, prose = passage(1, "Bolt 5", kind=PassageKind.TABLE), passage(2)
    found = (hit(of=table), hit(0.5, 2, of=prose))
    names = ("draft_words", "draft_parts", "draft_table")

    def of_claims(*texts: tuple[str, Passage]) -> list[float]:
        measured = measure(True, weights("bolt"), found, 0.0, claims=[claim(one, text) for text, one in texts])
        return [measured[name] for name in names]

    assert of_claims(("Bolt | 5", table), ("It is paid.", prose)) == [pytest.approx(math.log(1 + 6) / 3), 0.5, 0.5]
    assert of_claims(("Bolt | 5", table)) == [pytest.approx(math.log(1 + 3) / 3), 1.0, 1.0]
    assert of_claims(("word " * 5000, prose))[0] == 2.0
    assert of_claims() == [0.0, 0.0, 0.0]


def test_given_how_a_sentence_fits_then_that_is_told_and_nothing_without_one() -> None:
    fit = fits(asked_for("How long is the notice period?", "en"), "The notice period is 30 days.", NOWHERE, "en")
    measured = measure(True, weights("notice"), hits(0.9), 0.0, fit=fit)

    assert {name: measured[name] for name in FITS} == fit.features()
    assert {drafted_with()[name] for name in FITS} == {0.0}


@each(
    ("asked", "written", "crossed"),
    [
        ("en", ("de", "en"), 1.0),
        ("en", ("en", "de"), 0.0),
        ("und", ("de", "en"), 0.0),
        ("en", ("und", "de"), 0.0),
        ("en", (), 0.0),
    ],
)
def test_given_a_draft_whose_first_sentence_is_in_another_language_than_the_question_then_that_is_told(
    asked: str, written: tuple[str, ...], crossed: float
) -> None:
    found = tuple(hit(0.9, n, of=passage(n, language=language)) for n, language in enumerate(("fr", *written), 1))
    claims = [claim(one.passage) for one in found[1:]]

    assert measure(True, weights("notice"), found, 0.0, claims=claims, language=asked)["crossed"] == crossed
    assert measure(True, weights("notice"), found, 0.0, claims=claims)["crossed"] == 0.0


def test_given_cosines_then_top_mean_of_five_and_gap_are_theirs_whatever_their_order() -> None:
    found = hits(0.1, 0.9, 0.5, 0.3, 0.4, -0.6)

    measured = of(found, weights("notice"))

    assert measured["top_cosine"] == 0.9
    assert measured["mean_cosine"] == pytest.approx((0.9 + 0.5 + 0.4 + 0.3 + 0.1) / 5)
    assert measured["cosine_gap"] == pytest.approx(0.9 - (0.5 + 0.4 + 0.3 + 0.1) / 4)
    assert of(hits(0.7), weights("notice"))["cosine_gap"] == 0.7
    assert of(hits(-0.7), weights("notice"))["cosine_gap"] == 0.0


def test_given_a_language_the_model_does_not_know_then_the_score_is_told() -> None:
    assert [of(hits(0.9), weights("notice"), known=flag)["known_language"] for flag in (True, False)] == [1.0, 0.0]


def test_given_word_scores_then_they_are_held_against_the_questions_own_maximum() -> None:
    found = tuple(hit(0.5, n, lexical=value) for n, value in enumerate((3.0, 2.0, 1.0, 1.0, 0.5, 0.1), 1))

    measured = of(found, weights("notice", "period", notice=3.0, period=1.0))

    assert measured["top_lexical"] == 3 / 4
    assert measured["lexical_gap"] == (3.0 - 0.5) / 4
    assert measured["lexical_lead"] == (3.0 - 2.0) / 4
    assert measured["lexical_spread"] == pytest.approx(1 - (7.6 / 6) / 3)
    assert of(found[:2], weights("notice", notice=4.0))["lexical_gap"] == (3.0 - 2.0) / 4
    assert of(found[:1], weights("notice", notice=4.0))["lexical_lead"] == 3 / 4
    assert of((hit(0.5, lexical=0.0),), weights("notice"))["lexical_spread"] == 0.0


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
    assert of((*far[:4], text_hit("The notice period.", 0.5, 5)), asked)["coverage_sentence"] == pytest.approx(2 / 3)
    assert of((*far, text_hit("The notice period.", 0.5, 6)), asked)["coverage_sentence"] == 0.0


def test_given_titles_and_sections_then_their_words_count_for_the_passage_they_stand_over() -> None:
    notice, period = index_terms("notice", "period")
    asked, found = weights(notice, period), (text_hit("It is 30 days.", 0.9), text_hit("The notice.", 0.2, 2))

    bare = of(found, asked)
    first = measure(True, asked, found, 0.0, where=["Periods of notice"])
    both = measure(True, asked, found, 0.0, where=["", "Period"])

    assert (bare["coverage_dense"], bare["coverage_best"], bare["coverage_all"]) == (0.0, 0.5, 0.5)
    assert (first["coverage_dense"], first["coverage_best"]) == (1.0, 1.0)
    assert (both["coverage_dense"], both["coverage_best"]) == (0.0, 1.0)
    assert bare["pairs"] == first["pairs"] == 0.0


def test_given_a_word_inside_a_longer_one_then_near_coverage_counts_it_by_its_share() -> None:
    contract, period = "vertrag", "frist"
    asked = weights(contract, period, **{contract: 3.0, period: 1.0})
    found = (text_hit("Vertragspartner zahlen.", 0.9), text_hit("Die Frist.", 0.2, 2))

    measured = of(found, asked)

    (longer,) = (term for term in index_terms("Vertragspartner"))
    string_similarity = (7 / len(longer)) ** 0.5
    assert string_similarity > 0.6
    assert (measured["coverage_best"], measured["coverage_all"], measured["rarest_missing"]) == (0.25, 0.25, 3 / 4)
    assert measured["near_first"] == measured["near_best"] == pytest.approx(3 * string_similarity / 4)
    assert measured["near_all"] == pytest.approx((3 * string_similarity + 1) / 4)
    assert measured["near_missing"] == pytest.approx(3 * (1 - string_similarity) / 4)


def test_given_a_draft_then_it_is_measured_together_and_by_its_first_sentence() -> None:
    notice, period = index_terms("notice", "period")
    first, second = passage(1, "The notice."), passage(2, "The period.")
    found = (hit(0.9, of=first), hit(0.8, 2, of=second))
    claims = [replace(claim(first, "The notice."), relevance=0.7), claim(second, "The period.")]

    measured = measure(True, weights(notice, period), found, 0.0, claims=claims)

    assert (measured["near_claim"], measured["near_draft"], measured["near_window"]) == (0.5, 1.0, 0.5)
    assert measured["relevance"] == 0.7
    assert of(found, weights(notice, period))["near_draft"] == 0.0


def test_given_two_sentences_then_the_best_one_and_the_best_window_differ() -> None:
    notice, period = index_terms("notice", "period")

    measured = of((text_hit("The notice is given. The period follows."),), weights(notice, period))

    assert (measured["near_sentence"], measured["near_window"]) == (0.5, 1.0)


def test_given_named_things_then_it_is_measured_in_how_few_passages_they_stand_together() -> None:
    one, other = passage(1, "Alpha pays."), passage(2, "Alpha and Beta pay.")
    found = (hit(0.9, of=one), hit(0.8, 2, of=other))

    measured = measure(True, weights("x"), found, 0.0, entities=["Alpha", "Beta"], claims=[claim(one, "Alpha pays.")])

    assert (measured["entities_best"], measured["entities_first"], measured["entities_draft"]) == (1.0, 0.5, 0.5)
    assert measured["entities"] == 1.0
    titled = measure(True, weights("x"), found, 0.0, entities=["Beta"], claims=[claim(one, "Alpha pays.")], where=["Beta report"])
    assert (titled["entities_first"], titled["entities_draft"]) == (1.0, 1.0)
    nothing = of(found, weights("x"))
    assert (nothing["entities_best"], nothing["entities_draft"], nothing["entities"]) == (1.0, 1.0, 0.0)


def test_given_what_the_answerability_model_says_then_the_best_and_the_first_are_kept_and_silence_is_known() -> None:
    read = measure(True, weights("x"), hits(0.5, 0.4), 0.0, answerability_logit=[-2.0, 3.0])

    assert (read["answer_first"], read["answer_best"], read["read"]) == (-2.0, 3.0, 1.0)
    silent = of(hits(0.5), weights("x"))
    assert (silent["answer_first"], silent["answer_best"], silent["read"]) == (0.0, 0.0, 0.0)


@each(("passages", "value"), [(0, 0.0), (9, 1 / 3), (999, 1.0), (10**9, 2.0)])
def test_given_more_searched_passages_then_the_signal_grows_with_their_magnitude(passages: int, value: float) -> None:
    assert measure(True, weights("x"), hits(0.5), 0.0, searched=passages)["searched"] == pytest.approx(value)


@each(
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
