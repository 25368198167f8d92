"""The gates before any generation: equal passes, stricter never lets more through, and each says what it measured."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from builders import GATE_MODES, GOOD_AUDIT, contradicted, hit, hits, matched, measurements, settings
from folding import each
from hypothesis import given
from hypothesis import strategies as st

from rag_core.decision.checks import GATING
from rag_core.decision.checks.gating import WIDEN
from rag_core.domain.measurements import BESIDE, KeywordMatch, LibraryFacts, Measurements, Understanding
from rag_core.domain.status import ConfidenceLevel, Reason
from rag_core.domain.trace import CheckResult, Direction, State
from rag_core.gating import levels
from rag_core.gating.levels import cut_passages, level, mean_cosine, within_cut
from rag_core.settings import Mode, Settings

GATES = {check.name: check for check in GATING}
cosines = st.lists(st.floats(-1, 1), max_size=6)
limits = st.floats(-1, 1)


def enforcing(gate: str, **values: object) -> Settings:
    return settings(**{GATE_MODES[gate]: Mode.ENFORCE}, **values)


def judged(gate: str, measured: Measurements, **values: object) -> CheckResult:
    return GATES[gate](replace(measured, settings=enforcing(gate, **values)))


@each(("score", "passes"), [(0.92, True), (0.80, True), (0.72, True), (0.68, False), (0.45, False), (0.10, False)])
def test_given_the_table_of_s0_when_gated_at_072_then_equal_and_above_pass(score: float, passes: bool) -> None:
    """S0-4, S0-5, S0-2: the closest passage is held against 0.72, and refused on strictly less."""
    check = judged("top_cosine", measurements(0.05, score, -0.3))

    assert (check.state is State.PASSED, check.value, check.threshold) == (passes, score, 0.72)
    assert check.blocks is not passes
    assert check.found == f"cosine {score:.2f}, 0.72 required"


def test_given_a_looser_threshold_when_gated_then_it_decides() -> None:
    """S0-34: the threshold can be set, to 0.65 for example."""
    assert judged("top_cosine", measurements(0.68)).blocks
    assert not judged("top_cosine", measurements(0.68), min_top_cosine=0.65).blocks


@each(
    ("scores", "passes"),
    [
        ((0.88, 0.85, 0.82), True),
        ((0.6, 0.6, 0.6), True),
        ((0.7, 0.5), True),
        ((0.59, 0.6), False),
        ((0.9, 0.2), False),
    ],
)
def test_given_mean_confidence_when_gated_at_06_then_equal_passes(scores: tuple[float, ...], passes: bool) -> None:
    """S2-2: mean(confidence) < 0.6 refuses; 0.88, 0.85 and 0.82 are 0.85."""
    check = judged("mean_confidence", measurements(*scores))

    assert check.blocks is not passes
    assert check.threshold == 0.6
    assert mean_cosine(hits(0.88, 0.85, 0.82)) == 0.85
    assert mean_cosine(()) is None


@each(("gate", "score"), [("correctness", 0.3), ("answerability", 0.8), ("cosine", None)])
def test_given_a_main_gate_then_its_score_is_the_main_one(gate: str, score: float | None) -> None:
    assert (
        levels.main_score(measurements(0.9, of=settings(main_gate=gate), correctness=0.3, answerability=0.8)) == score
    )
    assert levels.main_score(measurements(0.9, of=settings(main_gate=gate))) is None


@given(st.integers(-100, 100), st.integers(1, 50))
def test_given_equal_scores_then_their_mean_is_that_score_and_passes_at_it(hundredths: int, count: int) -> None:
    score = hundredths / 100

    assert mean_cosine(hits(*[score] * count)) == score
    assert judged("mean_confidence", measurements(*[score] * count), min_mean_cosine=score).state is State.PASSED


@each(
    ("score", "limit", "passes"),
    [(0.4, 0.4, True), (0.38, 0.4, False), (0.38, 0.3, True), (0.3, 0.3, True), (0.29, 0.3, False)],
)
def test_given_relevance_at_its_limit_then_equal_passes(score: float, limit: float, passes: bool) -> None:
    """S1-6, S1-11, S1-18: 38 % of similarity is refused at 0.4 and passes the hybrid's 0.3."""
    assert judged("relevance", measurements(0.9, relevance=score), min_relevance=limit).blocks is not passes


def test_given_no_similarities_when_the_relevance_guard_judges_then_it_judges_zero() -> None:
    """S1-6: 0.0 when there are no similarities."""
    check = judged("relevance", measurements())

    assert (check.value, check.state) == (0.0, State.FAILED)


def test_given_no_passage_then_availability_refuses_whatever_the_settings() -> None:
    """S0-3, S1-5, S2-1: an empty retrieval is refused before anything else."""
    empty = GATES["availability"](replace(measurements(), settings=settings()))
    one = GATES["availability"](measurements(-1.0))

    assert (empty.state, empty.blocks, empty.reason) == (State.FAILED, True, Reason.NOTHING_RETRIEVED)
    assert (one.state, one.value) == (State.PASSED, 1)
    assert GATING[0].name == "availability"


def test_given_no_passage_when_refused_then_the_remedy_knows_whether_there_are_documents() -> None:
    assert GATES["availability"](measurements()).remedy == "Add documents first."
    assert GATES["availability"](measurements(library=LibraryFacts(documents=2, passages=9))).remedy == WIDEN
    assert (
        GATES["availability"](measurements(library=LibraryFacts(documents=2, passages=9))).found
        == "0 passages retrieved from 2 documents"
    )


CALIBRATED = ("correctness", "answerability")


@each("gate", CALIBRATED)
def test_given_a_probability_when_gated_at_the_default_then_equal_passes(gate: str) -> None:
    at = getattr(Settings.load(), f"min_{gate}")
    for value, state in ((at, State.PASSED), (at - 0.001, State.FAILED), (0.0, State.FAILED), (1.0, State.PASSED)):
        assert judged(gate, measurements(0.1, **{gate: value})).state is state, value


@each("gate", CALIBRATED)
def test_given_no_calibration_when_the_gate_enforces_then_it_refuses_because_it_could_not_run(gate: str) -> None:
    check = judged(gate, measurements(0.9, correctness=None, answerability=None))

    assert (check.state, check.blocks, check.note) == (State.NOT_RUN, True, "no calibration fits this library")


@each(
    ("cosine", "cut", "passes"),
    [
        (0.2, 0.8, True),
        (0.19, 0.8, False),
        (0.5, 0.5, True),
        (-0.2, 1.2, True),
        (0.72, 0.28, True),
        (0.71, 0.28, False),
    ],
)
def test_given_the_closest_distance_at_the_cut_then_it_passes(cosine: float, cut: float, passes: bool) -> None:
    """S4-1, S4-7: a distance is 1 - cosine, and refused when greater than the cut."""
    check = judged("distance", measurements(cosine, cosine - 0.05), max_distance=cut)

    assert check.direction is Direction.AT_MOST
    assert check.blocks is not passes


def test_given_hits_on_both_sides_of_the_cut_then_those_within_are_counted() -> None:
    """S4-1, S4-15: the filtered count is beside the raw count."""
    within = within_cut(hits(0.9, 0.2, 0.19), settings(max_distance=0.8))
    check = judged("distance", measurements(0.9, 0.2, 0.19), max_distance=0.8)

    assert [one.cosine for one in within] == [0.9, 0.2]
    assert check.found == "distance 0.10, at most 0.80 allowed; 2 of 3 within"


@pytest.mark.parametrize(("mode", "cut"), [(Mode.ENFORCE, {"d1#3"}), (Mode.OBSERVE, set()), (Mode.OFF, set())])
def test_given_the_distance_cut_then_it_marks_passages_only_when_it_enforces(mode: Mode, cut: set[str]) -> None:
    """S4-24: with the cut off, all passages stay."""
    assert cut_passages(measurements(0.9, 0.2, 0.19, of=settings(distance_mode=mode, max_distance=0.8))) == cut


@pytest.mark.parametrize(("minimum", "passes"), [(1, True), (2, True), (3, False)])
def test_given_two_passages_within_the_cut_when_counted_then_equal_passes(minimum: int, passes: bool) -> None:
    """S4-3, S4-6: the minimum counts passages within the distance cut; one by default."""
    check = judged("min_documents", measurements(0.9, 0.2, 0.1), max_distance=0.8, min_documents=minimum)

    assert check.value == 2
    assert check.blocks is not passes


@each(
    ("held", "missing", "minimum", "passes", "required"),
    [
        (2, 1, 2, True, 2),
        (1, 2, 2, False, 2),
        (1, 0, 2, True, 1),
        (0, 1, 2, False, 1),
        (0, 2, 1, False, 1),
        (1, 1, 1, True, 1),
        (0, 3, 0, True, 0),
        (3, 0, 10, True, 3),
    ],
)
def test_given_matched_keywords_then_the_smaller_of_minimum_and_known_is_required(
    held: int, missing: int, minimum: int, passes: bool, required: int
) -> None:
    """S0-9, S0-17, S0-37: two of them, all where there are fewer, and a lower minimum loosens."""
    assert Settings.load("compliance").min_keywords == Settings.load().min_keywords == 2
    check = judged("keywords", measurements(0.9, keywords=matched(held, missing)), min_keywords=minimum)

    assert (check.state is State.PASSED, check.value, check.threshold) == (passes, held, required)
    counted = "1 keyword" if held + missing == 1 else f"{held + missing} keywords"
    assert check.found.startswith(f"{held} of {counted} found, {required} required")
    assert ("missing: lost0" in check.found) is bool(missing)


def test_given_no_keywords_or_another_language_then_the_guard_abstains_and_says_so() -> None:
    """S0-17: without keywords the guard abstains."""
    none = judged("keywords", measurements(0.9))
    across = judged(
        "keywords", measurements(0.9, keywords=KeywordMatch(missing=("lhůta",), abstain="the languages differ"))
    )

    assert (none.state, none.note) == (
        State.ABSTAINED,
        "the question has no content words longer than three characters",
    )
    assert (across.state, across.note, across.blocks) == (State.ABSTAINED, "the languages differ", False)


@each(
    ("missing", "allowed", "passes"),
    [((), 0, True), (("Brno",), 0, False), (("Brno",), 1, True), (("Brno", "2031"), 1, False)],
)
def test_given_names_nowhere_then_they_are_counted(missing: tuple[str, ...], allowed: int, passes: bool) -> None:
    asked = measurements(0.9, missing_entities=missing, understanding=Understanding("en", entities=("Brno", "2031")))
    check = judged("required_entities", asked, max_missing_entities=allowed)

    assert check.blocks is not passes
    assert all(name in check.found for name in missing)
    assert (check.found == "all are in the searched documents") is (not missing)


def test_given_a_question_without_names_then_the_entity_gate_abstains() -> None:
    check = judged("required_entities", measurements(0.9))

    assert (check.state, check.note) == (State.ABSTAINED, "the question names nothing particular")


@pytest.mark.parametrize("gate", ["top_cosine", "mean_confidence", "distance"])
def test_given_nothing_retrieved_then_a_score_gate_abstains_and_leaves_the_refusal_to_availability(gate: str) -> None:
    check = judged(gate, measurements())

    assert (check.state, check.value, check.note) == (State.ABSTAINED, None, "nothing was retrieved")


@each("gate", GATE_MODES)
def test_given_a_gate_that_only_observes_or_is_off_then_it_never_blocks(gate: str) -> None:
    worst = measurements(
        -1.0,
        correctness=0.0,
        answerability=0.0,
        relevance=-1.0,
        keywords=matched(0, 3),
        missing_entities=("Brno",),
        understanding=Understanding("en", entities=("Brno",)),
    )
    strict = {"min_documents": 20} if gate == "min_documents" else {}
    states = {
        mode: GATES[gate](replace(worst, settings=settings(**{GATE_MODES[gate]: mode}, **strict)))
        for mode in (Mode.ENFORCE, Mode.OBSERVE, Mode.OFF)
    }

    assert states[Mode.ENFORCE].blocks
    assert (states[Mode.OBSERVE].state, states[Mode.OBSERVE].blocks) == (State.FAILED, False)
    assert (states[Mode.OFF].state, states[Mode.OFF].value, states[Mode.OFF].blocks) == (State.NOT_RUN, None, False)


STRICTER: dict[str, tuple[str, Any]] = {
    "correctness": ("min_correctness", st.floats(0, 1)),
    "answerability": ("min_answerability", st.floats(0, 1)),
    "top_cosine": ("min_top_cosine", limits),
    "mean_confidence": ("min_mean_cosine", limits),
    "relevance": ("min_relevance", limits),
    "distance": ("max_distance", st.floats(0, 2)),
    "min_documents": ("min_documents", st.integers(1, 20)),
    "keywords": ("min_keywords", st.integers(0, 10)),
    "required_entities": ("max_missing_entities", st.integers(0, 10)),
}


@pytest.mark.parametrize("gate", STRICTER)
@given(data=st.data(), scores=cosines, probability=st.floats(0, 1), held=st.integers(0, 4), missing=st.integers(0, 4))
def test_given_two_limits_then_the_stricter_one_never_lets_more_through(
    gate: str, data: st.DataObject, scores: list[float], probability: float, held: int, missing: int
) -> None:
    """S0-37: a lower minimum loosens, for every gate in the direction its knob declares."""
    knob, values = STRICTER[gate]
    stricter = next(one.stricter for one in Settings.knobs() if one.name == knob)
    low, high = sorted((data.draw(values), data.draw(values)))
    asked = measurements(
        *scores,
        correctness=probability,
        answerability=probability,
        relevance=probability,
        keywords=matched(held, missing),
        missing_entities=("Brno",) * missing,
        understanding=Understanding("en", entities=("Brno",)),
    )
    loose, strict = (low, high) if stricter == "higher" else (high, low)

    assert judged(gate, asked, **{knob: strict}).blocks or not judged(gate, asked, **{knob: loose}).blocks


@each(
    ("cosine", "expected"),
    [
        (1.0, "high"),
        (0.5, "high"),
        (0.49, "medium"),
        (0.2, "medium"),
        (0.19, "low"),
        (-0.2, "low"),
        (-0.21, "insufficient"),
    ],
)
def test_given_the_closest_distance_then_the_level_has_the_cuts_of_s4(cosine: float, expected: str) -> None:
    """S4-2, S4-5: high up to 0.5, medium up to 0.8, low up to 1.2, insufficient beyond; low is reachable."""
    assert level(measurements(cosine, -0.5, of=settings(main_gate="cosine"))) == expected


@each(("value", "expected"), [(0.9, "high"), (0.89, "medium"), (0.7, "medium"), (0.69, "low"), (0.0, "low")])
def test_given_the_calibrated_score_as_main_gate_then_it_makes_the_level(value: float, expected: str) -> None:
    for gate in ("correctness", "answerability"):
        assert level(measurements(-1.0, of=settings(main_gate=gate), **{gate: value})) == expected
        assert level(measurements(0.9, of=settings(main_gate="cosine"), **{gate: value})) == ConfidenceLevel.HIGH


@pytest.mark.parametrize(("mode", "expected"), [(Mode.ENFORCE, "low"), (Mode.OBSERVE, "low"), (Mode.OFF, "high")])
def test_given_contradicting_sources_then_the_level_is_low_where_looked_at(mode: Mode, expected: str) -> None:
    """S4-21: at most `low`, and never raised."""
    assert level(contradicted(settings(contradictions_mode=mode), correctness=1.0)) == expected
    none = {"high_distance": 0.0, "medium_distance": 0.0, "low_distance": 0.0}
    worst = contradicted(settings(contradictions_mode=mode, main_gate="cosine", **none), correctness=None)
    assert level(worst) is ConfidenceLevel.INSUFFICIENT


@each("mode", Mode)
@each(("score", "expected"), [(0.99, "medium"), (0.8, "medium"), (0.6, "low")])
def test_given_a_claim_that_nothing_read_then_medium_at_most(mode: Mode, score: float, expected: str) -> None:
    unread = replace(GOOD_AUDIT, support=0.9, word_for_word=False, read=False)
    judged = measurements(0.9, of=settings(support_mode=mode), correctness=score)
    judged = replace(judged, draft=replace(judged.draft, measured=(unread,)))

    assert levels.unread(judged) == 1
    assert level(judged) == expected
    uncited = replace(judged.draft.claims[0], evidence=())
    assert levels.unread(replace(judged, draft=replace(judged.draft, claims=(uncited,)))) == 0


@each(("score", "expected"), [(0.99, "medium"), (0.6, "low")])
def test_given_an_answer_that_needs_what_stands_beside_it_then_medium_at_most(score: float, expected: str) -> None:
    assert level(measurements(0.9, correctness=score, metadata={BESIDE: True})) == expected


def test_given_no_passage_or_no_calibration_then_the_level_falls_back() -> None:
    """S4-2: fewer passages than one are insufficient."""
    assert level(measurements(correctness=1.0)) is ConfidenceLevel.INSUFFICIENT
    assert level(measurements(0.3, correctness=None)) is ConfidenceLevel.MEDIUM


def test_given_a_check_that_was_not_reached_then_its_value_is_still_shown() -> None:
    reached = judged("top_cosine", measurements(0.3))
    marked = reached.not_reached()

    assert (marked.state, marked.value, marked.threshold, marked.blocks) == (State.NOT_REACHED, 0.3, 0.72, False)
    abstained = judged("keywords", measurements(0.3))
    off = GATES["top_cosine"](measurements(0.3))
    assert abstained.not_reached() is abstained
    assert off.not_reached() is off


def test_given_the_gates_then_their_order_is_the_documented_one() -> None:
    """S0-1: the hard gate stands before the keyword guard. S1-12: both before any drafting."""
    names = [gate.name for gate in GATING]

    assert names == [
        "availability",
        "correctness",
        "answerability",
        "top_cosine",
        "mean_confidence",
        "relevance",
        "distance",
        "min_documents",
        "keywords",
        "required_entities",
    ]
    assert [GATING[n](measurements(0.5)).reason for n in range(len(GATING))] == [
        r for r in Reason if r in {g(measurements(0.5)).reason for g in GATING}
    ]


def test_given_a_measurement_that_took_time_then_the_row_shows_it() -> None:
    timed = measurements(
        0.9, correctness=0.9, answerability=0.9, relevance=0.9, timings={"signals": 1.5, "relevance": 2.5}
    )

    assert GATES["correctness"](timed).ms == GATES["answerability"](timed).ms == 1.5
    assert GATES["relevance"](timed).ms == 2.5
    assert GATES["answerability"](measurements(0.9)).ms == GATES["relevance"](measurements(0.9)).ms == 0
    assert hit(0.9).distance == 0.1
