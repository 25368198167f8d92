"""The calibrated score: read with its provenance, never guessed, fitted where there is enough to fit."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from builders import HashEmbedder, calibration, identity
from hypothesis import given
from hypothesis import strategies as st

from rag_core import wiring
from rag_core.adapters.embedding.by_name import EMBEDDED
from rag_core.domain.passages import Place, ReadPlace
from rag_core.errors import InvalidInput
from rag_core.gating import scores as calibrate
from rag_core.gating.features import FEATURES
from rag_core.gating.scores import (
    Calibration,
    Identity,
    fit,
    load,
    packed,
    question_hash,
    read,
)
from rag_core.settings import Settings

ZERO = dict.fromkeys(FEATURES, 0.0)


def stored(folder: Path, **changes: Any) -> Path:
    path = folder / "answerability.json"
    path.write_text(json.dumps({**calibration("m").to_json(), **changes}), encoding="utf-8")
    return path


def test_given_the_middle_then_the_probability_is_one_half_and_it_rises_with_the_signal() -> None:
    score = calibration(middle=0.5)

    assert score.probability(ZERO | {"draft_cosine": 0.5}) == 0.5
    assert score.probability(ZERO | {"draft_cosine": 0.75}) == pytest.approx(1 / (1 + math.exp(-2)))
    assert score.probability(ZERO | {"draft_cosine": 0.25}) == pytest.approx(1 / (1 + math.exp(2)))


def test_given_a_product_of_features_then_it_weighs_as_their_product(tmp_path: Path) -> None:
    def named(product: str) -> tuple[str, ...]:
        return tuple(product if name == "draft_cosine" else name for name in FEATURES)

    plain = calibration()
    score = replace(plain, features=named("draft_cosine*searched"))
    row = ZERO | {"draft_cosine": 0.75}

    assert score.logit(row | {"searched": 1.0}) == plain.logit(row)
    assert score.logit(row | {"searched": 0.0}) == plain.logit(ZERO)
    assert score.id != plain.id
    with pytest.raises(InvalidInput, match="there is no feature 'searching'"):
        read(stored(tmp_path, features=named("draft_cosine*searching")))


@given(st.floats(-1e6, 1e6))
def test_given_any_finite_signal_then_the_probability_is_in_its_range(value: float) -> None:
    assert 0 <= calibration(weight=100.0).probability(ZERO | {"draft_cosine": value}) <= 1


def test_given_a_stored_calibration_when_loaded_then_it_is_the_same_with_the_same_id(tmp_path: Path) -> None:
    found = load([stored(tmp_path)], identity("m"))

    assert found == calibration("m")
    assert found.id == calibration("m").id


def test_given_bfloat16_or_float32_then_they_share_a_calibration_and_any_other_precision_does_not() -> None:
    of = {precision: Identity.of(HashEmbedder(name=f"m@{precision}")) for precision in ("bfloat16", "float32", "int8")}

    assert of["bfloat16"] == of["float32"]
    assert of["float32"].differences(of["int8"]) == ("precision",)


COMPONENTS = [field.name for field in fields(Identity)]


@pytest.mark.parametrize("component", COMPONENTS)
def test_given_a_calibration_of_anything_else_then_it_does_not_fit(component: str, tmp_path: Path) -> None:
    other = replace(identity("m"), **{component: "another"})

    assert load([stored(tmp_path)], other) is None
    assert identity("m").differences(other) == (component,)


def test_given_other_features_or_tokenizer_then_the_identity_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    before = identity()
    for name, value in (("FEATURES_VERSION", -1), ("LANGUAGE_VERSION", -1), ("INDEX_VERSION", -1)):
        monkeypatch.setattr(calibrate, name, value)
    monkeypatch.setattr(HashEmbedder, "tokenizer", "letters")

    assert before.differences(identity()) == ("tokenizer", "chunker", "language", "features")


def test_given_several_files_then_the_first_that_fits_is_taken_and_missing_ones_are_passed_over(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("missing.json", "other.json", "own.json", "shipped.json")]
    for path, made in zip(
        paths[1:], (calibration("other"), calibration("m", middle=0.25), calibration("m")), strict=True
    ):
        path.write_text(json.dumps(made.to_json()), encoding="utf-8")

    assert load(paths, identity("m")) == calibration("m", middle=0.25)
    assert load(paths[3:], identity("m")) == calibration("m")
    assert load(paths[:1], identity("m")) is None


def test_given_other_numbers_or_another_identity_then_the_id_is_another_and_provenance_has_no_part_in_it() -> None:
    ids = {one.id for one in (calibration(), calibration(middle=0.25), calibration("other"))}

    ids.add(replace(calibration(), correctness=calibration(middle=0.25)).id)
    assert len(ids) == 4
    assert {len(one) for one in ids} == {12}
    assert replace(calibration(), provenance={"date": "another"}).id in ids


@pytest.mark.parametrize(
    "change",
    [
        {"coefficients": [1.0]},
        {"scale": [0.0] * len(FEATURES)},
        {"scale": [-1.0] * len(FEATURES)},
        {"intercept": math.nan},
        {"mean": [math.inf] * len(FEATURES)},
        {"intercept": "high"},
        {"mean": None},
        {"provenance": None},
        {"identity": "m"},
        {"identity": {"model": "m"}},
        {"schema_version": 1},
        {"schema_version": None},
    ],
)
def test_given_a_damaged_calibration_then_a_typed_problem(change: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"answerability\.json cannot be read.*Delete it.*calibrate fit"):
        load([stored(tmp_path, **change)], identity("m"))


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", "[" * 100_000, "\x00"])
def test_given_a_file_that_is_no_calibration_then_it_is_a_typed_problem(text: str, tmp_path: Path) -> None:
    path = tmp_path / "answerability.json"
    path.write_text(text, encoding="utf-8")

    with pytest.raises(InvalidInput, match="cannot be read"):
        read(path)


def test_given_a_written_calibration_then_it_is_read_again_and_a_strange_key_is_told(tmp_path: Path) -> None:
    made, path = replace(calibration("m"), correctness=None), tmp_path / "calibration.json"
    path.write_bytes(packed(made))
    assert read(path) == made
    with pytest.raises(InvalidInput, match="there is no key 'extra'"):
        read(stored(tmp_path, extra=1))


def test_given_the_score_of_right_answers_then_it_is_read_with_the_other(tmp_path: Path) -> None:
    made = replace(calibration("m"), correctness=replace(calibration("m", middle=0.25), provenance={}))
    row = made.to_json()

    assert Calibration.from_json(json.loads(json.dumps(row))) == made
    row["correctness"]["features"] = ["rightness", *FEATURES[1:]]
    with pytest.raises(InvalidInput, match="there is no feature 'rightness'"):
        read(stored(tmp_path, **row))


def test_given_the_shipped_calibration_then_it_names_its_provenance_and_fits_the_embedded_model() -> None:
    shipped = load(
        [calibrate.FILE], Identity.of(wiring.embedder(EMBEDDED, "auto"), wiring.answerability_model(Settings.load()))
    )

    assert shipped.correctness is not None
    assert shipped.measured <= set(FEATURES)
    assert shipped.model == EMBEDDED
    assert {"sets", "date", "licences", "program"} <= set(shipped.provenance)


def test_given_a_question_in_other_case_and_spacing_then_it_is_known_again_and_another_is_not() -> None:
    assert question_hash("What  is\tthe ﬁne?") == question_hash("what is the fine?")
    assert question_hash("What is the fine?") != question_hash("What is the line?")


def labelled(count: int) -> tuple[list[dict[str, float]], list[bool]]:
    values = np.random.default_rng(7).uniform(0, 1, count)
    return [ZERO | {"draft_cosine": float(value)} for value in values], [bool(value > 0.5) for value in values]


def test_given_separable_questions_when_fitted_then_the_score_parts_them_and_constant_features_have_no_say() -> None:
    rows, answerable = labelled(400)

    fitted = fit(identity("m"), rows, answerable, {"source": "made here"})

    right = [(fitted.probability(row) > 0.5) == label for row, label in zip(rows, answerable, strict=True)]
    assert sum(right) / len(right) > 0.97
    assert {name for name, c in zip(fitted.features, fitted.coefficients, strict=True) if abs(c) > 1e-6} == {
        "draft_cosine"
    }
    assert fitted.provenance == {"source": "made here"}


def test_given_a_signal_far_beyond_those_of_the_fit_then_it_counts_as_the_farthest() -> None:
    score = calibration(middle=0.5)

    assert score.probability(ZERO | {"draft_cosine": 4.5}) == score.probability(ZERO | {"draft_cosine": 1e6})


def test_given_the_answerability_model_or_none_then_a_calibration_with_it_does_not_fit_one_without() -> None:
    class Reader:
        version = "abc"

        def read(self, question: str, places: Sequence[Place], language: str = "und") -> list[ReadPlace]:
            raise AssertionError(question, places)

    with_it, without = (Identity.of(HashEmbedder(name="m@float32"), reader) for reader in (Reader(), None))

    assert with_it.differences(without) == ("answerability_model",)


def test_given_weights_when_fitted_then_they_count() -> None:
    rows, answerable = labelled(200)
    heavier = fit(identity("m"), rows, answerable, {}, weights=[5.0 if label else 1.0 for label in answerable])

    middle = ZERO | {"draft_cosine": 0.5}
    assert heavier.probability(middle) > fit(identity("m"), rows, answerable, {}).probability(middle) + 0.05


@pytest.mark.parametrize("labels", [[True] * 49 + [False] * 200, [True] * 200 + [False] * 49, []])
def test_given_too_few_of_either_kind_then_nothing_is_fitted(labels: list[bool]) -> None:
    with pytest.raises(InvalidInput, match="too few"):
        fit(identity("m"), [ZERO] * len(labels), labels, {})


def test_given_exactly_fifty_of_each_then_it_is_fitted() -> None:
    rows = [ZERO | {"draft_cosine": float(n % 2)} for n in range(100)]

    assert isinstance(fit(identity("m"), rows, [bool(n % 2) for n in range(100)], {}), Calibration)


def test_given_a_damaged_shipped_file_then_restore_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = stored(tmp_path, intercept=None)
    monkeypatch.setattr(calibrate, "FILE", path)

    with pytest.raises(InvalidInput, match="Restore it from the repository"):
        read(path)
