"""Tells how far the cutting of a document has come, by the texts whose tokens are counted for it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate

from rag_core.domain.ports import Embedder, Progress, TextKind, Vectors


class Cutting:
    """An `Embedder`: the one given, which tells how far the pages were gone through.

    Args:
        embedder: counts and embeds.
        what: names the step in `progress`.
        chars: of each page, in order; at least one page.
        progress: told (what, pages done, pages) where the number of pages changes. Headings and table headers are
            counted more than once, so the last page is only done when `finished` says so.
    """

    def __init__(self, embedder: Embedder, what: str, chars: Sequence[int], progress: Progress | None) -> None:
        self._embedder, self._what, self._progress = embedder, what, progress
        self._ends, self._counted, self._told = list(accumulate(chars)), 0, -1
        self._tell(0)

    @property
    def name(self) -> str:
        """The model's name."""
        return self._embedder.name

    @property
    def max_tokens(self) -> int:
        """Tokens that it reads."""
        return self._embedder.max_tokens

    @property
    def tokenizer(self) -> str:
        """Hash of its vocabulary."""
        return self._embedder.tokenizer

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text; tells how far that is in the document."""
        found = self._embedder.count_tokens(texts)
        self._counted += sum(map(len, texts))
        self._tell(min(bisect_right(self._ends, self._counted), len(self._ends) - 1))
        return found

    def embed(self, texts: Sequence[str], kind: TextKind = "passage") -> Vectors:
        """Unit vectors."""
        return self._embedder.embed(texts, kind)

    def finished(self) -> None:
        """Tell that all pages are cut, and their words are listed."""
        self._tell(len(self._ends))

    def _tell(self, pages: int) -> None:
        if self._progress is not None and pages > self._told:
            self._told = pages
            self._progress(self._what, pages, len(self._ends))
