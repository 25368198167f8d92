"""The calibrated score: a logistic regression on retrieval signals, read from `data/` with its provenance.

A calibration belongs to one embedding model and one version of the signals. Where none matches, there is no answerability, and the gate
that needs it says so instead of guessing.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rag_core.errors import InvalidInput
from rag_core.settings import DATA
from rag_core.signals import SIGNALS

FILE = DATA / "answerability.json"
SCHEMA_VERSION = 1


def signals_version() -> str:
    """The first 12 hex digits of SHA-256 over the names of the signals, in order: other signals, other calibration."""
    return hashlib.sha256("|".join(SIGNALS).encode()).hexdigest()[:12]


@dataclass(frozen=True, slots=True)
class Calibration:
    """Coefficients of a fitted score. `model` is the embedding model's name without its precision."""

    model: str
    signals: tuple[str, ...]
    mean: tuple[float, ...]
    scale: tuple[float, ...]
    coefficients: tuple[float, ...]
    intercept: float
    provenance: Mapping[str, Any]

    def __post_init__(self) -> None:
        numbers = (*self.mean, *self.scale, *self.coefficients, self.intercept)
        lengths = {len(self.signals), len(self.mean), len(self.scale), len(self.coefficients)}
        if len(lengths) != 1 or not all(math.isfinite(n) for n in numbers) or min(self.scale, default=1.0) <= 0:
            raise InvalidInput("The calibration file is not consistent.", remedy="Restore data/answerability.json, or fit it again.")

    def probability(self, measured: Mapping[str, float]) -> float:
        """The calibrated probability that the documents answer the question, in [0, 1]."""
        z = self.intercept
        for name, mean, scale, weight in zip(self.signals, self.mean, self.scale, self.coefficients, strict=True):
            z += weight * (measured[name] - mean) / scale
        return 1 / (1 + math.exp(-z)) if z >= 0 else math.exp(z) / (1 + math.exp(z))

    def to_json(self) -> dict[str, Any]:
        """As stored."""
        return {
            "schema_version": SCHEMA_VERSION,
            "model": self.model,
            "signals_version": signals_version(),
            "signals": list(self.signals),
            "mean": list(self.mean),
            "scale": list(self.scale),
            "coefficients": list(self.coefficients),
            "intercept": self.intercept,
            "provenance": dict(self.provenance),
        }


def load(embedding_model: str, path: Path = FILE) -> Calibration | None:
    """The calibration for this embedding model (`name@precision`), or None when the stored one is for another model or other signals.

    Raises:
        InvalidInput: the file is damaged.
    """
    if not path.exists():
        return None
    try:
        row = json.loads(path.read_text(encoding="utf-8"))
        if row["model"] != embedding_model.split("@")[0] or row["signals_version"] != signals_version():
            return None
        signals, mean, scale, coefficients = (tuple(row[name]) for name in ("signals", "mean", "scale", "coefficients"))
        return Calibration(row["model"], signals, mean, scale, coefficients, row["intercept"], row["provenance"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InvalidInput("The calibration file cannot be read.", remedy="Restore data/answerability.json, or fit it again.") from error


def fit(
    model: str,
    measured: Sequence[Mapping[str, float]],
    answerable: Sequence[bool],
    provenance: Mapping[str, Any],
    *,
    weights: Sequence[float] | None = None,
    strength: float = 1.0,
) -> Calibration:
    """Fit the regression. `strength` is scikit-learn's C; signals are standardised first.

    Raises:
        InvalidInput: fewer than 50 questions of either kind: too few to fit twenty signals.
    """
    import numpy as np
    from sklearn.linear_model import LogisticRegression

    positive = sum(answerable)
    if min(positive, len(answerable) - positive) < 50:
        raise InvalidInput(
            f"{positive} answerable and {len(answerable) - positive} unanswerable questions are too few.",
            remedy="Label at least 50 of each.",
        )
    x = np.array([[row[name] for name in SIGNALS] for row in measured])
    mean, scale = x.mean(axis=0), x.std(axis=0)
    scale[scale < 1e-9] = 1.0
    regression = LogisticRegression(C=strength, max_iter=5000)
    regression.fit((x - mean) / scale, np.array(answerable), sample_weight=weights)
    return Calibration(
        model, SIGNALS, tuple(map(float, mean)), tuple(map(float, scale)), tuple(map(float, regression.coef_[0])),
        float(regression.intercept_[0]), provenance,
    )  # fmt: skip
