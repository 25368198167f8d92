"""The terms of a segment of words, each with its number: sorted, as one run of bytes that may stay on disk and be
searched there.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping

import numpy as np
from numpy.typing import NDArray


class Terms(Mapping[str, int]):
    """The number of each term, from 0, in the order of their code points.

    Args:
        blob: the terms in UTF-8, one behind the other, shape (bytes,).
        ends: where each of them ends, shape (terms,).
    """

    def __init__(self, blob: NDArray[np.uint8], ends: NDArray[np.int64]) -> None:
        self.blob, self.ends = blob, ends
        # many times as fast as arrays, item by item
        self._bytes, self._ends = (
            np.asarray(blob).data,
            np.asarray(ends).data,
        )

    @classmethod
    def of(cls, terms: Iterable[str]) -> Terms:
        """Of these, which are sorted."""
        packed = [_packed(term) for term in terms]
        return cls(np.frombuffer(b"".join(packed), np.uint8), np.cumsum([len(one) for one in packed], dtype=np.int64))

    def __getitem__(self, term: str) -> int:
        wanted = _packed(term)
        at = bisect_left(range(len(self)), wanted, key=self._at)
        if at == len(self) or self._at(at) != wanted:
            raise KeyError(term)
        return at

    def __iter__(self) -> Iterator[str]:
        return (self._at(number).decode("utf-8", "surrogatepass") for number in range(len(self)))

    def __len__(self) -> int:
        return len(self._ends)

    def _at(self, number: int) -> bytes:
        return bytes(self._bytes[self._ends[number - 1] if number else 0 : self._ends[number]])


def _packed(term: str) -> bytes:
    return term.encode("utf-8", "surrogatepass")  # half a character, which a broken file may hold, has an order too
