"""The trace on the page: every check in order with its value against its limit, its details on a click, and the decision as a file."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
import streamlit as st
from any_measurements import any_measurements
from builders import MODES, matched
from folding import each
from hypothesis import given
from streamlit.testing.v1 import AppTest

from rag_core.decision.checks import GATING, GROUNDING
from rag_core.decision.decide import decide, replay
from rag_core.domain.decision import Decision
from rag_core.domain.measurements import Measurements
from rag_core.domain.status import Reason
from rag_core.domain.trace import CheckResult, Direction, State, judge
from rag_core.settings import Cost, Mode, Settings
from ui.app.texts import screen
from ui.ask.decision import trace
from ui.ask.decision.meter import meter

HOSTILE = "![x](http://203.0.113.9/a.png) <b>bold</b>"


def row(
    stage: str, value: float | None, threshold: float, mode: Mode = Mode.ENFORCE, scale: str = "cosine", found: str = ""
) -> CheckResult:
    return judge(stage, value, threshold, Direction.AT_LEAST, scale, Reason.TOP_COSINE, mode, found=found, remedy="Add the document.")


def decision(*checks: CheckResult) -> Decision:
    return replace(Decision.failed("What is it?", "It could not."), trace=Decision.failed("", "").trace.plus(*checks))


def script(held) -> None:  # type: ignore[no-untyped-def]  # its source is run by itself, without imports
    from ui.ask.decision.trace import show_trace

    show_trace(held["decision"], held["measurements"])


def run(given: Decision, timings: dict[str, float] | None = None) -> AppTest:
    """A page with nothing but the trace; what it shows is `held` in its arguments."""
    measured = Measurements("What is it?", Settings.load(), timings=timings or {})
    return AppTest.from_function(script, kwargs={"held": {"decision": given, "measurements": measured}}).run()


def choose(page: AppTest, number: int) -> AppTest:
    """Click a row, as far as AppTest can."""
    page.session_state["trace_rows"] = {"selection": {"rows": [], "columns": [], "cells": [[number, "check"]]}}
    return page.run()


def test_given_a_decision_when_its_trace_is_shown_then_each_check_is_a_row_drawn_against_its_limit() -> None:
    """S4-12: what was measured, against what, and how it ended."""
    checks = (row("top_cosine", 0.8, 0.72), row("mean_confidence", 0.5, 0.6), row("distance", None, 0.8))

    table = run(decision(*checks)).dataframe[0].value

    assert list(table["check"]) == ["Closest passage", "Passages on average", "Distance of the closest passage"]
    assert list(table["measured"]) == ["0.80", "0.50", "–"]
    assert list(table["required"]) == ["≥ 0.72", "≥ 0.60", "≥ 0.80"]
    assert list(table["state"]) == ["✓ passed", "✗ refused", "? not measured"]
    assert list(table["meter"]) == [meter(check) for check in checks]
    assert set(table["scale"]) == {"Cosine, −1 to 1"}


def test_given_a_gate_that_was_not_reached_when_shown_then_its_value_is_there_all_the_same() -> None:
    table = run(decision(replace(row("relevance", 0.3, 0.4), state=State.NOT_REACHED))).dataframe[0].value

    assert (table["state"][0], table["measured"][0], table["required"][0]) == ("· not reached", "0.30", "≥ 0.40")


@each(
    ("check", "state", "mode"),
    [
        (row("top_cosine", 0.5, 0.72, Mode.OBSERVE), "✗ missed, only shown", "only shown"),
        (row("top_cosine", 0.5, 0.72, Mode.OFF), "○ off", "off"),
        (row("top_cosine", 0.5, 0.72), "✗ refused", "can refuse"),
        (row("verbatim", 0, 1, scale="count"), "✗ refused", "always on"),
        (replace(row("keywords", 0, 1, scale="count"), state=State.ABSTAINED), "– does not apply", "can refuse"),
        (CheckResult("confidence", State.PASSED, Mode.OBSERVE, 0.7, scale="share"), "✓ measured", "only shown"),
    ],
)
def test_given_how_a_check_ended_and_what_it_may_do_when_put_in_words_then_they_are_told_apart(
    check: CheckResult, state: str, mode: str
) -> None:
    assert (trace.state_in_words(check), trace.mode_in_words(check)) == (state, mode)


def test_given_a_value_just_below_its_limit_when_shown_then_both_have_the_digits_that_tell_them_apart() -> None:
    near = row("top_cosine", 0.7199, 0.72)

    assert (trace.measured(near), trace.required(near)) == ("0.7199", "≥ 0.7200")
    assert trace.measured(row("top_cosine", 0.72, 0.72)) == "0.72"
    assert trace.measured(row("availability", 10, 1, scale="count")) == "10"


def test_given_a_row_when_chosen_then_it_says_what_the_check_asks_what_it_found_and_where_its_limit_comes_from() -> None:
    page = run(decision(row("correctness", 0.4, 0.56, scale="correctness", found="probability 0.40"), row("relevance", 0.5, 0.4)))
    assert page.caption[0].value == screen()["trace.hint"]

    choose(page, 0)

    assert page.subheader[0].value == "Answer is right"
    assert screen()["trace.about_correctness"] in [markdown.value for markdown in page.markdown]
    said = page.text[0].value
    assert "Measured: probability 0.40" in said
    assert "What to do: Add the document." in said
    assert "Its limit is the setting: How sure" in said
    assert "Where the limit comes from: data/answerability.json" in said


def test_given_a_chosen_row_when_the_next_decision_has_fewer_rows_then_nothing_is_chosen() -> None:
    held = {"decision": decision(row("relevance", 0.5, 0.4), row("top_cosine", 0.5, 0.4)), "measurements": None}
    page = choose(AppTest.from_function(script, kwargs={"held": held}).run(), 1)
    assert page.subheader

    held["decision"] = decision(row("relevance", 0.5, 0.4))
    page.run()

    assert not page.exception
    assert not page.subheader


def test_given_words_of_a_document_in_a_check_when_its_details_are_shown_then_only_inert_text_holds_them() -> None:
    one = replace(row("facts", 2, 3, scale="count", found=HOSTILE), note=HOSTILE, remedy=HOSTILE)

    page = choose(run(decision(one)), 0)

    assert page.text[0].value.count(HOSTILE) == 3
    assert not any("203.0.113.9" in markdown.value for markdown in page.markdown)


def test_given_timings_when_shown_then_each_stage_and_the_sum_are_there() -> None:
    page = run(decision(row("relevance", 0.5, 0.4)), {"embed": 21.84, "audit": 98.4})

    said = page.code[0].value
    assert "Time in all: 120 ms" in said
    assert "21.8 ms  turning the question into numbers" in said


def test_given_a_decision_when_downloaded_then_the_file_is_the_decision(monkeypatch: pytest.MonkeyPatch) -> None:
    files: list[str] = []
    monkeypatch.setattr(st, "download_button", lambda label, write, *_, **__: files.append(write()))
    decided = decision(row("relevance", 0.5, 0.4))

    run(decided)

    assert json.loads(files[0]) == json.loads(json.dumps(decided.to_json()))


def test_given_a_reply_without_checks_when_shown_then_there_is_only_the_file() -> None:
    page = run(Decision.failed("Hello", ""))

    assert not page.dataframe
    assert page.get("download_button")


@given(any_measurements())
def test_given_any_decision_when_its_rows_are_put_in_words_then_none_lacks_a_text(measurements: Measurements) -> None:
    for check in decide(measurements).trace.checks:
        row, details = trace._row(check), trace._details(check)

        assert all(isinstance(cell, str) and cell for name, cell in row.items() if name != "ms")
        assert all(details)


STAGES = [check.stage for check in decide(Measurements("What is it?", Settings())).trace.checks]


@each("stage", [*STAGES, "confidence"])
def test_given_a_check_when_looked_up_then_it_has_a_name_and_an_explanation(stage: str) -> None:
    assert 3 <= len(screen()[f"trace.title_{stage}"]) <= 32
    assert screen()[f"trace.about_{stage}"].endswith(".")


def test_given_the_checks_when_counted_then_every_gate_and_audit_is_among_them_with_its_switch() -> None:
    assert len(STAGES) == len(GATING) + len(GROUNDING)
    assert {stage: knob for stage in STAGES if (knob := trace.mode_knob(stage))} == MODES


def test_given_a_setting_that_is_a_limit_when_changed_then_it_is_the_limit_of_the_check_that_names_it() -> None:
    measurements = Measurements("What is it?", Settings(), keywords=matched(9))
    limits: dict[str, str] = {}
    before = {check.stage: check.threshold for check in decide(measurements).trace.checks}
    for knob in Settings.knobs():
        if knob.cost is Cost.REPLAY and knob.low is not None and knob.step is not None:
            step = knob.step if knob.high is None or knob.default < knob.high else -knob.step
            moved = replay(measurements, measurements.settings.changed(**{knob.name: knob.default + step}))
            limits |= {check.stage: knob.name for check in moved.trace.checks if check.threshold != before[check.stage]}

    of_models = {
        "sufficiency": "min_sufficiency",
        "added_words": "max_added_words",
        "draft_correctness": "min_correctness",
    }
    assert limits | of_models == trace.LIMITS


def test_given_the_docstrings_of_the_gates_when_read_then_the_source_of_a_limit_is_one_sentence_of_it() -> None:
    assert trace.source("top_cosine") == "0.72 comes from a system with another, multilingual model; without data."
    assert trace.source("availability") == ""
    assert trace.source("confidence") == ""
