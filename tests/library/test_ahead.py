"""The files of an upload are read and asked before their turn: named right, deleted for good, bounded, and made as without that."""

from __future__ import annotations

import gc
import threading
import time
import weakref
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from early_kit import BAD, PAGES, SECONDS, SMALL, Held, deleting, indexing, names, pdf, reading, until
from library_kit import check_whole, library, text

from rag_core.decision.tools import Tools
from rag_core.domain.indexing import INDEXING
from rag_core.domain.ports import Step
from rag_core.engine import Engine
from rag_core.errors import IngestError, ModelUnavailable, RagError
from rag_core.ingest.reading import pdf_process
from rag_core.library.indexing import adding, ahead, drafts
from rag_core.library.indexing.ahead import Ahead, Found
from rag_core.library.indexing.behind import Behind, Row, Upload
from rag_core.library.indexing.elsewhere import Elsewhere
from rag_core.library.library import Library
from rag_core.library.stored.inbox import Accepted
from rag_core.library.stored.sources import Source
from rag_core.library.stored.writer import Writer
from rag_core.settings import Settings

pytestmark = pytest.mark.usefixtures("asked_early")

OPEN = Settings.load("open")
NOTES = [text(f"note-{n}", f"The note {n} tells about the harbour master.", language="en") for n in range(3)]


def test_given_an_upload_of_several_files_when_the_first_has_no_vector_then_the_last_one_is_answered_from_and_it_is_said(
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


def test_given_a_small_file_by_itself_then_it_is_no_sooner_announced_than_embedded(opened: Library, embedder: Held) -> None:
    with indexing(opened, embedder, pdf(2, pages=1)):
        assert names(opened) == []


def test_given_files_that_are_read_ahead_then_the_library_is_byte_for_byte_the_one_that_is_made_in_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sources = [pdf(0), NOTES[0], NOTES[1], pdf(1), BAD, NOTES[2], pdf(2), text("long", "\n\n".join(f"Line {n}." for n in range(300)))]

    def made(name: str) -> tuple[dict[str, bytes], list[str], list[str]]:
        report = library(tmp_path / name).add(sources, SMALL)
        files = {path for path in (tmp_path / name).rglob("*") if path.is_file() and {"documents", "sources"} & set(path.parts)}
        newest = max((tmp_path / name / "default/indexes").iterdir(), key=lambda path: int(path.name))
        found = {str(path.relative_to(tmp_path / name)): path.read_bytes() for path in files}
        found |= {path.name: path.read_bytes() for path in newest.rglob("*") if path.is_file()}
        return found, [one.name for one in report.added], [name for name, _ in report.problems]

    with_it = made("ahead")
    monkeypatch.setattr(Ahead, "makes", lambda self, row: False)
    monkeypatch.setattr(Ahead, "_has_room", lambda self: False)
    in_turn = made("turn")

    assert with_it == in_turn
    assert with_it[2] == ["bad.pdf"]
    assert len(with_it[0]) > 40


def test_given_a_file_that_was_read_ahead_when_deleted_then_it_is_gone_for_good_and_not_made_again(
    opened: Library, embedder: Held, tmp_path: Path
) -> None:
    with indexing(opened, embedder, pdf(0, 40), pdf(1), pdf(2)) as running:
        until(lambda: len(names(opened)) == 3)
        thread = deleting(opened, pdf(1))
        assert names(opened) == ["bay-0.pdf", "bay-2.pdf"]
        embedder.let(1)  # one batch of the first file, which goes on
        thread.join(SECONDS)
        assert not thread.is_alive()
        assert [row.name for row in opened.unfinished()] == ["bay-0.pdf", "bay-2.pdf"]
        report = running.end()

    assert [one.name for one in report.added] == ["bay-0.pdf", "bay-2.pdf"]
    assert names(opened) == ["bay-0.pdf", "bay-2.pdf"]
    assert not list(tmp_path.glob(f"default/*/*{pdf(1).digest}*"))
    assert not report.problems
    check_whole(opened)


def test_given_a_file_that_is_being_read_ahead_when_deleted_then_it_is_not_made_and_the_others_are(
    opened: Library, embedder: Held, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drafts, "FIRST_PAGES", 2)
    monkeypatch.setattr(pdf_process, "CHUNK_BYTES", 256)  # less than a page: it is looked at whether to stop before each one
    began, go = threading.Event(), threading.Event()
    second = pdf(1)
    told: list[tuple[str, int]] = []

    def progress(what: str, done: int, total: int) -> None:
        told.append((what, done))
        if (what, done) == ("bay-1.pdf: reading", 4):
            began.set()
            assert go.wait(SECONDS)

    adding_them = threading.Thread(target=lambda: opened.add([pdf(0, 40), second, pdf(2)], SMALL, progress=progress), name="indexing")
    adding_them.start()
    assert began.wait(SECONDS)
    embedder.let(0)
    thread = deleting(opened, second)
    go.set()
    embedder.let(1)
    thread.join(SECONDS)
    assert not thread.is_alive()
    assert not list(tmp_path.glob(f"default/work/*{second.digest}*/document.json"))
    embedder.let_all()
    adding_them.join(SECONDS)

    assert ("bay-1.pdf: reading", PAGES) not in told
    assert names(opened) == ["bay-0.pdf", "bay-2.pdf"]
    assert not list(tmp_path.glob(f"default/*/*{second.digest}*"))
    check_whole(opened)


def test_given_a_bad_file_behind_one_that_is_embedded_then_it_is_told_at_once_by_its_id_and_once(opened: Library, embedder: Held) -> None:
    told: list[tuple[str, str]] = []
    bad = threading.Event()

    def progress(what: str, done: int, total: int) -> None:
        if what.endswith(": problem"):
            assert isinstance(what, Step)
            told.append((what, what.document))
            bad.set()

    reports = []
    thread = threading.Thread(target=lambda: reports.append(opened.add([pdf(0), BAD, pdf(1)], SMALL, progress=progress)), name="indexing")
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

    library(tmp_path).add(sources, SMALL, progress=lambda what, done, total: told.append(what) if isinstance(what, Step) else None)

    assert {(str(one), one.document) for one in told} == {
        (f"same.pdf: {what}", f"sha256:{source.digest}") for source in sources for what in ("reading", "cutting", "embedding")
    }


def test_given_a_stop_when_files_were_read_ahead_then_none_is_found_nothing_runs_on_and_all_is_made_when_resumed(
    opened: Library, embedder: Held
) -> None:
    with indexing(opened, embedder, pdf(0, 40), pdf(1), pdf(2)) as running:
        until(lambda: len(names(opened)) == 3)
        running.stop.set()
    assert running.report is not None
    assert running.report.cancelled
    assert not reading()

    assert names(opened) == []
    assert [row.name for row in opened.unfinished()] == [f"bay-{n}.pdf" for n in range(3)]
    again: list[str] = []
    opened.resume(SMALL, progress=lambda what, done, total: again.append(what))
    assert names(opened) == [f"bay-{n}.pdf" for n in range(3)]
    assert not any(what.endswith(": reading") for what in again)  # their pages lie there
    check_whole(opened)


def test_given_a_file_that_is_deleted_while_a_stopped_call_ends_then_it_is_not_made_when_the_others_are_resumed(
    opened: Library, embedder: Held, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The call looked for the last time at what is to be left out, and the file still waits: nobody else takes it from the list."""
    deleting = threading.Thread(target=lambda: opened.delete(f"sha256:{pdf(2).digest}"))
    publish = Writer.publish

    def deleted_meanwhile(writer: Writer, **how: Any) -> None:
        if not deleting.ident:
            deleting.start()
            until(lambda: len(names(opened)) == 2)
        publish(writer, **how)

    monkeypatch.setattr(Writer, "publish", deleted_meanwhile)
    with indexing(opened, embedder, pdf(0, 40), pdf(1), pdf(2)) as running:
        until(lambda: len(names(opened)) == 3)
        running.stop.set()
    deleting.join(SECONDS)

    assert [row.name for row in opened.unfinished()] == ["bay-0.pdf", "bay-1.pdf"]
    opened.resume(SMALL)
    assert names(opened) == ["bay-0.pdf", "bay-1.pdf"]
    check_whole(opened)


def test_given_a_stop_while_a_file_is_waited_for_then_it_ends_though_nothing_is_told_of_that_file(tmp_path: Path) -> None:
    opened, stands, stop = library(tmp_path), threading.Event(), threading.Event()
    held = threading.Event()

    def progress(what: str, done: int, total: int) -> None:
        if what == "bay-0.pdf: reading":
            stands.set()
            held.wait(SECONDS)

    reports = []
    thread = threading.Thread(target=lambda: reports.append(opened.add([pdf(0), pdf(1)], SMALL, progress=progress, cancelled=stop.is_set)))
    thread.start()
    assert stands.wait(SECONDS)
    stop.set()
    held.set()
    thread.join(SECONDS)

    assert reports[0].cancelled
    assert not reading()
    assert [row.name for row in opened.unfinished()] == ["bay-0.pdf", "bay-1.pdf"]


def test_given_more_passages_than_may_wait_then_no_further_file_is_begun_until_there_is_room(
    opened: Library, embedder: Held, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ahead, "MAX_PASSAGES", PAGES + 1)
    with indexing(opened, embedder, *map(pdf, range(7))):
        until(lambda: len(names(opened)) >= 3)  # one is embedded, and two wait: one more than may be begun
        for _ in range(20):
            threading.Event().wait(0.01)
            assert len(names(opened)) <= 4  # or a third, which was begun while the second one was cut
    assert names(opened) == [f"bay-{n}.pdf" for n in range(7)]


def test_given_one_file_that_alone_has_more_than_may_wait_then_it_is_made_and_so_is_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ahead, "MAX_PASSAGES", 0)
    opened = library(tmp_path)

    assert len(opened.add(map(pdf, range(3)), SMALL).added) == 3


def test_given_a_fault_of_ours_on_a_file_ahead_then_it_costs_that_file_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    prepare = adding.Indexer.prepare

    def fails(self: adding.Indexer, row: Accepted, *others: object) -> object:
        if row.name == "bay-1.pdf":
            raise ZeroDivisionError
        return prepare(self, row, *others)  # type: ignore[arg-type]

    monkeypatch.setattr(adding.Indexer, "prepare", fails)
    opened = library(tmp_path)
    report = opened.add(map(pdf, range(3)), SMALL)

    assert [(name, "ZeroDivisionError" in str(error)) for name, error in report.problems] == [("bay-1.pdf", True)]
    assert names(opened) == ["bay-0.pdf", "bay-2.pdf"]


def test_given_a_fault_of_ours_behind_first_pages_that_can_be_asked_then_nothing_of_that_file_is_found_from_then_on(
    opened: Library, embedder: Held, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare, was_seen, failed = adding.Indexer.prepare, [], threading.Event()

    def fails(self: adding.Indexer, row: Accepted, *others: object) -> object:
        if row.name != "bay-2.pdf":
            if row.name == "bay-3.pdf":
                failed.set()  # the one before it has ended
            return prepare(self, row, *others)  # type: ignore[arg-type]
        made = prepare(self, row, *others)  # type: ignore[arg-type]
        others[1](self.waiting(made))  # type: ignore[operator]
        was_seen.extend(names(opened))
        raise ZeroDivisionError

    monkeypatch.setattr(adding.Indexer, "prepare", fails)
    with indexing(opened, embedder, *map(pdf, range(4))):
        assert failed.wait(SECONDS)
        until(lambda: "bay-3.pdf" in names(opened))
        in_sight = names(opened)

    assert "bay-2.pdf" in was_seen
    assert in_sight == ["bay-0.pdf", "bay-1.pdf", "bay-3.pdf"]
    assert names(opened) == ["bay-0.pdf", "bay-1.pdf", "bay-3.pdf"]


def test_given_a_model_that_is_gone_on_a_file_ahead_then_the_call_ends_there_and_what_was_before_is_published(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare = adding.Indexer.prepare

    def fails(self: adding.Indexer, row: Accepted, *others: object) -> object:
        if row.name == "bay-1.pdf":
            raise ModelUnavailable("It is gone.", remedy="Try again.")
        return prepare(self, row, *others)  # type: ignore[arg-type]

    monkeypatch.setattr(adding.Indexer, "prepare", fails)
    opened = library(tmp_path)
    with pytest.raises(ModelUnavailable):
        opened.add(map(pdf, range(3)), SMALL)

    assert not reading()
    assert names(opened) == ["bay-0.pdf"]
    assert [row.name for row in opened.unfinished()] == ["bay-1.pdf", "bay-2.pdf"]


def test_given_what_is_there_complete_on_disk_or_made_by_workers_then_it_is_not_read_ahead(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = library(tmp_path)
    opened.add([pdf(0)], SMALL)
    read: Counter[str] = Counter()
    opened.add(map(pdf, range(2)), SMALL, progress=lambda what, done, total: read.update([what]))
    assert not any(what.startswith("bay-0") for what in read)

    rows: list[int] = []
    begin = Ahead.__enter__
    monkeypatch.setattr(Ahead, "__enter__", lambda self: (rows.append(len(self._rows)), begin(self))[1])
    monkeypatch.setattr(Library, "_elsewhere", lambda self, *_: Elsewhere(None, *[None] * 5))  # type: ignore[arg-type]
    opened.add([pdf(2)], SMALL)
    assert rows == [0]
    assert names(opened) == ["bay-0.pdf", "bay-1.pdf", "bay-2.pdf"]


def rows_of(count: int) -> list[tuple[Accepted, str | None]]:
    return [(Accepted.of(pdf(number)), None) for number in range(count)]


@pytest.fixture
def rows() -> Iterator[list[tuple[Accepted, str | None]]]:
    yield rows_of(3)
    assert not reading()


def test_given_a_source_that_is_given_up_while_it_is_made_then_who_gives_it_up_waits_until_it_is_left(rows) -> None:
    began, left, made = threading.Event(), threading.Event(), []

    def make(row: Accepted, password: str | None, stopped: Callable[[], bool], was_read: Callable[[], None]) -> Found:
        made.append(row.name)
        began.set()
        until(stopped)
        left.set()
        raise IngestError("It was stopped.", remedy="None.")

    with Ahead(make, rows[:1]) as running:
        assert began.wait(SECONDS)
        running.give_up([rows[0][0].id])
        assert left.is_set()
        assert not running.makes(rows[0][0])
        assert running.take(rows[0][0], lambda: None) is None
    assert made == ["bay-0.pdf"]


def test_given_a_pause_then_nothing_more_is_begun_within_it(rows) -> None:
    begun: list[str] = []
    first, go = threading.Event(), threading.Event()

    def make(row: Accepted, password: str | None, stopped: Callable[[], bool], was_read: Callable[[], None]) -> Found:
        begun.append(row.name)
        first.set()
        assert go.wait(SECONDS)
        raise IngestError(row.name, remedy="None.")

    with Ahead(make, rows) as running:
        assert first.wait(SECONDS)
        with running.paused():
            go.set()
            with pytest.raises(IngestError, match="bay-0"):
                running.take(rows[0][0], lambda: None)
            threading.Event().wait(0.1)
            assert begun == ["bay-0.pdf"]
        with pytest.raises(IngestError, match="bay-2"):
            running.take(rows[2][0], lambda: None)


def test_given_a_source_that_is_cut_then_the_next_one_is_read_beside_it_and_no_third(rows) -> None:
    events: list[str] = []
    both, go = threading.Event(), threading.Event()

    def make(row: Accepted, password: str | None, stopped: Callable[[], bool], was_read: Callable[[], None]) -> Found:
        events.append(f"{row.name} begun")
        if row.name == "bay-1.pdf":
            threading.Event().wait(0.05)
            events.append("bay-1.pdf read")
            both.set()
        was_read()
        assert go.wait(SECONDS)
        raise IngestError(row.name, remedy="None.")

    with Ahead(make, rows) as running:
        assert both.wait(SECONDS)
        started = time.monotonic()
        running.give_way(0.05)  # as long as there is anything in work
        assert time.monotonic() - started >= 0.04
        assert events == ["bay-0.pdf begun", "bay-1.pdf begun", "bay-1.pdf read"]
        go.set()
        with pytest.raises(IngestError, match="bay-2"):
            running.take(rows[2][0], lambda: None)
        running.give_way(SECONDS)  # nothing is
        assert events[-1] == "bay-2.pdf begun"


@pytest.mark.parametrize("given", [0, 1])
def test_given_no_more_threads_then_those_that_began_make_all_sources_and_without_one_the_call_makes_them(
    rows, monkeypatch: pytest.MonkeyPatch, given: int
) -> None:
    begun, start = [], threading.Thread.start

    def full(thread: threading.Thread) -> None:
        if len(begun) == given:
            raise RuntimeError("can't start new thread")
        begun.append(thread)
        start(thread)

    def make(row: Accepted, password: str | None, stopped: Callable[[], bool], was_read: Callable[[], None]) -> Found:
        raise IngestError(row.name, remedy="None.")

    monkeypatch.setattr(threading.Thread, "start", full)
    with Ahead(make, rows) as running:
        assert [running.makes(row) for row, _ in rows] == [given == 1] * 3
        for row, _ in rows[: 3 * given]:
            with pytest.raises(IngestError, match=row.name):
                running.take(row, lambda: None)


def test_given_a_file_of_two_uploads_when_the_first_is_stopped_then_it_is_out_of_sight_before_it_is_made_for_the_second(rows) -> None:
    events, made, stopped = list[str](), threading.Semaphore(0), threading.Event()
    behind, nobody = Behind(), None
    uploads = [Upload(rows[:1], nobody, lambda *_: None, stop, behind) for stop in (stopped.is_set, lambda: False)]  # type: ignore[arg-type]
    for one in uploads:
        behind.expect(one)

    def make(upload: Upload, row: Row, stopped: Callable[[], bool], was_read: Callable[[], None]) -> None:
        events.append(f"made for {uploads.index(upload)}")
        made.release()

    def withdraw(id: str) -> None:
        assert not made.acquire(timeout=0.1), "it is out of sight although it was made again"
        events.append("withdrawn")

    with Ahead(lambda *_: 1 / 0, (), behind=(behind, make)) as running:  # type: ignore[arg-type, return-value]
        assert made.acquire(timeout=SECONDS)
        until(lambda: not running._in_work)
        stopped.set()
        running.let_go_stopped(withdraw)
        assert made.acquire(timeout=SECONDS)
    assert events == ["made for 0", "withdrawn", "made for 1"]


def test_given_what_the_look_raises_while_a_source_is_waited_for_then_the_waiting_ends(rows) -> None:
    looks: list[int] = []

    def look() -> None:
        looks.append(1)
        if len(looks) == 3:
            raise RagError("Stopped.", remedy="None.")

    def make(row: Accepted, password: str | None, stopped: Callable[[], bool], was_read: Callable[[], None]) -> Found:
        until(stopped)
        raise IngestError("It was stopped.", remedy="None.")

    with pytest.raises(RagError, match="Stopped"), Ahead(make, rows) as running:
        running.take(rows[0][0], look)
    assert len(looks) == 3


def test_given_a_call_that_has_ended_then_nothing_of_it_holds_the_version_of_before(tmp_path: Path) -> None:
    """Else its files would stay on disk until the garbage is collected."""
    opened = library(tmp_path)
    gc.collect()
    gc.disable()
    try:
        opened.add(map(pdf, range(2)), SMALL)
        before = weakref.ref(opened.snapshot)
        opened.add([pdf(2)], SMALL)
        assert before() is None
    finally:
        gc.enable()
