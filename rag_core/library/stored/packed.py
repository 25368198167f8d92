"""The passages of a version, which are unpacked when they are asked for. To open a library unpacks none.

A question to a large library asks for one passage of each of many documents: of a document only that one is made. When
a second one is asked for, all of them are.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate, chain
from typing import Any, overload

import numpy as np

from rag_core.domain.passages import Passage
from rag_core.errors import LibraryDamaged
from rag_core.library.disk.files import REBUILD
from rag_core.library.stored.stored_json import passages_from_json, unpack


class Packed(Sequence[Passage]):
    """The passages of one document, as they stand on disk until one is asked for. Safe to share between threads."""

    def __init__(self, data: bytes, count: int, document: str) -> None:
        """`data` holds `count` passages, at least 1."""
        self._data, self._count, self._document = data, count, document
        self._first: tuple[int, Passage] | None = None  # the one that was asked for first
        self._all: tuple[Passage, ...] | None = None

    @property
    def document(self) -> str:
        return self._document

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, row: int) -> Passage: ...
    @overload
    def __getitem__(self, row: slice) -> tuple[Passage, ...]: ...
    def __getitem__(self, row: int | slice) -> Passage | tuple[Passage, ...]:
        if isinstance(row, slice) or self._all is not None or self._count == 1:
            return self._passages[row]
        at, first = range(self._count)[row], self._first
        if first is None:
            first = self._first = at, passages_from_json(self._rows()[at : at + 1])[0]
        return first[1] if first[0] == at else self._passages[at]

    def __iter__(self) -> Iterator[Passage]:
        return iter(self._passages)

    @property
    def _passages(self) -> tuple[Passage, ...]:
        if self._all is None:
            self._all = passages_from_json(self._rows())
        return self._all

    def _rows(self) -> Sequence[Sequence[Any]]:
        rows: Sequence[Sequence[Any]] = unpack(self._data)
        if len(rows) != self._count:
            raise LibraryDamaged(f"A document has {len(rows)} passages, and should have {self._count}.", remedy=REBUILD)
        return rows


class Passages(Sequence[Passage]):
    """All passages in the row order of the indexes, document by document."""

    def __init__(self, groups: Sequence[Sequence[Passage]]) -> None:
        """`groups` are the passages of each document, at least one of each."""
        self.groups = tuple(groups)
        self._ends = list(accumulate(map(len, self.groups)))

    @property
    def ranges(self) -> list[range]:
        return [range(end - len(group), end) for group, end in zip(self.groups, self._ends, strict=True)]

    def documents(self, rows: Sequence[int]) -> set[str]:
        """The ids of the documents that these rows are of; no passage is unpacked for it."""
        numbers = np.unique(np.searchsorted(self._ends, np.asarray(rows, dtype=np.int64), side="right"))
        groups = [self.groups[number] for number in numbers.tolist()]
        return {group.document if isinstance(group, Packed) else group[0].document for group in groups}

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    @overload
    def __getitem__(self, row: int) -> Passage: ...
    @overload
    def __getitem__(self, row: slice) -> tuple[Passage, ...]: ...
    def __getitem__(self, row: int | slice) -> Passage | tuple[Passage, ...]:
        if isinstance(row, slice):
            return tuple(self[one] for one in range(*row.indices(len(self))))
        at = range(len(self))[row]  # from the end, or an IndexError
        number = bisect_right(self._ends, at)
        return self.groups[number][at - self._ends[number]]  # counted from the group's end

    def __iter__(self) -> Iterator[Passage]:
        return chain.from_iterable(self.groups)


def documents_of(passages: Sequence[Passage], rows: Sequence[int]) -> set[str]:
    return passages.documents(rows) if isinstance(passages, Passages) else {passages[row].document for row in rows}
