"""Scores that are fitted again from where they are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from builders import calibration

from rag_core.evaluation.metrics import calibration_error, reliability
from rag_core.gating.features import FEATURES
from rag_core.gating.scores import is_narrow
from training.fit_again import How, again, report

ZERO = dict.fromkeys(FEATURES, 0.0)


def test_given_a_network_that_says_more_then_it_is_weighed_anew_and_what_it_did_not_read_stays_as_it_was() -> None:
    draw = np.random.default_rng(5)
    found = []
    for place in range(400):
        right, read = place % 2 == 0, float(place % 4 < 3)
        told = {"read": read, "unit_best": read * float(draw.normal(2.0 if right else -2.0, 1.0))}
        signals = ZERO | {"searched": 1.0, "coverage_all": 0.5} | told
        found.append({"signals": signals, "right": right, "answerable": right, "group": "pdf", "question": str(place)})
    base = calibration()
    assert not any(is_narrow(row["signals"]) for row in found)

    moved = again(base, found, "right", How(c=1.0))

    read, unread = ([row["signals"] for row in found if row["signals"]["read"] == value] for value in (1.0, 0.0))
    assert [moved.logit(row) for row in unread] == pytest.approx([base.logit(row) for row in unread])
    by_word = sorted(read, key=lambda row: row["unit_best"])
    assert moved.probability(by_word[-1]) - moved.probability(by_word[0]) > 0.9
    assert moved.narrow is None
    assert "right pdf: 400 questions, 0.50" in report(base, found, "right", How(c=1.0))


def test_given_what_is_said_and_what_is_so_then_the_error_is_their_distance_by_tenths() -> None:
    said = np.array([0.95, 0.95, 0.05, 0.05])

    assert calibration_error(reliability(said, np.array([True, True, False, False]))) == pytest.approx(0.05)
    assert calibration_error(reliability(said, np.array([True, False, False, False]))) == pytest.approx((0.45 + 0.05) / 2)


def test_given_another_network_and_as_it_is_then_no_weight_moves_and_only_the_odds_of_right_among_few_passages_are_lowered() -> None:
    base = replace(calibration(), narrow=calibration())
    row = {"signals": ZERO, "right": True, "answerable": True, "group": "pdf", "question": "1"}

    lowered, same = (again(base, [row], label, How(few_shift=-0.25, as_it_is=True)) for label in ("right", "answerable"))

    assert same == base
    assert base.narrow is not None
    assert lowered.narrow is not None
    assert lowered.narrow.intercept == pytest.approx(base.narrow.intercept - 0.25)
    assert replace(lowered, narrow=base.narrow) == base
