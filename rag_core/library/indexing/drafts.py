"""Drafts of the first pages of a PDF that is still being read: a question finds their words long before the last page
is there.

The pages that have come since the last draft are cut as a document of their own, so a passage may end elsewhere than in
the whole document, of which nobody knows yet what stands at the head of each page. The pages are final, and so is each
place that an answer names. The whole document is made of all pages as if there had been no drafts.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace

from rag_core.domain.documents import Metadata, Page
from rag_core.domain.passages import Passage
from rag_core.domain.ports import Cancel, Embedder
from rag_core.errors import Cancelled
from rag_core.library.disk.files import Stamp
from rag_core.library.indexing.documents import Manner, document_of, entry_of, manner_of, passages_of
from rag_core.library.indexing.embedding import terms_of
from rag_core.library.indexing.reading import PageKeeper, Reading
from rag_core.library.stored.collection import READING, pack_terms
from rag_core.library.stored.entry import Accepted
from rag_core.settings import Settings

# in the first draft: they are read and cut in about a second on two free cores; each further draft has twice as many
FIRST_PAGES = 32
MAX_SHARE = 2 / 3  # share of a document's pages in a draft: when more are read, the whole is cut as soon; chosen
_log = logging.getLogger(__name__)


class Drafts:
    """Makes the drafts of one PDF while its pages come.

    Args:
        row: the source.
        key: of the document that it will be.
        settings: the ingest settings.
        embedder: counts tokens.
        keeper: keeps the pages.
        made_known: called when there is a draft.
        cancelled: asked while one is made.
    """

    def __init__(
        self,
        row: Accepted,
        key: str,
        settings: Settings,
        embedder: Embedder,
        keeper: PageKeeper,
        made_known: Callable[[], object],
        cancelled: Cancel,
    ) -> None:
        self._row, self._key, self._settings, self._embedder = row, key, settings, embedder
        self._keeper, self._made_known, self._cancelled = keeper, made_known, cancelled
        self._pages: list[Page] = []
        self._stated, self._count, self._next = Metadata(), 0, FIRST_PAGES
        self._manner: Manner | None = None
        self._passages: list[Passage] = []
        self._terms: list[list[str]] = []
        self._cut = 0  # so many pages are in a draft
        self.made = False  # there was one

    def begun(self, stated: Metadata, count: int) -> None:
        """Take what the file says of itself, and how many pages it has."""
        self._stated, self._count = stated, count

    def read(self, page: Page, source: Stamp) -> None:
        """Take the next page, and make a draft when it is time for one; `source` is the file's stamp.

        Raises:
            Cancelled: the user stopped it.
        """
        self._pages.append(page)
        read = len(self._pages)
        if read < self._next or read > MAX_SHARE * self._count:
            return
        self._next = 2 * read
        try:
            if self._draft(source):
                self.made = True
                self._made_known()
        except Cancelled:
            raise
        # the whole document meets what is wrong with it, and says it; a draft is never a reason to lose it
        except Exception:
            _log.info("no draft of the first %d pages", read, exc_info=True)
            self._next = self._count + 1

    def _draft(self, source: Stamp) -> bool:
        """Keep the pages so far: those that are in no draft yet are cut, the others stay as they are."""
        reading = Reading(tuple(self._pages), self._stated, (), source)
        manner = self._manner = self._manner or manner_of(self._row, reading, self._settings)
        new = passages_of(self._row, self._pages[self._cut :], manner, self._settings, self._embedder, self._cancelled)
        self._terms += terms_of(self._row.name, manner.title, new)
        # not the ids of the whole document: those name other passages
        self._passages += [replace(one, id=f"-{self._cut + 1}:".join(one.id.rsplit(":", 1))) for one in new]
        self._cut = len(self._pages)
        if not self._passages:
            return False
        self._keeper.flush()
        entry = entry_of(self._keeper.document, self._key, document_of(self._row, reading, manner), self._row)
        self._keeper.collection.put_cut(
            entry, manner.title, self._passages, pack_terms(self._terms), state=READING, pages=self._count
        )
        return True
