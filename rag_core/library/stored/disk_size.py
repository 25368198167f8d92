"""The bytes that a collection takes on disk. Asked each time that a page is drawn: what cannot have changed is not looked at again."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

_SETTLED = ("documents", "sources")  # what they hold is named by its content, and comes and goes as a whole


class DiskSize:
    """Of the collection in a folder. Safe to share between threads."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._known: dict[str, int] = {}  # bytes of each document's folder and each source

    def bytes(self) -> int:
        """The sizes of all files, added up. What versions share counts once."""
        if any(self._root.glob("damaged-*")):  # a repair gave sources a second name
            return sum(_sizes([str(self._root)]).values())
        there = [f"{folder}/{name}" for folder in _SETTLED for name in _names(self._root / folder)]
        known = {name: self._known[name] if name in self._known else self._size(name) for name in there}
        self._known = known
        rest = [name for name in _names(self._root) if name not in _SETTLED]
        return sum(known.values()) + sum(_sizes(str(self._root / name) for name in rest).values())

    def _size(self, name: str) -> int:
        return sum(_sizes([str(self._root / name)]).values())


def _sizes(paths: Iterable[str]) -> dict[int, int]:
    """The size of each file below these files and folders, by its number on disk."""
    sizes: dict[int, int] = {}
    for path in paths:
        below = (os.path.join(folder, name) for folder, _, names in os.walk(path) for name in names)
        for file in below if os.path.isdir(path) else [path]:
            with suppress(OSError):  # cleared away meanwhile
                found = os.stat(file)
                sizes[found.st_ino] = found.st_size
    return sizes


def _names(folder: Path) -> list[str]:
    with suppress(OSError):
        return os.listdir(folder)
    return []
