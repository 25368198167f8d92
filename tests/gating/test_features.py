"""The numbers measured on a retrieval: each in its documented range, each meaning what the table says."""

from __future__ import annotations

import re

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
    **{name: (-10.0, 10.0) for name in ("answer_first", "unit_best", "unit_next")},
    "searched": (0.0, 2.0),
}
CORPUS = MemoryCorpus(
    [Text("a", "The notice period is thirty days.\nThe supplier delivers.\nThe price is five.\nThe price of notice.")],
    HashEmbedder(),
)


def weights(*order: str, **idf: float) -> Weights:
    return Weights({term: idf.get(term, 1.0) for term in order})


def of(found: tuple[Hit, ...], asked: Weights, *, known: bool = True) -> dict[str, float]:
    return measure(known, asked, found)


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
    searched=st.integers(0, 10**12),
    odds=st.lists(st.floats(-10, 10), max_size=3),
    drafted=st.lists(st.floats(-10, 10), max_size=3),
    others=st.lists(st.floats(-10, 10), max_size=3),
    entities=st.booleans(),
)
def test_given_any_retrieval_then_every_signal_is_there_finite_and_in_its_range(
    cosines: list[float],
    lexical: float,
    texts: list[str],
    order: list[str],
    idf: float,
    known: bool,
    searched: int,
    odds: list[float],
    drafted: list[float],
    others: list[float],
    entities: bool,
) -> None:
    found = tuple(
        text_hit(texts[n] or "none", cosine, n + 1, lexical=lexical / (n + 1), dense_rank=n, lexical_rank=n)
        for n, cosine in enumerate(cosines)
    )
    asked = Weights(dict.fromkeys(order, idf))

    claims = [claim(one.passage) for one in found[:2]]

    measured = measure(
        known,
        asked,
        found,
        searched=searched,
        claims=claims,
        entities=entities,
        answerability_logit=odds,
        drafted=drafted,
        others=others,
        fit=fits(asked_for("How long is the notice period?", "en"), "It is 30 days.", NOWHERE, "en"),
    )

    assert tuple(measured) == FEATURES or set(measured) == set(FEATURES)
    for name, value in measured.items():
        low, high = RANGES.get(name, (0.0, 1.0))
        assert low <= value <= high, name


def test_given_the_table_of_the_module_then_every_signal_has_a_row() -> None:
    rows = set(
        re.findall(
            r"\b[a-z]+(?:_[a-z]+)*\b",
            " ".join(line.split("|")[1] for line in (module.__doc__ or "").splitlines() if "|" in line),
        )
    )

    assert set(FEATURES) <= rows


def test_given_nothing_retrieved_then_every_signal_is_there() -> None:
    assert of((), weights("notice")) == dict.fromkeys(FEATURES, 0.0)


def drafted_with(*, drafted: tuple[float, ...] = (), others: tuple[float, ...] = ()) -> dict[str, float]:
    return measure(True, weights("notice"), hits(0.9), drafted=drafted, others=others)


def test_given_what_was_said_of_sentences_then_the_best_drafted_one_and_the_best_other_are_told() -> None:
    names = ("unit_best", "unit_next")
    both = drafted_with(drafted=(0.0, 2.0), others=(1.0, -3.0))
    alone = drafted_with(drafted=(-2.0,))

    assert [both[name] for name in names] == [2.0, 1.0]
    assert [alone[name] for name in names] == [-2.0, NO_ODDS]
    assert [drafted_with(others=(5.0,))[name] for name in names] == [0.0, 0.0]


def test_given_a_draft_then_its_share_of_rows_of_tables_is_told() -> None:
    table, prose = passage(1, "Bolt 5", kind=PassageKind.TABLE), passage(2)
    found = (hit(of=table), hit(0.5, 2, of=prose))

    def of_claims(*of: Passage) -> float:
        return measure(True, weights("bolt"), found, claims=[claim(one) for one in of])["draft_table"]

    assert [of_claims(table, prose), of_claims(table), of_claims(prose), of_claims()] == [0.5, 1.0, 0.0, 0.0]


def test_given_how_a_sentence_fits_then_that_is_told_and_nothing_without_one() -> None:
    fit = fits(asked_for("How long is the notice period?", "en"), "The notice period is 30 days.", NOWHERE, "en")
    measured = measure(True, weights("notice"), hits(0.9), fit=fit)

    assert {name: measured[name] for name in FITS} == {"fit_row": fit.row, "fit_result": fit.result}
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

    assert measure(True, weights("notice"), found, claims=claims, language=asked)["crossed"] == crossed
    assert measure(True, weights("notice"), found, claims=claims)["crossed"] == 0.0


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
    assert measured["lexical_lead"] == (3.0 - 2.0) / 4
    assert of(found[:1], weights("notice", notice=4.0))["lexical_lead"] == 3 / 4
    assert of((hit(0.5, lexical=0.0),), weights("notice"))["top_lexical"] == 0.0


def test_given_a_draft_then_its_cosine_is_kept() -> None:
    drafted = [claim(passage(1, "The notice."), "The notice.")]

    assert measure(True, weights("x"), hits(0.9), claims=drafted, cosine=0.4)["draft_cosine"] == 0.4


@pytest.mark.parametrize("named", [True, False])
def test_given_a_question_that_names_something_then_that_is_told(named: bool) -> None:
    assert measure(True, weights("x"), hits(0.9), entities=named)["entities"] == named


def test_given_what_the_answerability_model_says_then_that_of_the_first_is_kept_and_silence_is_known() -> None:
    read = measure(True, weights("x"), hits(0.5, 0.4), answerability_logit=[-2.0, 3.0])

    assert (read["answer_first"], read["read"]) == (-2.0, 1.0)
    silent = of(hits(0.5), weights("x"))
    assert (silent["answer_first"], silent["read"]) == (0.0, 0.0)


@each(("passages", "value"), [(0, 0.0), (9, 1 / 3), (999, 1.0), (10**9, 2.0)])
def test_given_more_searched_passages_then_the_signal_grows_with_their_magnitude(passages: int, value: float) -> None:
    assert measure(True, weights("x"), hits(0.5), searched=passages)["searched"] == pytest.approx(value)


def test_given_a_question_then_its_content_words_are_weighed_by_the_whole_library() -> None:
    weighed = weigh("What is the notice period of the price?", "en", CORPUS.lexical)

    notice, period, price = index_terms("notice", "period", "price")
    assert weighed.idf == dict(zip((notice, period, price), CORPUS.lexical.idf([notice, period, price]), strict=True))
    assert weighed.idf[period] > weighed.idf[notice]


def test_given_a_question_of_stop_words_only_then_all_its_words_are_weighed() -> None:
    assert tuple(weigh("Who is it?", "en", CORPUS.lexical).idf) == index_terms("Who", "is", "it")


def test_given_no_words_at_all_then_nothing_is_weighed_and_nothing_divides_by_it() -> None:
    weighed = weigh("???", "en", MemoryCorpus([], HashEmbedder()).lexical)

    assert weighed.total == 0
    assert of(hits(0.5), weighed)["top_lexical"] <= 1.0
