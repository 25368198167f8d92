"""Fits a calibration to a labelled set: on all of it, and judged out of fold.

Questions of equal text share a fold: a set that asks one question of several documents would else be asked what it was
taught.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rag_core.domain.measurements import Measurements
from rag_core.evaluation import metrics
from rag_core.evaluation.labelled import LabelledQuestion, holds_answer
from rag_core.gating.scores import MIN_COUNT, Calibration, Identity, fit, question_hash, require

FOLDS = 5  # a usual number; chosen, not measured
SEED = 7  # draws the folds; any number would do
VALUES_OF_C = (0.01, 0.1, 1.0)  # the regularisation's C as in scikit-learn; few questions need the smaller ones
WRONG = 0.05  # the share of wrong answers at which false refusals are compared
BINS = 10  # tenths of the scale, for the calibration error
MAX_WORDS = (
    60  # in a right answer; a longer one cannot be read at a glance. The shipped score was fitted with the same number
)
# share of the answerable questions whose right answer is known; with fewer the share of right ones would be off; chosen
MIN_KNOWN = 0.8


@dataclass(frozen=True, slots=True)
class Sample:
    """A labelled question as it was measured. `right` says whether its extract is; None where that is not known."""

    question: str
    language: str
    answerable: bool
    features: Mapping[str, float]
    right: bool | None = None


Fit = Callable[[Sequence[Sample]], Calibration]
Probabilities = NDArray[np.float64]


def is_right(question: LabelledQuestion, measurements: Measurements) -> bool | None:
    """Whether the extract holds a right answer and can be read at a glance; None where no right answer is given."""
    if not question.answerable:
        return False
    if not question.answers:
        return None
    return holds_right_answer(measurements, question.answers)


def holds_right_answer(measurements: Measurements, answers: Sequence[str]) -> bool:
    """Whether the extract holds one of the answers and can be read at a glance."""
    text = " ".join(claim.text for claim in measurements.draft.claims)
    return len(text.split()) <= MAX_WORDS and holds_answer(text, answers)


def fitted(
    identity: Identity, samples: Sequence[Sample], provenance: Mapping[str, Any], base: Calibration | None = None
) -> Calibration:
    """All features fitted, as strongly as the folds bear; the provenance is completed by what was measured.

    Without enough known right answers their score is that of `base`.

    Raises:
        InvalidInput: fewer than 50 questions of either kind.
    """
    require([one.answerable for one in samples], MIN_COUNT)
    made = _with_figures(samples, _fitting(identity), provenance)
    return _with_correctness(made, base, samples)


def figures_of(provenance: Mapping[str, Any]) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """The out-of-fold figures by group: of answerability and of correctness; empty where unknown."""
    expected = provenance.get("expected", {})
    answerable = (
        provenance.get("left_out_of_the_fit")
        or expected.get("answerable")
        or provenance.get("this_group_left_out")
        or {}
    )
    right = provenance.get("correctness", {}).get("left_out_of_the_fit") or expected.get("right") or {}
    return answerable, right


def figures(probabilities: Probabilities, answerable: Sequence[bool] | NDArray[np.bool_]) -> dict[str, Any]:
    """How well probabilities part and mean what they say; AUROC and false refusals are None without both kinds.

    `reliability` has one row for each tenth: `n`, mean probability, share answerable, and its exact 95 % interval.
    """
    labels = np.array(answerable, dtype=bool)
    bins = metrics.reliability(probabilities, labels, BINS)
    auroc, error = metrics.auroc(probabilities, labels), metrics.calibration_error(bins)
    return {
        "n": len(labels),
        "answerable": int(labels.sum()),
        "auroc": _rounded(auroc),
        "false_refusals_at_5pct_wrong": _rounded(false_refusals_at(probabilities, labels)),
        "calibration_error": _rounded(error),
        "reliability": [
            {
                "low": round(one.low, 4),
                "high": round(one.high, 4),
                "n": one.n,
                "mean": _rounded(one.mean),
                "share": _rounded(one.share),
                "interval": [_rounded(one.interval.low), _rounded(one.interval.high)],
            }
            for one in bins
            if one.n
        ],
    }


def false_refusals_at(
    probabilities: Probabilities, answerable: NDArray[np.bool_], wrong: float = WRONG
) -> float | None:
    """The share of answerable questions refused where at most `wrong` of the others are answered, or None."""
    yes, no = probabilities[answerable], probabilities[~answerable]
    if not len(yes) or not len(no):
        return None
    thresholds = np.append(np.unique(probabilities), np.inf)
    answered = len(no) - np.searchsorted(np.sort(no), thresholds)
    lowest = thresholds[answered <= int(wrong * len(no) + 1e-9)][0]
    return float((yes < lowest).mean())


def given_by(calibration: Calibration, samples: Sequence[Sample]) -> Probabilities:
    return np.array([calibration.probability(one.features) for one in samples])


def figures_by_language(probabilities: Probabilities, samples: Sequence[Sample]) -> dict[str, Any]:
    """`figures` of all, and of each language that has at least ten questions of either kind."""
    labels, languages = np.array([one.answerable for one in samples]), np.array([one.language for one in samples])
    found = {"all": figures(probabilities, labels)}
    for language, _ in Counter(languages.tolist()).most_common():
        inside = languages == language
        if min(labels[inside].sum(), (~labels[inside]).sum()) >= BINS:
            found[language] = figures(probabilities[inside], labels[inside])
    return found


def out_of_fold(samples: Sequence[Sample], make: Fit) -> Probabilities:
    """Each question's probability from a fit on the folds that it is not in, shape (n,)."""
    found = np.zeros(len(samples))
    for train, test in _folds(samples):
        made = make([samples[i] for i in train])
        found[test] = given_by(made, [samples[i] for i in test])
    return found


def _with_correctness(made: Calibration, base: Calibration | None, samples: Sequence[Sample]) -> Calibration:
    """With a score of right answers; that of `base`, if any, where too few right answers are known."""
    known = [replace(one, answerable=one.right) for one in samples if one.right is not None]
    right, answerable = sum(one.answerable for one in known), sum(one.answerable for one in samples)
    given = sum(one.answerable and one.right is not None for one in samples)
    if min(right, len(known) - right) < MIN_COUNT or given < MIN_KNOWN * answerable:
        return replace(made, correctness=base.correctness if base else None)

    found = _with_figures(known, _fitting(made.identity), {})
    about = {name: value for name, value in found.provenance.items() if name != "question_hashes"}
    return replace(
        made, correctness=replace(found, provenance={}), provenance={**made.provenance, "correctness": about}
    )


def _with_figures(samples: Sequence[Sample], make: Fit, provenance: Mapping[str, Any]) -> Calibration:
    labels = [one.answerable for one in samples]
    about = {
        **provenance,
        "n": {"answerable": sum(labels), "unanswerable": len(labels) - sum(labels)},
        "folds": FOLDS,
        "seed": SEED,
        "left_out_of_the_fit": figures_by_language(out_of_fold(samples, make), samples),
        "question_hashes": sorted({question_hash(one.question) for one in samples}),
    }
    whole = make(samples)
    return replace(whole, provenance={**about, **whole.provenance})


def _fitting(identity: Identity) -> Fit:
    """Fits with the C that gives the least negative log-likelihood on the folds."""

    def at(c: float, rows: Sequence[Sample]) -> Calibration:
        measured, answerable = [one.features for one in rows], [one.answerable for one in rows]
        return fit(identity, measured, answerable, {"strength": c}, c=c, least=1)

    def best(samples: Sequence[Sample]) -> Calibration:
        losses = {c: _negative_log_likelihood(samples, partial(at, c)) for c in VALUES_OF_C}
        return at(min(losses, key=losses.__getitem__), samples)

    return best


def _negative_log_likelihood(samples: Sequence[Sample], make: Fit) -> float:
    """Mean negative log-likelihood of the labels, each under the fit that did not see it."""
    labels = np.array([one.answerable for one in samples])
    given = np.clip(out_of_fold(samples, make), 1e-12, 1 - 1e-12)
    return float(-np.log(np.where(labels, given, 1 - given)).mean())


def _folds(samples: Sequence[Sample]) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """The rows that each fold trains on and is judged on; all rows of a question go together."""
    from sklearn.model_selection import StratifiedKFold

    _, first, question = np.unique(
        [question_hash(one.question) for one in samples], return_index=True, return_inverse=True
    )
    labels = np.array([samples[row].answerable for row in first])
    drawn = StratifiedKFold(FOLDS, shuffle=True, random_state=SEED).split(labels, labels)
    return [(np.flatnonzero(~(here := np.isin(question, test))), np.flatnonzero(here)) for _, test in drawn]


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)
