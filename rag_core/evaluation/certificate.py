"""A certificate: what is guaranteed, on which questions, and whether it still holds. Values only; JSON in and out."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from pydantic import TypeAdapter

from rag_core.engine import Engine
from rag_core.errors import InvalidInput
from rag_core.evaluation.guarantee import Kind
from rag_core.settings import Settings, Stage

SCHEMA_VERSION = 3  # the form of a certificate
# what is shown and how it is called, and how documents are read: the library's version stands for the latter
_OF_NO_MATTER = (Stage.OUTPUT, Stage.INGEST)


class Stale(StrEnum):
    """Why a certificate no longer covers what is done."""

    COLLECTION = "namespace"  # another collection
    LIBRARY = "library"  # documents were added, deleted or read again
    CALIBRATION = "calibration"  # the probability comes from another fit
    MODEL = "model"  # another embedding model or precision
    SETTINGS = "settings"  # a setting that decides differs


@dataclass(frozen=True, slots=True)
class Basis:
    """The library and models that were asked: a hash of document ids, the calibration's id, `model` with precision."""

    collection: str
    version: int
    documents: str
    calibration: str
    model: str

    @classmethod
    def of(cls, engine: Engine, collection: str) -> Basis:
        library, calibration = engine.library, engine.tools.calibration
        ids = sorted(document.id for document in library.snapshot.documents)
        documents = hashlib.sha256("\n".join(ids).encode()).hexdigest()[:12]
        return cls(
            collection,
            library.snapshot.version,
            documents,
            calibration.id if calibration else "",
            engine.tools.embedder.name,
        )


@dataclass(frozen=True, slots=True)
class Bound:
    """One target: `low` and `high` are the exact 95 % interval of the errors, `upper` the bound of the test."""

    kind: Kind
    at_most: float
    errors: int
    of: int
    low: float
    high: float
    upper: float


@dataclass(frozen=True, slots=True)
class Certificate:
    """A guarantee with all to check it; `left_out` were used to fit the score, `failed` not measured."""

    date: str
    confidence: float
    thresholds: Mapping[str, float]
    bounds: tuple[Bound, ...]
    questions: int
    answerable: int
    answered: int
    basis: Basis
    set_name: str
    set_hash: str
    left_out: int
    failed: int
    settings: Mapping[str, Any]
    settings_hash: str

    def to_json(self) -> dict[str, Any]:
        return {"schema_version": SCHEMA_VERSION, **asdict(self)}

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> Certificate:
        try:
            if row["schema_version"] != SCHEMA_VERSION:
                raise ValueError(f"form {row['schema_version']}, this version reads form {SCHEMA_VERSION}")
            return _ADAPTER.validate_python({name: row[name] for name in cls.__slots__})
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise InvalidInput(
                f"The certificate cannot be read: {error}.", remedy="Certify the preset again."
            ) from error


_ADAPTER = TypeAdapter(Certificate)


def stale(certificate: Certificate, basis: Basis, settings: Settings) -> tuple[Stale, ...]:
    """Why a certificate does not cover questions asked of this basis under these settings; empty when it does."""
    was = certificate.basis
    differs = {
        Stale.COLLECTION: was.collection != basis.collection,
        Stale.LIBRARY: (was.version, was.documents) != (basis.version, basis.documents),
        Stale.CALIBRATION: was.calibration != basis.calibration,
        Stale.MODEL: was.model != basis.model,
        Stale.SETTINGS: any(certificate.settings.get(name) != value for name, value in deciding(settings).items()),
    }
    return tuple(reason for reason, is_so in differs.items() if is_so)


def deciding(settings: Settings) -> dict[str, Any]:
    """The settings on which it depends whether and what is answered, as JSON values."""
    values = settings.model_dump(mode="json")
    return {knob.name: values[knob.name] for knob in Settings.knobs() if knob.stage not in _OF_NO_MATTER}
