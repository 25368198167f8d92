"""An index in segments: one that follows shares those that did not change with the one before.

A document that is added makes a small segment, and small neighbours are joined now and then. Where one is deleted, the
segment that held it is made anew without it. So a change costs what it touches, and not the whole library.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Sized
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, Generic, TypeVar

MIN_ROWS = 4_096  # neighbours of so many passages together are joined: 6 MB of vectors of 384 numbers; chosen
MAX_ROWS = 65_536  # in a segment: deleting one document copies 100 MB of vectors at most; chosen

S = TypeVar("S", bound=Sized)
New = TypeVar("New", bound=Sized)  # new rows; a slice of them is of the same kind


@dataclass(frozen=True, slots=True)
class Cut(Generic[S]):
    """Rows of a segment that is there."""

    segment: S
    rows: range

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def is_whole(self) -> bool:
        return len(self.rows) == len(self.segment)


def offsets(segments: Iterable[Sized]) -> list[int]:
    """The first row of each segment, and behind them the number of all rows."""
    return [0, *accumulate(map(len, segments))]


def planned(segments: Sequence[S], pieces: Iterable[range | New], most: int) -> list[list[Cut[S] | New]]:
    """The parts of each segment of the next index, with `most` rows; pieces are rows of this one, or new."""
    groups: list[list[Cut[S] | New]] = []
    sizes: list[int] = []
    for part in _parts(segments, pieces, most):
        groups.append([part])
        sizes.append(len(part))
        while len(sizes) > 1 and _are_joined(sizes[-2], sizes[-1], most):
            groups[-2:] = [groups[-2] + groups[-1]]
            sizes[-2:] = [sum(sizes[-2:])]
    return groups


def _are_joined(before: int, last: int, most: int) -> bool:
    """Neighbours of about one size: so a row is written anew a few times, and not with every document."""
    return before + last <= MIN_ROWS or (before < 2 * last and before + last <= most)


def _parts(segments: Sequence[S], pieces: Iterable[range | New], most: int) -> Iterator[Cut[S] | New]:
    firsts = offsets(segments)
    for piece in pieces:
        if not isinstance(piece, range):
            new: Any = piece
            yield from (new[at : at + most] for at in range(0, len(new), most))
            continue
        for segment, first in zip(segments, firsts, strict=False):
            rows = range(max(piece.start, first) - first, min(piece.stop - first, len(segment)))
            if rows:
                yield Cut(segment, rows)
