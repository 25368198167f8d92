"""The calibrated score: read with its provenance, never guessed, fitted where there is enough to fit."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from builders import calibration
from hypothesis import given
from hypothesis import strategies as st

from rag_core import calibrate
from rag_core.calibrate import Calibration, fit, load, signals_version
from rag_core.errors import InvalidInput
from rag_core.signals import SIGNALS

ZERO = dict.fromkeys(SIGNALS, 0.0)


def stored(folder: Path, **changes: Any) -> Path:
    path = folder / "answerability.json"
    path.write_text(json.dumps({**calibration("m").to_json(), **changes}), encoding="utf-8")
    return path


def test_given_the_middle_then_the_probability_is_one_half_and_it_rises_with_the_signal() -> None:
    score = calibration(middle=0.5)

    assert score.probability(ZERO | {"coverage_all": 0.5}) == 0.5
    assert score.probability(ZERO | {"coverage_all": 0.75}) == pytest.approx(1 / (1 + math.exp(-2)))
    assert score.probability(ZERO | {"coverage_all": 0.25}) == pytest.approx(1 / (1 + math.exp(2)))


@given(st.floats(-1e6, 1e6))
def test_given_any_finite_signal_then_the_probability_is_in_its_range(value: float) -> None:
    assert 0 <= calibration(weight=100.0).probability(ZERO | {"coverage_all": value}) <= 1


def test_given_a_stored_calibration_when_loaded_then_it_is_the_same_for_any_precision(tmp_path: Path) -> None:
    path = stored(tmp_path)

    assert load("m@bfloat16", path) == load("m@float32", path) == calibration("m")


@pytest.mark.parametrize("change", [{"model": "other"}, {"signals_version": "0" * 12}])
def test_given_a_calibration_for_another_model_or_other_signals_then_there_is_none(change: dict[str, str], tmp_path: Path) -> None:
    assert load("m@float32", stored(tmp_path, **change)) is None


def test_given_no_file_then_there_is_no_calibration(tmp_path: Path) -> None:
    assert load("m@float32", tmp_path / "none.json") is None


@pytest.mark.parametrize(
    "change",
    [
        {"coefficients": [1.0]}, {"scale": [0.0] * len(SIGNALS)}, {"scale": [-1.0] * len(SIGNALS)}, {"intercept": math.nan},
        {"mean": [math.inf] * len(SIGNALS)}, {"intercept": "high"}, {"mean": None},
    ],
)  # fmt: skip
def test_given_a_damaged_calibration_then_it_is_a_typed_problem_and_not_a_score(change: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="calibration file"):
        load("m@float32", stored(tmp_path, **change))


@pytest.mark.parametrize("text", ["", "{", "[]", "{}"])
def test_given_a_file_that_is_no_calibration_then_it_is_a_typed_problem(text: str, tmp_path: Path) -> None:
    path = tmp_path / "answerability.json"
    path.write_text(text, encoding="utf-8")

    with pytest.raises(InvalidInput, match="cannot be read"):
        load("m@float32", path)


def test_given_the_shipped_calibration_then_it_names_its_provenance_and_fits_the_embedded_model() -> None:
    shipped = load("all-MiniLM-L6-v2@float32", calibrate.FILE)

    assert shipped is not None
    assert shipped.signals == SIGNALS
    assert shipped.provenance


def test_given_other_signals_then_the_version_differs(monkeypatch: pytest.MonkeyPatch) -> None:
    before = signals_version()
    monkeypatch.setattr(calibrate, "SIGNALS", SIGNALS[:-1])

    assert signals_version() != before
    assert len(before) == 12


def labelled(count: int) -> tuple[list[dict[str, float]], list[bool]]:
    values = np.random.default_rng(7).uniform(0, 1, count)
    return [ZERO | {"coverage_all": float(value)} for value in values], [bool(value > 0.5) for value in values]


def test_given_separable_questions_when_fitted_then_the_score_parts_them_and_constant_signals_have_no_say() -> None:
    rows, answerable = labelled(400)

    fitted = fit("m", rows, answerable, {"source": "made here"})

    right = [(fitted.probability(row) > 0.5) == label for row, label in zip(rows, answerable, strict=True)]
    assert sum(right) / len(right) > 0.97
    assert {name for name, c in zip(fitted.signals, fitted.coefficients, strict=True) if abs(c) > 1e-6} == {"coverage_all"}
    assert fitted.provenance == {"source": "made here"}


def test_given_weights_when_fitted_then_they_count() -> None:
    rows, answerable = labelled(200)
    heavier = fit("m", rows, answerable, {}, weights=[5.0 if label else 1.0 for label in answerable])

    middle = ZERO | {"coverage_all": 0.5}
    assert heavier.probability(middle) > fit("m", rows, answerable, {}).probability(middle) + 0.05


def test_given_a_weaker_fit_then_its_probabilities_are_nearer_to_the_middle() -> None:
    rows, answerable = labelled(200)
    sure = ZERO | {"coverage_all": 1.0}

    assert fit("m", rows, answerable, {}, strength=0.01).probability(sure) < fit("m", rows, answerable, {}).probability(sure)


@pytest.mark.parametrize("labels", [[True] * 49 + [False] * 200, [True] * 200 + [False] * 49, []])
def test_given_too_few_of_either_kind_then_nothing_is_fitted(labels: list[bool]) -> None:
    with pytest.raises(InvalidInput, match="too few"):
        fit("m", [ZERO] * len(labels), labels, {})


def test_given_exactly_fifty_of_each_then_it_is_fitted() -> None:
    rows = [ZERO | {"coverage_all": float(n % 2)} for n in range(100)]

    assert isinstance(fit("m", rows, [bool(n % 2) for n in range(100)], {}), Calibration)
