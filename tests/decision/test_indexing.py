"""A decision on documents whose vectors were still being made: it says so in one sentence, and is surer of nothing for
what is missing.
"""

from __future__ import annotations

import json

import pytest
from builders import measurements, settings
from hypothesis import given
from hypothesis import strategies as st

from rag_core.decision.batch import replay_many
from rag_core.decision.decide import decide, replay
from rag_core.decision.notes import WHEN_INDEXED, WHEN_READ, indexing_in_words
from rag_core.domain.indexing import ALLOWANCE, INDEXING, Indexing, indexing_of
from rag_core.domain.measurements import Measurements
from rag_core.domain.status import ConfidenceLevel
from rag_core.records import from_record, to_record
from rag_core.settings import Settings

HALF = Indexing(1, 1, 200, 100)
READING = Indexing(1, 1, 200, 100, pages=300, read=120)  # of pages that were read


def waiting(state: Indexing | None = HALF, of: Settings | None = None, **fields: object) -> Measurements:
    metadata = {"asked_on": "2026-11-20", **({INDEXING: state.to_json()} if state else {})}
    return measurements(0.9, 0.8, of=of, metadata=metadata, **fields)


@pytest.mark.parametrize(
    ("state", "said"),
    [
        (
            HALF,
            "The document is still being indexed: 50 % of its passages can be found by meaning, all of them by words.",
        ),
        (
            Indexing(1, 3, 3, 2),
            "1 of 3 documents is still being indexed: 66 % of its passages can be found by meaning, all of them by "
            "words.",
        ),
        (
            Indexing(2, 3, 500, 0),
            "2 of 3 documents are still being indexed: 0 % of their passages can be found by meaning, all of them by "
            "words.",
        ),
        (
            READING,
            "The document is still being read: 120 of 300 pages can be searched so far, "
            "50 % of their passages by meaning, all of them by words.",
        ),
        (
            Indexing(1, 3, 9, 0, pages=40, read=32),
            "1 of 3 documents is still being read: 32 of 40 pages can be searched so far, "
            "0 % of their passages by meaning, all of them by words.",
        ),
        (
            Indexing(3, 8, 400, 100, pages=60, read=32, reading=1),
            "3 of 8 documents are still being indexed: 25 % of their passages can be found by meaning, all of them by "
            "words. "
            "1 of them is still being read: 32 of 60 pages can be searched so far.",
        ),
        (
            Indexing(3, 8, 400, 100, pages=120, read=64, reading=2),
            "3 of 8 documents are still being indexed: 25 % of their passages can be found by meaning, all of them by "
            "words. "
            "2 of them are still being read: 64 of 120 pages can be searched so far.",
        ),
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


def test_given_many_records_then_their_levels_are_capped_as_those_of_one() -> None:
    """The columns judge as the one by one do."""
    of = settings(main_gate="correctness")
    asked = [waiting(state, of, correctness=0.99) for state in (None, HALF)]

    levels = list(replay_many(asked, of).level)

    assert (
        levels == [replay(one, of).confidence_level for one in asked] == [ConfidenceLevel.HIGH, ConfidenceLevel.MEDIUM]
    )


def test_given_a_refusal_then_asking_again_is_its_first_suggestion() -> None:
    strict = settings(min_top_cosine=1.0, top_cosine_mode="enforce")

    refused = decide(waiting(of=strict))
    assert not refused.answered
    assert refused.suggestions[0] == WHEN_INDEXED
    assert WHEN_INDEXED not in decide(waiting(None, of=strict)).suggestions
    assert decide(waiting(READING, of=strict)).suggestions[0] == WHEN_READ


@given(passages=st.integers(1, 10**6), share=st.floats(0, 1), probability=st.floats(0, 1))
def test_an_estimate_is_never_raised_and_lowered_by_what_is_missing_alone(
    passages: int, share: float, probability: float
) -> None:
    state = Indexing(1, 1, passages, int(share * passages))

    lowered = state.lowered(probability)

    assert lowered is not None
    assert 0.0 <= lowered <= probability
    assert probability - lowered <= ALLOWANCE + 1e-12
    assert Indexing(1, 1, passages, passages).lowered(probability) == probability
    assert state.lowered(None) is None


def test_given_pages_that_are_not_read_then_an_estimate_is_lowered_as_if_nothing_was_embedded() -> None:
    assert READING.lowered(0.8) == pytest.approx(0.8 - ALLOWANCE)
    assert Indexing(1, 1, 200, 200, pages=300, read=120).lowered(0.8) == pytest.approx(0.8 - ALLOWANCE)
    assert READING.lowered(0.05) == 0.0
    assert READING.lowered(None) is None


@pytest.mark.parametrize("state", [HALF, READING, Indexing(3, 8, 400, 100, pages=60, read=32, reading=1)])
def test_given_a_record_then_it_names_the_state_and_replays_with_it(state: Indexing) -> None:
    measured = waiting(state)

    again = from_record(json.loads(json.dumps(to_record(measured))))

    assert indexing_of(again.metadata) == state
    assert replay(again, again.settings.changed(min_correctness=0.3)).metadata[INDEXING] == state.to_json()


def test_given_a_document_that_is_read_then_its_state_has_the_four_numbers_of_before() -> None:
    assert HALF.to_json() == {"documents": 1, "searched": 1, "passages": 200, "embedded": 100}
    assert READING.to_json() == HALF.to_json() | {"pages": 300, "read": 120}


@pytest.mark.parametrize("numbers", [(0, 1, 5, 0), (2, 1, 5, 0), (1, 1, 5, 6), (1, 1, 5, -1), (1, 1, 0, 0)])
def test_given_numbers_that_cannot_be_then_there_is_no_such_state(numbers: tuple[int, int, int, int]) -> None:
    with pytest.raises(ValueError, match="Indexing needs"):
        Indexing(*numbers)


@pytest.mark.parametrize(("documents", "pages", "reading"), [(2, 10, 2), (2, 10, 3), (2, 10, -1), (2, 0, 1)])
def test_given_documents_that_are_read_beside_none_that_waits_then_there_is_no_such_state(
    documents: int, pages: int, reading: int
) -> None:
    with pytest.raises(ValueError, match="Some of the documents"):
        Indexing(documents, 9, 5, 0, pages, pages // 2, reading)


@pytest.mark.parametrize(("pages", "read"), [(10, 10), (10, 11), (10, 0), (0, 3), (10, -1)])
def test_given_pages_that_cannot_be_then_there_is_no_such_state(pages: int, read: int) -> None:
    with pytest.raises(ValueError, match="some pages are read, and not all"):
        Indexing(1, 1, 5, 0, pages, read)
