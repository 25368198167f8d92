"""Every knob once: bounds, help, cost; presets with the sources' own numbers. A new knob is tested the day it comes."""

from __future__ import annotations

import math
from typing import Any

import pytest
from builders import AUDIT_MODES, GATE_MODES, MODEL_AUDIT_MODES, MODEL_MODES, MODES, measurements
from folding import each

from rag_core.decision.checks import CHECKS, GATING, GROUNDING
from rag_core.decision.decide import decide
from rag_core.domain.passages import TOP_CHARS, TOP_PASSAGES
from rag_core.domain.status import AnswerStatus, Reason
from rag_core.errors import InvalidSetting
from rag_core.retrieval.hybrid import OVER_RETRIEVE, RRF_CONSTANT
from rag_core.settings import DEFAULT_PRESET, Cost, Mode, Scale, Settings, Stage, presets
from rag_core.settings.knobs import Knob
from rag_core.settings.scales import Unit

KNOBS = {knob.name: knob for knob in Settings.knobs()}
NUMBERS = {name: knob for name, knob in KNOBS.items() if knob.low is not None}
CHOICES = {name: knob for name, knob in KNOBS.items() if knob.options}
FIXED_AUDITS = {"citations_present", "citations_complete", "citations_valid", "verbatim"}


@each("knob", KNOBS.values(), ids=KNOBS)
def test_given_any_knob_then_its_help_is_a_sentence_and_it_says_where_it_belongs(knob: Knob) -> None:
    assert knob.help[0].isupper()
    assert knob.help.endswith(".")
    assert isinstance(knob.stage, Stage)
    assert isinstance(knob.cost, Cost)
    assert knob.scale
    assert knob.stricter in ("", "higher", "lower")


@each("knob", NUMBERS.values(), ids=NUMBERS)
def test_given_a_number_then_its_default_is_inside_and_one_step_beyond_either_end_is_an_error(knob: Knob) -> None:
    assert knob.low <= knob.default <= knob.high
    assert 0 < knob.step <= knob.high - knob.low
    for value in (knob.low, knob.high):
        assert getattr(Settings.load(values={knob.name: type(knob.default)(value)}), knob.name) == value
    for value in (knob.low - knob.step, knob.high + knob.step, math.nan, math.inf, "many"):
        with pytest.raises(InvalidSetting, match=knob.name) as caught:
            Settings.load(values={knob.name: value})
        assert caught.value.remedy == f"Give {knob.name} a value from {knob.low:g} to {knob.high:g}."


@each("knob", [knob for knob in NUMBERS.values() if isinstance(knob.default, int)], ids=lambda knob: knob.name)
def test_given_a_count_then_it_stays_a_whole_number(knob: Knob) -> None:
    assert isinstance(getattr(Settings.load(values={knob.name: str(knob.default)}), knob.name), int)
    with pytest.raises(InvalidSetting):
        Settings.load(values={knob.name: knob.default + 0.5})


@each("knob", CHOICES.values(), ids=CHOICES)
def test_given_named_values_then_each_is_taken_and_another_is_refused_with_the_list(knob: Knob) -> None:
    assert knob.default in knob.options
    for option in knob.options:
        assert getattr(Settings.load(values={knob.name: option}), knob.name) == option
    with pytest.raises(InvalidSetting) as caught:
        Settings.load(values={knob.name: "sideways"})
    assert all(option in caught.value.remedy for option in knob.options)


@each("knob", [k for k in KNOBS.values() if k.low is None and not k.options], ids=lambda knob: knob.name)
def test_given_a_text_or_switch_then_another_kind_of_value_is_refused(knob: Knob) -> None:
    with pytest.raises(InvalidSetting) as caught:
        Settings.load(values={knob.name: {"not": "a value"}})
    assert caught.value.remedy == f"Give {knob.name} a valid value."


def test_given_an_unknown_name_then_the_error_names_it_and_says_where_to_look() -> None:
    with pytest.raises(InvalidSetting, match="no setting named 'min_top_cosin'") as caught:
        Settings.load(values={"min_top_cosin": 0.5})
    assert "settings" in caught.value.remedy


def test_given_settings_then_they_are_frozen() -> None:
    with pytest.raises(ValueError, match="frozen"):
        Settings.load().top_k = 3  # type: ignore[misc]


def test_given_a_change_then_it_is_validated_like_the_first_value() -> None:
    assert Settings.load().changed(top_k=3).top_k == 3
    with pytest.raises(InvalidSetting, match="top_k"):
        Settings.load().changed(top_k=0)


@each("name", [name for name in Settings.model_fields if name != "preset"])
def test_given_another_value_of_any_setting_then_the_hash_differs(name: str) -> None:
    knob = KNOBS[name]
    other: Any
    if knob.options:
        other = next(option for option in knob.options if option != knob.default)
    elif knob.low is not None:
        other = knob.low if knob.default != knob.low else knob.high
    else:
        other = (not knob.default) if isinstance(knob.default, bool) else "something"

    assert Settings.load(values={name: other}).hash() != Settings.load().hash()


def test_given_equal_values_under_another_name_then_the_hash_is_equal() -> None:
    assert Settings.load().hash() == Settings(preset="mine").hash()
    assert len(Settings.load().hash()) == 16


@each("name", presets())
def test_given_any_preset_then_it_loads_with_a_title_and_help_and_differs_from_all_others(name: str) -> None:
    preset = presets()[name]

    assert Settings.load(name).preset == name
    assert preset.title
    assert preset.help.endswith(".")
    assert Settings.load(name).hash() not in {Settings.load(other).hash() for other in presets() if other != name}


def test_given_an_unknown_preset_then_the_error_lists_the_known_ones() -> None:
    with pytest.raises(InvalidSetting, match="no preset named 'strictest'") as caught:
        Settings.load("strictest")
    assert all(name in caught.value.remedy for name in presets())


def enforced(preset: str) -> set[str]:
    loaded = Settings.load(preset)
    return {gate for gate, knob in GATE_MODES.items() if getattr(loaded, knob) is Mode.ENFORCE}


def test_given_the_default_preset_then_of_the_gates_availability_and_correctness_enforce() -> None:
    trace = decide(measurements(0.9, of=Settings.load(), correctness=0.9)).trace

    assert DEFAULT_PRESET == "balanced"
    assert enforced("balanced") == {"correctness"}
    assert trace["availability"].mode is Mode.ENFORCE
    assert {getattr(Settings.load(), knob) for gate, knob in GATE_MODES.items() if gate != "correctness"} == {
        Mode.OBSERVE
    }
    assert {getattr(Settings.load(), knob) for knob in AUDIT_MODES.values()} == {Mode.ENFORCE}


def test_given_the_careful_preset_then_it_refuses_for_the_same_checks_as_the_default_with_a_higher_limit() -> None:
    careful, default = Settings.load("careful"), Settings.load()
    assert enforced("careful") == enforced(DEFAULT_PRESET)
    assert careful.min_correctness > default.min_correctness
    assert careful.changed(min_correctness=default.min_correctness, preset=DEFAULT_PRESET) == default


def test_given_the_preset_of_s0_then_its_gates_and_numbers_stand() -> None:
    """S0-4, S0-9, S0-27: 0.72, here 0.53, and two keywords; short contexts whole, strict summary, the mean as
    confidence.
    """
    s = Settings.load("compliance")

    assert enforced("compliance") == {"top_cosine", "keywords"}
    assert (s.min_top_cosine, s.min_keywords, s.short_context_words, s.max_sentences) == (0.53, 2, 150, 3)
    assert (s.return_short_context, s.strict_summary, s.confidence, s.main_gate) == (True, True, "mean", "cosine")


def test_given_the_open_preset_then_no_gate_and_no_check_of_a_draft_that_can_be_switched_refuses() -> None:
    s = Settings.load("open")

    assert {getattr(s, knob) for knob in MODES.values()} == {Mode.OBSERVE}
    assert Mode.ENFORCE not in {getattr(s, knob) for knob in MODEL_MODES.values()}


def test_given_a_lower_threshold_over_the_preset_of_s0_then_it_is_taken() -> None:
    """S0-34: 0.65 instead of 0.72, as the source's troubleshooting suggests."""
    assert Settings.load("compliance", {"min_top_cosine": 0.65}).min_top_cosine == 0.65


@pytest.mark.parametrize(("preset", "limit"), [("relevance-guard", 0.4), ("relevance-hybrid", 0.3)])
def test_given_the_presets_of_s1_then_the_relevance_guard_has_its_numbers(preset: str, limit: float) -> None:
    """S1-6, S1-11: 0.4, and 0.3 in the hybrid, over three contexts of 500 characters."""
    s = Settings.load(preset)

    assert enforced(preset) == {"relevance"}
    assert (s.min_relevance, TOP_PASSAGES, TOP_CHARS, s.main_gate) == (limit, 3, 500, "cosine")


@pytest.mark.parametrize(
    ("preset", "limit"), [("tutor", 0.6), ("tutor-maximum-safety", 0.7), ("tutor-development", 0.5)]
)
def test_given_the_presets_of_s2_then_mean_confidence_and_the_audits_have_their_numbers(preset, limit):
    """S2-2, S2-24: mean confidence 0.6, 0.7 for safety, 0.5 for development; the audits refuse under each."""
    s = Settings.load(preset)
    # no source has this one
    audits = {getattr(s, knob) for name, knob in AUDIT_MODES.items() if name != "sentence_length"}

    assert enforced(preset) == {"mean_confidence"}
    assert (s.min_mean_cosine, s.citation_format) == (limit, "[Source {id}]")
    assert audits == {Mode.ENFORCE}
    assert s.contradictions_mode is (Mode.ENFORCE if preset == "tutor-maximum-safety" else Mode.OBSERVE)
    assert (s.max_length_ratio, s.min_sentence_overlap, s.min_grounded) == (2.0, 0.5, 0.7)


def test_given_the_preset_of_s3_then_its_weights_and_its_confidence_stand() -> None:
    """S3-6, S3-7, S3-8: weights 0.7 and 0.3, twice as many candidates, constant 60, ten passages; authority and recency
    count.
    """
    s = Settings.load("rag-engine")

    assert (s.semantic_weight, OVER_RETRIEVE, RRF_CONSTANT, s.top_k) == (0.7, 2, 60, 10)
    assert s.authority_weight > 0
    assert s.recency_weight > 0
    assert (s.citation_format, s.confidence) == ("[{id}]", "weighted")


@pytest.mark.parametrize(("preset", "cut"), [("scoping-strict", 0.5), ("scoping", 0.8), ("scoping-lenient", 1.2)])
def test_given_the_presets_of_s4_then_distance_cut_and_minimum_stand(preset: str, cut: float) -> None:
    """S4-3, S4-6, S4-2: 0.5, 0.8 and 1.2 with two documents; one document by default; levels at 0.5, 0.8 and 1.2."""
    s = Settings.load(preset)

    assert enforced(preset) == {"distance", "min_documents", "keywords", "required_entities"}
    assert (s.max_distance, s.min_documents, s.min_keywords, s.max_missing_entities) == (cut, 2, 1, 0)
    assert (s.high_distance, s.medium_distance, s.low_distance) == (0.5, 0.8, 1.2)
    assert Settings.load().min_documents == 1


def test_given_the_thresholds_then_each_names_the_scale_it_is_on() -> None:
    """S4-7: cosine, distance and the calibrated scores are never mixed."""
    scales = {
        name: KNOBS[name].scale for name in ("min_top_cosine", "min_mean_cosine", "min_relevance", "max_distance")
    }

    assert scales == {
        "min_top_cosine": "cosine",
        "min_mean_cosine": "cosine",
        "min_relevance": "cosine",
        "max_distance": "distance",
    }
    assert (KNOBS["min_correctness"].scale, KNOBS["min_answerability"].scale) == ("correctness", "answerability")


def test_given_every_gate_and_audit_then_it_has_a_switch_unless_the_design_denies_one() -> None:
    knobs = {name for name in KNOBS if name.endswith("_mode")}
    stages = {check.stage for check in decide(measurements(0.9)).trace.checks} - {"confidence"}

    assert knobs == {*MODES.values(), *MODEL_MODES.values()}
    assert stages == set(MODES) | FIXED_AUDITS | {"availability"}
    assert len(GATING) + len(GROUNDING) == len(stages)


@each("gate", [*GATING, *GROUNDING], ids=lambda gate: gate.name)
def test_given_every_gate_and_audit_then_it_has_its_own_reason_and_a_remedy(gate: Any) -> None:
    check = gate(measurements(0.9, correctness=0.9, answerability=0.9))
    others = [
        other(measurements(0.9, correctness=0.9, answerability=0.9)).reason
        for other in (*GATING, *GROUNDING)
        if other is not gate
    ]

    assert check.reason is not Reason.NONE
    assert check.reason not in others
    assert check.remedy.endswith(".")
    assert check.scale
    assert check.direction is not None


@each(("stage", "knob"), MODES.items())
def test_given_a_switch_then_it_moves_the_mode_of_its_own_check_only(stage: str, knob: str) -> None:
    trace = decide(
        measurements(0.9, of=Settings.load(values={name: Mode.OBSERVE for name in MODES.values()} | {knob: Mode.OFF}))
    ).trace

    assert [check.stage for check in trace.checks if check.mode is Mode.OFF] == [stage]


@each("reason", Reason)
def test_given_any_reason_then_it_has_the_status_the_design_gives_it(reason: Reason) -> None:
    """S2-3: five statuses; success for nothing but an answer, a greeting or a word about the library."""
    by_status = {
        AnswerStatus.SUCCESS: {"none", "greeting", "about_library"},
        AnswerStatus.INSUFFICIENT_CONTEXT: {
            "follow_up",
            "summary",
            "nothing_retrieved",
            "min_documents",
            "required_entities",
            "contradicted",
            "sufficiency",
            "model_refused",
            "one_sided",
        },
        AnswerStatus.LOW_CONFIDENCE: {
            "correctness",
            "answerability",
            "top_cosine",
            "mean_confidence",
            "relevance",
            "distance",
            "keywords",
            "all_claims_cut",
            "level",
            "off_question",
            "draft_correctness",
            "sentence_length",
        },
        AnswerStatus.ERROR: {"empty_draft", "malformed_draft", "needs_generation", "not_run", "failure"},
        AnswerStatus.HALLUCINATION_DETECTED: {*FIXED_AUDITS, *AUDIT_MODES, *MODEL_AUDIT_MODES, "reworded"}
        - {"sentence_length"},
    }

    assert reason.value in by_status[reason.status]
    assert sum(len(reasons) for reasons in by_status.values()) == len(Reason)


# added to a threshold: they may be below zero
ADDED = [
    f"{score}_extra_{intent}" for score in ("correctness", "answerability") for intent in ("procedural", "comparative")
]


def test_given_the_settings_on_a_scale_then_their_ranges_lie_on_it_and_a_share_is_never_called_a_ratio() -> None:
    for knob in KNOBS.values():
        if isinstance(knob.scale, Scale) and knob.name not in ADDED:
            assert knob.low is not None, knob.name
            assert knob.high is not None, knob.name
            assert knob.scale.low <= knob.low < knob.high <= knob.scale.high, knob.name
        assert knob.scale != Scale.RATIO or (knob.high or 0.0) > 1.0, knob.name


def test_given_a_check_with_a_threshold_that_is_a_setting_then_both_stand_on_the_same_scale() -> None:
    for check in CHECKS:
        if isinstance(check.threshold, str):
            scale = KNOBS[check.threshold].scale
            assert scale == check.scale or (check.scale is Scale.COUNT and isinstance(scale, Unit)), check.name
