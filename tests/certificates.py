"""Labelled questions that are made of numbers, and certificates of them, for the tests that need one."""

from __future__ import annotations

from functools import cache

import numpy as np
from builders import SENTENCE, measurements
from numpy.typing import NDArray

from rag_core.domain.measurements import Measurements, Understanding
from rag_core.evaluation import answer_hits
from rag_core.evaluation.certificate import Basis, Certificate
from rag_core.evaluation.certify import Request, Uncertified, certify
from rag_core.evaluation.guarantee import Kind, Target
from rag_core.evaluation.labelled import LabelledQuestion
from rag_core.settings import Settings

BASIS = Basis("default", 3, "d0c5", "ca11b", "multilingual-e5-small@float32")
WRONG = Target(Kind.WRONG_ANSWERS, 0.05)
MISSED = Target(Kind.MISSED_ANSWERS, 0.10)
REFUSED = Target(Kind.FALSE_REFUSALS, 0.10)


Material = tuple[list[LabelledQuestion], list[Measurements], NDArray[np.bool_]]


def material(n: int = 200, seed: int = 1, missing: int = 3) -> Material:
    """n answerable questions with a high score, n unanswerable ones with a low one; the first `missing` answers miss
    the known one.
    """
    questions, records, hits = _material(n, seed, missing)
    return [*questions], [*records], hits.copy()


@cache
def _material(n: int, seed: int, missing: int) -> Material:
    draw = np.random.default_rng(seed)
    scores = np.concatenate([draw.beta(8, 2, n), draw.beta(2, 8, n)])
    settings = Settings.load()
    questions = [
        LabelledQuestion(
            f"q{i}",
            f"Question number {i}?",
            i < n,
            (("no such words",) if i < missing else (SENTENCE,)) if i < n else (),
        )
        for i in range(2 * n)
    ]
    records = [
        measurements(
            0.8,
            of=settings,
            question=q.question,
            correctness=float(score),
            understanding=Understanding("en", "factual"),
        )
        for q, score in zip(questions, scores, strict=True)
    ]
    return questions, records, answer_hits(questions, records)


def made(
    *targets: Target, n: int = 200, settings: Settings | None = None, **changes: object
) -> Certificate | Uncertified:
    """What certifying the material gives."""
    questions, records, hits = material(n)
    asked = {k: changes.pop(k) for k in ("confidence", "first", "second") if k in changes}
    request = Request(targets or (WRONG,), **asked)  # type: ignore[arg-type]
    given = {"set_name": "my set", "date": "2026-11-21", **changes}
    return certify(questions, records, hits, settings or Settings.load(), request, BASIS, **given)  # type: ignore[arg-type]


@cache
def certificate(*targets: Target, **changes: object) -> Certificate:
    """One that there is; its numbers take a third of a second each time."""
    found = made(*targets, **changes)  # type: ignore[arg-type]
    assert isinstance(found, Certificate), found
    return found
