"""One judgement: a value against a threshold under a mode, and its way to JSON and back."""

from __future__ import annotations

import math

import pytest
from folding import each
from hypothesis import given
from hypothesis import strategies as st

from rag_core.domain.status import Reason
from rag_core.domain.trace import CheckResult, Direction, State, Trace, judge
from rag_core.settings import Mode, Scale

cosines = st.floats(-1, 1)


def judged(
    value: float | None, threshold: float = 0.72, direction: Direction = Direction.AT_LEAST, **fields: object
) -> CheckResult:
    given_fields = {"mode": Mode.ENFORCE, "scale": Scale.COSINE, **fields}
    return judge("top_cosine", value, threshold, direction, reason=Reason.TOP_COSINE, **given_fields)  # type: ignore[arg-type]


@pytest.mark.parametrize("direction", Direction)
def test_given_a_value_equal_to_its_threshold_then_it_passes_in_both_directions(direction: Direction) -> None:
    """S0-5: equal passes."""
    assert judged(0.72, direction=direction).state is State.PASSED


@given(cosines, cosines)
def test_given_a_value_beside_its_threshold_then_only_its_own_side_passes(value: float, threshold: float) -> None:
    at_least = judged(value, threshold).state is State.PASSED
    at_most = judged(value, threshold, Direction.AT_MOST).state is State.PASSED

    assert at_least is (value >= threshold)
    assert at_most is (value <= threshold)


@each("direction", Direction)
@each("value", [math.nan, math.inf, -math.inf])
@each("mode", [Mode.ENFORCE, Mode.OBSERVE])
def test_given_a_value_that_is_no_number_then_no_check(value: float, direction: Direction, mode: Mode) -> None:
    with pytest.raises(ValueError, match="must be finite"):
        judged(value, direction=direction, mode=mode)
    with pytest.raises(ValueError, match="must be finite"):
        CheckResult("a step without a scale", State.PASSED, mode, value)


SCALES = {
    "cosine": (-1, 1),
    "distance": (0, 2),
    "answerability": (0, 1),
    "ratio": (0, math.inf),
    "share": (0, 1),
    "count": (0, math.inf),
    "support": (0, 1),
    "correctness": (0, 1),
}


@each(("scale", "low", "high"), [(scale, *limits) for scale, limits in SCALES.items()])
def test_given_a_value_outside_its_scale_then_no_check_can_be_built(scale: str, low: float, high: float) -> None:
    assert {one.value: (one.low, one.high) for one in Scale} == SCALES
    assert judged(low, scale=scale).value == low
    assert judged(min(high, 1e9), scale=scale).value == min(high, 1e9)
    for value in (low - 0.01, high + 0.01):
        with pytest.raises(ValueError, match="must be finite and in"):
            judged(value, scale=scale)


def test_given_a_value_that_could_not_be_measured_when_enforced_then_it_refuses_and_says_why() -> None:
    check = judged(None, found="no calibration fits")

    assert check.state is State.NOT_RUN
    assert check.note == "no calibration fits"
    assert check.blocks


def test_given_a_value_that_could_not_be_measured_when_observed_then_it_does_not_refuse() -> None:
    assert judged(None, mode=Mode.OBSERVE).state is State.NOT_RUN
    assert judged(None).note == "could not be measured"
    assert not judged(None, mode=Mode.OBSERVE).blocks


def test_given_a_reason_to_abstain_then_the_check_passes_with_that_reason_and_shows_its_value() -> None:
    check = judged(0.1, abstain="nothing was retrieved")

    assert (check.state, check.note, check.value, check.blocks) == (
        State.ABSTAINED,
        "nothing was retrieved",
        0.1,
        False,
    )
    assert judged(None, abstain="nothing was retrieved").state is State.ABSTAINED


@each("value", [0.1, 0.9, None, math.nan])
@each("abstain", ["", "does not apply"])
def test_given_a_check_that_is_off_then_it_is_not_judged_and_shows_nothing(value: float | None, abstain: str) -> None:
    check = judged(value, mode=Mode.OFF, abstain=abstain)

    assert (check.state, check.note, check.value, check.blocks) == (State.NOT_RUN, "switched off", None, False)


@each("mode", Mode)
@each("state", State)
def test_given_any_state_and_mode_then_only_an_enforced_failure_blocks(state: State, mode: Mode) -> None:
    blocks = CheckResult("stage", state, mode).blocks

    assert blocks is (mode is Mode.ENFORCE and state in (State.FAILED, State.NOT_RUN))


checks = st.builds(
    CheckResult,
    stage=st.text(),
    state=st.sampled_from(State),
    mode=st.sampled_from(Mode),
    value=st.none() | cosines,
    threshold=st.none() | cosines,
    direction=st.none() | st.sampled_from(Direction),
    scale=st.sampled_from(["cosine", ""]),
    reason=st.sampled_from(Reason),
    found=st.text(),
    note=st.text(),
    remedy=st.text(),
    ms=st.floats(0, 1e6).map(lambda ms: round(ms, 3)),
)


def test_given_a_row_of_the_trace_then_it_has_every_field_of_the_contract() -> None:
    row = judged(0.5, ms=1.23456).to_json()

    assert {"stage", "state", "mode", "value", "threshold", "direction", "scale", "reason", "ms"} <= set(row)
    assert (row["state"], row["mode"], row["direction"], row["reason"], row["ms"]) == (
        "failed",
        "enforce",
        "at_least",
        "top_cosine",
        1.235,
    )


def test_given_an_earlier_refusal_then_what_is_off_or_abstains_stays_so_and_the_rest_was_not_reached() -> None:
    assert judged(0.9).not_reached().state is State.NOT_REACHED
    assert judged(0.1, mode=Mode.OBSERVE).not_reached().state is State.NOT_REACHED
    assert judged(0.9, mode=Mode.OFF).not_reached().state is State.NOT_RUN
    assert judged(0.9, abstain="it does not apply").not_reached().state is State.ABSTAINED


def test_given_a_check_then_it_is_frozen_and_took_no_time_unless_told() -> None:
    assert judged(0.5).ms == CheckResult("stage", State.PASSED, Mode.OFF).ms == 0
    with pytest.raises(AttributeError):
        judged(0.5).value = 0.9  # type: ignore[misc]
    with pytest.raises(AttributeError):
        Trace().checks = ()  # type: ignore[misc]


def test_given_a_trace_then_a_check_is_found_by_its_stage_and_an_unknown_stage_is_an_error() -> None:
    trace = Trace().plus(judged(0.5)).plus(CheckResult("confidence", State.PASSED, Mode.OBSERVE))

    assert trace["top_cosine"].value == 0.5
    assert [check.stage for check in trace.checks] == ["top_cosine", "confidence"]
    with pytest.raises(KeyError, match="spelling"):
        trace["spelling"]
