"""The documents of a larger library in several files: a version shares those that did not change with the version before.

A document that is added makes a small file, and small neighbours are joined now and then. Where one is changed or deleted, the file that
lists it is written anew. So a change costs what it touches, and not the whole list. A file is named by its checksum, is never changed, and
goes with the last version that names it. The documents of a small library stand in the manifest itself, and it has no such file.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import chain
from pathlib import Path

from rag_core.errors import LibraryDamaged, RagError
from rag_core.library.disk.files import damaged, read_verified, stamp, verify_file, write_atomically
from rag_core.library.stored.manifest import Entry, Head, ListFile, entries_from_json, entry_to_json

MIN_DOCUMENTS = 64  # so many stand in the manifest, and neighbours of so many together are joined: 100 KB; chosen
MAX_DOCUMENTS = 512  # in a file: where one of them changes .8 MB are written; chosen

Entries = tuple[Entry, ...]


class Lists:
    """The files that list the documents of a collection. Those of the version that was read or written last are kept in memory."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._known: dict[str, tuple[ListFile, Entries]] = {}  # by checksum

    def entries(self, head: Head, path: Path) -> Entries:
        """The documents of a version, whose manifest is `path`. A file that is in memory is not read again.

        Raises:
            LibraryDamaged: a file is missing or was changed.
        """
        return entries_from_json(head.rows, path) + tuple(chain.from_iterable(map(self.listed, head.lists)))

    def whole(self, head: Head, path: Path) -> tuple[Entries, int]:
        """The documents that can be read, and how many cannot."""
        found: list[Entries] = []
        with suppress(LibraryDamaged):
            found.append(entries_from_json(head.rows, path))
        for file in head.lists:
            with suppress(LibraryDamaged):
                found.append(self.listed(file))
        return tuple(chain.from_iterable(found)), head.documents - sum(map(len, found))

    def keep(self, files: Sequence[ListFile], entries: Entries) -> None:
        """Keep in memory what the newest version's files list."""
        known, at = {}, 0
        for file in files:
            known[file.stamp.sha256] = file, entries[at : at + file.documents]
            at += file.documents
        self._known = known

    @contextmanager
    def written(self, entries: Entries, in_force: Callable[[], bool]) -> Iterator[tuple[ListFile, ...]]:
        """The files of a version with these documents; those that are not there are written. None for a few documents.

        One that is shared with the version before is compared with its checksum; where it was damaged meanwhile, it is written anew from
        memory, under its name, so that the versions before have it again too.

        Where the version does not come into force, what was written for it is deleted: the room is needed for what comes next.

        Raises:
            OSError: the disk refused. So is an error of ours in the block handed on.
        """
        fresh: list[Path] = []
        known = {id(part): file for file, part in self._known.values()}
        groups = grouped(entries, [part for _, part in self._known.values()]) if len(entries) > MIN_DOCUMENTS else []
        try:
            files = tuple(
                self._shared(known[id(group)], group, fresh) if id(group) in known else self._put(group, fresh) for group in groups
            )
            yield files
        except (OSError, RagError):
            with suppress(RagError):
                if not in_force():
                    for path in fresh:
                        path.unlink(missing_ok=True)
            raise
        self.keep(files, entries)

    def listed(self, file: ListFile) -> Entries:
        """The documents in a file.

        Raises:
            LibraryDamaged: it is missing or was changed.
        """
        known = self._known.get(file.stamp.sha256)
        if known is not None:
            return known[1]
        path = self._root / file.name
        data = read_verified(path, file.stamp)
        try:
            entries = entries_from_json(json.loads(data), path)
        except (ValueError, RecursionError) as error:
            raise damaged(path, "is not a list of documents") from error
        if len(entries) != file.documents:
            raise damaged(path, "is not a list of documents")
        return entries

    def _shared(self, file: ListFile, entries: Entries, fresh: list[Path]) -> ListFile:
        with suppress(LibraryDamaged):
            verify_file(self._root / file.name, file.stamp)
            return file
        written: list[Path] = []
        healed = self._put(entries, written)
        if healed != file:  # else it is not this version's alone: it stays, whatever comes
            fresh += written
        return healed

    def _put(self, entries: Entries, fresh: list[Path]) -> ListFile:
        rows = [entry_to_json(entry, short=True) for entry in entries]
        data = json.dumps(rows, ensure_ascii=False, separators=(",", ":")).encode()
        file = ListFile.of(entries, stamp(data))
        path = self._root / file.name
        with suppress(LibraryDamaged):
            verify_file(path, file.stamp)  # an older version has it too, or a killed process wrote it
            return file
        fresh.append(path)
        write_atomically(path, data)
        return file


def grouped(entries: Entries, known: Iterable[Entries]) -> list[Entries]:
    """The documents of each file, in order: known groups as long as they are the same, and what is new between them."""
    starts = {id(group[0]): group for group in known}
    pieces: list[Entries] = []
    at = begun = 0
    while at < len(entries):
        group = starts.get(id(entries[at]))
        if group is None or entries[at : at + len(group)] != group:
            at += 1
            continue
        pieces += [*_cut(entries[begun:at]), group]
        at = begun = at + len(group)
    groups: list[Entries] = []
    for piece in chain(pieces, _cut(entries[begun:])):
        groups.append(piece)
        while len(groups) > 1 and _are_joined(*map(len, groups[-2:])):
            groups[-2:] = [groups[-2] + groups[-1]]
    return groups


def _cut(entries: Entries) -> Iterator[Entries]:
    return (entries[at : at + MAX_DOCUMENTS] for at in range(0, len(entries), MAX_DOCUMENTS))


def _are_joined(before: int, last: int) -> bool:
    """Neighbours of about one size: so a document is listed anew a few times, and not with every other one."""
    return before + last <= MIN_DOCUMENTS or (before < 2 * last and before + last <= MAX_DOCUMENTS)
