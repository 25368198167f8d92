"""The word index of a library that needs no server: counts of terms, kept in the library's file segment by segment."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rag_core.adapters.index.terms import Terms
from rag_core.adapters.index.words import K1, B, Bm25Index, WordSegment
from rag_core.domain.ports import LexicalIndex, LexicalPart
from rag_core.errors import LibraryDamaged

__all__ = ["K1", "B", "Bm25Index", "Bm25Store"]

# the arrays of a segment, one behind another: those of `Terms`, then those of `WordSegment`
ARRAYS = (
    ("blob", np.uint8),
    ("ends", np.int64),
    ("starts", np.int64),
    ("rows", np.int32),
    ("counts", np.int32),
    ("lengths", np.int32),
)


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
        """A segment as bytes: the length of each array, then the arrays."""
        assert isinstance(part, WordSegment)
        assert isinstance(part.columns, Terms)
        arrays = [
            np.ascontiguousarray(getattr(part.columns if at < 2 else part, name), kind)
            for at, (name, kind) in enumerate(ARRAYS)
        ]
        return b"".join(
            [np.array([len(one) for one in arrays], np.int64).tobytes(), *(one.tobytes() for one in arrays)]
        )

    def unpacked(self, data: memoryview) -> WordSegment:
        """The segment that `packed` was given.

        Raises:
            LibraryDamaged: the bytes are none.
        """
        try:
            at, arrays = 8 * len(ARRAYS), []
            for length, (_, kind) in zip(np.frombuffer(data, np.int64, len(ARRAYS)).tolist(), ARRAYS, strict=True):
                arrays.append(np.frombuffer(data, kind, length, at).copy())  # aligned, and free of the other bytes
                at += length * np.dtype(kind).itemsize
            return WordSegment(Terms(*arrays[:2]), *arrays[2:])
        except (ValueError, TypeError) as error:
            raise LibraryDamaged(
                "The word index cannot be read.", remedy="Rebuild the library from its stored sources."
            ) from error

    def joined(self, parts: Sequence[LexicalPart]) -> Bm25Index:
        """The index of these segments, one behind another."""
        return Bm25Index([one for one in parts if isinstance(one, WordSegment)]) if parts else self.build([])
