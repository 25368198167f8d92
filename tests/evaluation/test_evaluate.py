"""Running a labelled set, and what the labels say of the outcomes; over a real library, store and index, with a small
embedder.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from builders import settings
from library.library_kit import HashEmbedder, library, text

from rag_core.adapters.records.store import RecordStore
from rag_core.decision.batch import Outcomes, ReplaySet, replay_many
from rag_core.decision.tools import Tools
from rag_core.domain.measurements import Measurements
from rag_core.engine import Engine
from rag_core.evaluation import (
    Marks,
    Rate,
    answer_hits,
    begin,
    failing,
    is_current,
    marks,
    paired,
    report,
    run,
)
from rag_core.evaluation.labelled import LabelledQuestion, Place
from rag_core.evaluation.labelled_files import read_labelled
from rag_core.evaluation.metrics import clopper_pearson, mcnemar
from rag_core.records.stored import RunHead
from rag_core.settings import Settings
from rag_core.wiring import records

ANSWERS = settings()  # nothing that can be switched refuses
REFUSES = settings(top_cosine_mode="enforce", min_top_cosine=1.0)
TEXTS = {
    "lease": "The notice period of the lease is 30 days. The rent is due on the first of each month.",
    "meter": "The flow meter is calibrated every 5 years. Its display shows cubic metres.",
}
QUESTIONS = (
    LabelledQuestion(
        "q1", "What is the notice period of the lease?", True, ("30 days",), places=(Place("lease", 1),), language="en"
    ),
    LabelledQuestion(
        "q2", "How often is the flow meter calibrated?", True, ("every 7 years",), ("meter",), kind="fact"
    ),
    LabelledQuestion("q3", "What is the capital of France?", False, kind="off_topic"),
    LabelledQuestion("q4", "When is the rent due?", True),
    LabelledQuestion("q5", "What is in the lost document?", True, ("x",), ("lost.pdf",)),
)


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    embedder = HashEmbedder()
    made = Engine(library(tmp_path, embedder=embedder), Tools(embedder))
    made.library.add([text(id, body) for id, body in TEXTS.items()], Settings.load())
    return made


@pytest.fixture
def store(tmp_path: Path) -> RecordStore:
    return records(tmp_path, "default")


def begun(engine: Engine, store: RecordStore, s: Settings = ANSWERS, name: str = "first") -> RunHead:
    return begin(engine, name, "set", QUESTIONS, s, store)


def records_of(engine: Engine, store: RecordStore, head: RunHead) -> list[Measurements]:
    found = store.results(head.id, engine.library.snapshot.page_text)
    return [found[question.id] for question in QUESTIONS]


def judged(engine: Engine, store: RecordStore, s: Settings = ANSWERS) -> tuple[list[Measurements], Outcomes, Marks]:
    head = begun(engine, store)
    run(engine, head, store)
    records = records_of(engine, store, head)
    outcomes = replay_many(ReplaySet.of(records), s)
    return records, outcomes, marks(QUESTIONS, outcomes, answer_hits(QUESTIONS, records), records)


# running


def test_given_a_set_when_run_then_every_question_has_a_result_and_a_failure_is_one_too(
    engine: Engine, store: RecordStore
) -> None:
    told: list[tuple[str, int, int]] = []

    ran = run(engine, begun(engine, store), store, progress=lambda *step: told.append(step))

    assert (ran.measured, ran.reused, ran.failed, ran.total, ran.cancelled) == (5, 0, 1, 5, False)
    assert told == [("questions", done, 5) for done in range(1, 6)]
    (head,) = store.runs()
    assert (head.done, head.total) == (5, 5)
    records = records_of(engine, store, head)
    assert [bool(measurements.failure) for measurements in records] == [False, False, False, False, True]
    assert "lost.pdf" in records[4].failure
    assert set(records[1].library.names.values()) == {"meter"}  # searched where its label says


def test_given_a_run_that_is_stopped_when_resumed_then_nothing_is_measured_twice(
    engine: Engine, store: RecordStore
) -> None:
    head, asked = begun(engine, store), iter([False, False, True])

    first = run(engine, head, store, cancelled=lambda: next(asked))
    embedded = engine.tools.embedder.embedded  # type: ignore[attr-defined]
    second = run(engine, store.run(head.id), store)

    assert (first.measured, first.cancelled) == (2, True)
    assert (second.measured, second.reused, second.cancelled) == (3, 2, False)
    assert engine.tools.embedder.embedded > embedded  # type: ignore[attr-defined]
    third = run(engine, store.run(head.id), store)
    assert (third.measured, third.reused) == (1, 4)  # what could not be measured is tried again


def test_given_other_judging_settings_when_run_again_then_the_other_runs_records_are_taken(
    engine: Engine, store: RecordStore
) -> None:
    first = begun(engine, store)
    run(engine, first, store)
    embedded = engine.tools.embedder.embedded  # type: ignore[attr-defined]

    ran = run(engine, second := begun(engine, store, REFUSES, "second"), store)

    assert (ran.measured, ran.reused) == (1, 4)
    assert engine.tools.embedder.embedded == embedded  # type: ignore[attr-defined]
    assert [measurements.hits for measurements in records_of(engine, store, second)] == [
        measurements.hits for measurements in records_of(engine, store, first)
    ]


def test_given_a_changed_library_when_a_run_is_resumed_then_it_is_measured_anew_and_says_under_what(
    engine: Engine, store: RecordStore
) -> None:
    head = begun(engine, store)
    run(engine, head, store)
    engine.library.add([text("lost.pdf", "The lost document holds x.")], Settings.load())
    assert not is_current(store.run(head.id), engine)

    ran = run(engine, store.run(head.id), store)

    assert (ran.measured, ran.reused, ran.failed) == (5, 0, 0)
    assert is_current(store.run(head.id), engine)
    assert store.run(head.id).version == engine.library.snapshot.version > head.version
    assert {measurements.library.version for measurements in records_of(engine, store, head)} == {
        engine.library.snapshot.version
    }


# reporting


def test_given_outcomes_when_reported_then_each_error_is_counted_against_its_own_questions(
    engine: Engine, store: RecordStore
) -> None:
    """S1-13: hallucination rate and false-negative rate are measured."""
    records, outcomes, marked = judged(engine, store)

    found = report(QUESTIONS, records, outcomes, marked)

    assert (found.questions, found.not_measured) == (5, 1)
    assert (found.false_refusals.k, found.false_refusals.n) == (0, 3)
    assert (found.wrong_answers.k, found.wrong_answers.n) == (1, 1)
    assert (found.missed_answers.k, found.missed_answers.n) == (1, 2)  # q4 names no answer; q2's is another one
    assert (found.answered.k, found.answered.n) == (4, 4)
    assert found.wrong_answers.interval == clopper_pearson(1, 1)
    assert set(found.by["kind"]) == {"fact", "off_topic"}
    assert found.by["kind"]["fact"][2] == Rate(1, 1)
    assert found.by["document"]["lease"][0] == Rate(0, 1)
    assert {"retrieve", "total"} <= set(found.latency)
    assert all(0 <= p50 <= p95 for p50, p95 in found.latency.values())
    json.dumps(found.to_json())


def test_given_a_document_that_was_deleted_when_compared_then_its_answers_are_not_called_missed(
    engine: Engine, store: RecordStore
) -> None:
    head = begun(engine, store)
    run(engine, head, store)
    engine.library.delete(*(document.id for document in engine.library.snapshot.find("meter")))
    records = records_of(engine, store, head)

    marked = marks(QUESTIONS, replay_many(records, ANSWERS), answer_hits(QUESTIONS, records), records)

    assert marked.answered[1]
    assert not marked.comparable[1]
    assert not marked.missed[1]


def test_given_failing_questions_when_exported_then_the_file_says_what_happened_and_can_be_run_again(
    engine: Engine, store: RecordStore
) -> None:
    records, _, marked = judged(engine, store)

    exported = failing(QUESTIONS, records, ANSWERS, marked)

    rows = [json.loads(line) for line in exported.splitlines()]
    assert [(row["id"], row["happened"]["error"]) for row in rows] == [
        ("q2", "missed_answer"),
        ("q3", "wrong_answer"),
        ("q5", "not_measured"),
    ]
    assert rows[0]["happened"]["cited"] == [{"document": "meter", "page": 1}]
    again, problems = read_labelled(exported, "failing.jsonl")
    assert problems == ()
    assert again == (QUESTIONS[1], QUESTIONS[2], QUESTIONS[4])


# comparing


def flags(*values: int) -> np.ndarray:
    return np.array(values, dtype=np.bool_)


def marked_as(answerable: np.ndarray, answered: np.ndarray, measured: np.ndarray | None = None) -> Marks:
    none = np.zeros_like(answerable)
    return Marks(answerable, ~none if measured is None else measured, answered, none, none, none, none)


def test_given_two_ways_when_paired_then_only_questions_that_both_measured_count() -> None:
    answerable = flags(1, 1, 1, 0, 0, 1)
    first = marked_as(answerable, flags(1, 1, 0, 0, 1, 1), flags(1, 1, 1, 1, 1, 0))
    second = marked_as(answerable, flags(1, 0, 1, 0, 0, 0))

    found = paired(first, second)

    assert (found.compared, found.only_first, found.only_second) == (5, 1, 2)
    assert found.p == mcnemar(1, 2)
    assert found.differ.tolist() == [1, 2, 4]
    assert paired(second, first).p == found.p
