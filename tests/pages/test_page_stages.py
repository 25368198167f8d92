"""The panels of the stages: each check in its stage with its value against its limit, and the stage that decided stands
open.
"""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from any_measurements import any_measurements
from builders import MODES, draft, measurements, passage
from folding import each
from hypothesis import given
from page_kit import ask, asked_of, captions, html, texts
from streamlit.testing.v1 import AppTest

from rag_core.compression.scoring import Scored
from rag_core.decision.checks import CHECKS, GATING, GROUNDING
from rag_core.decision.decide import decide
from rag_core.domain.claims import Claim, Evidence
from rag_core.domain.decision import Decision
from rag_core.domain.documents import Span
from rag_core.domain.measurements import Measurements
from rag_core.domain.passages import PassageKind
from rag_core.domain.status import Reason
from rag_core.domain.trace import CheckResult, Direction, State, judge
from rag_core.gating.features import FEATURES
from rag_core.grounding.units import Unit
from rag_core.settings import Mode, Settings
from ui.app.asked import Asked
from ui.app.scope import Scope
from ui.app.texts import say, screen, speaking, tell
from ui.ask import checks, stages
from ui.ask.checks import meter
from ui.settings import wording

HOSTILE = "![x](http://203.0.113.9/a.png) <b>bold</b>"
ANSWERED, REFUSED = "How often does the flow meter have to be calibrated?", "What is the capital of France?"


def row(
    stage: str, value: float | None, threshold: float, mode: Mode = Mode.ENFORCE, scale: str = "cosine", found: str = ""
) -> CheckResult:
    return judge(
        stage,
        value,
        threshold,
        Direction.AT_LEAST,
        scale,
        Reason.TOP_COSINE,
        mode,
        found=found,
        remedy="Add the document.",
    )


def script(held) -> None:  # type: ignore[no-untyped-def]  # its source is run by itself, without imports
    from ui.ask.checks import show_checks

    show_checks(held)


def shown(*rows: CheckResult) -> AppTest:
    return AppTest.from_function(script, kwargs={"held": rows}).run()


def opened(page: AppTest) -> list[str]:
    return [panel.label for panel in page.expander if panel.proto.expanded]


def test_given_checks_when_shown_then_each_is_a_row_with_its_value_drawn_against_its_limit() -> None:
    """S4-12: what was measured, against what, and how it ended."""
    rows = (row("top_cosine", 0.8, 0.72), row("mean_confidence", 0.5, 0.6), row("distance", None, 0.8))

    table = html(shown(*rows))

    for title in ("Closest passage", "Passages on average", "Distance of the closest passage"):
        assert f"<summary>{title}</summary>" in table
    for cell in (
        "0.80 <small>≥ 0.72",
        "0.50 <small>≥ 0.60",
        "– <small>≥ 0.80",
        "✓ passed",
        "✗ refused",
        "? not measured",
    ):
        assert cell in table
    assert [meter(one) in table for one in rows[:2]] == [True, True]


def test_given_a_check_that_is_off_then_it_is_named_and_has_no_row() -> None:
    page = shown(row("top_cosine", 0.5, 0.72, Mode.OFF))

    assert texts(page) == "Off under these settings: Closest passage"
    assert html(page) == ""


@each(
    ("check", "state", "mode"),
    [
        (row("top_cosine", 0.5, 0.72, Mode.OBSERVE), "✗ missed, only shown", "only shown"),
        (row("top_cosine", 0.5, 0.72, Mode.OFF), "○ off", "off"),
        (row("top_cosine", 0.5, 0.72), "✗ refused", "can refuse"),
        (row("verbatim", 0, 1, scale="count"), "✗ refused", "always on"),
        (replace(row("relevance", 0.3, 0.4), state=State.NOT_REACHED), "· not judged", "can refuse"),
        (replace(row("keywords", 0, 1, scale="count"), state=State.ABSTAINED), "– does not apply", "can refuse"),
        (CheckResult("confidence", State.PASSED, Mode.OBSERVE, 0.7, scale="share"), "✓ measured", "only shown"),
    ],
)
def test_given_how_a_check_ended_and_what_it_may_do_when_put_in_words_then_they_are_told_apart(
    check: CheckResult, state: str, mode: str
) -> None:
    assert (checks.state_in_words(check), checks.mode_in_words(check)) == (state, mode)


def test_given_a_value_just_below_its_limit_when_shown_then_both_have_the_digits_that_tell_them_apart() -> None:
    near = row("top_cosine", 0.7199, 0.72)

    assert (checks.measured(near), checks.required(near)) == ("0.7199", "≥ 0.7200")
    assert checks.measured(row("top_cosine", 0.72, 0.72)) == "0.72"
    assert checks.measured(row("availability", 10, 1, scale="count")) == "10"


def test_given_a_row_then_it_says_what_the_check_asks_what_it_found_and_where_its_limit_comes_from() -> None:
    said = html(shown(row("correctness", 0.4, 0.56, scale="correctness", found="probability 0.40")))

    assert screen()["checks.about_correctness"] in said
    assert "Measured: probability 0.40" in said
    assert "What to do: Add the document." in said
    assert "Its limit is the setting: How sure" in said
    assert "Where the limit comes from: data/answerability.json" in said


def test_given_words_of_a_document_in_a_check_then_they_are_escaped() -> None:
    one = replace(row("facts", 2, 3, scale="count", found=HOSTILE), note=HOSTILE, remedy=HOSTILE)

    said = html(shown(one))

    assert "<b>" not in said
    assert said.count("&lt;b&gt;bold&lt;/b&gt;") == 3


def test_given_an_answer_and_a_refusal_then_the_stage_that_decided_stands_open_and_what_came_after_is_not_reached(
    page: AppTest,
) -> None:
    ask(page, ANSWERED)
    assert [label.partition(":")[0] for label in opened(page)] == ["5 · Decide"]

    ask(page, REFUSED)

    panels = [panel for panel in page.expander if panel.label[0] in "12345"]
    assert [panel.label.partition(":")[0] for panel in panels] == [
        "1 · Retrieve",
        "2 · Gate",
        "3 · Compress",
        "4 · Ground",
        "5 · Decide",
    ]
    assert opened(page) == [panels[1].label]
    assert "**decided here**" in panels[1].label
    assert ["not judged" in panel.label for panel in panels] == [False, False, True, True, False]
    assert "Out: refused by the check “Answer is right”." in texts(page)
    assert "Out: no answer. The check “Answer is right” refused." in texts(page)
    assert say("what_if.wrong_all") in captions(page)


def test_given_a_large_number_in_a_panel_then_its_digits_are_grouped_as_the_language_does() -> None:
    said = {"passages": 10, "chars": 3750, "kept": 3, "considered": 28, "drafted": 229}

    assert "3,750 characters" in tell("stages.compress_out", **said)
    with speaking("de"):
        assert "3\u202f750 Zeichen" in tell("stages.compress_out", **said)


def test_given_an_answer_then_passages_and_sentences_say_what_became_of_them_where_that_is_on_record(
    page: AppTest,
) -> None:
    ask(page, ANSWERED)

    passages, sentences = (table.value for table in page.dataframe[:2])
    asked = asked_of(page)
    assert len(passages) == len(asked.decision.retrieved)
    assert set(passages["became"]) == {"quoted", "kept"}
    assert len(sentences) == len(asked.considered) > len(asked.decision.claims)
    kept = sentences[sentences["became"] == "kept"]
    assert any("every 5 years" in text for text in kept["text"])
    assert sentences["relevance"].is_monotonic_decreasing
    assert {"dropped: bears less on it"} <= set(sentences["became"])
    assert all(say(f"stages.timing_{part}") in texts(page) for part in asked.measurements.timings)

    asked_of(page).considered = ()
    page.run()

    assert say("stages.not_recorded") in [caption.value for caption in page.caption]


def test_given_a_row_or_a_word_broken_at_the_end_of_a_line_then_what_the_draft_rests_on_is_kept_and_no_other() -> None:
    head, rows = "Item | Rent\n", ("Shop | 38 500", "Store | 6 200")
    table = passage(1, f"{head}{rows[0]}\n{rows[1]}", kind=PassageKind.TABLE)
    places = [Span(1, table.text.index(row), table.text.index(row) + len(row)) for row in rows]
    text = passage(2, "Members under twenty-\none pay half.")
    quoted = Evidence(table.id, "d1", "Store\t6 200", (places[1],)), Evidence(text.id, "d1", text.text, text.spans)
    drafted = draft(
        [Claim(f"Item | Rent: {rows[1]}", quoted[:1]), Claim("Members under twentyone pay half.", quoted[1:])]
    )
    units = [Unit(table, f"Item | Rent: {row}", at.start, at.end, (at,)) for row, at in zip(rows, places, strict=True)]
    units += [Unit(text, "Members under twentyone pay half.", 0, 33), Unit(text, "Others pay all.", 34, 49)]
    of = measurements(0.9, draft=drafted)
    asked = Asked(of.question, Scope(), of, decide(of), of.settings, considered=[Scored(one, {}, 0.9) for one in units])

    rows_told = [row["became"] for row in stages._sentences(asked)]

    assert [name == say("stages.became_kept_sentence") for name in rows_told] == [False, True, True, False]


def test_given_a_decision_then_all_of_it_is_at_hand_as_json(page: AppTest) -> None:
    ask(page, REFUSED)

    (written,) = [code.value for code in page.code if code.language == "json"]
    assert json.loads(written) == json.loads(json.dumps(asked_of(page).decision.to_json()))


@each(
    ("reason", "stage"),
    [(Reason.MODEL_REFUSED, "compress"), (Reason.FAILURE, "decide")],
)
def test_given_an_outcome_that_no_check_decided_then_its_stage_is_named(reason: Reason, stage: str) -> None:
    decision = Decision.failed("What is it?", "It could not.")

    assert stages.decided_at(replace(decision, outcome=replace(decision.outcome, reasons=(reason,)))) == stage


@given(any_measurements())
def test_given_any_decision_when_its_rows_are_put_in_words_then_none_lacks_a_text(measurements: Measurements) -> None:
    for check in decide(measurements).trace.checks:
        assert checks._row(check)
        assert all(checks.details(check))


STAGES = [check.stage for check in decide(Measurements("What is it?", Settings())).trace.checks]


@each("stage", [*STAGES, "confidence"])
def test_given_a_check_when_looked_up_then_it_has_a_name_and_an_explanation(stage: str) -> None:
    assert 3 <= len(screen()[f"checks.title_{stage}"]) <= 32
    assert screen()[f"checks.about_{stage}"].endswith(".")


def test_given_the_checks_when_counted_then_every_one_has_a_stage_and_its_switch() -> None:
    assert len(STAGES) == len(GATING) + len(GROUNDING)
    assert {stage: knob for stage in STAGES if (knob := checks.mode_knob(stage))} == MODES
    assert {check.name for check in CHECKS} <= set(wording._STAGE_OF)


@pytest.mark.parametrize("name", FEATURES)
def test_given_a_figure_of_the_probability_then_it_is_named_in_words(name: str) -> None:
    assert tell(f"stages.feature_{name}") != name
