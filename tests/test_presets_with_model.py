"""The presets of all five sources with a language model: their own numbers, and a question each through the real client."""

from __future__ import annotations

import pytest

from rag_core.settings import Mode, Settings

OFF, OBSERVE, ENFORCE = Mode.OFF, Mode.OBSERVE, Mode.ENFORCE


def test_given_the_preset_of_s0_then_a_model_may_only_compress_and_briefly() -> None:
    """S0-20, S0-21, S0-23: temperature 0, 150 tokens, three sentences; short contexts are returned without a call."""
    s = Settings.load("compliance")

    assert (s.temperature, s.max_tokens, s.max_sentences) == (0.0, 150, 3)
    assert (s.return_short_context, s.short_context_words) == (True, 150)
    assert (s.sufficiency_mode, s.verification_mode) == (OFF, OFF)


@pytest.mark.parametrize(
    ("preset", "guard", "verdict"),
    [
        ("relevance-prompt", OBSERVE, OBSERVE),
        ("relevance-guard", ENFORCE, OFF),
        ("relevance-llm", OBSERVE, ENFORCE),
        ("relevance-hybrid", ENFORCE, OFF),
    ],
)
def test_given_the_presets_of_s1_then_each_is_one_of_the_four_set_ups(preset: str, guard: Mode, verdict: Mode) -> None:
    """S1-9, S1-11: the guard by a model refuses on its no and searches no further; the hybrid has the guard by similarity."""
    s = Settings.load(preset)

    assert (s.relevance_mode, s.sufficiency_mode, s.expand_searches) == (guard, verdict, 0)
    assert (s.answerability_mode, s.main_gate) == (OBSERVE, "cosine")  # the same level, so that one run serves all four


@pytest.mark.parametrize(
    ("preset", "temperature", "verification"),
    [("tutor", 0.1, OFF), ("tutor-maximum-safety", 0.0, ENFORCE), ("tutor-development", 0.1, OFF), ("tutor-multilingual", 0.1, ENFORCE)],
)
def test_given_the_presets_of_s2_then_temperature_length_and_verification_are_its_own(
    preset: str, temperature: float, verification: Mode
) -> None:
    """S2-8, S2-24: 0.1 and 500 tokens; 0.0 and verification for safety; no verification for development; translation."""
    s = Settings.load(preset)

    assert (s.temperature, s.max_tokens, s.verification_mode) == (temperature, 500, verification)
    assert s.translate is (preset == "tutor-multilingual")


def test_given_the_preset_of_s3_then_its_checks_and_retries_are_its_own() -> None:
    """S3-14, S3-16: temperature 0.1, 1000 tokens, sufficiency at 0.7, verification, three new drafts."""
    s = Settings.load("rag-engine")

    assert (s.temperature, s.max_tokens, s.max_retries) == (0.1, 1000, 3)
    assert (s.sufficiency_mode, s.min_sufficiency, s.verification_mode) == (ENFORCE, 0.7, ENFORCE)
