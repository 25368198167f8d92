"""Which questions the scores are fitted on."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
from builders import measurements

from rag_core.compression.scoring import FEATURES
from rag_core.domain.drafts import Draft
from training import fit_scores
from training.measured import Measured


def test_given_a_draft_that_is_too_long_to_be_shown_then_nothing_is_fitted_on_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    short = measurements(0.9, features={"unit_best": 1.0})
    (one,) = short.draft.measured
    long = replace(short, draft=cast(Draft, replace(short.draft, measured=(replace(one, words=61),))))
    made: list[Any] = [Measured(found, cast(Any, None), True, ("30 days",), "set") for found in (short, long)]
    monkeypatch.setattr(fit_scores, "measured", lambda *_: iter(made))
    features = dict.fromkeys(FEATURES, 0.0) | {"near": 0.5}
    monkeypatch.setattr(
        fit_scores, "unit_rows", lambda _: [(list(features.values()), odds, odds == 1.0) for odds in (1.0, -1.0)]
    )

    rows = list(fit_scores.collect(Path(), 9, units=False))

    other = {"unit_best": -1.0, "draft_cosine": 0.5, "unit_next": 1.0, "fit_row": 0.0}
    assert [(row["right"], row["signals"], row["group"]) for row in rows] == [
        (True, {"unit_best": 1.0}, "set"),
        (False, other, fit_scores.ANOTHER),
    ]
