"""The calibrated score: a logistic regression on the features of a retrieval, read from a file with its provenance, and
fitted to labelled questions: from nothing, or from where a score is already.

A calibration belongs to what measured the features it was fitted on: an embedding model with its tokenizer, and one
version of the chunker, the language module and the features. Where none matches, there is no answerability, and the
gate that needs it says so instead of guessing.

To fit needs scikit-learn and SciPy, which no question does: both are imported when something is fitted.
"""

from __future__ import annotations

import hashlib
import json
import math
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Any

from rag_core.domain.ports import AnswerabilityModel, Embedder
from rag_core.errors import InvalidInput
from rag_core.gating.features import FEATURES, INPUTS
from rag_core.library.indexing.indexer import INDEX_VERSION
from rag_core.settings import DATA

FILE = DATA / "answerability.json"
SCHEMA_VERSION = 4  # the form of a calibration file
_LISTS = ("features", "mean", "scale", "coefficients")  # all have one length
_KEYS = {"schema_version", "identity", *_LISTS, "intercept", "correctness", "provenance"}
TIMES = "*"  # between the features of a product
FAR = 4.0  # standard deviations; a feature that is farther from those of the fit counts as this far

# Raised when a change of these modules changes what is measured: then every calibration has to be fitted again.
# tests/gating/test_scores_versions.py notices the change. The chunker's version is the index's.
LANGUAGE_VERSION = 4
FEATURES_VERSION = 14

# Vectors in these differ by less than the features can tell (docs/calibration.md has the figures): a calibration holds
# for all of them.
_ALIKE = frozenset({"float32", "bfloat16"})


def features_version() -> str:
    """12 hex digits over the features' version and names, in order: others, another calibration."""
    return _digest("|".join([str(FEATURES_VERSION), *FEATURES]))


def question_hash(question: str) -> str:
    """12 hex digits that know a question again, whatever its case and white space, without its text."""
    return _digest(" ".join(unicodedata.normalize("NFKC", question).casefold().split()))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]


@dataclass(frozen=True, slots=True)
class Identity:
    """The versions of everything that measured the features. Every component is text; two are compared by equality."""

    model: str  # the embedding model's name
    precision: str  # "float" for float32 and bfloat16, which share a calibration; any other is itself
    tokenizer: str  # hash of the model's vocabulary
    chunker: str  # version of chunker and normalisation, that of an index
    language: str  # version of the language module
    features: str  # version and names of the features
    answerability_model: str = ""  # hash of the answerability model; empty where none reads

    @classmethod
    def of(cls, embedder: Embedder, answerability_model: AnswerabilityModel | None = None) -> Identity:
        name, _, precision = embedder.name.rpartition("@")
        alike = "float" if precision in _ALIKE else precision
        return cls(
            name,
            alike,
            embedder.tokenizer,
            str(INDEX_VERSION),
            str(LANGUAGE_VERSION),
            features_version(),
            answerability_model.version if answerability_model else "",
        )

    def differences(self, other: Identity) -> tuple[str, ...]:
        """The names of the components that differ, in order; empty when one may stand for the other."""
        return tuple(field.name for field in fields(self) if getattr(self, field.name) != getattr(other, field.name))


@dataclass(frozen=True)
class Calibration:
    """Coefficients of a fitted score, what it was fitted on, and how it came about.

    `mean`, `scale` and `coefficients` have the length of `features`, which may be products ("unit_best*searched"): the
    answerability model weighs otherwise among few passages. `correctness` scores by the same features whether the
    extract is right.
    """

    identity: Identity
    features: tuple[str, ...]
    mean: tuple[float, ...]
    scale: tuple[float, ...]
    coefficients: tuple[float, ...]
    intercept: float
    provenance: Mapping[str, Any]
    correctness: Calibration | None = None

    def __post_init__(self) -> None:
        numbers = (*self.mean, *self.scale, *self.coefficients, self.intercept)
        fits = len(self.mean) == len(self.scale) == len(self.coefficients) == len(self.features)
        if not fits or not all(math.isfinite(number) for number in numbers) or min(*self.scale, 1.0) <= 0:
            raise ValueError("the numbers of a calibration must be finite, its scales positive, one for every feature")

    @property
    def model(self) -> str:
        return self.identity.model

    @cached_property
    def id(self) -> str:
        """12 hex digits of the numbers and the identity, in every record: equal ids, equal probabilities."""
        return _digest(json.dumps({**self._numbers(), "identity": asdict(self.identity)}, sort_keys=True))

    def logit(self, measured: Mapping[str, float]) -> float:
        return self.intercept + sum(
            weight * max(-FAR, min(FAR, (value(name, measured) - mean) / scale))
            for name, mean, scale, weight in zip(self.features, self.mean, self.scale, self.coefficients, strict=True)
        )

    def probability(self, measured: Mapping[str, float]) -> float:
        z = self.logit(measured)
        return 1 / (1 + math.exp(-z)) if z >= 0 else math.exp(z) / (1 + math.exp(z))

    def to_json(self) -> dict[str, Any]:
        about = {"schema_version": SCHEMA_VERSION, "identity": asdict(self.identity)}
        return {**about, **self._numbers(), "provenance": dict(self.provenance)}

    def _numbers(self) -> dict[str, Any]:
        lists = {name: list(getattr(self, name)) for name in _LISTS}
        of_right = {"correctness": self.correctness._numbers()} if self.correctness else {}
        return {**lists, "intercept": self.intercept, **of_right}

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> Calibration:
        """The value that `to_json` wrote; raises ValueError, KeyError or TypeError where it is not."""
        if row["schema_version"] != SCHEMA_VERSION:
            raise ValueError(f"form {row['schema_version']}; this version reads form {SCHEMA_VERSION}")
        if not isinstance(row["provenance"], Mapping) or not isinstance(row["identity"], Mapping):
            raise TypeError("provenance and identity must be objects")
        return cls._of(Identity(**row["identity"]), row, row["provenance"])

    @classmethod
    def _of(cls, identity: Identity, row: Mapping[str, Any], provenance: Mapping[str, Any]) -> Calibration:
        features, mean, scale, coefficients = (tuple(row[name]) for name in _LISTS)
        correctness = cls._of(identity, row["correctness"], {}) if "correctness" in row else None
        return cls(identity, features, mean, scale, coefficients, row["intercept"], provenance, correctness)

    @property
    def measured(self) -> frozenset[str]:
        """The names of all features that it and the score of right answers read."""
        own = {part for name in self.features for part in name.split(TIMES)}
        return frozenset(own) | (self.correctness.measured if self.correctness else frozenset())


def value(name: str, measured: Mapping[str, float]) -> float:
    """A feature, or the product of those that the name joins."""
    return math.prod(measured[part] for part in name.split(TIMES))


def read(path: Path) -> Calibration:
    """The calibration in a file; raises InvalidInput where it is damaged, or in another form."""
    try:
        row = json.loads(path.read_text(encoding="utf-8"))
        if strange := set(row) - _KEYS:
            raise ValueError(f"there is no key {min(strange)!r}")
        found = Calibration.from_json(row)
        if unknown := found.measured - set(FEATURES):
            raise ValueError(f"there is no feature {min(unknown)!r}")
        return found
    except (OSError, ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        again = "Restore it from the repository" if path == FILE else "Delete it"
        raise InvalidInput(
            f"The calibration file {'/'.join(path.parts[-2:])} cannot be read: {_why(error)}.",
            remedy=f"{again}, or fit it again: python -m rag_core calibrate fit --help",
        ) from error


def packed(made: Calibration) -> bytes:
    """The file that `read` reads."""
    return (json.dumps(made.to_json(), ensure_ascii=False, indent=1, sort_keys=True) + "\n").encode()


def _why(error: Exception) -> str:
    return f"it has no {error.args[0]!r}" if isinstance(error, KeyError) else str(error)


def load(files: Sequence[Path], identity: Identity) -> Calibration | None:
    """The first calibration that fits, or None; raises InvalidInput where a file before it is damaged."""
    found = (read(path) for path in files if path.exists())
    return next((one for one in found if one.identity == identity), None)


MIN_COUNT = 50  # questions of either kind for a fit of all features


def fit(
    identity: Identity,
    measured: Sequence[Mapping[str, float]],
    answerable: Sequence[bool],
    provenance: Mapping[str, Any],
    *,
    weights: Sequence[float] | None = None,
    c: float = 1.0,
    least: int = MIN_COUNT,
) -> Calibration:
    """Fit the regression with scikit-learn's C; raises InvalidInput below `least` questions of either kind."""
    import numpy as np
    from sklearn.linear_model import LogisticRegression

    require(answerable, least)
    x = np.array([[value(name, row) for name in INPUTS] for row in measured])
    mean, scale = x.mean(axis=0), x.std(axis=0)
    scale[scale < 1e-9] = 1.0
    x = np.clip((x - mean) / scale, -FAR, FAR)
    regression = LogisticRegression(C=c, max_iter=5000)
    regression.fit(x, np.array(answerable), sample_weight=weights)
    return Calibration(
        identity,
        INPUTS,
        tuple(map(float, mean)),
        tuple(map(float, scale)),
        tuple(map(float, regression.coef_[0])),
        float(regression.intercept_[0]),
        provenance,
    )


def require(answerable: Sequence[bool], least: int) -> None:
    """Raise InvalidInput for fewer than `least` questions of either kind."""
    positive = sum(answerable)
    if min(positive, len(answerable) - positive) < least:
        raise InvalidInput(
            f"{positive} answerable and {len(answerable) - positive} unanswerable questions are too few.",
            remedy=f"Label at least {least} of each.",
        )
