"""The word index of a library that needs no server: counts of terms, kept in the library's file segment by segment."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO

import numpy as np

from rag_core.adapters.index.terms import Terms
from rag_core.adapters.index.words import K1, B, Bm25Index, WordSegment
from rag_core.domain.ports import LexicalIndex, LexicalPart
from rag_core.errors import LibraryDamaged

__all__ = ["K1", "B", "Bm25Index", "Bm25Store"]

ARRAYS = 6  # a segment has so many: those of its `Terms`, then those of `WordSegment`


class Bm25Store:
    """A `LexicalStore` of `Bm25Index`."""

    def build(self, terms: Sequence[Sequence[str]]) -> Bm25Index:
        """An index over the terms of each passage, in row order."""
        return Bm25Index.of(terms)

    def spliced(self, index: LexicalIndex, pieces: Sequence[range | Sequence[Sequence[str]]]) -> Bm25Index:
        """See `LexicalStore.spliced`."""
        assert isinstance(index, Bm25Index)
        return index.spliced(pieces)

    def parts(self, index: LexicalIndex) -> Sequence[WordSegment]:
        """The segments of an index."""
        assert isinstance(index, Bm25Index)
        return [one for one in index.segments if len(one)]

    def packed(self, part: LexicalPart) -> bytes:
        """A segment as its arrays one behind another, each in NumPy's own form."""
        assert isinstance(part, WordSegment)
        assert isinstance(part.columns, Terms)
        file = BytesIO()
        for one in (part.columns.blob, part.columns.ends, part.starts, part.rows, part.counts, part.lengths):
            np.save(file, one, allow_pickle=False)
        return file.getvalue()

    def unpacked(self, data: memoryview) -> WordSegment:
        """The segment that `packed` was given.

        Raises:
            LibraryDamaged: the bytes are none.
        """
        file = BytesIO(data)
        try:
            blob, ends, *others = [np.load(file, allow_pickle=False) for _ in range(ARRAYS)]
        except (ValueError, EOFError, OSError) as error:
            raise LibraryDamaged(
                "The word index cannot be read.", remedy="Rebuild the library from its stored sources."
            ) from error
        return WordSegment(Terms(blob, ends), *others)

    def joined(self, parts: Sequence[LexicalPart]) -> Bm25Index:
        """The index of these segments, one behind another."""
        return Bm25Index([one for one in parts if isinstance(one, WordSegment)]) if parts else self.build([])
