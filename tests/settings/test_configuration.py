"""Preset, environment, YAML file, command line: a later source wins."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import AUDIT_MODES
from folding import each

from rag_core.decision.checks import GATING
from rag_core.errors import InvalidSetting
from rag_core.settings import Mode, Settings, presets
from rag_core.settings.configuration import (
    Retention,
    from_environment,
    load_settings,
    parse_value,
    question_places,
    retention,
)


def yaml(folder: Path, text: str) -> Path:
    path = folder / "settings.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_given_nothing_then_the_default_preset_stands() -> None:
    assert load_settings() == Settings.load("balanced")


def test_given_all_four_sources_when_they_disagree_then_the_later_one_wins(tmp_path: Path) -> None:
    """S3-29: a YAML file is read."""
    env = {"RAG_PRESET": "compliance", "RAG_CONFIDENCE_THRESHOLD": "0.9", "RAG_MIN_DOCUMENTS": "3"}
    file = yaml(tmp_path, "preset: scoping\nmax_distance: 1.1\ntop_k: 7\n")

    from_env = load_settings(environment=env)
    from_file = load_settings(environment=env, config=file)
    from_call = load_settings(environment=env, config=file, values={"top_k": "4"}, preset="tutor")

    assert (from_env.preset, from_env.max_distance, from_env.min_documents) == ("compliance", 0.9, 3)
    assert (from_file.preset, from_file.max_distance, from_file.min_documents, from_file.top_k) == (
        "scoping",
        1.1,
        3,
        7,
    )
    assert (from_call.preset, from_call.max_distance, from_call.top_k) == ("tutor", 1.1, 4)


def test_given_a_preset_among_the_values_then_it_is_used_and_not_dropped() -> None:
    assert load_settings(values={"preset": "compliance"}).min_keywords == 2
    assert load_settings(values={"preset": "compliance"}) == Settings.load("compliance")


@each("word", ["false", "False", "0", "no", " off "])
def test_given_strict_mode_off_then_no_gate_filters_any_more(word: str) -> None:
    """S4-24: without strict mode there is no distance filter and no gate. S4-3: environment variables with defaults."""
    s = load_settings("scoping", environment={"RAG_STRICT_MODE": word})

    assert {getattr(s, f"{gate.name}_mode") for gate in GATING if gate.name != "availability"} == {Mode.OFF}
    assert s.levels is False
    assert s.indicators_mode is Mode.ENFORCE


def test_given_validation_off_then_the_optional_audits_only_observe() -> None:
    """S4-3: RAG_VALIDATION_ENABLED."""
    s = load_settings(environment={"RAG_VALIDATION_ENABLED": "0"})

    assert {getattr(s, knob) for knob in AUDIT_MODES.values()} == {Mode.OBSERVE}
    assert s.correctness_mode is Mode.ENFORCE


@each("word", ["true", "1", "YES", "on"])
def test_given_strict_mode_on_then_nothing_changes(word: str) -> None:
    assert from_environment({"RAG_STRICT_MODE": word, "RAG_VALIDATION_ENABLED": word, "HOME": "x"}) == {}


def test_given_a_threshold_of_the_source_in_the_environment_then_its_gate_refuses_under_any_preset() -> None:
    """S4-3: the source's own four lines filter by distance and count documents without a preset being named."""
    source = {
        "RAG_STRICT_MODE": "True",
        "RAG_CONFIDENCE_THRESHOLD": "0.8",
        "RAG_MIN_DOCUMENTS": "2",
        "RAG_VALIDATION_ENABLED": "True",
    }

    s = load_settings(environment=source)

    assert (s.preset, s.max_distance, s.distance_mode, s.min_documents, s.min_documents_mode) == (
        "balanced",
        0.8,
        Mode.ENFORCE,
        2,
        Mode.ENFORCE,
    )
    assert load_settings(environment=source | {"RAG_STRICT_MODE": "False"}).distance_mode is Mode.OFF
    assert load_settings(environment=source, values={"distance_mode": "observe"}).distance_mode is Mode.OBSERVE


def test_given_a_switch_that_is_neither_then_it_is_an_error_and_not_a_guess() -> None:
    with pytest.raises(InvalidSetting, match="RAG_STRICT_MODE cannot be 'perhaps'"):
        load_settings(environment={"RAG_STRICT_MODE": "perhaps"})


@each(("name", "value"), [("RAG_CONFIDENCE_THRESHOLD", "2.1"), ("RAG_MIN_DOCUMENTS", "0"), ("RAG_PRESET", "wild")])
def test_given_an_environment_value_out_of_range_then_it_is_an_error(name, value):
    with pytest.raises(InvalidSetting):
        load_settings(environment={name: value})


@each(
    ("data", "says"),
    [
        (None, "cannot be read as settings"),
        (b"\xff\xfe\x00", "cannot be read as settings"),
        (b"top_k: [", "cannot be read as settings"),
        (b"top_k: !!python/object/apply:os.getcwd []\n", "cannot be read as settings"),
        (b"- a\n- b\n", "holds no settings"),
        (b"just words", "holds no settings"),
        (b"top_k: 0\n", "top_k"),
        (b"topk: 5\n", "topk"),
        (b"1: 2\n", "1"),
        (b"preset: [a]\n", "preset"),
    ],
)
def test_given_a_file_that_holds_no_settings_then_it_is_a_typed_problem(data, says, tmp_path_factory):
    file = tmp_path_factory.mktemp("settings") / "settings.yaml"
    if data is not None:
        file.write_bytes(data)
    with pytest.raises(InvalidSetting, match=says):
        load_settings(config=file)


def test_given_a_pair_then_key_and_value_are_split_at_the_first_equals_sign() -> None:
    assert parse_value(" keyword_synonyms = price=cost ") == ("keyword_synonyms", "price=cost")
    with pytest.raises(InvalidSetting, match="not KEY=VALUE"):
        parse_value("top_k")


def test_given_an_environment_then_it_says_whether_how_long_and_how_many_questions_are_kept() -> None:
    assert retention({}) == retention({"RAG_KEEP_DECISIONS": "", "RAG_KEEP_DAYS": ""}) == Retention(True, 90, 5000, 30)
    chosen = {
        "RAG_KEEP_DECISIONS": "False",
        "RAG_KEEP_DAYS": "7",
        "RAG_KEEP_MOST": "100",
        "RAG_KEEP_REJECTED_DAYS": "1",
    }
    assert retention(chosen) == Retention(False, 7, 100, 1)


@each(
    ("name", "value"),
    [
        ("RAG_KEEP_DECISIONS", "maybe"),
        ("RAG_KEEP_DAYS", "0"),
        ("RAG_KEEP_DAYS", "-1"),
        ("RAG_KEEP_DAYS", "1000000"),
        ("RAG_KEEP_MOST", "many"),
        ("RAG_KEEP_MOST", "1e3"),
        ("RAG_QUESTIONS", "0"),
        ("RAG_QUESTIONS", "1" * 9),
        ("RAG_QUESTIONS_WAITING", "1.5"),
    ],
)
def test_given_a_value_that_is_no_amount_then_an_error_names_it(name: str, value: str) -> None:
    read = question_places if "QUESTIONS" in name else retention
    with pytest.raises(InvalidSetting, match=name):
        read({name: value})


def test_given_a_language_model_in_the_environment_then_it_drafts_unless_the_settings_say_otherwise(tmp_path):
    """S0-19: with a model the answer is compressed from what was retrieved, and without one it is extracted."""
    env = {"RAG_MODEL": " qwen3:8b "}

    assert (load_settings(environment=env).drafter, load_settings(environment=env).model) == ("model", "qwen3:8b")
    assert {load_settings(preset, environment=env).drafter for preset in presets()} == {"model"}
    assert load_settings(environment={"RAG_MODEL": " "}) == load_settings()
    from_file = load_settings(config=yaml(tmp_path, "drafter: raw\nmodel: other\n"), environment=env)
    assert (from_file.drafter, from_file.model) == ("raw", "other")
    from_call = load_settings(values={"drafter": "extract"}, environment=env)
    assert (from_call.drafter, from_call.model) == ("extract", "qwen3:8b")
    assert load_settings(values={"model": "other"}, environment=env).model == "other"
