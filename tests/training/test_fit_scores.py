"""Which questions the scores are fitted on."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
from builders import measurements

from rag_core.domain.drafts import Draft
from training import fit_scores
from training.measured import Measured


def test_given_a_draft_that_is_too_long_to_be_shown_then_nothing_is_fitted_on_it(monkeypatch: pytest.MonkeyPatch) -> None:
    short = measurements(0.9, features={"unit_best": 1.0})
    (one,) = short.draft.measured
    long = replace(short, draft=cast(Draft, replace(short.draft, measured=(replace(one, words=61),))))
    made: list[Any] = [Measured(found, cast(Any, None), True, ("30 days",), "set") for found in (short, long)]
    monkeypatch.setattr(fit_scores, "measured", lambda *_: iter(made))

    rows = list(fit_scores.collect(Path(), 9, units=False))

    assert [(row["right"], row["signals"]) for row in rows] == [(True, {"unit_best": 1.0})]
