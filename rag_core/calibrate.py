"""The calibrated score: a logistic regression on retrieval signals, read from a file with its provenance.

A calibration belongs to what measured the signals it was fitted on: an embedding model with its tokenizer, and one version of the chunker,
the language module and the signals. Where none matches, there is no answerability, and the gate that needs it says so instead of guessing.
"""

from __future__ import annotations

import hashlib
import json
import math
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from rag_core.errors import InvalidInput
from rag_core.ingest.indexing import INDEX_VERSION
from rag_core.ports import Embedder
from rag_core.settings import DATA
from rag_core.signals import SIGNALS

FILE = DATA / "answerability.json"
SCHEMA_VERSION = 2
LEAST = 50  # questions of either kind for a fit of all signals
LEAST_TO_ADJUST = 20  # questions of either kind for a fit that starts from another

# Raised when a change of these modules changes what is measured: then every calibration has to be fitted again.
# tests/test_calibration_versions.py notices the change. The chunker's version is the index's.
LANGUAGE_VERSION = 1
SIGNALS_VERSION = 1

# Vectors in these differ by less than the signals can tell (docs/calibration.md has the figures): a calibration holds for all of them.
_ALIKE = frozenset({"float32", "bfloat16"})


def signals_version() -> str:
    """The first 12 hex digits of SHA-256 over the signals' version and their names, in order: other signals, other calibration."""
    return _digest("|".join([str(SIGNALS_VERSION), *SIGNALS]))


def question_hash(question: str) -> str:
    """12 hex digits by which a question is known again, whatever its case and white space; nothing of its text is in them."""
    return _digest(" ".join(unicodedata.normalize("NFKC", question).casefold().split()))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]


@dataclass(frozen=True, slots=True)
class Identity:
    """What measured the signals. Every component is text; two are compared by equality.

    Args:
        model: the embedding model's name.
        precision: "float" for float32 and bfloat16, which share a calibration; any other is itself.
        tokenizer: hash of the model's vocabulary.
        chunker: version of chunker and normalisation, that of an index.
        language: version of the language module.
        signals: version and names of the signals.
    """

    model: str
    precision: str
    tokenizer: str
    chunker: str
    language: str
    signals: str

    @classmethod
    def of(cls, embedder: Embedder) -> Identity:
        """What measures now, with this model."""
        name, _, precision = embedder.name.rpartition("@")
        alike = "float" if precision in _ALIKE else precision
        return cls(name, alike, embedder.tokenizer, str(INDEX_VERSION), str(LANGUAGE_VERSION), signals_version())

    def differences(self, other: Identity) -> tuple[str, ...]:
        """The names of the components that differ, in order; empty when one may stand for the other."""
        return tuple(field.name for field in fields(self) if getattr(self, field.name) != getattr(other, field.name))


@dataclass(frozen=True, slots=True)
class Calibration:
    """Coefficients of a fitted score, what it was fitted on, and how it came about. All sequences have the length of `signals`."""

    identity: Identity
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
            raise ValueError("the numbers of a calibration must be finite, its scales positive, one of each for every signal")

    @property
    def model(self) -> str:
        """The embedding model's name."""
        return self.identity.model

    @property
    def id(self) -> str:
        """12 hex digits of the numbers and the identity: equal ids give equal probabilities for equal signals."""
        return _digest(json.dumps({**self._numbers(), "identity": asdict(self.identity)}, sort_keys=True))

    def logit(self, measured: Mapping[str, float]) -> float:
        """The log of the odds that the documents answer the question."""
        z = self.intercept
        for name, mean, scale, weight in zip(self.signals, self.mean, self.scale, self.coefficients, strict=True):
            z += weight * (measured[name] - mean) / scale
        return z

    def probability(self, measured: Mapping[str, float]) -> float:
        """The calibrated probability that the documents answer the question, in [0, 1]."""
        z = self.logit(measured)
        return 1 / (1 + math.exp(-z)) if z >= 0 else math.exp(z) / (1 + math.exp(z))

    def to_json(self) -> dict[str, Any]:
        """As stored."""
        provenance = dict(self.provenance)
        return {"schema_version": SCHEMA_VERSION, "identity": asdict(self.identity), **self._numbers(), "provenance": provenance}

    def _numbers(self) -> dict[str, Any]:
        lists = {name: list(getattr(self, name)) for name in ("signals", "mean", "scale", "coefficients")}
        return {**lists, "intercept": self.intercept}

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> Calibration:
        """What `to_json` gave.

        Raises:
            ValueError, KeyError, TypeError: it is not that.
        """
        if row["schema_version"] != SCHEMA_VERSION:
            raise ValueError(f"form {row['schema_version']}; this version reads form {SCHEMA_VERSION}")
        if not isinstance(row["provenance"], Mapping) or not isinstance(row["identity"], Mapping):
            raise TypeError("provenance and identity must be objects")
        signals, mean, scale, coefficients = (tuple(row[name]) for name in ("signals", "mean", "scale", "coefficients"))
        return cls(Identity(**row["identity"]), signals, mean, scale, coefficients, row["intercept"], row["provenance"])


def read(path: Path) -> Calibration:
    """The calibration in a file.

    Raises:
        InvalidInput: it is damaged, or in another form.
    """
    try:
        return Calibration.from_json(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        again = "Restore it from the repository" if path == FILE else "Delete it"
        raise InvalidInput(
            f"The calibration file {'/'.join(path.parts[-2:])} cannot be read: {_why(error)}.",
            remedy=f"{again}, or fit it again: python -m rag_core calibrate fit --help",
        ) from error


def _why(error: Exception) -> str:
    return f"it has no {error.args[0]!r}" if isinstance(error, KeyError) else str(error)


def load(files: Sequence[Path], identity: Identity) -> Calibration | None:
    """The first calibration that fits; files that are not there are passed over. None when none fits.

    Raises:
        InvalidInput: a file before the one that fits is damaged.
    """
    found = (read(path) for path in files if path.exists())
    return next((one for one in found if one.identity == identity), None)


def fit(
    identity: Identity,
    measured: Sequence[Mapping[str, float]],
    answerable: Sequence[bool],
    provenance: Mapping[str, Any],
    *,
    weights: Sequence[float] | None = None,
    strength: float = 1.0,
    least: int = LEAST,
) -> Calibration:
    """Fit the regression. `strength` is scikit-learn's C; signals are standardised first.

    Raises:
        InvalidInput: fewer than `least` questions of either kind.
    """
    import numpy as np
    from sklearn.linear_model import LogisticRegression

    require(answerable, least)
    x = np.array([[row[name] for name in SIGNALS] for row in measured])
    mean, scale = x.mean(axis=0), x.std(axis=0)
    scale[scale < 1e-9] = 1.0
    regression = LogisticRegression(C=strength, max_iter=5000)
    regression.fit((x - mean) / scale, np.array(answerable), sample_weight=weights)
    return Calibration(
        identity, SIGNALS, tuple(map(float, mean)), tuple(map(float, scale)), tuple(map(float, regression.coef_[0])),
        float(regression.intercept_[0]), provenance,
    )  # fmt: skip


def adjust(
    base: Calibration,
    measured: Sequence[Mapping[str, float]],
    answerable: Sequence[bool],
    provenance: Mapping[str, Any],
    *,
    strength: float = 0.1,
    least: int = LEAST_TO_ADJUST,
) -> Calibration:
    """Fit what these questions say otherwise than a score does: its coefficients are held near to where they are, not near to 0.

    `strength` is the C of `fit`; a small one moves the intercept alone. So few labels do not spoil a score, and many may change all of it.

    Raises:
        InvalidInput: fewer than `least` questions of either kind.
    """
    import numpy as np
    from scipy.optimize import minimize
    from scipy.special import expit

    require(answerable, least)
    y = np.array(answerable, dtype=float)
    x = np.array([[row[name] for name in base.signals] for row in measured])
    x = (x - np.array(base.mean)) / np.array(base.scale)
    before = x @ np.array(base.coefficients) + base.intercept

    def loss(moved: Any) -> tuple[float, Any]:
        weights, odds = moved[:-1], before + x @ moved[:-1] + moved[-1]
        error = expit(odds) - y
        surprise = (np.logaddexp(0, odds) - y * odds).sum() + weights @ weights / (2 * strength)
        return float(surprise), np.append(x.T @ error + weights / strength, error.sum())

    *moved, shift = map(float, minimize(loss, np.zeros(x.shape[1] + 1), jac=True, method="L-BFGS-B").x)
    coefficients = tuple(weight + change for weight, change in zip(base.coefficients, moved, strict=True))
    return Calibration(base.identity, base.signals, base.mean, base.scale, coefficients, base.intercept + shift, provenance)


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
