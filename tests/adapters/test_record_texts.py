"""What a model wrote stands beside the records, and goes: with its record, with its documents, and rejected drafts
after some days.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from builders import (
    SENTENCE,
    HashEmbedder,
    citation,
    claim,
    draft,
    hit,
    measured_again,
    measurements,
    passage,
    settings,
)
from builders import measured as measured_claim
from test_record_store import RUN, raw

from rag_core import wiring
from rag_core.adapters.records.store import FILE, RecordStore
from rag_core.adapters.records.tables import MAX_CHARS, SCHEMA, VERSION
from rag_core.decision.decide import decide
from rag_core.decision.progress import Outcome
from rag_core.domain.answer import evidence_key
from rag_core.domain.drafts import ClaimMeasurement, Draft
from rag_core.domain.llm_trace import Attempt, Call, LlmTrace, Step
from rag_core.domain.measurements import LibraryFacts, Measurements
from rag_core.domain.status import Reason
from rag_core.errors import RecordsDamaged
from rag_core.evaluation.labelled import LabelledQuestion
from rag_core.library.disk.database import Database
from rag_core.library.stored.sources import text_source
from rag_core.records import DELETED

SHOWN, REJECTED, MISQUOTED = (
    "The period of notice is 30 days.",
    "Notice takes 90 days, as all know.",
    "quoted from elsewhere",
)
GOOD = measured_claim(overlap=1.0, similarity=1.0, support=0.99)


def attempt(text: str, audit: ClaimMeasurement = GOOD, *keys: str) -> Attempt:
    said = claim(passage(), text)
    asked = ("level:high", "round:0", "passages:1", *keys)
    drafted = replace(
        draft([said], [audit]), drafter="model", citations={evidence_key(e): citation(e) for e in said.evidence}
    )
    return Attempt(asked, Call(Step.DRAFT, "compress/1 0a"), drafted, language="en", sentences=1, tokens=9)


def answered(version: int = 3) -> Measurements:
    """A question whose first draft was rejected, and whose second one was shown."""
    of = settings(drafter="model", rewording="audited", short_context_words=20)
    bad = attempt(REJECTED, replace(GOOD, quotes_missing=(MISQUOTED,)))
    asked = LlmTrace(context_words=500, attempts=(bad, attempt(SHOWN, GOOD, "verbatim:0")))
    facts = LibraryFacts(documents=1, passages=1, pages=1, names={"d1": "contract.pdf"}, version=version)
    return replace(measurements(0.9, of=of, correctness=0.9, library=facts), llm_trace=asked)


def page_text(*_: object) -> str:
    return SENTENCE


def texts_of(restored: Measurements) -> list[str]:
    return [one.text for drafted in restored.llm_trace.attempts for one in drafted.draft.claims]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "library" / "default" / FILE


@pytest.fixture
def store(path: Path) -> Iterator[RecordStore]:
    opened = RecordStore(path)
    yield opened
    opened.close()


def age(path: Path, days: int) -> None:
    at = (datetime.now(UTC) - timedelta(days=days)).isoformat(timespec="seconds")
    with Database(path, SCHEMA, VERSION).writing() as db:
        db.execute("UPDATE model_texts SET at = ?", (at,))


def on_disk(path: Path) -> str:
    """Every text that stands anywhere in the tables, unpacked."""
    found = []
    for table, column in (("decisions", "record"), ("results", "record"), ("model_texts", "body")):
        found += [zlib.decompress(blob).decode() for (blob,) in raw(path, f"SELECT {column} FROM {table}")]
    return "\n".join(found)


def test_given_a_models_answer_when_read_then_all_it_wrote_is_there(store: RecordStore) -> None:
    id = store.keep(answered())

    read = store.measurements(id, page_text)

    assert read.llm_trace == answered().llm_trace
    assert decide(read) == decide(answered())


def test_given_rejected_drafts_when_their_days_are_over_then_they_are_gone(store: RecordStore, path: Path) -> None:
    id = store.keep(answered())
    age(path, 31)

    assert store.prune_rejected(32) == 0
    assert store.prune_rejected(30) == 1

    read = store.measurements(id, page_text)
    assert texts_of(read) == [DELETED, SHOWN]
    assert decide(read).answer == decide(answered()).answer
    assert [one.outcome for one in decide(read).attempts] == [Outcome.REJECTED, Outcome.SHOWN]
    assert REJECTED not in on_disk(path)
    assert MISQUOTED not in on_disk(path)


def test_given_a_model_that_declined_then_its_reason_stays(store: RecordStore, path: Path) -> None:
    one = answered()
    declined = replace(one.llm_trace.attempts[1], draft=Draft(), problem=Reason.MODEL_REFUSED, refusal="Nothing fits.")
    id = store.keep(replace(one, llm_trace=replace(one.llm_trace, attempts=(one.llm_trace.attempts[0], declined))))
    age(path, 31)

    store.prune_rejected(30)

    assert decide(store.measurements(id, page_text)).attempts[-1].attempt.refusal == "Nothing fits."


def test_given_old_decisions_when_pruned_then_their_texts_go_with_them(store: RecordStore, path: Path) -> None:
    store.keep(answered())
    raw(path, "UPDATE decisions SET at = ?", (datetime.now(UTC) - timedelta(days=91)).isoformat(timespec="seconds"))
    young = store.keep(answered())
    age(path, 31)

    assert store.prune(90, 100, 30) == 1

    assert texts_of(store.measurements(young, page_text)) == [DELETED, SHOWN]
    assert raw(path, "SELECT rejected FROM model_texts") == [(0,)]


def test_given_a_forgotten_decision_then_its_texts_are_gone(store: RecordStore, path: Path) -> None:
    store.forget_decision(store.keep(answered()))

    assert raw(path, "SELECT count(*) FROM model_texts") == [(0,)]


def test_given_a_deleted_document_then_no_text_of_a_model_that_saw_it_is_left(store: RecordStore, path: Path) -> None:
    """Also a document that was retrieved for a later round only, and cited nowhere."""
    later = hit(0.8, of=passage(2, document="d2"))
    one = answered()
    assert one.llm_trace is not None
    id = store.keep(replace(one, llm_trace=replace(one.llm_trace, expanded=((*one.hits, later),))))
    other = store.keep(replace(answered(), question="Another?"))

    store.forget_documents(["d2"], 3)

    read = store.measurements(id, page_text)
    assert texts_of(read) == [DELETED, DELETED]
    assert decide(read).answer == f"{DELETED} [1]"
    assert [one.outcome for one in decide(read).attempts] == [Outcome.REJECTED, Outcome.SHOWN]
    assert texts_of(store.measurements(other, page_text)) == [REJECTED, SHOWN]
    store.forget_documents(["d1", "d3"], 3)
    assert raw(path, "SELECT count(*) FROM model_texts") == [(0,)]


def test_given_a_question_under_way_while_its_document_went_then_no_words_are_kept(store: RecordStore) -> None:
    store.keep(measurements(0.9))
    store.forget_documents(["d1"], 3)

    under_way, added_again = store.keep(answered(3)), store.keep(answered(5))

    assert texts_of(store.measurements(under_way, page_text)) == [DELETED, DELETED]
    assert texts_of(store.measurements(added_again, page_text)) == [REJECTED, SHOWN]


def test_given_deleted_texts_then_no_byte_of_them_is_left_in_any_file(store: RecordStore, path: Path) -> None:
    """Compressed, they would not be found: what is looked for is the body as it was stored."""
    store.keep(answered())
    bodies = [body for (body,) in raw(path, "SELECT body FROM model_texts")]
    assert any(bodies[0] in file.read_bytes() for file in path.parent.iterdir())

    store.forget_documents(["d1"], 3)

    assert len(bodies) == 2
    assert not any(body in file.read_bytes() for body in bodies for file in path.parent.iterdir())


def test_given_nothing_stored_when_documents_are_forgotten_then_no_file_appears(store: RecordStore, path: Path) -> None:
    store.forget_documents(["d1"], 1)

    assert store.prune_rejected(30) == 0
    assert not path.parent.exists()


def test_given_a_result_then_its_texts_come_go_and_are_copied_with_it(store: RecordStore, path: Path) -> None:
    questions = [LabelledQuestion("q1", "What?", True), LabelledQuestion("q2", "Who?", True)]
    first, second = (store.begin_run(name, "mine", questions, **RUN) for name in ("a", "b"))  # type: ignore[arg-type]
    store.add_result(first.id, "q1", answered())
    store.copy_result(second.id, "q2", first.id, "q1")

    assert texts_of(store.results(first.id, page_text)["q1"]) == [REJECTED, SHOWN]
    assert texts_of(store.results(second.id, page_text)["q2"]) == [REJECTED, SHOWN]

    store.add_result(first.id, "q1", answered())  # replaced, not doubled
    assert raw(path, "SELECT run, question, rejected FROM model_texts ORDER BY 1, 3") == [
        (first.id, "q1", 0),
        (first.id, "q1", 1),
        (second.id, "q2", 0),
        (second.id, "q2", 1),
    ]
    store.delete_run(first.id)
    assert raw(path, "SELECT DISTINCT run FROM model_texts") == [(second.id,)]
    store.forget_documents(["d1"], 3)
    assert texts_of(store.results(second.id, page_text)["q2"]) == [DELETED, DELETED]


def test_given_a_result_for_a_deleted_run_then_nothing_of_it_is_kept(store: RecordStore, path: Path) -> None:
    store.keep(measurements(0.9))

    store.add_result(7, "q1", answered())
    store.copy_result(7, "q1", 8, "q1")

    assert raw(path, "SELECT count(*) FROM model_texts") == [(0,)]


@pytest.mark.parametrize("text", ["'; DROP TABLE decisions; --", "\ud800", "a\0b", "😀" * 50])
def test_given_hostile_text_from_a_model_then_it_comes_back_as_text(store: RecordStore, text: str) -> None:
    one = answered()
    assert one.llm_trace is not None
    hostile = replace(
        one, llm_trace=replace(one.llm_trace, attempts=(attempt(text, replace(GOOD, quotes_missing=(text,))),))
    )

    assert texts_of(store.measurements(store.keep(hostile), page_text)) == [text]


def test_given_a_model_that_writes_without_end_then_what_is_kept_is_bounded(store: RecordStore, path: Path) -> None:
    one = answered()
    long = tuple(attempt(f"{n} " + "word " * 1500, replace(GOOD, quotes_missing=("lost",))) for n in range(6))
    id = store.keep(replace(one, llm_trace=LlmTrace(500, attempts=long)))

    texts = [json.loads(zlib.decompress(body)) for (body,) in raw(path, "SELECT body FROM model_texts")]

    assert sum(len(text) for body in texts for text in body.values()) <= MAX_CHARS
    assert [text == DELETED for text in texts_of(store.measurements(id, page_text))] == [
        False,
        False,
        True,
        True,
        True,
        True,
    ]


def test_given_texts_that_were_overwritten_then_it_is_damage(store: RecordStore, path: Path) -> None:
    id = store.keep(answered())
    for body in (b"junk", zlib.compress(b"[1]"), zlib.compress(b'{"a": 1}')):
        raw(path, "UPDATE model_texts SET body = ?", body)

        with pytest.raises(RecordsDamaged):
            store.measurements(id)


# with the library


def measured_on(document: str, version: int) -> Measurements:
    """The measurements of `answered`, about a document of this library."""
    one = answered(version)

    def moved(drafted: Draft) -> Draft:
        claims = tuple(
            replace(c, evidence=tuple(replace(e, document=document) for e in c.evidence)) for c in drafted.claims
        )
        return replace(
            measured_again(drafted, claims),
            citations={evidence_key(e): citation(e) for c in claims for e in c.evidence},
        )

    found = tuple(replace(h, passage=replace(h.passage, document=document)) for h in one.hits)
    attempts = tuple(replace(a, draft=moved(a.draft)) for a in one.llm_trace.attempts)
    return replace(one, hits=found, draft=moved(one.draft), llm_trace=replace(one.llm_trace, attempts=attempts))


def test_given_a_document_deleted_from_the_library_then_what_a_model_wrote_of_it_goes_with_it(tmp_path: Path) -> None:
    """By whatever way it is deleted: the page and the command line both do it by the library."""
    library, kept = wiring.open_library(tmp_path, "default", HashEmbedder()), wiring.records(tmp_path, "default")
    ids = [
        one.id for one in library.add([text_source(name, SENTENCE, id=name) for name in ("a", "b")], settings()).added
    ]
    first, second = (kept.keep(measured_on(id, library.snapshot.version)) for id in ids)

    library.delete(ids[0])

    assert texts_of(kept.measurements(first, page_text)) == [DELETED, DELETED]
    assert texts_of(kept.measurements(second, page_text)) == [REJECTED, SHOWN]
    kept.close()


def test_given_records_that_cannot_be_written_when_a_document_is_deleted_then_it_stays_and_one_error_says_why(
    tmp_path: Path,
) -> None:
    library, kept = wiring.open_library(tmp_path, "default", HashEmbedder()), wiring.records(tmp_path, "default")
    (document,) = library.add([text_source("a", SENTENCE, id="a")], settings()).added
    kept.keep(measured_on(document.id, 1))
    kept.close()
    (tmp_path / "default" / FILE).write_bytes(b"no database" * 500)

    with pytest.raises(RecordsDamaged):
        library.delete(document.id)

    assert [one.id for one in library.snapshot.documents] == [document.id]
    kept.move_aside()
    library.delete(document.id)
    assert library.snapshot.documents == ()
