"""What a model wrote stands beside the records, and goes: with its record, with its documents, and rejected drafts after some days."""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from builders import SENTENCE, case, citation, claim, draft, hit, passage, settings

from rag_core.adapters.record_store import FILE, RecordStore
from rag_core.adapters.record_tables import MIGRATIONS
from rag_core.adapters.record_texts import MOST_CHARS
from rag_core.audit.citations import evidence_key
from rag_core.case import Case, ClaimAudit, LibraryFacts
from rag_core.errors import RecordsDamaged
from rag_core.generated import Attempt, Call, Generation, Step
from rag_core.labelled import LabelledQuestion
from rag_core.pipeline import decide
from rag_core.recorded import DELETED
from rag_core.walk import Outcome

SHOWN, REJECTED, MISQUOTED = "The period of notice is 30 days.", "Notice takes 90 days, as all know.", "quoted from elsewhere"
GOOD = ClaimAudit(overlap=1.0, similarity=1.0, support=0.99)
RUN = {"settings": settings(), "calibration": "c1", "model": "hash@float32", "generation": 3}


def attempt(text: str, audit: ClaimAudit = GOOD, *keys: str) -> Attempt:
    said = claim(passage(), text)
    asked = ("level:high", "round:0", "passages:1", *keys)
    drafted = replace(draft([said], [audit]), drafter="model", citations={evidence_key(e): citation(e) for e in said.evidence})
    return Attempt(asked, Call(Step.DRAFT, "compress/1 0a"), drafted, language="en", sentences=1, tokens=9)


def answered(generation: int = 3) -> Case:
    """A question whose first draft was rejected, and whose second one was shown."""
    of = settings(drafter="model", short_context_words=20)
    bad = attempt(REJECTED, replace(GOOD, quotes_missing=(MISQUOTED,)))
    asked = Generation(context_words=500, attempts=(bad, attempt(SHOWN, GOOD, "verbatim:0")))
    facts = LibraryFacts(documents=1, passages=1, pages=1, names={"d1": "contract.pdf"}, generation=generation)
    return replace(case(0.9, of=of, answerability=0.9, library=facts), generation=asked)


def page_text(*_: object) -> str:
    return SENTENCE


def texts_of(restored: Case) -> list[str]:
    assert restored.generation is not None
    return [one.text for drafted in restored.generation.attempts for one in drafted.draft.claims]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "library" / "default" / FILE


@pytest.fixture
def store(path: Path) -> Iterator[RecordStore]:
    opened = RecordStore(path)
    yield opened
    opened.close()


def raw(path: Path, statement: str, *values: object) -> list[tuple]:
    db = sqlite3.connect(path)
    try:
        with db:
            return db.execute(statement, values).fetchall()
    finally:
        db.close()


def age(path: Path, days: int) -> None:
    raw(path, "UPDATE model_texts SET at = ?", (datetime.now(UTC) - timedelta(days=days)).isoformat(timespec="seconds"))


def on_disk(path: Path) -> str:
    """Every text that stands anywhere in the tables, unpacked."""
    found = []
    for table, column in (("decisions", "record"), ("results", "record"), ("model_texts", "body")):
        found += [zlib.decompress(blob).decode() for (blob,) in raw(path, f"SELECT {column} FROM {table}")]
    return "\n".join(found)


def test_given_a_case_to_begin_with_then_one_draft_was_rejected_and_one_is_shown() -> None:
    assert [one.outcome for one in decide(answered()).attempts] == [Outcome.REJECTED, Outcome.SHOWN]
    assert decide(answered()).answer.startswith(SHOWN[:-1])


def test_given_a_models_answer_when_kept_and_read_then_all_it_wrote_is_there_and_it_is_decided_alike(store: RecordStore) -> None:
    id = store.keep(answered())

    read = store.case(id, page_text)

    assert read.generation == answered().generation
    assert decide(read) == decide(answered())


def test_given_rejected_drafts_when_their_days_are_over_then_they_are_gone_and_the_answer_and_the_replay_stay(
    store: RecordStore, path: Path
) -> None:
    id = store.keep(answered())
    age(path, 31)

    assert store.prune_rejected(32) == 0
    assert store.prune_rejected(30) == 1

    read = store.case(id, page_text)
    assert texts_of(read) == [DELETED, SHOWN]
    assert decide(read).answer == decide(answered()).answer
    assert [one.outcome for one in decide(read).attempts] == [Outcome.REJECTED, Outcome.SHOWN]
    assert REJECTED not in on_disk(path)
    assert MISQUOTED not in on_disk(path)


def test_given_old_decisions_when_pruned_then_their_texts_go_with_them_and_rejected_ones_by_their_own_days(
    store: RecordStore, path: Path
) -> None:
    store.keep(answered())
    raw(path, "UPDATE decisions SET at = ?", (datetime.now(UTC) - timedelta(days=91)).isoformat(timespec="seconds"))
    young = store.keep(answered())
    age(path, 31)

    assert store.prune(90, 100, 30) == 1

    assert texts_of(store.case(young, page_text)) == [DELETED, SHOWN]
    assert raw(path, "SELECT rejected FROM model_texts") == [(0,)]


def test_given_a_forgotten_decision_then_its_texts_are_gone(store: RecordStore, path: Path) -> None:
    store.forget_decision(store.keep(answered()))

    assert raw(path, "SELECT count(*) FROM model_texts") == [(0,)]


def test_given_a_deleted_document_then_no_text_of_a_model_that_saw_it_is_left_and_the_record_replays(
    store: RecordStore, path: Path
) -> None:
    """Also a document that was retrieved for a later round only, and cited nowhere."""
    later = hit(0.8, of=passage(2, document="d2"))
    one = answered()
    assert one.generation is not None
    id = store.keep(replace(one, generation=replace(one.generation, expanded=((*one.hits, later),))))
    other = store.keep(replace(answered(), question="Another?"))

    store.forget_documents(["d2"], 3)

    read = store.case(id, page_text)
    assert texts_of(read) == [DELETED, DELETED]
    assert decide(read).answer == f"{DELETED} [1]"
    assert [one.outcome for one in decide(read).attempts] == [Outcome.REJECTED, Outcome.SHOWN]
    assert texts_of(store.case(other, page_text)) == [REJECTED, SHOWN]
    store.forget_documents(["d1", "d3"], 3)
    assert raw(path, "SELECT count(*) FROM model_texts") == [(0,)]


def test_given_a_question_that_was_under_way_while_its_document_was_deleted_then_its_words_are_not_kept(store: RecordStore) -> None:
    store.keep(case(0.9))
    store.forget_documents(["d1"], 3)

    under_way, added_again = store.keep(answered(3)), store.keep(answered(5))

    assert texts_of(store.case(under_way, page_text)) == [DELETED, DELETED]
    assert texts_of(store.case(added_again, page_text)) == [REJECTED, SHOWN]


def test_given_deleted_texts_then_no_byte_of_them_is_left_in_any_file(store: RecordStore, path: Path) -> None:
    """Compressed, they would not be found: what is looked for is the body as it was stored."""
    store.keep(answered())
    bodies = [body for (body,) in raw(path, "SELECT body FROM model_texts")]
    assert any(bodies[0] in file.read_bytes() for file in path.parent.iterdir())

    store.forget_documents(["d1"], 3)

    assert len(bodies) == 2
    assert not any(body in file.read_bytes() for body in bodies for file in path.parent.iterdir())


def test_given_nothing_stored_when_documents_are_forgotten_and_drafts_pruned_then_no_file_appears(store: RecordStore, path: Path) -> None:
    store.forget_documents(["d1"], 1)

    assert store.prune_rejected(30) == 0
    assert not path.parent.exists()


def test_given_a_result_of_a_run_then_its_texts_come_back_with_it_go_with_it_and_are_copied_with_it(store: RecordStore, path: Path) -> None:
    questions = [LabelledQuestion("q1", "What?", True), LabelledQuestion("q2", "Who?", True)]
    first, second = (store.begin_run(name, "mine", questions, **RUN) for name in ("a", "b"))  # type: ignore[arg-type]
    store.add_result(first.id, "q1", answered())
    store.copy_result(second.id, "q2", first.id, "q1")

    assert texts_of(store.results(first.id, page_text)["q1"]) == [REJECTED, SHOWN]
    assert texts_of(store.results(second.id, page_text)["q2"]) == [REJECTED, SHOWN]

    store.add_result(first.id, "q1", answered())  # replaced, not doubled
    assert raw(path, "SELECT run, question, rejected FROM model_texts ORDER BY 1, 3") == [
        (first.id, "q1", 0), (first.id, "q1", 1), (second.id, "q2", 0), (second.id, "q2", 1),
    ]  # fmt: skip
    store.delete_run(first.id)
    assert raw(path, "SELECT DISTINCT run FROM model_texts") == [(second.id,)]
    store.forget_documents(["d1"], 3)
    assert texts_of(store.results(second.id, page_text)["q2"]) == [DELETED, DELETED]


def test_given_a_result_for_a_deleted_run_then_nothing_of_it_is_kept(store: RecordStore, path: Path) -> None:
    store.keep(case(0.9))

    store.add_result(7, "q1", answered())
    store.copy_result(7, "q1", 8, "q1")

    assert raw(path, "SELECT count(*) FROM model_texts") == [(0,)]


@pytest.mark.parametrize("text", ["'; DROP TABLE decisions; --", "\ud800", "a\0b", "😀" * 50])
def test_given_hostile_text_from_a_model_then_it_comes_back_as_text(store: RecordStore, text: str) -> None:
    one = answered()
    assert one.generation is not None
    hostile = replace(one, generation=replace(one.generation, attempts=(attempt(text, replace(GOOD, quotes_missing=(text,))),)))

    assert texts_of(store.case(store.keep(hostile), page_text)) == [text]


def test_given_a_model_that_writes_without_end_then_what_is_kept_is_bounded_and_the_rest_counts_as_deleted(
    store: RecordStore, path: Path
) -> None:
    one = answered()
    long = tuple(attempt(f"{n} " + "word " * 1500, replace(GOOD, quotes_missing=("lost",))) for n in range(6))
    id = store.keep(replace(one, generation=Generation(500, attempts=long)))

    texts = [json.loads(zlib.decompress(body)) for (body,) in raw(path, "SELECT body FROM model_texts")]

    assert sum(len(text) for body in texts for text in body.values()) <= MOST_CHARS
    assert [text == DELETED for text in texts_of(store.case(id, page_text))] == [False, False, True, True, True, True]


def test_given_texts_that_were_overwritten_then_it_is_damage(store: RecordStore, path: Path) -> None:
    id = store.keep(answered())
    for body in (b"junk", zlib.compress(b"[1]"), zlib.compress(b'{"a": 1}')):
        raw(path, "UPDATE model_texts SET body = ?", body)

        with pytest.raises(RecordsDamaged):
            store.case(id)


def test_given_a_file_from_before_there_were_models_when_written_then_it_takes_them_and_keeps_what_it_has(path: Path) -> None:
    path.parent.mkdir(parents=True)
    db = sqlite3.connect(path)
    for statement in MIGRATIONS[0]:
        db.execute(statement)
    db.execute("PRAGMA user_version = 1")
    db.execute("INSERT INTO sets (name, questions) VALUES ('mine', ?)", (zlib.compress(b"[]"),))
    db.commit()
    db.close()

    store = RecordStore(path)

    assert texts_of(store.case(store.keep(answered()), page_text)) == [REJECTED, SHOWN]
    assert store.sets() == ("mine",)
    store.close()
