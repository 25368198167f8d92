"""Documents that workers make: the same files as here, published in their order; who fails, dies or is stopped costs
nothing else.
"""

from __future__ import annotations

import functools
import sqlite3
import threading
from concurrent.futures import Future
from contextlib import closing
from pathlib import Path

import numpy as np
import pymupdf
import pytest
from library_kit import SETTINGS, HashEmbedder, check_whole, text
from reading_kit import kept

from rag_core.adapters.index.flat import FaissStore
from rag_core.domain.ports import Cancel, Embedder
from rag_core.errors import DamagedPdf, IngestError, WorkersUnavailable
from rag_core.library.indexing.elsewhere import MIN_FILES, make
from rag_core.library.library import Library
from rag_core.library.stored.collection import pack_vectors
from rag_core.library.stored.entry import Accepted
from rag_core.library.stored.named import FILE
from rag_core.library.stored.sources import Source
from rag_core.settings import Settings


@functools.lru_cache
def pdf(number: int) -> Source:
    made = pymupdf.open()
    for page in range(2):
        made.new_page().insert_text((72, 72), f"The buoy number{number} has page{page} of its own.")
    return Source(f"buoy-{number}.pdf", made.tobytes(no_new_id=True), "pdf")


class Worker:
    """Workers in this process: once they have as many orders as they take, or all that there are, they make the newest
    first.
    """

    def __init__(self, folder: Path, room: int = 3) -> None:
        self.folder, self.room = folder, room
        self.orders: dict[str, tuple[Accepted, bytes, Future[bytes]]] = {}
        self.ordered: list[str] = []
        self.most = self.begun = self.ended = 0
        self.say: dict[str, bytes | IngestError] = {}  # what comes of a file, by its name, instead of its document
        self.gone_after: int | None = None
        self.working = threading.Lock()

    def begin(self, embedder: Embedder, settings: Settings, cancelled: Cancel) -> int:
        self.embedder, self.settings, self.begun = embedder, settings, self.begun + 1
        return self.room

    def order(self, row: Accepted, data: bytes) -> Future[bytes]:
        future: Future[bytes] = Future()
        self.orders[row.name] = row, data, future
        self.ordered.append(row.name)
        self.most = max(self.most, len(self.orders))
        threading.Timer(0.3, self.work).start()
        return future

    def work(self) -> None:
        with self.working:
            if not self.orders:
                return
            row, data, future = self.orders.pop(next(reversed(self.orders)))
            if self.gone_after == 0:
                future.set_exception(WorkersUnavailable("They are gone.", remedy="Resume."))
                return
            if self.gone_after is not None:
                self.gone_after -= 1
            said = self.say.get(row.name) or self.made(row, data)
            if isinstance(said, IngestError):
                future.set_exception(said)
            else:
                future.set_result(said)

    def made(self, row: Accepted, data: bytes) -> bytes:
        return make(row, data, self.settings, self.embedder, self.folder / row.digest)

    def end(self) -> None:
        with self.working:
            self.ended += 1
            self.orders.clear()


@pytest.fixture
def worker(tmp_path: Path) -> Worker:
    return Worker(tmp_path / "workers")


def library(folder: Path, worker: Worker | None) -> Library:
    return Library.open(
        folder,
        "default",
        embedder=HashEmbedder(),
        vectors=FaissStore(),
        workers=lambda settings: worker,
    )


def test_given_workers_when_many_pdfs_are_added_then_all_is_as_without_them(tmp_path: Path, worker: Worker) -> None:
    sources = [*map(pdf, range(4)), text("note", "A text of its own."), pdf(4)]
    here = library(tmp_path / "here", None)
    apart = library(tmp_path / "apart", worker)
    said: list[tuple[str, int, int]] = []

    expected = here.add(sources, SETTINGS)
    report = apart.add(sources, SETTINGS, progress=lambda *far: said.append(far))

    assert report == expected
    assert kept(apart) == kept(here)
    check_whole(apart)
    assert (worker.begun, worker.ended, worker.most) == (1, 1, worker.room)
    assert worker.ordered == [f"buoy-{number}.pdf" for number in range(5)]
    assert said[0] == ("workers: starting", 0, 1)
    assert [far[1:] for far in said if far[0] == "documents"] == [(number, 6) for number in range(1, 7)]


def test_given_what_is_not_for_workers_then_it_is_made_here(tmp_path: Path, worker: Worker) -> None:
    """A PDF by itself, texts, what needs a password, and what is in the library already."""
    locked = pymupdf.open()
    locked.new_page().insert_text((72, 72), "The secret is number42.")
    secret = Source(
        "s.pdf", locked.tobytes(encryption=pymupdf.PDF_ENCRYPT_AES_256, user_pw="open"), "pdf", password="open"
    )
    apart = library(tmp_path, worker)

    apart.add([pdf(0), secret, text("note", "A text.")], SETTINGS)
    report = apart.add([pdf(0), pdf(1), text("more", "Another text.")], SETTINGS)

    assert (worker.begun, worker.ordered, MIN_FILES) == (0, [], 2)
    assert [document.name for document in report.added] == ["buoy-1.pdf", "more"]
    assert len(apart.snapshot.documents) == 5


def test_given_a_file_that_fails_or_comes_in_pieces_then_it_costs_only_itself(tmp_path: Path, worker: Worker) -> None:
    worker.say = {"buoy-1.pdf": DamagedPdf("It is damaged.", remedy="Save it again."), "buoy-2.pdf": b"SQLite format 3"}
    apart = library(tmp_path, worker)

    report = apart.add(map(pdf, range(4)), SETTINGS)

    assert [document.name for document in report.added] == ["buoy-0.pdf", "buoy-3.pdf"]
    assert [(name, type(error)) for name, error in report.problems] == [
        ("buoy-1.pdf", DamagedPdf),
        ("buoy-2.pdf", IngestError),
    ]
    check_whole(apart)
    assert apart.unfinished() == ()


@pytest.mark.parametrize("wrong", ["another document", "a byte", "no pages", "other vectors"])
def test_given_a_file_of_another_document_with_a_changed_byte_or_with_less_then_nothing_of_them_is_believed(
    tmp_path: Path, worker: Worker, wrong: str
) -> None:
    right = worker.made

    def made(row: Accepted, data: bytes) -> bytes:
        source = pdf(7)
        assert isinstance(source.data, bytes)
        if row.name != "buoy-1.pdf":
            return right(row, data)
        if wrong == "another document":
            return right(Accepted.of(source), source.data)
        (path := tmp_path / FILE).write_bytes(right(row, data))
        with closing(sqlite3.connect(path)) as db, db:
            (packed,) = db.execute("SELECT vectors FROM passages").fetchone()
            packed = (
                packed[:-1] + bytes([packed[-1] ^ 1])
                if wrong == "a byte"
                else pack_vectors(np.eye(7, dtype=np.float32))
            )
            db.execute(
                "DELETE FROM page" if wrong == "no pages" else "UPDATE passages SET vectors = ?",
                () if wrong == "no pages" else (packed,),
            )
        return path.read_bytes()

    worker.made = made  # type: ignore[method-assign]
    apart = library(tmp_path, worker)

    report = apart.add(map(pdf, range(3)), SETTINGS)

    assert [name for name, _ in report.problems] == ["buoy-1.pdf"]
    assert [document.name for document in report.added] == ["buoy-0.pdf", "buoy-2.pdf"]
    check_whole(apart)


def test_given_workers_that_are_gone_then_what_came_is_kept_and_the_rest_waits(tmp_path: Path, worker: Worker) -> None:
    worker.gone_after = 2  # the third and the second came, the first did not
    apart = library(tmp_path, worker)

    with pytest.raises(WorkersUnavailable):
        apart.add(map(pdf, range(4)), SETTINGS)

    assert worker.ended == 1
    assert (apart.snapshot.documents, [row.name for row in apart.unfinished()]) == (
        (),
        [f"buoy-{n}.pdf" for n in range(4)],
    )
    again = library(tmp_path, None)
    embedded = HashEmbedder()
    again._embedder = embedded
    report = again.resume(SETTINGS)
    assert [document.name for document in report.added] == [f"buoy-{n}.pdf" for n in range(4)]
    assert embedded.embedded == 2  # passages of the two that had not come: the others stood on disk
    check_whole(again)


def test_given_a_stop_while_workers_work_then_it_ends_and_the_rest_waits(tmp_path: Path, worker: Worker) -> None:
    apart = library(tmp_path, worker)
    asked = 0

    def cancelled() -> bool:
        nonlocal asked
        asked += 1
        return worker.begun > 0 and len(worker.ordered) > worker.room

    report = apart.add(map(pdf, range(6)), SETTINGS, cancelled=cancelled)

    assert report.cancelled
    assert (worker.ended, len(report.added) + len(apart.unfinished())) == (1, 6)
    assert len(worker.ordered) == worker.room + 1  # and nothing was ordered after it
    resumed = library(tmp_path, worker).resume(SETTINGS)
    assert len(report.added) + len(resumed.added) == 6


def test_given_a_rebuild_and_a_damaged_file_then_workers_make_the_others(tmp_path: Path, worker: Worker) -> None:
    library(tmp_path, None).add(map(pdf, range(4)), SETTINGS)
    stored = tmp_path / "default/sources" / pdf(1).digest
    stored.write_bytes(b"%PDF-1.4 something else")
    other = HashEmbedder("other@float32")

    rebuilt, report = Library.rebuild(
        tmp_path,
        "default",
        SETTINGS,
        embedder=other,
        vectors=FaissStore(),
        workers=lambda settings: worker,
    )

    assert worker.ordered == ["buoy-0.pdf", "buoy-2.pdf", "buoy-3.pdf"]
    assert len(report.added) == 4  # its pages were read before
    assert [name for name, _ in report.problems] == ["buoy-1.pdf"]
    assert len(rebuilt.snapshot.documents) == 4


def test_given_settings_then_they_say_which_workers_there_are(tmp_path: Path) -> None:
    asked: list[Settings] = []

    def workers(settings: Settings) -> None:
        asked.append(settings)

    opened = Library.open(tmp_path, "default", embedder=HashEmbedder(), vectors=FaissStore(), workers=workers)
    opened.add([text("one", "Alpha.")], SETTINGS.changed(overlap_tokens=0))

    assert [settings.overlap_tokens for settings in asked] == [0]
