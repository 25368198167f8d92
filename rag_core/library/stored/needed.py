"""The files and folders that the kept versions of a collection need; all others are cleared away."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from rag_core.errors import LibraryError
from rag_core.library.disk.files import identity
from rag_core.library.stored import stored_sources
from rag_core.library.stored.lists import Lists
from rag_core.library.stored.manifest import Entry, Head, ListFile, Manifest

_KEPT = 8  # manifests that are known without reading them again: those that stay, and some that a reader holds; chosen


class Needed:
    """Of a manifest or list that was looked at, or written, it is known without reading it again: neither ever changes."""

    def __init__(self, lists: Lists) -> None:
        self._lists = lists
        self._of_manifests: dict[tuple[str, int, int, int], tuple[frozenset[str], tuple[ListFile, ...]]] = {}
        self._of_lists: dict[str, frozenset[str]] = {}

    def note(self, path: Path, manifest: Manifest, lists: tuple[ListFile, ...]) -> None:
        """Note a version that was written to `path`; where `lists` are given, they have its documents."""
        self._note(path, manifest, () if lists else _needed_by(manifest.entries), lists)

    def by(self, manifests: Iterable[Path]) -> set[str]:
        """The files, and the folders two levels deep, that these versions need, relative to the collection's folder.

        A version, or a list, that cannot be read keeps nothing alive.
        """
        found: set[str] = set()
        lists: dict[str, ListFile] = {}
        for path in manifests:
            own, files = self._by_manifest(path)
            found |= own
            lists |= {file.name: file for file in files}
        self._of_lists = {name: self._by_list(file) for name, file in lists.items()}
        return found.union(lists, *self._of_lists.values())

    def _by_list(self, file: ListFile) -> frozenset[str]:
        known = self._of_lists.get(file.name)
        if known is None:
            known = frozenset()
            with suppress(LibraryError):
                known = frozenset(_needed_by(self._lists.listed(file)))
        return known

    def _by_manifest(self, path: Path) -> tuple[frozenset[str], tuple[ListFile, ...]]:
        with suppress(OSError, LibraryError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            key = (path.name, *identity(path))
            if key not in self._of_manifests:
                head = Head.from_bytes(path.read_bytes(), path)
                self._note(path, head.bare, (name for row in head.rows for name in row["files"]), head.lists)
            return self._of_manifests[key]
        return frozenset(), ()

    def _note(self, path: Path, manifest: Manifest, files: Iterable[str], lists: tuple[ListFile, ...]) -> None:
        own = frozenset("/".join(name.split("/")[:2]) for name in (f"indexes/{manifest.index}", *(manifest.files or ()), *files))
        known = [*self._of_manifests.items(), ((path.name, *identity(path)), (own, lists))]
        self._of_manifests = dict(known[-_KEPT:])


def _needed_by(entries: Iterable[Entry]) -> Iterator[str]:
    for entry in entries:
        yield f"documents/{entry.key}"
        yield stored_sources.name_of(entry.source)
