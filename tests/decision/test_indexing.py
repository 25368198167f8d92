"""A decision on documents that were still being read: it says so in one sentence, and is surer of nothing for what is
missing.
"""

from __future__ import annotations

import json

import pytest
from builders import measurements, settings
from hypothesis import given
from hypothesis import strategies as st

from rag_core.decision.decide import decide, replay
from rag_core.decision.notes import WHEN_READ, indexing_in_words
from rag_core.domain.indexing import ALLOWANCE, INDEXING, Indexing, indexing_of
from rag_core.domain.measurements import Measurements
from rag_core.domain.status import ConfidenceLevel
from rag_core.records import from_record, to_record
from rag_core.settings import Settings

READING = Indexing(1, 1, pages=300, read=120)


def waiting(state: Indexing | None = READING, of: Settings | None = None, **fields: object) -> Measurements:
    metadata = {"asked_on": "2026-11-20", **({INDEXING: state.to_json()} if state else {})}
    return measurements(0.9, 0.8, of=of, metadata=metadata, **fields)


@pytest.mark.parametrize(
    ("state", "said"),
    [
        (READING, "The document is still being read: pages 1 to 120 of 300 can be searched so far."),
        (Indexing(1, 3, 40, 32), "1 of 3 documents is still being read: 32 of 40 pages can be searched so far."),
        (Indexing(2, 8, 120, 64), "2 of 8 documents are still being read: 64 of 120 pages can be searched so far."),
        (None, ""),
    ],
)
def test_given_how_far_it_is_then_one_sentence_says_so(state: Indexing | None, said: str) -> None:
    measured = waiting(state)

    assert indexing_in_words(measured) == said
    assert (said in decide(measured).notes) is bool(said)
    assert indexing_of(decide(measured).metadata) == state


def test_given_an_answer_then_its_level_is_medium_at_most() -> None:
    sure = {"correctness": 0.99, "of": settings(main_gate="correctness")}

    assert decide(waiting(None, **sure)).confidence_level is ConfidenceLevel.HIGH
    assert decide(waiting(**sure)).confidence_level is ConfidenceLevel.MEDIUM
    unsure = {"correctness": 0.01, "of": settings(main_gate="correctness")}
    assert decide(waiting(**unsure)).confidence_level is decide(waiting(None, **unsure)).confidence_level


def test_given_a_refusal_then_asking_again_is_its_first_suggestion() -> None:
    strict = settings(min_top_cosine=1.0, top_cosine_mode="enforce")

    refused = decide(waiting(of=strict))
    assert not refused.answered
    assert refused.suggestions[0] == WHEN_READ
    assert WHEN_READ not in decide(waiting(None, of=strict)).suggestions


@given(probability=st.floats(0, 1))
def test_an_estimate_is_lowered_and_never_below_zero(probability: float) -> None:
    assert READING.lowered(probability) == pytest.approx(max(0.0, probability - ALLOWANCE))


def test_given_a_record_then_it_names_the_state_and_replays_with_it() -> None:
    measured = waiting(READING)

    again = from_record(json.loads(json.dumps(to_record(measured))))

    assert indexing_of(again.metadata) == READING
    assert READING.to_json() == {"documents": 1, "searched": 1, "pages": 300, "read": 120}
    assert replay(again, again.settings.changed(min_correctness=0.3)).metadata[INDEXING] == READING.to_json()


@pytest.mark.parametrize(
    "numbers", [(0, 1, 5, 1), (2, 1, 5, 1), (1, 1, 10, 10), (1, 1, 10, 11), (1, 1, 10, 0), (1, 1, 10, -1), (1, 1, 0, 0)]
)
def test_given_numbers_that_cannot_be_then_there_is_no_such_state(numbers: tuple[int, int, int, int]) -> None:
    with pytest.raises(ValueError, match="are being read"):
        Indexing(*numbers)
