"""Answerable at once: a document is found by its words while its vectors are made, and nothing stands in for a vector
that is missing.
"""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from builders import calibration
from early_kit import BUOYS, SMALL, Held, buoys, indexing, until
from hypothesis import given
from hypothesis import strategies as st
from library_kit import HashEmbedder, check_whole, library, text, traces

from rag_core.adapters.records.store import RecordStore
from rag_core.decision.decide import decide, replay
from rag_core.decision.tools import Tools
from rag_core.decision.why_missed import LostAt
from rag_core.domain.documents import Metadata
from rag_core.domain.indexing import ALLOWANCE, INDEXING
from rag_core.domain.measurements import UNREAD, Measurements
from rag_core.domain.status import ConfidenceLevel, Reason
from rag_core.engine import Engine, confidence_metadata, measured_on
from rag_core.errors import InvalidInput
from rag_core.language import terms
from rag_core.library.indexing.ahead import EARLY_PASSAGES
from rag_core.library.indexing.early import MAX_NOW, WaitingDocument, early
from rag_core.library.indexing.embedding import EMBED_BATCH
from rag_core.library.library import Library
from rag_core.library.stored.collection import unpack_terms
from rag_core.library.stored.snapshot import Snapshot
from rag_core.settings import Settings
from rag_core.work.recording import passage_of

OPEN = Settings.load("open")
QUESTION = "What light does buoy 70 show?"
CAT = text("cat", "The cat of the harbour office sleeps on the chart of the bay.", language="en")


def engine(opened: Library) -> Engine:
    return Engine(opened, Tools(opened._embedder))


def vectors_there(view: Snapshot) -> list[bool]:
    assert view.waiting is not None
    known = set(view.waiting.with_vectors(None))
    return [row in known for row in range(len(view.passages))]


@pytest.fixture
def opened(tmp_path: Path, embedder: Held) -> Library:
    """A library with one short document."""
    made = library(tmp_path, embedder=embedder)
    assert not made.add([CAT], SMALL).problems
    return made


def test_given_a_long_document_when_its_first_batch_is_not_embedded_then_it_is_found_by_words_and_not_by_meaning(
    opened: Library, embedder: Held
) -> None:
    with indexing(opened, embedder, buoys()):
        view = opened.view
        rows = [row for row, _ in view.lexical.search(terms("violet", "en"), 500, None)]

        assert [one.name for one in view.documents] == ["cat", "buoys"]
        assert len(rows) == BUOYS // 3
        assert len(view.passages) == 1 + BUOYS
        assert [row for row, _ in view.vectors.search(embedder.embed(["violet"])[0], 500, None)] == [0]
        assert vectors_there(view) == [True, *[False] * BUOYS]
        with pytest.raises(ValueError, match="row 5 has no vector"):
            view.vectors.vectors([0, 5])
        passage = view.passages[rows[0]]
        assert "violet" in view.page_text(passage.document, 1)[passage.spans[0].start : passage.spans[-1].end]
        assert view.words(passage.document, 1) == ()
        assert opened.source(passage.document).startswith(b"The buoy 0")
        assert [one.name for one in opened.snapshot.documents] == ["cat"]
    assert opened.view is opened.snapshot
    assert [one.name for one in opened.snapshot.documents] == ["cat", "buoys"]
    check_whole(opened)


def test_given_batches_that_are_embedded_then_exactly_their_rows_are_ranked_by_their_true_cosines(
    opened: Library, embedder: Held
) -> None:
    question = embedder.embed([QUESTION])[0]
    with indexing(opened, embedder, buoys()):
        embedder.let(2)
        view = opened.view
        early_rows = range(1, 1 + 2 * EMBED_BATCH)
        found = dict(view.vectors.search(question, 500, None))
        some = dict(view.vectors.search(question, 3, [0, 2, 4, 30, 33, 60]))
        own = view.vectors.vectors([40 - 20, 0])

    cosines = opened.snapshot.vectors.vectors([0, *early_rows]) @ question
    assert list(found) == sorted(found, key=lambda row: (-found[row], row))
    assert found == pytest.approx(dict(zip([0, *early_rows], cosines.tolist(), strict=True)), abs=1e-6)
    assert len(some) == 3
    assert set(some) <= {0, 2, 4, 30}
    assert own == pytest.approx(opened.snapshot.vectors.vectors([20, 0]), abs=1e-6)


def test_given_documents_or_filters_to_search_then_the_waiting_one_is_chosen_as_any_other(
    opened: Library, embedder: Held
) -> None:
    with indexing(opened, embedder, buoys(metadata=Metadata(values={"class": "lights"}))):
        view, every = opened.view, list(range(1, 1 + BUOYS))

        assert view.rows(["buoys"]) == every
        assert view.rows(["cat"]) == [0]
        assert view.rows(None, {"class": "lights"}) == every
        assert view.rows(["cat", "buoys"], {"class": "lights"}) == every
        with pytest.raises(InvalidInput):
            view.rows(["nobody"])
        with pytest.raises(InvalidInput):
            opened.snapshot.rows(["buoys"])


def test_given_a_waiting_document_then_the_weights_of_words_are_those_of_the_version_that_will_hold_it(
    opened: Library, embedder: Held
) -> None:
    asked = terms("violet light cat nothing", "en")
    with indexing(opened, embedder, buoys()):
        view = opened.view
        early_words = (
            view.lexical.idf(asked),
            view.lexical.scores(asked, range(len(view.passages))),
            sorted(view.lexical.vocabulary()),
        )
        assert opened.view is view  # joined once, however often it is asked

    words = opened.snapshot.lexical
    assert early_words == (words.idf(asked), words.scores(asked, range(1 + BUOYS)), sorted(words.vocabulary()))


def test_given_a_question_while_nothing_is_embedded_then_it_is_answered_with_true_cosines_and_says_so(
    opened: Library, embedder: Held
) -> None:
    """Words are searchable while vectors are being computed; the decision says so."""
    measured: list[Measurements] = []
    with indexing(opened, embedder, buoys()):
        decision = engine(opened).ask(QUESTION, OPEN, on_measured=measured.append)
        known = sum(vectors_there(opened.view))
        second = engine(opened).ask(QUESTION, OPEN)
        apart = engine(opened).ask("Where does the cat sleep?", OPEN, ["cat"])

    assert "buoy 70" in decision.answer
    assert "amber light number70" in measured[0].hits[0].passage.text
    assert decision.metadata[INDEXING] == {"documents": 1, "searched": 2, "passages": BUOYS, "embedded": 0}
    assert known == 1 + MAX_NOW
    assert second.metadata[INDEXING]["embedded"] == MAX_NOW
    assert second.answer == decision.answer
    said = "1 of 2 documents is still being indexed: 0 % of its passages can be found by meaning, all of them by words."
    assert said in decision.notes
    assert decision.confidence_level is not ConfidenceLevel.HIGH
    assert confidence_metadata(decision)[INDEXING] == decision.metadata[INDEXING]
    assert INDEXING not in apart.metadata  # nothing of what it searched waits
    vectors = {
        passage.id: opened.snapshot.vectors.vectors([row])[0] for row, passage in enumerate(opened.snapshot.passages)
    }
    question = embedder.embed([QUESTION])[0]
    for hit in measured[0].hits:
        assert hit.cosine == pytest.approx(float(vectors[hit.passage.id] @ question), abs=1e-6)
    assert 0 < len([hit for hit in measured[0].hits if hit.dense_rank]) == len(measured[0].hits)


def test_given_a_refusal_while_a_document_waits_then_it_suggests_to_ask_again_and_the_published_version_says_nothing_of_it(  # noqa: E501
    opened: Library, embedder: Held
) -> None:
    strict = OPEN.changed(min_top_cosine=1.0, top_cosine_mode="enforce")
    with indexing(opened, embedder, buoys()):
        embedder.let(4)
        refused = engine(opened).ask(QUESTION, strict)
    later = engine(opened).ask(QUESTION, strict)

    assert not refused.answered
    assert refused.suggestions[0].startswith("Ask again when indexing is done")
    assert f"{100 * 4 * EMBED_BATCH // BUOYS} % of its passages" in " ".join(refused.notes)
    assert not later.answered
    assert not any("indexing" in one for one in (*later.suggestions, *later.notes))
    assert INDEXING not in later.metadata


def test_given_a_page_whose_passages_have_no_vector_when_asked_why_it_was_missed_then_it_has_no_rank_by_meaning(
    opened: Library, embedder: Held
) -> None:
    with indexing(opened, embedder, buoys()):
        asked = engine(opened)
        id = opened.view.documents[1].id
        nothing = asked.why_missed("Zebras painted xylophones?", OPEN, id, 1)
        found = asked.why_missed("Which light is violet?", OPEN, id, 1)

    assert found.lost_at in (LostAt.QUOTED, LostAt.NOT_CHOSEN, LostAt.NOT_READ)
    ranks = {one.passage.id: one.dense_rank for one in found.passages}
    assert 0 < sum(rank > 0 for rank in ranks.values()) <= MAX_NOW
    assert found.passages[0].within_top_k
    assert nothing.lost_at is LostAt.NOT_CANDIDATE
    assert nothing.passages[-1].dense_rank == nothing.passages[-1].lexical_rank == 0


def test_given_a_record_of_such_a_decision_then_it_replays_before_and_after_publishing_and_after_the_document_is_deleted(  # noqa: E501
    opened: Library, embedder: Held, tmp_path: Path
) -> None:
    """Replay names the state that a decision was made in."""
    store, measured = RecordStore(tmp_path / "default" / "records.sqlite"), list[Measurements]()

    def again() -> Measurements:
        return store.measurements(id, opened.view.page_text, passage_of(opened.view))

    with indexing(opened, embedder, buoys()):
        decision = engine(opened).ask(QUESTION, OPEN, on_measured=measured.append)
        id = store.keep(measured[0])
        while_waiting = again()
    published = again()
    opened.delete(opened.snapshot.documents[1].id)
    deleted = again()

    assert decide(while_waiting) == decide(published) == decision
    assert (
        replay(published, published.settings.changed(min_correctness=0.9)).metadata[INDEXING]
        == decision.metadata[INDEXING]
    )
    assert decide(deleted).metadata == decision.metadata
    assert decide(deleted).scores == decision.scores
    assert "[text deleted]" in decide(deleted).answer
    assert "number70" not in str(decide(deleted).to_json())


def test_given_a_job_that_is_stopped_then_the_document_is_found_no_longer_and_indexed_as_before_when_resumed(
    opened: Library, embedder: Held
) -> None:
    with indexing(opened, embedder, buoys()) as running:
        embedder.let(1)
        assert len(opened.view.documents) == 2
        running.stop.set()
    assert running.report is not None
    assert running.report.cancelled

    assert opened.view is opened.snapshot
    assert [one.name for one in opened.snapshot.documents] == ["cat"]
    assert [row.name for row in opened.unfinished()] == ["buoys"]
    assert engine(opened).ask(QUESTION, OPEN, ["cat"]).metadata.get(INDEXING) is None
    opened.resume(SMALL)
    assert [one.name for one in opened.snapshot.documents] == ["cat", "buoys"]
    check_whole(opened)


def test_given_a_waiting_document_that_is_deleted_then_it_is_gone_at_once_and_the_other_files_are_indexed(
    opened: Library, embedder: Held, tmp_path: Path
) -> None:
    """Deleting a waiting document takes it out of search at once."""
    first, last = buoys("first"), buoys("last", first=1000)
    with indexing(opened, embedder, first, last) as running:
        id = f"sha256:{first.digest}"
        until(lambda: len(opened.view.documents) == 3)
        opened.delete(id)
        assert [one.name for one in opened.view.documents] == ["cat", "last"]
        assert "number70" not in engine(opened).ask(QUESTION, OPEN).answer
        assert [row.name for row in opened.unfinished()] == ["last"]
        assert [one.name for one in opened.view.documents] == ["cat", "last"]
        report = running.end()

    assert [one.name for one in report.added] == ["last"]
    assert [one.name for one in opened.snapshot.documents] == ["cat", "last"]
    assert traces(tmp_path, first.digest.encode()) == []
    check_whole(opened)


def test_given_an_unknown_id_beside_a_waiting_document_when_deleted_then_none_is(
    opened: Library, embedder: Held
) -> None:
    source = buoys()
    with indexing(opened, embedder, source):
        with pytest.raises(InvalidInput):
            opened.delete(f"sha256:{source.digest}", "nobody")
        assert len(opened.view.documents) == 2
    assert len(opened.snapshot.documents) == 2


def test_given_a_question_that_holds_the_waiting_document_when_it_is_published_then_its_pages_are_still_read(
    opened: Library, embedder: Held
) -> None:
    with indexing(opened, embedder, buoys()):
        view = opened.view

    assert view is not opened.view
    assert view.page_text(view.documents[1].id, 1).startswith("The buoy 0")
    assert view.page(view.documents[1].id, 1) == opened.snapshot.page(view.documents[1].id, 1)


def test_given_missing_vectors_when_measured_then_both_estimates_are_lowered_by_their_share(
    opened: Library, embedder: Held
) -> None:
    fitted = calibration()
    asked = Engine(opened, Tools(embedder, replace(fitted, correctness=fitted)))
    with indexing(opened, embedder, buoys()):
        embedder.let(2)
        early_one = asked.measure(QUESTION, OPEN)
        apart = asked.measure("Where does the cat sleep?", OPEN, ["cat"])
    state = early_one.metadata[INDEXING]
    lowered = max(0.0, fitted.probability(early_one.features) - ALLOWANCE * (1 - state["embedded"] / BUOYS))

    assert 0 < state["embedded"] < BUOYS
    assert lowered < fitted.probability(early_one.features)
    assert early_one.correctness == early_one.answerability == pytest.approx(lowered)
    assert apart.correctness == fitted.probability(apart.features)


def test_given_another_collection_then_it_knows_nothing_of_a_waiting_document(
    opened: Library, embedder: Held, tmp_path: Path
) -> None:
    other = library(tmp_path, "other", embedder)
    other.add([text("dog", "The dog of the other office barks at buoy 70.", language="en")], SMALL)
    with indexing(opened, embedder, buoys()):
        decision = engine(other).ask(QUESTION, OPEN)

        assert other.view is other.snapshot
        assert INDEXING not in decision.metadata
        assert {name for name, _ in decision.retrieved} == {"dog"}
        assert library(tmp_path, embedder=HashEmbedder()).view.waiting is not None  # another process asks it too


def test_given_a_short_document_or_one_that_is_there_already_then_neither_waits(tmp_path: Path, embedder: Held) -> None:
    opened = library(tmp_path, embedder=embedder)
    with indexing(opened, embedder, buoys("short", count=EARLY_PASSAGES // 2)):
        assert opened.view is opened.snapshot
    long = opened.add([buoys("long", first=500)], SMALL).added[0].id
    seen: list[bool] = []

    def look(step: str, done: int, total: int) -> None:
        seen.append(opened.view is opened.snapshot)

    opened.reread([long], SMALL.changed(passage_tokens=64), progress=look)
    assert len(seen) > 3
    assert all(seen)


def test_given_a_process_that_is_killed_while_a_document_waits_then_the_next_one_asks_it_by_its_words_and_finishes_it(
    opened: Library, embedder: Held, tmp_path: Path
) -> None:
    with indexing(opened, embedder, buoys()):
        shutil.copytree(tmp_path / "default", tmp_path / "killed/default")

    left = library(tmp_path / "killed", embedder=HashEmbedder())
    assert [one.name for one in left.snapshot.documents] == ["cat"]
    assert [row.name for row in left.unfinished()] == ["buoys"]
    assert "buoy 70" in engine(left).ask(QUESTION, OPEN).answer
    left.resume(SMALL)
    assert left.view is left.snapshot
    check_whole(left)


def as_waiting(of: Snapshot, opened: Library, document: str) -> WaitingDocument:
    """A document of a version as one that waits."""
    entry = next(entry for entry in of.entries if entry.document.id == document)
    passages = of.passages_of(document)
    with opened._collection.reading() as db:
        (packed,) = db.execute("SELECT terms FROM passages WHERE document = ?", (entry.row,)).fetchone()
    return WaitingDocument(entry, "", passages, unpack_terms(packed))


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> tuple[Library, Library]:
    """A library with one document, and one with a second."""
    folder = tmp_path_factory.mktemp("two")
    small, whole = library(folder / "small"), library(folder / "whole")
    small.add([CAT], SMALL)
    for source in (CAT, buoys()):
        whole.add([source], SMALL)
    return small, whole


def told(measurements: Measurements) -> tuple[object, ...]:
    """Everything that was measured but for the state of the corpus and the time."""
    bare = replace(measurements, timings={}, metadata={}, library=replace(measurements.library, version=0))
    rounded = {name: round(value, 4) for name, value in bare.features.items()}
    hits = [
        (hit.passage, round(hit.cosine, 4), hit.lexical, hit.dense_rank, hit.lexical_rank, hit.score)
        for hit in bare.hits
    ]
    return rounded, hits, decide(bare).answer, decide(bare).reason, bare.missing_entities, bare.nowhere, bare.library


QUESTIONS = st.sampled_from(
    [QUESTION, "Where does the cat sleep?", "Which light fails at night?", "What is buoy 3 near?", "Who wrote it?"]
)


@given(question=QUESTIONS, order=st.permutations(range(BUOYS)), only=st.sampled_from([None, ["buoys"], ["cat"]]))
def test_once_all_vectors_are_there_every_measurement_is_that_of_the_published_version(
    two, question, order, only
) -> None:
    """S2-27: whatever the order in which the vectors came."""
    small, whole = two
    document = as_waiting(whole.snapshot, whole, whole.snapshot.documents[1].id)
    vectors = whole.snapshot.vectors.vectors(whole.snapshot.rows_of(document.id))
    for first in range(0, BUOYS, 16):
        places = order[first : first + 16]
        document.put(places, vectors[places])
    view = early(small.snapshot, [document], small._loader.lexical, HashEmbedder())
    assert view is not None
    view = replace(view, file=whole.snapshot.file)

    early_one, published = (
        measured_on(one, Tools(HashEmbedder()), question, OPEN, only) for one in (view, whole.snapshot)
    )

    assert INDEXING not in early_one.metadata
    assert told(early_one) == told(published)


@given(question=QUESTIONS, known=st.sets(st.integers(0, BUOYS - 1)), top_k=st.integers(1, 50))
def test_whatever_vectors_are_missing_no_hit_is_without_its_true_cosine_and_none_is_embedded_beyond_the_bound(
    two, question, known, top_k
) -> None:
    small, whole = two
    document = as_waiting(whole.snapshot, whole, whole.snapshot.documents[1].id)
    vectors = whole.snapshot.vectors.vectors(whole.snapshot.rows_of(document.id))
    document.put(sorted(known), vectors[sorted(known)])
    model = HashEmbedder()
    view = early(small.snapshot, [document], small._loader.lexical, model)
    assert view is not None
    view = replace(view, file=whole.snapshot.file)

    measured = measured_on(view, Tools(model), question, OPEN.changed(top_k=top_k))

    assert document.known().sum() <= len(known) + MAX_NOW
    true = {passage.id: whole.snapshot.vectors.vectors([row])[0] for row, passage in enumerate(whole.snapshot.passages)}
    asked = model.embed([question])[0]
    for hit in measured.hits:
        assert hit.cosine == pytest.approx(float(np.clip(true[hit.passage.id] @ asked, -1, 1)), abs=1e-5)
    state = measured.metadata.get(INDEXING)
    assert state == (
        None if len(known) == BUOYS else {"documents": 1, "searched": 2, "passages": BUOYS, "embedded": len(known)}
    )


def test_given_vectors_that_are_there_when_others_come_then_the_first_ones_stay(two) -> None:
    """A question holds them: they never change under it."""
    document = as_waiting(two[1].snapshot, two[1], two[1].snapshot.documents[1].id)
    ones, twos = np.ones((2, 3), np.float32), np.full((2, 3), 2, np.float32)

    document.put([4, 5], ones)
    document.put([5, 6], twos)

    assert document.vectors([4, 5, 6])[:, 0].tolist() == [1, 1, 2]
    assert np.flatnonzero(document.known()).tolist() == [4, 5, 6]


def test_given_nothing_read_yet_but_a_file_added_then_a_refusal_says_to_wait(tmp_path: Path) -> None:
    """Whoever has added a file a moment ago is not told to add one."""
    made = library(tmp_path)
    engine = Engine(made, Tools(HashEmbedder()))
    before = engine.ask("What is the notice period?", Settings.load())
    made.add([text("lease", "The notice period is 30 days.")], Settings.load(), cancelled=lambda: True)
    during = engine.ask("What is the notice period?", Settings.load())
    made.resume(Settings.load())
    after = engine.ask("What is the notice period?", Settings.load())

    assert before.suggestions == ("Add documents first.",)
    assert (during.reason, during.suggestions) == (
        Reason.NOTHING_RETRIEVED,
        ("Ask again in a moment: what was added is not read yet.",),
    )
    assert during.metadata[UNREAD] == 1
    assert UNREAD not in before.metadata
    assert UNREAD not in after.metadata
