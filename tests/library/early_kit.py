"""A library whose indexing is held at a known batch: a document waits for its vectors while a test asks, and nothing depends on a clock."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from library_kit import HashEmbedder, text

from rag_core.domain.ports import Vectors
from rag_core.library.indexing.adding import EARLY_PASSAGES
from rag_core.library.library import AddReport, Library
from rag_core.library.stored.sources import Source
from rag_core.settings import Settings

SECONDS = 120.0  # reached by what hangs, on a busy machine too
BUOYS = 2 * EARLY_PASSAGES  # paragraphs of the long text, each a passage
SMALL = Settings.load().changed(passage_tokens=40, overlap_tokens=0, strategy="technical")
COLOURS = ("green", "amber", "violet")


def buoys(id: str = "buoys", first: int = 0, count: int = BUOYS, **fields: object) -> Source:
    """A long text: buoy n shows a light of its own colour. Each paragraph fills a passage."""
    told = "Ships keep well away from it in any weather, and the harbour office is told of every light that fails at night"
    body = "\n\n".join(f"The buoy {n} shows a {COLOURS[n % 3]} light number{n}. {told} near buoy {n}." for n in range(first, first + count))
    return text(id, body, language="en", **fields)


class Held(HashEmbedder):
    """Embeds at once for a question; a batch of the thread that indexes waits until it is let go."""

    def __init__(self) -> None:
        super().__init__()
        self._let, self._changed = 0, threading.Condition()
        self._done, self._stands = 0, False

    def embed(self, texts: Sequence[str]) -> Vectors:
        if threading.current_thread().name == "indexing":
            with self._changed:
                self._stands = True
                self._changed.notify_all()
                assert self._changed.wait_for(lambda: self._done < self._let, SECONDS)
                self._stands, self._done = False, self._done + 1
        return super().embed(texts)

    def let(self, batches: int) -> None:
        """Let so many batches go, and wait until the next one stands."""
        with self._changed:
            self._let += batches
            self._changed.notify_all()
            assert self._changed.wait_for(lambda: self._stands and self._done == self._let, SECONDS)

    def let_all(self) -> None:
        """Let all go."""
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
