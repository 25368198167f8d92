"""Fits a calibrated score to labelled questions: from nothing, or from where a score is already.

It needs scikit-learn and SciPy, which no question does: both are imported when something is fitted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from rag_core.errors import InvalidInput
from rag_core.gating.features import INPUTS
from rag_core.gating.scores import FAR, Calibration, Identity, value

MIN_COUNT = 50  # questions of either kind for a fit of all features
MIN_TO_ADJUST = 20  # questions of either kind for a fit that starts from another


def fit(
    identity: Identity,
    measured: Sequence[Mapping[str, float]],
    answerable: Sequence[bool],
    provenance: Mapping[str, Any],
    *,
    weights: Sequence[float] | None = None,
    c: float = 1.0,
    features: tuple[str, ...] = INPUTS,
    least: int = MIN_COUNT,
) -> Calibration:
    """Fit the regression. `c` is scikit-learn's C; features are standardised first.

    Raises:
        InvalidInput: fewer than `least` questions of either kind.
    """
    import numpy as np
    from sklearn.linear_model import LogisticRegression

    require(answerable, least)
    x = np.array([[value(name, row) for name in features] for row in measured])
    mean, scale = x.mean(axis=0), x.std(axis=0)
    scale[scale < 1e-9] = 1.0
    x = _standardised(x, mean, scale)
    regression = LogisticRegression(C=c, max_iter=5000)
    regression.fit(x, np.array(answerable), sample_weight=weights)
    return Calibration(
        identity,
        features,
        tuple(map(float, mean)),
        tuple(map(float, scale)),
        tuple(map(float, regression.coef_[0])),
        float(regression.intercept_[0]),
        provenance,
    )


def _standardised(x: Any, mean: Any, scale: Any) -> Any:
    """The numbers that the coefficients multiply, from raw features of shape (questions, features); see
    `Calibration`.
    """
    import numpy as np

    return np.clip((x - mean) / scale, -FAR, FAR)


def adjust(
    base: Calibration,
    measured: Sequence[Mapping[str, float]],
    answerable: Sequence[bool],
    provenance: Mapping[str, Any],
    *,
    weights: Sequence[float] | None = None,
    c: float = 0.1,
    least: int = MIN_TO_ADJUST,
) -> Calibration:
    """Fit what these questions say otherwise than a score does: its coefficients are held near to where they are, not
    near to 0.

    `c` is the C of `fit`; a small one moves the intercept alone. So few labels do not spoil a score, and many may
    change all of it. `weights` say how much each question counts; 1 without them.

    Raises:
        InvalidInput: fewer than `least` questions of either kind.
    """
    import numpy as np
    from scipy.optimize import minimize
    from scipy.special import expit

    require(answerable, least)
    y = np.array(answerable, dtype=float)
    x = np.array([[value(name, row) for name in base.features] for row in measured])
    x = _standardised(x, np.array(base.mean), np.array(base.scale))
    before = x @ np.array(base.coefficients) + base.intercept
    counts = np.ones(len(y)) if weights is None else np.array(weights)

    def loss(moved: Any) -> tuple[float, Any]:
        changes, odds = moved[:-1], before + x @ moved[:-1] + moved[-1]
        error = counts * (expit(odds) - y)
        negative_log_likelihood = (counts * (np.logaddexp(0, odds) - y * odds)).sum() + changes @ changes / (2 * c)
        return float(negative_log_likelihood), np.append(x.T @ error + changes / c, error.sum())

    *moved, shift = map(float, minimize(loss, np.zeros(x.shape[1] + 1), jac=True, method="L-BFGS-B").x)
    coefficients = tuple(weight + change for weight, change in zip(base.coefficients, moved, strict=True))
    return replace(base, coefficients=coefficients, intercept=base.intercept + shift, provenance=provenance)


def require(answerable: Sequence[bool], least: int) -> None:
    """Refuse a set that is too small.

    Raises:
        InvalidInput: fewer than `least` questions of either kind.
    """
    positive = sum(answerable)
    if min(positive, len(answerable) - positive) < least:
        raise InvalidInput(
            f"{positive} answerable and {len(answerable) - positive} unanswerable questions are too few.",
            remedy=f"Label at least {least} of each.",
        )
