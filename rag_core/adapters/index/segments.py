"""An index of FAISS or of words in segments: a version shares the files of those that did not change with the version before.

A document that is added makes a small segment, and small neighbours are joined now and then. Where one is deleted, the segment that held
it is written anew without it. So a change costs what it touches, and not the whole library. A small library is one segment, in the
version's folder itself; of a larger one each has a folder of its own there. A file that is shared is one file with a name in both folders
(a hard link): a version still is a folder, and a deleted document is gone with the last version that had it.
"""

from __future__ import annotations

import io
import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from contextlib import suppress
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from rag_core.library.disk.files import identity
from rag_core.library.disk.private import make_folder, write

MIN_ROWS = 4_096  # neighbours of so many passages together are joined: 6 MB of vectors of 384 numbers; chosen
MAX_ROWS = 65_536  # in a segment: deleting one document writes 100 MB of vectors anew at most; chosen
MAPPED_BYTES = 1 << 22  # 4 MiB: a larger file is mapped into memory and not read; chosen


class Segment(Protocol):
    """Some consecutive rows of an index."""

    kept: Kept | None

    def __len__(self) -> int:
        """How many rows."""
        ...


S = TypeVar("S", bound=Segment)
New = TypeVar("New", bound=Sized)  # new rows; a slice of them is of the same kind


@dataclass(frozen=True, slots=True)
class Kept:
    """The folder that a segment was written into, and each of its files by name, with what tells it from another one of that name.

    `before` is the folder that shared these files with it: where a version does not come into force, its folder goes again.
    """

    folder: Path
    files: dict[str, tuple[int, int, int]]
    before: Path | None = None

    @classmethod
    def of(cls, folder: Path, names: Iterable[str]) -> Kept:
        """The files as they are now."""
        return cls(folder, {name: identity(folder / name) for name in names})

    def shared(self, folder: Path) -> Kept | None:
        """The same files, which `folder` has names for from now on; None where they are gone, or the disk gives no file two names."""
        for known in filter(None, (self.folder, self.before)):
            try:
                for name in self.files:
                    os.link(known / name, folder / name)
                if Kept.of(folder, self.files).files == self.files:
                    return Kept(folder, self.files, known)
            except OSError:
                pass
            for name in self.files:
                with suppress(OSError):
                    (folder / name).unlink()
        return None


@dataclass(frozen=True, slots=True)
class Cut(Generic[S]):
    """Rows of a segment that is there."""

    segment: S
    rows: range

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def is_whole(self) -> bool:
        """Whether these are all of its rows."""
        return len(self.rows) == len(self.segment)


def offsets(segments: Iterable[Segment]) -> list[int]:
    """The first row of each segment, and behind them the number of all rows."""
    return [0, *accumulate(map(len, segments))]


def planned(segments: Sequence[S], pieces: Iterable[range | New]) -> list[list[Cut[S] | New]]:
    """The parts that each segment of the next version is made of. Pieces are rows of this one, or new."""
    groups: list[list[Cut[S] | New]] = []
    sizes: list[int] = []
    for part in _parts(segments, pieces):
        groups.append([part])
        sizes.append(len(part))
        while len(sizes) > 1 and _are_joined(*sizes[-2:]):
            groups[-2:] = [groups[-2] + groups[-1]]
            sizes[-2:] = [sum(sizes[-2:])]
    return groups


def _are_joined(before: int, last: int) -> bool:
    """Neighbours of about one size: so a row is written anew a few times, and not with every document."""
    return before + last <= MIN_ROWS or (before < 2 * last and before + last <= MAX_ROWS)


def _parts(segments: Sequence[S], pieces: Iterable[range | New]) -> Iterator[Cut[S] | New]:
    firsts = offsets(segments)
    for piece in pieces:
        if not isinstance(piece, range):
            new: Any = piece
            yield from (new[at : at + MAX_ROWS] for at in range(0, len(new), MAX_ROWS))
            continue
        for segment, first in zip(segments, firsts, strict=False):
            rows = range(max(piece.start, first) - first, min(piece.stop - first, len(segment)))
            if rows:
                yield Cut(segment, rows)


def save(segments: Sequence[S], folder: Path, name: str, files: Iterable[str], put: Callable[[S, Path], None]) -> None:
    """Write the segments of an index, or give the files that are there further names; there is at least one.

    Args:
        segments: of the index.
        folder: of the version.
        name: of the kind of index: no other one in the folder has it.
        files: names of a segment's files; one may have fewer.
        put: writes them into a folder.

    Raises:
        OSError: the disk or the permissions refused.
    """
    places = [folder]
    if len(segments) > 1:
        write(_head(folder, name), json.dumps({"rows": [len(segment) for segment in segments]}).encode())
        places = [folder / f"{name}.{number}" for number in range(len(segments))]
    for segment, place in zip(segments, places, strict=True):
        make_folder(place)
        shared = segment.kept.shared(place) if segment.kept else None
        if shared is None:
            put(segment, place)
        segment.kept = shared or Kept.of(place, (file for file in files if (place / file).exists()))


def load(folder: Path, name: str, files: Iterable[str], get: Callable[[Path], S]) -> list[S]:
    """Read the segments back.

    Raises:
        OSError, ValueError, KeyError, TypeError: a file is missing, or they do not belong together.
    """
    places, rows = [folder], None
    if _head(folder, name).exists():
        rows = json.loads(_head(folder, name).read_bytes())["rows"]
        places = [folder / f"{name}.{number}" for number in range(len(rows))]
    found = [get(place) for place in places]
    if rows is not None and [len(segment) for segment in found] != rows:
        raise ValueError("its segments do not belong together")
    for segment, place in zip(found, places, strict=True):
        segment.kept = Kept.of(place, (file for file in files if (place / file).exists()))
    return found


def is_mapped(path: Path) -> bool:
    """Whether a file is so large that it is mapped into memory: the system reads what is asked for, and may let go of it again."""
    return path.stat().st_size >= MAPPED_BYTES


def _head(folder: Path, name: str) -> Path:
    return folder / f"{name}.segments.json"


def put_array(array: NDArray[Any], path: Path) -> None:
    """Write an array in NumPy's format (not pickle).

    Raises:
        OSError: the disk or the permissions refused.
    """
    packed = io.BytesIO()
    np.save(packed, array, allow_pickle=False)
    write(path, packed.getbuffer())
