"""A question that asks two things: both are answered, or one, and the decision says which half is missing."""

from __future__ import annotations

from dataclasses import replace

import pytest
from any_measurements import any_measurements, chosen_settings
from builders import SENTENCE, claim, contradicted, draft, hit, measured, measurements, passage
from hypothesis import given

from rag_core.decision.batch import replay_many
from rag_core.decision.decide import decide, replay
from rag_core.domain.answer import Answer
from rag_core.domain.decision import Decision
from rag_core.domain.measurements import AS_OF, OTHER_VERSIONS, Measurements
from rag_core.settings import Settings

FIRST, SECOND = "How long is the notice period?", "Who pays the costs of delivery?"
BOTH = "How long is the notice period, and who pays the costs of delivery?"
COSTS = "The buyer pays the costs of delivery."


def of_half(question: str, text: str, number: int, sure: float) -> Measurements:
    found = hit(0.9, number, of=passage(number, text, document=f"d{number}"))
    return measurements(
        0.9,
        question=question,
        hits=(found,),
        draft=draft([claim(found.passage, text)]),
        correctness=sure,
        of=Settings.load(),
    )


def decided(first: float, second: float) -> Decision:
    """The decision on both halves with these probabilities, the likelier one in front, as the engine measures them."""
    halves = of_half(FIRST, SENTENCE, 1, first), of_half(SECOND, COSTS, 2, second)
    one, other = sorted(halves, key=lambda half: -(half.correctness or 0.0))
    return decide(replace(one, question=BOTH, other=other))


@pytest.mark.parametrize(("first", "second"), [(0.97, 0.8), (0.8, 0.97)])
def test_given_two_sure_halves_then_both_are_answered_and_the_less_sure_counts(first: float, second: float) -> None:
    decision = decided(first, second)

    assert (decision.question, decision.answer) == (BOTH, f"{SENTENCE} [1] {COSTS} [2]")
    assert decision.confidence == 0.8
    assert decision.confidence_level == decided(0.8, 0.8).confidence_level
    assert [hit.passage.id for _, hit in decision.retrieved] == (
        ["d1#1", "d2#2"] if first > second else ["d2#2", "d1#1"]
    )
    assert [citation.chunk_id for citation in decision.citations] == ["d1#1", "d2#2"]
    assert next(check for check in decision.trace.checks if check.stage == "confidence").value == 0.8


@pytest.mark.parametrize(
    ("first", "second", "shown", "missing"), [(0.97, 0.2, SENTENCE, SECOND), (0.2, 0.97, COSTS, FIRST)]
)
def test_given_one_unsure_half_then_the_other_is_low(first: float, second: float, shown: str, missing: str) -> None:
    decision = decided(first, second)

    assert decision.answer == f"{shown} [1]"
    assert (decision.confidence_level.value, decision.metadata["unanswered"]) == ("low", missing)
    assert missing in decision.notes[0]


def test_given_two_halves_that_are_not_sure_then_the_whole_question_is_refused() -> None:
    decision = decided(0.2, 0.1)

    assert (decision.answered, decision.question, decision.reason) == (False, BOTH, "correctness")


def test_given_one_sentence_that_answers_both_then_it_is_shown_once() -> None:
    one, other = of_half(FIRST, SENTENCE, 1, 0.9), of_half(SECOND, SENTENCE, 1, 0.8)
    bears = [replace(one, relevance=0.3) for one in other.draft.claims]  # on the other half it bears less
    other = replace(other, draft=draft(bears))

    assert decide(replace(one, question=BOTH, other=other)).answer == f"{SENTENCE} [1]"


def test_given_a_contradiction_in_the_second_half_then_its_two_sides_are_still_paired() -> None:
    torn = contradicted(of=Settings.load(), correctness=0.9)
    one = of_half(FIRST, COSTS, 9, 0.95)
    alone, both = decide(torn), decide(replace(one, question=BOTH, other=torn))

    pairs = [[[one.claims[at].text for at in (c.claim, c.other)] for c in one.conflicts] for one in (alone, both)]
    assert alone.conflicts
    assert pairs[0] == pairs[1]


def test_given_a_half_with_a_claim_that_fails_a_check_then_nothing_of_it_is_shown() -> None:
    bad = of_half(SECOND, COSTS, 2, 0.9)
    bad = replace(
        bad, draft=replace(bad.draft, measured=draft(bad.draft.claims, [measured(quotes_missing=("lost",))]).measured)
    )

    assert COSTS not in decide(replace(of_half(FIRST, SENTENCE, 1, 0.95), question=BOTH, other=bad)).answer


def test_given_two_sure_halves_when_many_are_judged_at_once_then_both_are_shown() -> None:
    """A certificate that saw one half would count a right answer of the other as wrong."""
    two = replace(of_half(FIRST, SENTENCE, 1, 0.97), question=BOTH, other=of_half(SECOND, COSTS, 2, 0.8))

    assert replay_many([two], two.settings).shown.tolist() == [[True, True]]
    assert replay_many([two], two.settings.changed(min_correctness=0.9)).shown.tolist() == [[True, False]]


@given(drawn=any_measurements(), settings=chosen_settings)
def test_given_any_two_halves_then_each_shows_only_its_own(drawn: Measurements, settings: Settings) -> None:
    drawn = replace(drawn, settings=settings)
    one, alone = decide(drawn), decide(replace(drawn, other=None))
    two = decide(replace(drawn.other, settings=settings)) if drawn.other else alone

    assert one.answered == alone.answered
    if isinstance(one.outcome, Answer):
        shown = {claim for half in (alone, two) if isinstance(half.outcome, Answer) for claim in half.claims}
        assert set(one.claims) == shown
        assert one.confidence <= alone.confidence
    assert replay(drawn, settings).to_json() == one.to_json()


def of_day(day: str, text: str, number: int, sure: float) -> Measurements:
    half = of_half("deposit", text, number, sure)
    return replace(half, metadata={**half.metadata, AS_OF: day, OTHER_VERSIONS: 1})


@pytest.mark.parametrize(("first", "second"), [(0.97, 0.8), (0.8, 0.97)])
def test_given_versions_of_two_days_then_the_older_stands_first(first: float, second: float) -> None:
    older, newer = of_day("2024-12-31", SENTENCE, 1, first), of_day("2026-12-31", COSTS, 2, second)
    one, other = sorted((older, newer), key=lambda half: -(half.correctness or 0.0))

    decision = decide(replace(one, question="What changed in the deposit from 2024 to 2026?", other=other))

    assert decision.answer == f"{SENTENCE} [1] {COSTS} [2]"
    assert sorted(note[:25] for note in decision.notes if "as of" in note) == [
        "Searched as of 2024-12-31",
        "Searched as of 2026-12-31",
    ]


def test_given_one_version_that_is_not_sure_then_the_note_names_its_day() -> None:
    sure, unsure = of_day("2024-12-31", SENTENCE, 1, 0.97), of_day("2026-12-31", COSTS, 2, 0.2)

    decision = decide(replace(sure, question="What changed in the deposit from 2024 to 2026?", other=unsure))

    assert decision.answer == f"{SENTENCE} [1]"
    assert "Nothing sure enough was found for: 2026-12-31" in decision.notes[0]
