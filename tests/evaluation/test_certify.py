"""A certificate: found by replay alone, exact, whole in JSON, and stale as soon as what it was made of differs."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from certificates import BASIS, MISSED, REFUSED, WRONG, certificate, made, material
from folding import each

from rag_core.decision.decide import replay
from rag_core.errors import InvalidInput
from rag_core.evaluation.certificate import Certificate, Stale, stale
from rag_core.evaluation.certify import (
    MODE_OF,
    Request,
    Uncertified,
    rows,
    steps,
)
from rag_core.evaluation.guarantee import Kind
from rag_core.gating.scores import question_hash
from rag_core.settings import Cost, Mode, Settings


def settings_of(found: Certificate) -> Settings:
    return Settings(**found.settings)


def test_given_a_target_when_certified_then_the_settings_keep_it_on_the_labelled_questions_one_by_one() -> None:
    questions, records, _ = material()
    found = certificate(WRONG, REFUSED, MISSED)

    answered = [replay(measurements, settings_of(found)).answered for measurements in records]
    wrong = sum(given and not question.answerable for given, question in zip(answered, questions, strict=True))
    refused = sum(not given and question.answerable for given, question in zip(answered, questions, strict=True))
    seen = {bound.kind: bound for bound in found.bounds}
    assert (seen[Kind.WRONG_ANSWERS].errors, seen[Kind.WRONG_ANSWERS].of) == (wrong, 200)
    assert (seen[Kind.FALSE_REFUSALS].errors, seen[Kind.FALSE_REFUSALS].of) == (refused, 200)
    assert seen[Kind.MISSED_ANSWERS].of == 200 - refused
    assert seen[Kind.MISSED_ANSWERS].errors == 3
    assert found.answered == sum(answered)
    assert all(bound.low <= bound.errors / bound.of <= bound.high for bound in found.bounds)
    assert all(bound.errors / bound.of < bound.upper <= bound.at_most for bound in found.bounds)


def test_given_questions_that_the_score_was_fitted_on_then_they_are_left_out_and_counted() -> None:
    questions, *_ = material()
    fitted = frozenset(question_hash(question.question.upper()) for question in questions[:30])

    found = certificate(WRONG, fitted=fitted)

    assert (found.left_out, found.questions, found.answerable) == (30, 370, 170)
    with pytest.raises(InvalidInput, match="No labelled question is left"):
        made(WRONG, fitted={question_hash(question.question) for question in questions})


def test_given_too_few_labels_then_there_is_no_certificate_and_it_says_how_many_there_must_be() -> None:
    found = made(WRONG, n=40)

    assert isinstance(found, Uncertified)
    (lack,) = found.shortages
    assert (lack.have, lack.errorless) == (40, 59)
    assert found.questions == 80


@pytest.mark.parametrize("second", ["min_sentence_overlap", "max_missing_entities"])
def test_given_a_pair_then_both_thresholds_are_chosen_and_enforced(second: str) -> None:
    found = certificate(WRONG, second=second)

    chosen = found.thresholds
    assert set(chosen) == {"min_correctness", second}
    assert chosen[second] == rows(second)[0]  # it parts nothing here, so it stays as loose as it can be
    assert getattr(settings_of(found), MODE_OF[second]) is Mode.ENFORCE


@each("name", MODE_OF)
def test_given_a_threshold_then_it_is_a_judging_knob_with_a_direction_and_its_mode_is_one(name: str) -> None:
    knobs = {knob.name: knob for knob in Settings.knobs()}

    assert knobs[name].cost is Cost.REPLAY
    assert knobs[name].stricter in ("higher", "lower")
    assert knobs[MODE_OF[name]].scale == "mode"
    every, few = steps(name), rows(name)
    assert len(every) == round((knobs[name].high - knobs[name].low) / knobs[name].step) + 1
    assert every[0] == (knobs[name].high if knobs[name].stricter == "higher" else knobs[name].low)
    assert set(few) <= set(every)
    assert few[0] == every[-1]
    assert all(type(value) is type(knobs[name].default) for value in every)


@each(
    "request_",
    [
        {"first": "top_k"},
        {"second": "min_correctness"},
    ],
)
def test_given_thresholds_that_cannot_be_chosen_then_the_request_is_refused(request_: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="thresholds"):
        Request((WRONG,), **request_)  # type: ignore[arg-type]


def test_given_a_certificate_when_written_and_read_then_it_is_the_same() -> None:
    found = certificate(WRONG, REFUSED, MISSED)

    assert Certificate.from_json(json.loads(json.dumps(found.to_json()))) == found
    assert len(json.dumps(found.to_json())) < 30_000


@each(
    "damage",
    [
        {"schema_version": 9},
        {"bounds": [{}]},
        {"basis": {"namespace": "x"}},
    ],
)
def test_given_a_damaged_certificate_then_it_is_one_clear_problem(damage: dict[str, object]) -> None:
    row = certificate(WRONG).to_json()

    with pytest.raises(InvalidInput, match="certificate cannot be read"):
        Certificate.from_json({**row, **damage})
    for missing in row:
        with pytest.raises(InvalidInput, match="certificate cannot be read"):
            Certificate.from_json({name: value for name, value in row.items() if name != missing})


@each(
    ("change", "reason"),
    [
        ({"collection": "other"}, Stale.COLLECTION),
        ({"version": 4}, Stale.LIBRARY),
        ({"documents": "0"}, Stale.LIBRARY),
        ({"calibration": ""}, Stale.CALIBRATION),
        ({"model": "m@float32"}, Stale.MODEL),
    ],
)
def test_given_another_basis_then_the_certificate_is_stale_and_says_why(
    change: dict[str, object], reason: Stale
) -> None:
    found = certificate(WRONG)

    assert stale(found, replace(BASIS, **change), settings_of(found)) == (reason,)  # type: ignore[arg-type]


@each(
    ("change", "reasons"),
    [
        ({"min_correctness": 0.01}, (Stale.SETTINGS,)),
        ({"facts_mode": "off"}, (Stale.SETTINGS,)),
        ({"citation_style": "end"}, ()),
        ({"high_answerability": 0.95}, ()),
    ],
)
def test_given_other_settings_then_only_those_that_decide_make_it_stale(
    change: dict[str, object], reasons: tuple[Stale, ...]
) -> None:
    found = certificate(WRONG)

    assert stale(found, BASIS, settings_of(found).changed(**change)) == reasons
