"""A library whose indexing is held at a known batch of vectors: a document is half read while a test asks, and nothing
depends on a clock.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import pymupdf
from library_kit import HashEmbedder, text

from rag_core.domain.ports import TextKind, Vectors
from rag_core.library.indexing.adding import THREAD
from rag_core.library.library import AddReport, Library
from rag_core.library.stored.sources import Source
from rag_core.settings import Settings

SECONDS = 120.0  # reached by what hangs, on a busy machine too
SMALL = Settings.load().changed(passage_tokens=40, overlap_tokens=0, strategy="technical")
PAGES, FIRST = 24, 6  # pages of a PDF, each a passage: batches of 6 and of 12 pages, where `FIRST_PAGES` is so
TOLD = "Ships keep well away from it in any weather, and the harbour office is told of every light that fails at night."
BAD = Source("bad.pdf", b"%PDF-1.7 nothing that can be read", "pdf")
MEMO = text("memo", "The memo says that the ferry leaves at nine.", language="en")


class Held(HashEmbedder):
    """Embeds at once for a question; a batch of what is indexed waits until it is let go."""

    def __init__(self) -> None:
        super().__init__()
        self._let, self._changed = 0, threading.Condition()
        self._done, self._stands = 0, False

    def embed(self, texts: Sequence[str], kind: TextKind = "passage") -> Vectors:
        if threading.current_thread().name.startswith(THREAD):
            with self._changed:
                self._stands = True
                self._changed.notify_all()
                assert self._changed.wait_for(lambda: self._done < self._let, SECONDS)
                self._stands, self._done = False, self._done + 1
        return super().embed(texts, kind)

    def let(self, batches: int) -> None:
        """Let so many batches go, and wait until the next one stands."""
        with self._changed:
            self._let += batches
            self._changed.notify_all()
            assert self._changed.wait_for(lambda: self._stands and self._done == self._let, SECONDS)

    def let_all(self) -> None:
        with self._changed:
            self._let += 1_000_000
            self._changed.notify_all()


class Indexing:
    """A call of `add` in a thread of its own, which stands before its first batch at first."""

    def __init__(self, opened: Library, embedder: Held, sources: Sequence[Source], settings: Settings) -> None:
        self.report: AddReport | None = None
        self.stop, self._embedder = threading.Event(), embedder

        def work() -> None:
            self.report = opened.add(sources, settings, cancelled=self.stop.is_set)

        self.thread = threading.Thread(target=work, name="indexing")
        self.thread.start()
        embedder.let(0)

    def end(self) -> AddReport:
        """Let it go on to its end."""
        self._embedder.let_all()
        self.thread.join(SECONDS)
        assert self.report is not None
        return self.report


@contextmanager
def indexing(opened: Library, embedder: Held, *sources: Source, settings: Settings = SMALL) -> Iterator[Indexing]:
    """The sources are being indexed; at the end, all is done."""
    running = Indexing(opened, embedder, sources, settings)
    try:
        yield running
    finally:
        running.end()


@functools.lru_cache
def pdf(number: int, pages: int = PAGES) -> Source:
    """A PDF of which each page speaks of a buoy of its own."""
    made = pymupdf.open()
    for page in range(pages):
        shown = f"The buoy {100 * number + page} shows a light number{100 * number + page}. {TOLD}"
        made.new_page().insert_textbox((50, 50, 545, 400), shown, fontsize=11)
    return Source(f"bay-{number}.pdf", made.tobytes(no_new_id=True), "pdf")


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


def names(opened: Library) -> list[str]:
    return [one.name for one in opened.view.documents]


def until(holds: Callable[[], bool]) -> None:
    """Wait until the other thread has come so far."""
    for _ in range(int(SECONDS * 100)):
        if holds():
            return
        threading.Event().wait(0.01)
    raise AssertionError("it never came so far")
