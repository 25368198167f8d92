"""The embedding model as it counts tokens for the cutting of a document: how far that has come, and what was counted before."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate

from rag_core.domain.passages import Passage
from rag_core.domain.ports import Embedder, Progress, TextKind, Vectors
from rag_core.library.indexing.embedding import terms_of


class Through:
    """An `Embedder` that is the one behind it in all things."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

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
        """Tokens of each text."""
        return self._embedder.count_tokens(texts)

    def embed(self, texts: Sequence[str], kind: TextKind = "passage") -> Vectors:
        """Unit vectors."""
        return self._embedder.embed(texts, kind)


class Cutting(Through):
    """The embedding model as it is, which tells how far the pages were gone through.

    Args:
        embedder: counts and embeds.
        what: names the step in `progress`.
        chars: of each page, in order; at least one page.
        progress: told (what, pages done, pages) where the number of pages changes. Headings and table headers are counted more than once,
            so the last page is only done when `finished` says so.
    """

    def __init__(self, embedder: Embedder, what: str, chars: Sequence[int], progress: Progress | None) -> None:
        super().__init__(embedder)
        self._what, self._progress = what, progress
        self._ends, self._counted, self._told = list(accumulate(chars)), 0, -1
        self._tell(0)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text; tells how far that is in the document."""
        found = super().count_tokens(texts)
        self._counted += sum(map(len, texts))
        self._tell(min(bisect_right(self._ends, self._counted), len(self._ends) - 1))
        return found

    def finished(self) -> None:
        """Tell that all pages are cut, and their words are listed."""
        self._tell(len(self._ends))

    def _tell(self, pages: int) -> None:
        if self._progress is not None and pages > self._told:
            self._told = pages
            self._progress(self._what, pages, len(self._ends))


class Memory(Through):
    """The embedding model as it is, which counts no text twice and lists the terms of none twice, while drafts of a document are made.

    Args:
        embedder: counts and embeds.
    """

    def __init__(self, embedder: Embedder) -> None:
        super().__init__(embedder)
        self._tokens: dict[str, int] = {}
        self._terms: dict[tuple[str, str], list[str]] = {}
        self.drafting = False  # what is worked out now is remembered

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text."""
        new = [text for text in dict.fromkeys(texts) if text not in self._tokens]
        counted = dict(zip(new, super().count_tokens(new), strict=True)) if new else {}
        if self.drafting:
            self._tokens |= counted
        return [counted[text] if text in counted else self._tokens[text] for text in texts]

    def terms_of(self, name: str, title: str, passages: Sequence[Passage]) -> list[list[str]]:
        """See `embedding.terms_of`."""
        return terms_of(name, title, passages, self._terms, remember=self.drafting)
