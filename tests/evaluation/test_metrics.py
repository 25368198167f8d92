"""Figures of a labelled set: exact, defined or None, and the same as scikit-learn's where it has them."""

from __future__ import annotations

import math

import pytest
from folding import each
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats
from sklearn import metrics as sklearn

from rag_core.evaluation import metrics

# few distinct scores, so that ties are the rule
pairs = st.lists(st.tuples(st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.75, 1.0]), st.booleans()), min_size=1, max_size=60)
counts = st.integers(0, 300).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


def columns(rows: list[tuple[float, bool]]) -> tuple[list[float], list[bool]]:
    return [score for score, _ in rows], [flag for _, flag in rows]


@given(counts)
def test_given_counts_then_the_exact_interval_is_that_of_scipy_and_holds_the_share(count: tuple[int, int]) -> None:
    k, n = count
    assume(n)

    interval = metrics.clopper_pearson(k, n)

    expected = stats.binomtest(k, n).proportion_ci(0.95, method="exact")
    assert (interval.low, interval.high) == pytest.approx((expected.low, expected.high), abs=1e-9)
    assert 0 <= interval.low <= k / n <= interval.high <= 1


@given(counts, st.sampled_from([0.8, 0.95, 0.99]))
def test_given_counts_then_the_upper_bound_is_where_the_binomial_tail_is_as_small_as_allowed(
    count: tuple[int, int], sure: float
) -> None:
    k, n = count
    bound = metrics.upper_bound(k, n, sure)

    assert bound == 1.0 if k == n else stats.binom.cdf(k, n, bound) == pytest.approx(1 - sure, abs=1e-9)
    assert k == n or metrics.upper_bound(k, n, 0.999) > bound


def test_given_59_questions_without_an_error_then_the_risk_is_below_5_percent_and_58_do_not_show_it() -> None:
    assert metrics.upper_bound(0, 59) < 0.05 < metrics.upper_bound(0, 58)


@each(("k", "n", "confidence"), [(-1, 5, 0.95), (6, 5, 0.95), (1, 5, 0.0), (1, 5, 1.0), (1, 5, math.nan)])
def test_given_impossible_counts_or_confidence_then_no_interval(k: int, n: int, confidence: float) -> None:
    for figure in (metrics.clopper_pearson, metrics.upper_bound):
        with pytest.raises(ValueError, match=r"k <= n|between 0 and 1"):
            figure(k, n, confidence)


@given(st.integers(0, 100), st.integers(0, 100))
def test_given_disagreements_then_mcnemar_is_the_exact_sign_test(b: int, c: int) -> None:
    p = metrics.mcnemar(b, c)

    assert p == metrics.mcnemar(c, b)
    assert p == pytest.approx(stats.binomtest(b, b + c, 0.5).pvalue if b + c else 1.0)


@given(pairs)
def test_given_scores_with_ties_then_the_area_is_that_of_scikit_learn(rows: list[tuple[float, bool]]) -> None:
    scores, flags = columns(rows)
    assume(any(flags) and not all(flags))

    assert metrics.auroc(scores, flags) == pytest.approx(sklearn.roc_auc_score(flags, scores))


@pytest.mark.parametrize("flags", [[], [True, True], [False, False]])
def test_given_one_class_or_none_then_what_needs_both_is_not_defined(flags: list[bool]) -> None:
    scores = [0.5] * len(flags)

    assert metrics.auroc(scores, flags) is None


@given(pairs, st.integers(1, 12))
def test_given_probabilities_then_every_question_is_in_one_bin_and_the_error_is_bounded(
    rows: list[tuple[float, bool]], bins: int
) -> None:
    scores, flags = columns(rows)

    found = metrics.reliability(scores, flags, bins)

    assert sum(one.n for one in found) == len(rows)
    assert len(found) <= bins
    assert all(one.low <= one.mean <= one.high and one.share is not None for one in found if one.mean is not None)
    assert all(one.interval.low <= (one.share or 0) <= one.interval.high for one in found)
    error = metrics.calibration_error(found)
    assert 0 <= error <= 1


def test_given_edges_then_a_score_belongs_to_the_bin_that_it_opens_and_the_last_one_holds_its_end() -> None:
    found = metrics.reliability([0.0, 0.5, 1.0], [False, True, True], bins=2)

    assert [(one.low, one.high, one.n, one.share) for one in found] == [(0.0, 0.5, 1, 0.0), (0.5, 1.0, 2, 1.0)]
    assert metrics.calibration_error(found) == pytest.approx((0 + 2 * 0.25) / 3)


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_given_a_score_that_is_no_number_then_no_figure_is_made(bad: float) -> None:
    for figure in (
        metrics.auroc,
        metrics.reliability,
    ):
        with pytest.raises(ValueError, match="finite"):
            figure([0.5, bad], [True, False])


def test_given_scores_and_labels_of_other_lengths_or_no_probabilities_then_it_says_so() -> None:
    with pytest.raises(ValueError, match="2 scores and 1 labels"):
        metrics.auroc([0.1, 0.2], [True])
    with pytest.raises(ValueError, match="probabilities"):
        metrics.reliability([1.5], [True])
    with pytest.raises(ValueError, match="at least 1"):
        metrics.reliability([0.5], [True], bins=0)
