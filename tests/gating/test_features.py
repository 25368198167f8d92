"""The numbers measured on a retrieval: each in its documented range, each meaning what the table says."""

from __future__ import annotations

import re

import pytest
from builders import claim, hit, hits, passage
from folding import each
from hypothesis import given
from hypothesis import strategies as st

from rag_core.domain.passages import Hit
from rag_core.gating import features as module
from rag_core.gating.asked import asked_for
from rag_core.gating.features import FEATURES, FITS, NO_ODDS, measure
from rag_core.gating.fit import fits

RANGES = {
    **{name: (-1.0, 1.0) for name in FEATURES if "cosine" in name},
    **{name: (-10.0, 10.0) for name in ("answer_first", "unit_best", "unit_next")},
    "searched": (0.0, 2.0),
}


def text_hit(text: str, cosine: float = 0.5, number: int = 1, **fields: object) -> Hit:
    return hit(cosine, number, of=passage(number, text), **fields)  # type: ignore[arg-type]


@given(
    cosines=st.lists(st.floats(-1, 1), max_size=8),
    lexical=st.floats(0, 1e4),
    texts=st.lists(st.sampled_from(["notice", "notice period", "", "price. notice. period"]), min_size=8, max_size=8),
    known=st.booleans(),
    searched=st.integers(0, 10**12),
    odds=st.lists(st.floats(-10, 10), max_size=3),
    drafted=st.lists(st.floats(-10, 10), max_size=3),
    others=st.lists(st.floats(-10, 10), max_size=3),
)
def test_given_any_retrieval_then_every_signal_is_there_finite_and_in_its_range(
    cosines: list[float],
    lexical: float,
    texts: list[str],
    known: bool,
    searched: int,
    odds: list[float],
    drafted: list[float],
    others: list[float],
) -> None:
    found = tuple(
        text_hit(texts[n] or "none", cosine, n + 1, lexical=lexical / (n + 1), dense_rank=n, lexical_rank=n)
        for n, cosine in enumerate(cosines)
    )
    claims = [claim(one.passage) for one in found[:2]]

    measured = measure(
        known,
        found,
        searched=searched,
        claims=claims,
        answerability_logit=odds,
        drafted=drafted,
        others=others,
        fit=fits(asked_for("How long is the notice period?", "en"), "It is 30 days.", "", "", "en"),
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
    assert measure(True, ()) == dict.fromkeys(FEATURES, 0.0)


def drafted_with(*, drafted: tuple[float, ...] = (), others: tuple[float, ...] = ()) -> dict[str, float]:
    return measure(True, hits(0.9), drafted=drafted, others=others)


def test_given_what_was_said_of_sentences_then_the_best_drafted_one_and_the_best_other_are_told() -> None:
    names = ("unit_best", "unit_next")
    both = drafted_with(drafted=(0.0, 2.0), others=(1.0, -3.0))
    alone = drafted_with(drafted=(-2.0,))

    assert [both[name] for name in names] == [2.0, 1.0]
    assert [alone[name] for name in names] == [-2.0, NO_ODDS]
    assert [drafted_with(others=(5.0,))[name] for name in names] == [0.0, 0.0]


def test_given_how_a_sentence_fits_then_that_is_told_and_nothing_without_one() -> None:
    fit = fits(asked_for("How long is the notice period?", "en"), "The notice period is 30 days.", "", "", "en")
    measured = measure(True, hits(0.9), fit=fit)

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
def test_given_a_draft_in_another_language_then_told(asked: str, written: tuple[str, ...], crossed: float) -> None:
    found = tuple(hit(0.9, n, of=passage(n, language=language)) for n, language in enumerate(("fr", *written), 1))
    claims = [claim(one.passage) for one in found[1:]]

    assert measure(True, found, claims=claims, language=asked)["crossed"] == crossed
    assert measure(True, found, claims=claims)["crossed"] == 0.0


def test_given_cosines_then_the_top_one_is_told_whatever_their_order() -> None:
    assert measure(True, hits(0.1, 0.9, -0.6))["top_cosine"] == 0.9


def test_given_a_language_the_model_does_not_know_then_the_score_is_told() -> None:
    assert [measure(flag, hits(0.9))["known_language"] for flag in (True, False)] == [1.0, 0.0]


def test_given_drafted_sentences_then_the_cosine_of_the_closest_is_told() -> None:
    drafted = [claim(passage(1, "The notice."), "The notice.")]

    assert measure(True, hits(0.9), claims=drafted, cosine=0.4)["draft_cosine"] == 0.4


def test_given_what_the_answerability_model_says_then_that_of_the_first_is_kept() -> None:
    assert measure(True, hits(0.5, 0.4), answerability_logit=[-2.0, 3.0])["answer_first"] == -2.0
    assert measure(True, hits(0.5))["answer_first"] == 0.0


@each(("passages", "value"), [(0, 0.0), (9, 1 / 3), (999, 1.0), (10**9, 2.0)])
def test_given_more_searched_passages_then_the_signal_grows_with_their_magnitude(passages: int, value: float) -> None:
    assert measure(True, hits(0.5), searched=passages)["searched"] == pytest.approx(value)
