"""Scores that are fitted again from where they are."""

from __future__ import annotations

import numpy as np
import pytest
from builders import calibration

from rag_core.gating.features import FEATURES
from rag_core.gating.scores import is_narrow
from training.fit_again import again, error, report

ZERO = dict.fromkeys(FEATURES, 0.0)


def test_given_scores_of_a_network_that_says_more_then_those_for_many_passages_move_and_the_others_stay() -> None:
    draw = np.random.default_rng(5)
    found = []
    for place in range(400):
        right = place % 2 == 0
        signals = ZERO | {"searched": 1.0, "coverage_all": float(draw.normal(1.0 if right else 0.0, 0.3))}
        found.append({"signals": signals, "right": right, "answerable": right, "group": "pdf", "question": str(place)})
    base = calibration()
    assert not any(is_narrow(row["signals"]) for row in found)

    moved = again(base, found, "right", c=1.0)

    assert moved.narrow is None
    assert moved.probability(found[0]["signals"]) != base.probability(found[0]["signals"])
    assert "right pdf: 400 questions, 0.50" in report(base, found, "right", 1.0)


def test_given_what_is_said_and_what_is_so_then_the_error_is_their_distance_by_tenths() -> None:
    said = np.array([0.95, 0.95, 0.05, 0.05])

    assert error(np.array([True, True, False, False]), said) == pytest.approx(0.05)
    assert error(np.array([True, False, False, False]), said) == pytest.approx((0.45 + 0.05) / 2)
