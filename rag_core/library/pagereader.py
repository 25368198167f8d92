"""Reads the stored pages of documents when somebody looks at them, and remembers the last ones. Safe to share between threads."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from rag_core.domain.documents import Page
from rag_core.errors import InvalidInput
from rag_core.library.disk.files import Stamp, damaged, read_verified, unpack, verify_file
from rag_core.library.manifest import Entry
from rag_core.library.stored_json import page_from_json

PAGES, LAYOUT = "pages.json.gz", "layout.jsonl.gz"
CACHE_BYTES = 64 << 20  # about ten filings of 300 pages: 1 MB of text and 2 MB of packed layout each

_Key = tuple[str, Stamp]  # a file and what it holds: a document that is deleted and read again may get other bytes


class PageReader:
    """The pages of the documents of one namespace.

    One reader serves all generations, so that its memory is warm after a change; files are named by content, and never change.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._cache: OrderedDict[_Key, tuple[Any, int]] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    def page(self, entry: Entry, number: int) -> Page:
        """The page with its rows and word boxes.

        Raises:
            InvalidInput: there is no such page.
            LibraryDamaged: a file is missing or was changed.
        """
        name, expected = _file(entry, LAYOUT)
        layout = self._remember((name, expected), lambda: _weighed(read_verified(self._root / name, expected)))
        try:
            head = self._head(entry, number)
            offset, length = head["layout"]
            return page_from_json(head, layout[offset : offset + length])
        except (OSError, EOFError, ValueError, KeyError, TypeError) as error:
            raise damaged(self._root / name, "does not hold the page") from error

    def text(self, entry: Entry, number: int) -> str:
        """The page's text alone: quicker, as the layout is not read.

        Raises:
            InvalidInput: there is no such page.
            LibraryDamaged: a file is missing or was changed.
        """
        return str(self._head(entry, number)["text"])

    def _head(self, entry: Entry, number: int) -> Mapping[str, Any]:
        name, expected = _file(entry, PAGES)
        path = self._root / name

        def load() -> tuple[Any, int]:
            data = read_verified(path, expected)
            heads = unpack(data, path)
            return {head["number"]: head for head in heads}, sum(len(head["text"]) for head in heads) + len(data)

        heads = self._remember((name, expected), load)
        if number not in heads:
            raise InvalidInput(
                f"{entry.document.name} has no page {number}.", remedy=f"Ask for a page from 1 to {entry.document.page_count}."
            )
        found: Mapping[str, Any] = heads[number]
        return found

    def _remember(self, key: _Key, load: Callable[[], tuple[Any, int]]) -> Any:
        with self._lock:
            if key in self._cache:
                self._cache.move_to_end(key)
                return self._cache[key][0]
        value, weight = load()  # outside the lock: two threads may both read a file, none waits for another's
        with self._lock:
            if key not in self._cache:
                self._cache[key] = (value, weight)
                self._bytes += weight
            while self._bytes > CACHE_BYTES and len(self._cache) > 1:
                self._bytes -= self._cache.popitem(last=False)[1][1]
        return value


def read_pages(folder: Path, stamps: Mapping[str, Stamp]) -> Iterator[Page]:
    """The pages of a stored reading one after the other, with rows and words; `stamps` by the files' names in `folder`.

    Raises:
        LibraryDamaged: a file is missing or was changed; said before the first page.
    """
    heads = unpack(read_verified(folder / PAGES, stamps[PAGES]), folder / PAGES)
    verify_file(folder / LAYOUT, stamps[LAYOUT])
    with (folder / LAYOUT).open("rb") as file:
        for head in heads:
            offset, length = head["layout"]
            file.seek(offset)
            yield page_from_json(head, file.read(length))


def _file(entry: Entry, name: str) -> tuple[str, Stamp]:
    path = f"documents/{entry.key}/{name}"
    return path, entry.files[path]


def _weighed(data: bytes) -> tuple[bytes, int]:
    return data, len(data)
