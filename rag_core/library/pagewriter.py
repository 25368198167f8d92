"""Writes the pages of a reading to disk as they come, so that no process holds the layout of a whole document."""

from __future__ import annotations

import gzip
import json
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO

from rag_core.domain.documents import Page
from rag_core.errors import LimitExceeded
from rag_core.library.disk.files import Stamp, stamp_file
from rag_core.library.disk.private import create
from rag_core.library.pagereader import LAYOUT, PAGES
from rag_core.library.stored_json import page_to_json


class PageWriter:
    """Writes into `folder`, which must exist, while it is open; the files count only once somebody lists their stamps.

    Args:
        folder: gets the files PAGES and LAYOUT.
        most_bytes: of the packed layout; beyond it the file is refused.
    """

    def __init__(self, folder: Path, most_bytes: int) -> None:
        self._folder, self._most, self._layout_bytes = folder, most_bytes, 0
        self._open = ExitStack()
        self._heads: gzip.GzipFile
        self._layout: BinaryIO

    def __enter__(self) -> PageWriter:
        with ExitStack() as opening:
            raw = opening.enter_context(create(self._folder / PAGES))
            self._heads = opening.enter_context(gzip.GzipFile("", "wb", compresslevel=5, fileobj=raw, mtime=0))
            self._layout = opening.enter_context(create(self._folder / LAYOUT))
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

    def __exit__(self, *_: object) -> None:
        with self._open:
            self._heads.write(b"]" if self._before == b"," else b"[]")

    def stamps(self) -> dict[str, Stamp]:
        """The stamps of both files, once they are closed."""
        return {name: stamp_file(self._folder / name) for name in (PAGES, LAYOUT)}
