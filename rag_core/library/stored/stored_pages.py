"""The stored pages of documents, which are read when they are looked at. Readers are safe to share between threads."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Protocol

from rag_core.domain.documents import Page
from rag_core.errors import InvalidInput, LibraryDamaged, LibraryError
from rag_core.library.disk.database import Database
from rag_core.library.stored.entry import Entry
from rag_core.library.stored.stored_json import REBUILD, page_from_json

CACHE_BYTES = 64 << 20  # about ten filings of 300 pages: 1 MB of text and 2 MB of packed layout each


class Pages(Protocol):
    """Reads the pages of documents."""

    def page(self, entry: Entry, number: int) -> Page:
        """See `PageReader.page`."""
        ...

    def text(self, entry: Entry, number: int) -> str:
        """See `PageReader.text`."""
        ...


class PageReader:
    """The pages of the documents of one collection, from its file. One reader serves all versions, so that its memory is warm."""

    def __init__(self, file: Database) -> None:
        self._file = file
        self._cache: OrderedDict[tuple[int, int], tuple[bytes, bytes]] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    def page(self, entry: Entry, number: int) -> Page:
        """The page with its rows and word boxes.

        Raises:
            InvalidInput: there is no such page.
            LibraryDamaged: it is missing or was changed.
            LibraryError: its document was deleted, or made anew.
        """
        return page_from_json(*self._read(entry, number))

    def text(self, entry: Entry, number: int) -> str:
        """The page's text alone; raises as `page` does."""
        return page_from_json(self._read(entry, number)[0]).text

    def _read(self, entry: Entry, number: int) -> tuple[bytes, bytes]:
        if not 1 <= number <= entry.document.page_count:
            raise InvalidInput(
                f"{entry.document.name} has no page {number}.", remedy=f"Ask for a page from 1 to {entry.document.page_count}."
            )
        key = entry.row, number
        with self._lock:
            if key in self._cache:
                self._cache.move_to_end(key)
                return self._cache[key]
        with self._file.reading() as db:
            found = db.execute("SELECT facts, layout FROM page WHERE document = ? AND number = ?", key).fetchone()
            there = found or db.execute("SELECT 1 FROM document WHERE id = ?", key[:1]).fetchone()
        if not there:
            problem = f"{entry.document.name} was deleted or indexed anew, so page {number} cannot be read any more."
            raise LibraryError(problem, remedy="Ask again.")
        if not found:
            raise LibraryDamaged(f"Page {number} of {entry.document.name} is missing.", remedy=REBUILD)
        facts, layout = found
        with self._lock:
            if key not in self._cache:
                self._cache[key] = facts, layout
                self._bytes += len(facts) + len(layout)
            while self._bytes > CACHE_BYTES and len(self._cache) > 1:
                self._bytes -= sum(map(len, self._cache.popitem(last=False)[1]))
        return facts, layout
