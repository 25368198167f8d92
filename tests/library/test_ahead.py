"""Files of an upload, and of jobs that wait for their turn, are read and asked before it: deleted for good, and made as
in turn.
"""

from __future__ import annotations

import shutil
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from early_kit import BAD, LONG, MEMO, PAGES, SECONDS, SMALL, Held, Waiting, indexing, locked, names, pdf, until
from library_kit import HashEmbedder, check_whole, library, text, traces

from rag_core.decision.tools import Tools
from rag_core.domain.indexing import INDEXING
from rag_core.domain.ports import Step
from rag_core.engine import Engine
from rag_core.errors import ModelUnavailable
from rag_core.ingest.reading import pdf_process
from rag_core.library.indexing import ahead, drafts
from rag_core.library.indexing.indexer import Indexer
from rag_core.library.library import Library
from rag_core.library.stored.entry import Accepted
from rag_core.library.stored.sources import Source
from rag_core.settings import Settings

pytestmark = pytest.mark.usefixtures("asked_early")

OPEN = Settings.load("open")
NOTES = [text(f"note-{n}", f"The note {n} tells about the harbour master.", language="en") for n in range(3)]


def kept(opened: Library) -> list[object]:
    """All that the library's file holds of its documents, but for the numbers of rows."""
    query = (
        "SELECT key, state, language, bytes, size, pages, options, reading, entry, count, title, passages, terms, "
        "vectors"
        " FROM document JOIN passages ON document = id ORDER BY place"
    )
    with opened._collection.reading() as db:
        rows = db.execute(query).fetchall()
        pages = db.execute(
            "SELECT place, number, facts, layout FROM page JOIN document ON id = document ORDER BY place, number"
        ).fetchall()
        return [*rows, *pages, *db.execute("SELECT rows, data FROM words ORDER BY place")]


def test_given_an_upload_of_several_files_when_the_first_has_no_vector_then_the_last_one_is_answered_from_and_it_is_said(  # noqa: E501
    opened: Library, embedder: Held
) -> None:
    with indexing(opened, embedder, *map(pdf, range(4))):
        until(lambda: len(names(opened)) == 4)
        decision = Engine(opened, Tools(embedder)).ask("What does buoy 305 show?", OPEN)
        published = opened.snapshot.documents

    assert published == ()
    assert [(one.document, one.page) for one in decision.citations] == [("bay-3.pdf", 6)]
    assert decision.metadata[INDEXING] == {"documents": 4, "searched": 4, "passages": 4 * PAGES, "embedded": 0}
    assert any(note.startswith("4 of 4 documents are still being indexed: 0 %") for note in decision.notes)
    assert names(opened) == [one.name for one in opened.snapshot.documents] == [f"bay-{n}.pdf" for n in range(4)]
    check_whole(opened)


def test_given_a_small_file_behind_a_long_one_then_it_can_be_asked_as_its_vectors_are_not_there_in_a_moment(
    opened: Library, embedder: Held
) -> None:
    with indexing(opened, embedder, pdf(0), pdf(1, pages=1), NOTES[0]):
        until(lambda: sorted(names(opened)) == ["bay-0.pdf", "bay-1.pdf", "note-0"])


def test_given_a_small_file_by_itself_then_it_is_asked_no_sooner_than_embedded(opened: Library, embedder: Held) -> None:
    with indexing(opened, embedder, pdf(2, pages=1)):
        assert names(opened) == []


def test_given_files_that_are_read_ahead_then_the_library_is_byte_for_byte_the_one_that_is_made_in_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sources = [
        pdf(0),
        NOTES[0],
        NOTES[1],
        pdf(1),
        BAD,
        NOTES[2],
        pdf(2),
        text("long", "\n\n".join(f"Line {n}." for n in range(300))),
    ]

    def made(name: str) -> tuple[list[object], list[str], list[str]]:
        opened = library(tmp_path / name)
        report = opened.add(sources, SMALL)
        return kept(opened), [one.name for one in report.added], [name for name, _ in report.problems]

    with_it = made("ahead")
    monkeypatch.setattr(ahead.Upload, "makes", lambda self, row: False)
    monkeypatch.setattr(ahead.Upload, "_make", lambda *_: None)
    in_turn = made("turn")

    assert with_it == in_turn
    assert with_it[2] == ["bad.pdf"]
    assert len(with_it[0]) > 30


@pytest.mark.parametrize("way", [Library.delete, Library.erase])
def test_given_a_file_that_was_read_ahead_when_deleted_then_it_is_gone_at_once_and_not_made_again(
    opened: Library, embedder: Held, tmp_path: Path, way: Any
) -> None:
    with indexing(opened, embedder, pdf(0, 40), pdf(1), pdf(2)) as running:
        until(lambda: len(names(opened)) == 3)
        way(opened, f"sha256:{pdf(1).digest}")
        assert names(opened) == ["bay-0.pdf", "bay-2.pdf"]
        assert [row.name for row in opened.unfinished()] == ["bay-0.pdf", "bay-2.pdf"]
        report = running.end()

    assert [one.name for one in report.added] == ["bay-0.pdf", "bay-2.pdf"]
    assert names(opened) == ["bay-0.pdf", "bay-2.pdf"]
    assert traces(tmp_path, pdf(1).digest.encode(), b"number105") == []
    assert not report.problems
    check_whole(opened)


def test_given_a_file_that_is_being_read_ahead_when_deleted_then_it_is_not_made_and_the_others_are(
    opened: Library, embedder: Held, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drafts, "FIRST_PAGES", 2)
    # less than a page: it is looked at whether to stop before each one
    monkeypatch.setattr(pdf_process, "CHUNK_BYTES", 256)
    began, go = threading.Event(), threading.Event()
    second = pdf(1)
    told: list[tuple[str, int]] = []

    def progress(what: str, done: int, total: int) -> None:
        told.append((what, done))
        if (what, done) == ("bay-1.pdf: reading", 4):
            began.set()
            assert go.wait(SECONDS)

    adding_them = threading.Thread(
        target=lambda: opened.add([pdf(0, 40), second, pdf(2)], SMALL, progress=progress), name="indexing"
    )
    adding_them.start()
    assert began.wait(SECONDS)
    assert "bay-1.pdf" in names(opened)
    opened.delete(f"sha256:{second.digest}")
    assert "bay-1.pdf" not in names(opened)
    go.set()
    embedder.let_all()
    adding_them.join(SECONDS)

    assert ("bay-1.pdf: cutting", PAGES) not in told
    assert names(opened) == ["bay-0.pdf", "bay-2.pdf"]
    assert traces(tmp_path, second.digest.encode(), b"number105") == []
    check_whole(opened)


def test_given_a_bad_file_behind_one_that_is_embedded_then_it_is_told_at_once_by_its_id_and_once(
    opened: Library, embedder: Held
) -> None:
    told: list[tuple[str, str]] = []
    bad = threading.Event()

    def progress(what: str, done: int, total: int) -> None:
        if what.endswith(": problem"):
            assert isinstance(what, Step)
            told.append((what, what.document))
            bad.set()

    reports = []
    thread = threading.Thread(
        target=lambda: reports.append(opened.add([pdf(0), BAD, pdf(1)], SMALL, progress=progress)), name="indexing"
    )
    thread.start()
    embedder.let(0)
    assert bad.wait(SECONDS)
    until(lambda: sorted(names(opened)) == ["bay-0.pdf", "bay-1.pdf"])
    embedder.let_all()
    thread.join(SECONDS)

    assert told == [("bad.pdf: problem", f"sha256:{BAD.digest}")]
    assert [name for name, _ in reports[0].problems] == ["bad.pdf"]
    assert [one.name for one in reports[0].added] == ["bay-0.pdf", "bay-1.pdf"]
    assert opened.unfinished() == ()


def test_given_two_files_of_one_name_then_each_step_says_whose_it_is(tmp_path: Path) -> None:
    sources = [Source("same.pdf", pdf(n).data, "pdf") for n in range(2)]
    told: list[Step] = []

    library(tmp_path).add(
        sources, SMALL, progress=lambda what, done, total: told.append(what) if isinstance(what, Step) else None
    )

    assert {(str(one), one.document) for one in told} == {
        (f"same.pdf: {what}", f"sha256:{source.digest}")
        for source in sources
        for what in ("reading", "cutting", "embedding")
    }


def test_given_a_stop_when_files_were_read_ahead_then_none_is_found_and_all_is_made_without_reading_again_when_resumed(
    opened: Library, embedder: Held
) -> None:
    with indexing(opened, embedder, pdf(0, 40), pdf(1), pdf(2)) as running:
        until(lambda: len(names(opened)) == 3)
        running.stop.set()
    assert running.report is not None
    assert running.report.cancelled

    assert names(opened) == []
    assert [row.name for row in opened.unfinished()] == [f"bay-{n}.pdf" for n in range(3)]
    again: list[str] = []
    opened.resume(SMALL, progress=lambda what, done, total: again.append(what))
    assert names(opened) == [f"bay-{n}.pdf" for n in range(3)]
    assert not any(what.endswith(": reading") for what in again)  # their pages are there
    check_whole(opened)


def test_given_a_stop_while_a_file_is_waited_for_then_it_ends_though_nothing_is_told_of_that_file(
    tmp_path: Path,
) -> None:
    opened, stands, stop = library(tmp_path), threading.Event(), threading.Event()
    held = threading.Event()

    def progress(what: str, done: int, total: int) -> None:
        if what == "bay-0.pdf: reading":
            stands.set()
            held.wait(SECONDS)

    reports = []
    thread = threading.Thread(
        target=lambda: reports.append(opened.add([pdf(0), pdf(1)], SMALL, progress=progress, cancelled=stop.is_set))
    )
    thread.start()
    assert stands.wait(SECONDS)
    stop.set()
    held.set()
    thread.join(SECONDS)

    assert reports[0].cancelled
    assert [row.name for row in opened.unfinished()] == ["bay-0.pdf", "bay-1.pdf"]


@pytest.mark.parametrize("error", [ZeroDivisionError(), ModelUnavailable("It is gone.", remedy="Try again.")])
def test_given_a_fault_of_ours_or_a_model_that_is_gone_on_a_file_ahead_then_it_costs_that_file_alone_or_the_call_ends_there(  # noqa: E501
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    prepare = Indexer.prepare

    def fails(self: Indexer, row: Accepted, *others: Any) -> object:
        if row.name == "bay-1.pdf":
            raise error
        return prepare(self, row, *others)

    monkeypatch.setattr(Indexer, "prepare", fails)
    opened = library(tmp_path)
    if isinstance(error, ModelUnavailable):
        with pytest.raises(ModelUnavailable):
            opened.add(map(pdf, range(3)), SMALL)
        assert names(opened) == ["bay-0.pdf"]
        assert [row.name for row in opened.unfinished()] == ["bay-1.pdf", "bay-2.pdf"]
    else:
        report = opened.add(map(pdf, range(3)), SMALL)
        assert [(name, "ZeroDivisionError" in str(error)) for name, error in report.problems] == [("bay-1.pdf", True)]
        assert names(opened) == ["bay-0.pdf", "bay-2.pdf"]


def test_given_what_is_there_complete_then_it_is_not_read_ahead_and_without_a_thread_the_call_makes_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = library(tmp_path)
    opened.add([pdf(0)], SMALL)
    read: Counter[str] = Counter()
    opened.add(map(pdf, range(2)), SMALL, progress=lambda what, done, total: read.update([what]))
    assert not any(what.startswith("bay-0") for what in read)

    monkeypatch.setattr(
        opened._pool, "submit", lambda *_: (_ for _ in ()).throw(RuntimeError("can't start new thread"))
    )
    opened.add([pdf(2)], SMALL)
    assert names(opened) == ["bay-0.pdf", "bay-1.pdf", "bay-2.pdf"]


def test_given_an_upload_behind_a_running_one_then_it_is_answered_from_by_its_words_and_taken_in_its_turn(
    tmp_path: Path, opened: Library, embedder: Held
) -> None:
    with indexing(opened, embedder, pdf(0, LONG)):
        second = Waiting(tmp_path, opened, pdf(1), MEMO)
        until(lambda: sorted(names(opened)) == ["bay-0.pdf", "bay-1.pdf", "memo"])
        decision = Engine(opened, Tools(embedder)).ask("What does buoy 105 show?", OPEN)
        assert opened.snapshot.documents == ()
    assert [(one.document, one.page) for one in decision.citations] == [("bay-1.pdf", 6)]
    assert decision.metadata[INDEXING] == {"documents": 3, "searched": 3, "passages": LONG + PAGES + 1, "embedded": 0}
    assert {id for _, id in second.told} == {f"sha256:{one.digest}" for one in second.sources}
    assert second.read() == {"bay-1.pdf"}  # a text is read in a moment

    report = second.turn()

    assert [one.name for one in report.added] == ["bay-1.pdf", "memo"]
    assert second.read() == set()
    assert not any(what.endswith(": cutting") for what, _ in second.told)
    assert names(opened) == [one.name for one in opened.snapshot.documents] == ["bay-0.pdf", "bay-1.pdf", "memo"]
    assert opened.unfinished() == ()
    check_whole(opened)


def test_given_an_upload_that_leaves_before_its_turn_then_it_is_out_of_sight_and_the_others_go_on(
    tmp_path: Path, opened: Library, embedder: Held
) -> None:
    with indexing(opened, embedder, pdf(0, LONG)) as running:
        second, third = Waiting(tmp_path, opened, pdf(1), pdf(2)), Waiting(tmp_path, opened, pdf(3))
        until(lambda: len(names(opened)) == 4)
        second.stop.set()
        second.upload.leave()  # as a job that is stopped while it waits for its turn does at once
        assert names(opened) == ["bay-0.pdf", "bay-3.pdf"]
        report = running.end()

    assert [one.name for one in report.added] == ["bay-0.pdf"]
    assert [row.name for row in opened.unfinished()] == ["bay-1.pdf", "bay-2.pdf", "bay-3.pdf"]
    assert second.turn().cancelled
    assert [one.name for one in third.turn().added] == ["bay-3.pdf"]
    opened.resume(SMALL)
    assert sorted(names(opened)) == [f"bay-{n}.pdf" for n in range(4)]
    check_whole(opened)


def test_given_a_running_call_that_is_stopped_then_the_upload_behind_it_loses_nothing(
    tmp_path: Path, opened: Library, embedder: Held
) -> None:
    with indexing(opened, embedder, pdf(0, LONG)) as running:
        second = Waiting(tmp_path, opened, pdf(1))
        until(lambda: len(names(opened)) == 2)
        running.stop.set()
    assert running.report is not None
    assert running.report.cancelled
    assert names(opened) == ["bay-1.pdf"]
    assert [row.name for row in opened.unfinished()] == ["bay-0.pdf", "bay-1.pdf"]

    assert [one.name for one in second.turn().added] == ["bay-1.pdf"]
    assert second.read() == set()
    assert [row.name for row in opened.unfinished()] == ["bay-0.pdf"]
    check_whole(opened)


def test_given_a_kill_while_an_upload_was_read_before_its_turn_then_the_next_process_asks_and_takes_up_both(
    tmp_path: Path, opened: Library, embedder: Held
) -> None:
    with indexing(opened, embedder, pdf(0, LONG)):
        Waiting(tmp_path, opened, pdf(1), MEMO)
        until(lambda: len(names(opened)) == 3)
        shutil.copytree(tmp_path / "default", tmp_path / "killed" / "default")

    left = library(tmp_path / "killed")
    assert sorted(names(left)) == ["bay-0.pdf", "bay-1.pdf", "memo"]
    assert [row.name for row in left.unfinished()] == ["bay-0.pdf", "bay-1.pdf", "memo"]
    left.resume(SMALL)
    assert names(left) == ["bay-0.pdf", "bay-1.pdf", "memo"]
    check_whole(left)


def test_given_a_file_of_an_upload_that_is_deleted_before_its_turn_then_it_is_not_made(
    tmp_path: Path, opened: Library, embedder: Held
) -> None:
    with indexing(opened, embedder, pdf(0, LONG)):
        second = Waiting(tmp_path, opened, pdf(1), pdf(2))
        until(lambda: len(names(opened)) == 3)
        opened.delete(f"sha256:{pdf(1).digest}")
        assert names(opened) == ["bay-0.pdf", "bay-2.pdf"]

    assert [one.name for one in second.turn().added] == ["bay-2.pdf"]
    assert names(opened) == ["bay-0.pdf", "bay-2.pdf"]
    assert traces(tmp_path / "default", pdf(1).digest.encode()) == []
    check_whole(opened)


def test_given_a_bad_file_of_an_upload_behind_then_its_own_job_is_told_and_its_own_report_has_it(
    tmp_path: Path, opened: Library, embedder: Held
) -> None:
    with indexing(opened, embedder, pdf(0, LONG)) as running:
        second = Waiting(tmp_path, opened, BAD, pdf(1))
        until(lambda: len(names(opened)) == 2)
        assert ("bad.pdf: problem", f"sha256:{BAD.digest}") in second.told
        report = running.end()
    assert report.problems == ()

    report = second.turn()
    assert [name for name, _ in report.problems] == ["bad.pdf"]
    assert [one.name for one in report.added] == ["bay-1.pdf"]
    assert opened.unfinished() == ()


def test_given_a_file_of_two_uploads_then_it_is_read_once_and_no_stop_of_the_second_touches_the_first(
    tmp_path: Path, opened: Library, embedder: Held
) -> None:
    with indexing(opened, embedder, pdf(0, LONG), pdf(1)) as running:
        second, third = Waiting(tmp_path, opened, pdf(1), pdf(2)), Waiting(tmp_path, opened, pdf(2), pdf(3))
        until(lambda: len(names(opened)) == 4)
        assert (second.read(), third.read()) == ({"bay-2.pdf"}, {"bay-3.pdf"})
        assert len(running.end().added) == 2
    report = second.turn()
    assert [one.name for one in report.unchanged] == ["bay-1.pdf"]
    assert [one.name for one in report.added] == ["bay-2.pdf"]
    assert [one.name for one in third.turn().added] == ["bay-3.pdf"]


def test_given_an_upload_whose_files_were_made_by_another_process_or_are_asked_for_otherwise_then_they_are_made_as_usual(  # noqa: E501
    tmp_path: Path, opened: Library, embedder: Held
) -> None:
    with indexing(opened, embedder, pdf(0, LONG)):
        waiting = [Waiting(tmp_path, opened, pdf(number)) for number in range(1, 3)]
        until(lambda: len(names(opened)) == 3)
    waiting[0].settings = SMALL.changed(passage_tokens=64)
    other = library(tmp_path, embedder=HashEmbedder())
    other.resume(SMALL, only={f"sha256:{pdf(2).digest}"})

    assert [len(one.turn().added) for one in waiting] == [1, 0]
    assert [one.read() for one in waiting] == [set(), set()], "the pages are there"
    assert names(opened) == ["bay-0.pdf", "bay-2.pdf", "bay-1.pdf"]
    check_whole(opened)


def test_given_a_library_whose_documents_workers_make_or_an_upload_that_has_left_then_nothing_is_read_early(
    tmp_path: Path, opened: Library, embedder: Held, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(opened, "_workers", lambda settings: object())
        second = Waiting(tmp_path, opened, pdf(1))
    with indexing(opened, embedder, pdf(0, LONG)):
        fourth = Waiting(tmp_path, opened, pdf(3))
        until(lambda: len(names(opened)) == 2)
    assert (second.told, fourth.read()) == ([], {"bay-3.pdf"})


@pytest.mark.parametrize("before", [True, False], ids=["handed in before", "handed in after"])
def test_given_a_file_that_the_call_before_cannot_read_when_its_upload_comes_then_that_says_so_or_opens_it(
    tmp_path: Path, opened: Library, embedder: Held, before: bool
) -> None:
    data = locked("key")
    sources = (Source("locked.pdf", data, "pdf", password="key"), BAD, MEMO)
    second = [Waiting(tmp_path, opened, *sources)] if before else []
    with indexing(opened, embedder, pdf(0, LONG), Source("locked.pdf", data, "pdf"), BAD) as running:
        second = second or [Waiting(tmp_path, opened, *sources)]
        until(lambda: "memo" in names(opened))
        problems = [name for name, _ in running.end().problems]

    report = second[0].turn()

    assert [one.name for one in (*report.added, *report.unchanged)] == ["locked.pdf", "memo"] or before
    assert "bad.pdf" in problems
    assert [name for name, _ in report.problems] == ["bad.pdf"]
    assert opened.unfinished() == ()
    check_whole(opened)
