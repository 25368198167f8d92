"""Batches of the first pages of a PDF that is still being read: they can be asked long before the last page is there.

The pages that have come since the last batch are cut as a document of their own, so a passage may end elsewhere than in
the whole document, of which nobody knows yet what stands at the head of each page. The pages are final, and so is each
place that an answer names. The whole document is cut as if there had been no batches.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace

from rag_core.domain.documents import Metadata, Page
from rag_core.domain.passages import Passage
from rag_core.domain.ports import Cancel, Embedder, Vectors
from rag_core.errors import Cancelled
from rag_core.library.indexing.documents import Manner, document_of, entry_of, manner_of, passages_of
from rag_core.library.indexing.embedding import terms_of
from rag_core.library.indexing.reading import PageKeeper, Reading
from rag_core.library.stored.collection import Cut
from rag_core.library.stored.entry import Accepted
from rag_core.settings import Settings

# in the first batch: they are read and cut in about a second on two free cores; with each further batch, twice as many
FIRST_PAGES = 32
MAX_SHARE = 2 / 3  # share of a document's pages in batches: when more are read, the whole is cut as soon; chosen
_log = logging.getLogger(__name__)


class Batches:
    """Cuts the batches of one PDF while its pages come; `take` is given each batch, with the ones before it."""

    def __init__(
        self,
        row: Accepted,
        key: str,
        settings: Settings,
        embedder: Embedder,
        keeper: PageKeeper,
        take: Callable[[Cut], object],
        cancelled: Cancel,
    ) -> None:
        self._row, self._key, self._settings, self._embedder = row, key, settings, embedder
        self._keeper, self._take, self._cancelled = keeper, take, cancelled
        self._pages: list[Page] = []
        self._stated, self._count, self._next = Metadata(), 0, FIRST_PAGES
        self._manner: Manner | None = None
        self._passages: list[Passage] = []
        self._terms: list[list[str]] = []
        self._cut = 0  # so many pages are in a batch
        self.known: dict[str, Vectors] = {}  # vectors of the batches, by embedded text

    def begun(self, stated: Metadata, count: int) -> None:
        self._stated, self._count = stated, count

    def read(self, page: Page, size: int) -> None:
        """Take the next page of a file of `size` bytes, and cut a batch when it is time; raises Cancelled."""
        self._pages.append(page)
        read = len(self._pages)
        if read < self._next or read > MAX_SHARE * self._count:
            return
        self._next = 2 * read
        try:
            batch = self._batch(size)
        except Cancelled:
            raise
        # the whole document meets what is wrong with it, and says it; a batch is never a reason to lose it
        except Exception:
            _log.info("no batch of the first %d pages", read, exc_info=True)
            self._next = self._count + 1
        else:
            if batch.passages:
                self._keeper.flush()
                self._take(batch)

    def _batch(self, size: int) -> Cut:
        """The pages so far: those that are in no batch yet are cut, the others stay as they are."""
        reading = Reading(tuple(self._pages), self._stated, (), size)
        manner = self._manner = self._manner or manner_of(self._row, reading, self._settings)
        new = passages_of(self._row, self._pages[self._cut :], manner, self._settings, self._embedder, self._cancelled)
        self._terms += terms_of(self._row.name, manner.title, new)
        # not the ids of the whole document: those name other passages
        self._passages += [replace(one, id=f"-{self._cut + 1}:".join(one.id.rsplit(":", 1))) for one in new]
        self._cut = len(self._pages)
        entry = entry_of(self._keeper.document, self._key, document_of(self._row, reading, manner), self._row)
        return Cut(entry, manner.title, [*self._passages], [*self._terms], self._count, known=self.known)
