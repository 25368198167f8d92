"""Fits a calibration to a labelled set: on all of it, and judged out of fold.

Questions of equal text share a fold: a set that asks one question of several documents would else be asked what it was taught.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rag_core.errors import InvalidInput
from rag_core.evaluation import metrics
from rag_core.gating.scores import MIN_COUNT, MIN_TO_ADJUST, Calibration, Identity, adjust, fit, question_hash, require

FOLDS = 5  # a usual number; chosen, not measured
SEED = 7  # draws the folds; any number would do
VALUES_OF_C = (0.01, 0.1, 1.0)  # the regularisation's C as in scikit-learn; few questions need the smaller ones
VALUES_OF_C_TO_ADJUST = (0.001, 0.01, 0.1, 1.0)  # the same, where a calibration in force is only adjusted
WRONG = 0.05  # the share of wrong answers at which false refusals are compared
BINS = 10  # tenths of the scale, for the calibration error


@dataclass(frozen=True, slots=True)
class Sample:
    """A labelled question as it was measured."""

    question: str
    language: str
    answerable: bool
    features: Mapping[str, float]


Fit = Callable[[Sequence[Sample]], Calibration]
Probabilities = NDArray[np.float64]


def fitted(identity: Identity, samples: Sequence[Sample], provenance: Mapping[str, Any]) -> Calibration:
    """All features fitted, as strongly as the folds bear; the provenance is completed by what was measured.

    Raises:
        InvalidInput: fewer than 50 questions of either kind.
    """
    require([one.answerable for one in samples], MIN_COUNT)

    def at(c: float, rows: Sequence[Sample]) -> Calibration:
        return fit(identity, *_columns(rows), {"strength": c}, c=c, least=1)

    return _with_figures(samples, lambda rows: _best(at, VALUES_OF_C, rows), {**provenance, "method": "fit"})


def adjusted(base: Calibration, samples: Sequence[Sample], provenance: Mapping[str, Any]) -> Calibration:
    """`base`, as far as these questions say otherwise; questions that it was fitted on are left out and counted.

    Raises:
        InvalidInput: fewer than 20 questions of either kind are left.
    """
    known = frozenset(base.provenance.get("question_hashes", ()))
    new = [one for one in samples if question_hash(one.question) not in known]
    if len(new) < len(samples):
        try:
            require([one.answerable for one in new], MIN_TO_ADJUST)
        except InvalidInput as error:
            seen = len(samples) - len(new)
            raise InvalidInput(
                f"{seen} of {len(samples)} questions belong to those that calibration {base.id} was fitted on, and the others are too few.",
                remedy=f"{error.remedy} Those that it was fitted on do not count.",
            ) from error
    require([one.answerable for one in new], MIN_TO_ADJUST)

    def at(c: float, rows: Sequence[Sample]) -> Calibration:
        return adjust(base, *_columns(rows), {"strength": c}, c=c, least=1)

    about = {**provenance, "method": "adjust", "base": base.id, "left_out": len(samples) - len(new)}
    return _with_figures(new, lambda rows: _best(at, VALUES_OF_C_TO_ADJUST, rows), about)


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
                "low": round(one.low, 4), "high": round(one.high, 4), "n": one.n, "mean": _rounded(one.mean), "share": _rounded(one.share),
                "interval": [_rounded(one.interval.low), _rounded(one.interval.high)],
            }
            for one in bins if one.n
        ],
    }  # fmt: skip


def false_refusals_at(probabilities: Probabilities, answerable: NDArray[np.bool_], wrong: float = WRONG) -> float | None:
    """The share of answerable questions below the lowest threshold that answers at most this share of the others; None without both."""
    yes, no = probabilities[answerable], probabilities[~answerable]
    if not len(yes) or not len(no):
        return None
    thresholds = np.append(np.unique(probabilities), np.inf)
    answered = len(no) - np.searchsorted(np.sort(no), thresholds)
    lowest = thresholds[answered <= int(wrong * len(no) + 1e-9)][0]
    return float((yes < lowest).mean())


def given_by(calibration: Calibration, samples: Sequence[Sample]) -> Probabilities:
    """The probabilities that a calibration gives, shape (n,)."""
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


def left_out(samples: Sequence[Sample], make: Fit) -> Probabilities:
    """Each question's probability from a fit on the folds that it is not in, shape (n,)."""
    found = np.zeros(len(samples))
    for train, test in _folds(samples):
        made = make([samples[i] for i in train])
        found[test] = given_by(made, [samples[i] for i in test])
    return found


def _with_figures(samples: Sequence[Sample], make: Fit, provenance: Mapping[str, Any]) -> Calibration:
    labels = [one.answerable for one in samples]
    about = {
        **provenance,
        "n": {"answerable": sum(labels), "unanswerable": len(labels) - sum(labels)},
        "folds": FOLDS,
        "seed": SEED,
        "left_out_of_the_fit": figures_by_language(left_out(samples, make), samples),
        "question_hashes": sorted({question_hash(one.question) for one in samples}),
    }
    whole = make(samples)
    return replace(whole, provenance={**about, **whole.provenance})


def _best(at: Callable[[float, Sequence[Sample]], Calibration], values_of_c: Sequence[float], samples: Sequence[Sample]) -> Calibration:
    """Made with the strength under which the folds of these samples are least surprised."""
    losses = {c: _negative_log_likelihood(samples, partial(at, c)) for c in values_of_c}
    return at(min(losses, key=losses.__getitem__), samples)


def _columns(samples: Sequence[Sample]) -> tuple[list[Mapping[str, float]], list[bool]]:
    return [one.features for one in samples], [one.answerable for one in samples]


def _negative_log_likelihood(samples: Sequence[Sample], make: Fit) -> float:
    """Mean negative log likelihood of the labels that a fold was kept from."""
    labels = np.array([one.answerable for one in samples])
    given = np.clip(left_out(samples, make), 1e-12, 1 - 1e-12)
    return float(-np.log(np.where(labels, given, 1 - given)).mean())


def _folds(samples: Sequence[Sample]) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    from sklearn.model_selection import StratifiedGroupKFold

    labels = np.array([one.answerable for one in samples])
    groups = [question_hash(one.question) for one in samples]
    return list(StratifiedGroupKFold(FOLDS, shuffle=True, random_state=SEED).split(labels, labels, groups))


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)
