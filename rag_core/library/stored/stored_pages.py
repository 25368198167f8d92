"""The stored pages of documents: written one by one, so that no process holds the layout of a whole document, and read when looked at.

Readers are safe to share between threads.
"""

from __future__ import annotations

import gzip
import json
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from rag_core.domain.documents import Page
from rag_core.errors import InvalidInput, LibraryDamaged, LimitExceeded
from rag_core.library.disk.files import Stamp, damaged, read_verified, stamp_file, unpack, verify_file
from rag_core.library.disk.private import create
from rag_core.library.stored.manifest import Entry
from rag_core.library.stored.stored_json import page_from_json, page_to_json

PAGES, LAYOUT = "pages.json.gz", "layout.jsonl.gz"
CACHE_BYTES = 64 << 20  # about ten filings of 300 pages: 1 MB of text and 2 MB of packed layout each

_Key = tuple[str, Stamp]  # a file and what it holds: a document that is deleted and read again may get other bytes


class Pages(Protocol):
    """Reads the pages of documents."""

    def page(self, entry: Entry, number: int) -> Page:
        """See `PageReader.page`."""
        ...

    def text(self, entry: Entry, number: int) -> str:
        """See `PageReader.text`."""
        ...


class PageReader:
    """The pages of the documents of one collection.

    One reader serves all versions, so that its memory is warm after a change; files are named by content, and never change.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._cache: OrderedDict[_Key, tuple[Any, int]] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()
        self._drafts: dict[str, Path] = {}

    def lend(self, key: str, folder: Path) -> None:
        """Read the pages of the document of this key from `folder`, where they lie until it is complete; afterwards as of any other."""
        self._drafts[key] = folder

    def page(self, entry: Entry, number: int) -> Page:
        """The page with its rows and word boxes.

        Raises:
            InvalidInput: there is no such page.
            LibraryDamaged: a file is missing or was changed.
        """
        name, expected = _file(entry, LAYOUT)
        layout = self._remember((name, expected), lambda: _weighed(self._read(entry.key, LAYOUT, expected)))
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
            data = self._read(entry.key, PAGES, expected)
            heads = unpack(data, path)
            return {head["number"]: head for head in heads}, sum(len(head["text"]) for head in heads) + len(data)

        heads = self._remember((name, expected), load)
        if number not in heads:
            raise no_page(entry, number)
        found: Mapping[str, Any] = heads[number]
        return found

    def _read(self, key: str, name: str, expected: Stamp) -> bytes:
        draft = self._drafts.get(key)
        if draft is not None:
            with suppress(LibraryDamaged):  # it was moved meanwhile: the document is complete
                return read_verified(draft / name, expected)
        return read_verified(self._root / "documents" / key / name, expected)

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


class PagesSoFar:
    """The first pages of a document that is still being read: their texts, and the layout as it was packed for the disk.

    Args:
        heads: of each page, as `page_to_json` gives them.
        layout: the packed layouts of these pages, one behind another.
    """

    def __init__(self, heads: Sequence[Mapping[str, Any]], layout: bytes) -> None:
        self._heads, self._layout = {head["number"]: head for head in heads}, layout

    def page(self, entry: Entry, number: int) -> Page:
        """See `PageReader.page`."""
        head = self._head(entry, number)
        offset, length = head["layout"]
        return page_from_json(head, self._layout[offset : offset + length])

    def text(self, entry: Entry, number: int) -> str:
        """See `PageReader.text`."""
        return str(self._head(entry, number)["text"])

    def _head(self, entry: Entry, number: int) -> Mapping[str, Any]:
        if number not in self._heads:
            raise no_page(entry, number)
        return self._heads[number]


def no_page(entry: Entry, number: int) -> InvalidInput:
    """The error for a page that a document does not have, or not yet."""
    return InvalidInput(f"{entry.document.name} has no page {number}.", remedy=f"Ask for a page from 1 to {entry.document.page_count}.")


class PageWriter:
    """Writes into `folder`, which must exist, while it is open; the files count only once somebody lists their stamps.

    Args:
        folder: gets the files PAGES and LAYOUT.
        most_bytes: of the packed layout; beyond it the file is refused.
    """

    def __init__(self, folder: Path, most_bytes: int) -> None:
        self.folder, self._most, self._layout_bytes = folder, most_bytes, 0
        self._put: list[Mapping[str, Any]] = []
        self._open = ExitStack()
        self._heads: gzip.GzipFile
        self._layout: BinaryIO

    def __enter__(self) -> PageWriter:
        with ExitStack() as opening:
            raw = opening.enter_context(create(self.folder / PAGES))
            self._heads = opening.enter_context(gzip.GzipFile("", "wb", compresslevel=5, fileobj=raw, mtime=0))
            self._layout = opening.enter_context(create(self.folder / LAYOUT))
            self._open = opening.pop_all()
        self._before = b"["
        return self

    def put(self, page: Page) -> None:
        """Write one page.

        Raises:
            LimitExceeded: the layouts of the pages so far take more than allowed.
            OSError: the disk refused.
        """
        head, member = page_to_json(page, self._layout_bytes)
        self._layout_bytes += len(member)
        if self._layout_bytes > self._most:
            raise LimitExceeded(
                f"The places of the file's words take more than {self._most >> 20:,} MiB on disk (reached on page {page.number:,}).",
                remedy="Split the file into parts.",
            )
        self._layout.write(member)
        self._heads.write(self._before + json.dumps(head, ensure_ascii=False, separators=(",", ":")).encode())
        self._before = b","
        self._put.append(head)

    def so_far(self) -> PagesSoFar:
        """The pages that were put, to be read by others while more are.

        Raises:
            OSError: the disk refused.
        """
        self._layout.flush()
        return PagesSoFar(self._put, (self.folder / LAYOUT).read_bytes())

    def __exit__(self, *_: object) -> None:
        with self._open:
            self._heads.write(b"]" if self._before == b"," else b"[]")

    def stamps(self) -> dict[str, Stamp]:
        """The stamps of both files, once they are closed."""
        return {name: stamp_file(self.folder / name) for name in (PAGES, LAYOUT)}
