"""Compares two ways to decide the same questions, one by one: where they differ, and whether that can be chance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rag_core.evaluation.metrics import mcnemar
from rag_core.evaluation.report import Marks


@dataclass(frozen=True, slots=True, eq=False)
class Paired:
    """The comparison of a first and a second way over n questions.

    Args:
        compared: questions that both could measure.
        only_first: of them, those that only the first got right; `only_second` likewise.
        p: of McNemar's exact test, two-sided, that both err equally often.
        differ: rows on which they end differently: answered or not, or right or not; ascending.
    """

    compared: int
    only_first: int
    only_second: int
    p: float
    differ: NDArray[np.int64]


def paired(first: Marks, second: Marks) -> Paired:
    """Compare; both are of the same questions, in the same order.

    Raises:
        ValueError: they are not of equally many questions.
    """
    if first.answered.shape != second.answered.shape:
        raise ValueError(f"{first.answered.size} and {second.answered.size} questions cannot be paired")
    both = first.measured & second.measured
    b, c = int((both & first.correct & ~second.correct).sum()), int((both & ~first.correct & second.correct).sum())
    differ = both & ((first.answered != second.answered) | (first.correct != second.correct))
    return Paired(int(both.sum()), b, c, mcnemar(b, c), np.flatnonzero(differ))
