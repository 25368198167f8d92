"""Figures of a labelled set: rates with exact intervals, AUROC, reliability, and a paired test.

Pure: arrays in, frozen results out. Equal scores are always one step, since no threshold can part them. A figure that
is not defined, such as the AUROC of one class, is None and never a guess. Scores rise with the event they stand for: a
higher one means "more likely so".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy  # loads `scipy.stats`, a second and a half, where that is first used
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

CONFIDENCE = 0.95  # the usual one, for every interval that is shown and every certificate


@dataclass(frozen=True, slots=True)
class Interval:
    """Both ends of a confidence interval, in [0, 1]."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Bin:
    """Questions with a score in [low, high]; `share` came true. An empty bin has n = 0 and the interval [0, 1]."""

    low: float
    high: float
    n: int
    mean: float | None
    share: float | None
    interval: Interval


def clopper_pearson(k: int, n: int, confidence: float = CONFIDENCE) -> Interval:
    """The exact two-sided interval for a share of which k of n were seen (Clopper and Pearson 1934)."""
    _require_counts(k, n, confidence)
    tail = (1 - confidence) / 2
    low = 0.0 if k == 0 else float(scipy.stats.beta.ppf(tail, k, n - k + 1))
    high = 1.0 if k == n else float(scipy.stats.beta.isf(tail, k + 1, n - k))
    return Interval(low, high)


def upper_bound(k: int, n: int, confidence: float = CONFIDENCE) -> float:
    """The exact one-sided upper bound of a share of which k of n were seen: 0 of 59 gives .0495 at 95 %."""
    _require_counts(k, n, confidence)
    return 1.0 if k == n else float(scipy.stats.beta.isf(1 - confidence, k + 1, n - k))


def mcnemar(b: int, c: int) -> float:
    """The exact two-sided p-value that two settings err equally often (McNemar 1947).

    `b` questions only the first got right, `c` only the second.
    """
    return float(scipy.stats.binomtest(b, b + c).pvalue) if b or c else 1.0


def auroc(scores: ArrayLike, positive: ArrayLike) -> float | None:
    """The area under the ROC curve, ties counted half; None without both classes."""
    values, flags = _scored(scores, positive)
    return float(_sklearn().roc_auc_score(flags, values)) if flags.any() and not flags.all() else None


def reliability(scores: ArrayLike, positive: ArrayLike, bins: int = 10) -> tuple[Bin, ...]:
    """The share that came true by score, in equal bins over [0, 1]; raises ValueError outside."""
    values, flags = _scored(scores, positive)
    if bins < 1:
        raise ValueError(f"bins must be at least 1, got {bins}")
    if values.size and not (values.min() >= 0 and values.max() <= 1):
        raise ValueError("reliability needs probabilities in [0, 1]")
    edges = np.linspace(0.0, 1.0, bins + 1)
    # [edge, next edge), the last one with its upper edge
    place = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, bins - 1)
    return tuple(_bin(float(edges[i]), float(edges[i + 1]), values[place == i], flags[place == i]) for i in range(bins))


def calibration_error(bins: Sequence[Bin]) -> float | None:
    """The expected calibration error: |mean score - share| averaged over the questions; None without questions."""
    known = [(one.n, abs(one.mean - one.share)) for one in bins if one.mean is not None and one.share is not None]
    return sum(n * gap for n, gap in known) / sum(n for n, _ in known) if known else None


def _scored(scores: ArrayLike, flags: ArrayLike) -> tuple[Floats, Flags]:
    values, marked = np.asarray(scores, dtype=np.float64).ravel(), np.asarray(flags, dtype=np.bool_).ravel()
    if values.shape != marked.shape:
        raise ValueError(f"{values.size} scores and {marked.size} labels do not belong together")
    if not np.isfinite(values).all():
        raise ValueError("scores must be finite numbers")
    return values, marked


def _bin(low: float, high: float, values: Floats, flags: Flags) -> Bin:
    n, k = int(values.size), int(flags.sum())
    # the mean of equal numbers is that number
    mean, share = (min(max(float(values.mean()), low), high), k / n) if n else (None, None)
    return Bin(low, high, n, mean, share, clopper_pearson(k, n))


def _require_counts(k: int, n: int, confidence: float) -> None:
    if not 0 <= k <= n:
        raise ValueError(f"need 0 <= k <= n, got k = {k}, n = {n}")
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must be between 0 and 1, got {confidence:g}")


def _sklearn() -> Any:
    """scikit-learn's figures, which take a second to import, where they are first used."""
    from sklearn import metrics

    return metrics
