"""Replay: the same measurements judged under other settings.

Stricter never answers more, and replay equals asking again.
"""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from any_measurements import REPLAYED, THRESHOLDS, any_measurements, chosen_settings, values_of
from builders import MODES, HashEmbedder, MemoryCorpus, Text, settings, tools
from folding import each
from hypothesis import given
from hypothesis import strategies as st

from rag_core.decision.decide import decide, replay
from rag_core.decision.measure import measure
from rag_core.domain.decision import Decision
from rag_core.domain.measurements import Measurements
from rag_core.errors import InvalidSetting
from rag_core.settings import Cost, Mode, Settings, presets

COSTLY = {knob.name: knob for knob in Settings.knobs() if knob.cost is not Cost.REPLAY}
STRICTNESS = [Mode.OFF, Mode.OBSERVE, Mode.ENFORCE]


def body(decision: Decision) -> str:
    return json.dumps(decision.to_json("q"), sort_keys=True, allow_nan=False)


@given(
    measurements=any_measurements(),
    values=st.fixed_dictionaries(
        {name: st.tuples(values_of(knob), values_of(knob)) for name, knob in THRESHOLDS.items()}
    ),
)
def test_given_a_stricter_threshold_when_replayed_then_a_refusal_never_becomes_an_answer(
    measurements: Measurements, values: dict[str, tuple[float, float]]
) -> None:
    """S0-37: for every threshold that can be replayed, in the direction it declares."""
    for name, knob in THRESHOLDS.items():
        low, high = sorted(values[name])
        loose, strict = (low, high) if knob.stricter == "higher" else (high, low)

        before = replay(measurements, measurements.settings.changed(**{name: loose}))
        after = replay(measurements, measurements.settings.changed(**{name: strict}))

        assert before.answered or not after.answered, name
        assert set(one.text for one in after.claims) <= set(one.text for one in before.claims), name


@given(measurements=any_measurements())
def test_given_a_stricter_mode_when_replayed_then_a_refusal_never_becomes_an_answer(measurements: Measurements) -> None:
    for name in sorted(MODES.values()):
        safe = [replay(measurements, measurements.settings.changed(**{name: mode})).answered for mode in STRICTNESS]

        assert safe == sorted(safe, reverse=True), name
        assert safe[0] == safe[1], name  # observing shows, and does not block


@given(measurements=any_measurements(), other=chosen_settings)
def test_given_any_settings_then_replay_equals_measuring_anew(measurements: Measurements, other: Settings) -> None:
    kept = {name: getattr(measurements.settings, name) for name in COSTLY}
    new = other.changed(**kept)

    replayed, asked = replay(measurements, new), decide(replace(measurements, settings=new))

    assert replayed == asked
    assert body(replayed) == body(asked)
    assert replayed.metadata["settings_hash"] == new.hash()


@each("name", COSTLY)
def test_given_a_setting_that_needs_a_new_retrieval_or_ingest_then_replay_refuses_to_pretend(name: str) -> None:
    knob = COSTLY[name]
    if knob.options:
        other: object = next(option for option in knob.options if option != knob.default)
    elif knob.low is not None:
        other = knob.low if knob.default != knob.low else knob.high
    else:
        other = (not knob.default) if isinstance(knob.default, bool) else "something else"
    measurements = Measurements("?", Settings.load())

    with pytest.raises(InvalidSetting, match=f"{name!r} needs more than a judgement") as caught:
        replay(measurements, measurements.settings.changed(**{name: other}))
    assert caught.value.remedy == "Ask the question again."


@each("name", REPLAYED)
def test_given_a_setting_that_only_judges_then_replay_takes_any_of_its_values(name: str) -> None:
    measurements = Measurements("?", Settings.load())
    knob = REPLAYED[name]

    for value in knob.options or (knob.low, knob.high):
        if value is not None:
            assert replay(measurements, measurements.settings.changed(**{name: type(knob.default)(value)})).metadata[
                "settings_hash"
            ]


TEXTS = (
    Text(
        "contract",
        "The notice period is 30 days.\nThe supplier delivers the goods to Brno.\nThe price is 500 crowns a month.",
    ),
    Text("rules", "Employees have 20 days of vacation a year.\nThe canteen serves soup."),
    Text(
        "handbook",
        "Employees have 25 days of vacation a year.\nThe office opens at nine.\nThe notice period of a lease is 90 "
        "days.",
    ),
)
QUESTIONS = (
    "What is the notice period?",
    "How many days of vacation do employees have?",
    "Who painted the Mona Lisa?",
    "Hello",
    "notice",
)


@each("question", QUESTIONS)
@each("preset", presets())
def test_given_a_question_replayed_under_a_preset_then_it_equals_asking(question: str, preset: str) -> None:
    """Measured twice, under different thresholds: what judging knobs say must not leak into what is measured."""
    corpus, used = MemoryCorpus(TEXTS, HashEmbedder()), tools()
    target = Settings.load(preset)
    kept = {name: getattr(target, name) for name in COSTLY}
    measured = measure(question, settings().changed(**kept), corpus, used)

    replayed, asked = replay(measured, target), decide(measure(question, target, corpus, used))

    assert replayed == asked
    assert body(replayed) == body(asked)


@given(data=st.data(), question=st.sampled_from(QUESTIONS))
def test_given_any_settings_then_replay_equals_asking_again(data: st.DataObject, question: str) -> None:
    corpus, used = MemoryCorpus(TEXTS, HashEmbedder()), tools()
    target = settings(
        **data.draw(st.fixed_dictionaries({}, optional={name: values_of(knob) for name, knob in REPLAYED.items()}))
    )

    assert body(replay(measure(question, settings(), corpus, used), target)) == body(
        decide(measure(question, target, corpus, used))
    )
