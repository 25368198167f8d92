"""Counts the words of layers that are switched off. MuPDF does not read them, so they are in no text; this says that they are there."""

# mypy: allow-untyped-calls

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import pymupdf


class Layers:
    """A second look at a document, with all its layers on; `none` says that it has none that are off, and costs nothing then."""

    def __init__(self, document: Any, password: str) -> None:
        self._all: Any = None
        if not document.is_pdf:  # a web page has none
            return
        keys = ("OFF", "BaseState", "AS")  # each may switch a layer off
        if any(document.xref_get_key(document.pdf_catalog(), f"OCProperties/D/{key}")[1] not in ("null", "[]", "/ON") for key in keys):
            self._all = pymupdf.open(stream=document.stream, filetype="pdf")
            if self._all.needs_pass:
                self._all.authenticate(password)
            self._all.xref_set_key(self._all.pdf_catalog(), "OCProperties", "null")  # then no layer is ever off

    def words(self, number: int, read: Iterable[str], flags: int) -> list[str]:
        """The words of page `number` (from 0) that are there only with all layers on; `read` are the others."""
        if self._all is None:
            return []
        page = self._all[number]
        more = Counter(word[4] for word in page.get_textpage(clip=pymupdf.INFINITE_RECT(), flags=flags).extractWORDS())
        return list((more - Counter(read)).elements())
