"""A collection on disk: where its files lie, and how a version is published, loaded and cleared away.

    <collection>/CURRENT                     which version is the newest: its number and its manifest's checksum
    <collection>/manifests/<version>.json    the files of a version with their checksums, and what it was built with
    <collection>/lists/<checksum>.json       some of a larger library's documents; see lists.py
    <collection>/indexes/<name>/             vector and word index of a version
    <collection>/documents/<key>/            pages, layout, passages, vectors and terms of a document, named by content
    <collection>/sources/<digest>            the bytes as they were handed in; see stored_sources.py
    <collection>/inbox.json, work/           what was accepted but is not complete; see inbox.py and indexing.py
    <collection>/title.txt                   its name as a person wrote it; see titles.py
    <collection>/reserve                     room for a deletion on a full disk; see room.py
    <collection>/deleting.json               says that a deletion is under way; see deletion.py
    <collection>/lock, lock.json             the writer's lock, and who holds it
    <collection>/records.sqlite              decisions, labels and feedback; see adapters/record_store.py
    <collection>/model_cache.sqlite          answers of language models; see adapters/model_cache.py

Nothing that a manifest names is ever changed: CURRENT alone is replaced, after all that it leads to is on the disk.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np

from rag_core.domain.passages import Passage
from rag_core.domain.ports import LexicalStore, VectorIndex, VectorStore
from rag_core.errors import LibraryDamaged, LibraryError, RagError
from rag_core.library.disk.files import (
    Stamp,
    damaged,
    identity,
    names_in,
    nothing,
    read_verified,
    stamp,
    sync,
    unpack,
    vectors_in,
    verify_file,
    write_atomically,
)
from rag_core.library.disk.room import keep_reserve
from rag_core.library.stored import stored_sources
from rag_core.library.stored.disk_size import DiskSize
from rag_core.library.stored.lists import Lists
from rag_core.library.stored.manifest import LISTS, Entry, Head, Manifest
from rag_core.library.stored.named import require_name
from rag_core.library.stored.needed import Needed
from rag_core.library.stored.packed import Packed, Passages
from rag_core.library.stored.snapshot import Snapshot
from rag_core.library.stored.stored_json import passages_from_json
from rag_core.library.stored.stored_pages import PageReader

PASSAGES, VECTORS = "passages.json.gz", "vectors.npy"
NOTHING_YET = (0, "")  # what CURRENT says until the first manifest stands
READ_ATTEMPTS = 5  # a version may be cleared away by another process while it is read; the next one is then tried
KEPT_VERSIONS = 3  # the newest and two before it: a reader of another process may still hold those


# deletes what a version's indexes keep outside of their folder, and raises a RagError where it cannot
ForgetRows = Callable[[Path], None]


def nothing_outside(folder: Path) -> None:
    """All of a version's indexes is in its folder."""


class Store:
    """The files of one collection below `folder`. Creates nothing until something is written.

    Raises:
        InvalidInput: the collection's name is not `[a-z0-9_-]{1,64}`.
    """

    def __init__(
        self, folder: Path, collection: str, vectors: VectorStore, lexical: LexicalStore, forget_rows: ForgetRows = nothing_outside
    ) -> None:
        require_name(collection)
        self._forget_rows = forget_rows
        self.root = folder / collection
        self.reader = PageReader(self.root)
        self.vectors = vectors
        self.lexical = lexical
        self._newest: tuple[tuple[int, str], Manifest] | None = None
        self.lists = Lists(self.root)
        self.disk_size = DiskSize(self.root)
        self._needed = Needed(self.lists)
        self._verified: dict[tuple[int, int, int], Stamp] = {}  # files of indexes that were compared, of the newest version

    def pointer(self) -> tuple[int, str]:
        """The newest version and its manifest's SHA-256; (0, "") when nothing was published.

        Raises:
            LibraryDamaged: CURRENT is missing or not what was written.
        """
        path = self.root / "CURRENT"
        try:
            row = json.loads(path.read_bytes())
            version, sha256 = int(row["generation"]), str(row["sha256"])
        except (FileNotFoundError, NotADirectoryError) as error:
            if any((self.root / "manifests").glob("*.json")):  # `publish` writes CURRENT before the first of them
                raise damaged(path, "is missing") from error
            return NOTHING_YET
        except OSError as error:
            raise damaged(path, f"cannot be read ({error.strerror})") from error
        except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
            raise damaged(path, "does not name a version") from error
        if version < 1 and (version, sha256) != NOTHING_YET:
            raise damaged(path, "does not name a version")
        return version, sha256

    def head(self) -> Head | None:
        """The newest manifest without its documents; None when nothing was published.

        Raises:
            LibraryDamaged: it is missing or was changed.
        """
        version, sha256 = self.pointer()
        return self._head(version, sha256) if version else None

    def manifest(self, *, known: bool = False) -> Manifest | None:
        """The newest manifest; None when nothing was published. One that is `known` since it was read or written here is not read again.

        Raises:
            LibraryDamaged: it, or a list that it names, is missing or was changed.
        """
        for _ in range(READ_ATTEMPTS):
            newest = self.pointer()
            if not newest[0]:
                return None
            if known and self._newest and self._newest[0] == newest:
                return self._newest[1]
            try:
                return self._manifest(newest)
            except LibraryDamaged:
                if self.pointer() == newest:
                    raise
        return self._manifest(self.pointer())

    def _manifest(self, newest: tuple[int, str]) -> Manifest:
        head = self._head(*newest)
        manifest = replace(head.bare, entries=self.lists.entries(head, self._path(newest[0])))
        self.lists.keep(head.lists, manifest.entries)
        self._newest = newest, manifest
        return manifest

    def _head(self, version: int, sha256: str) -> Head:
        path = self._path(version)
        try:
            data = path.read_bytes()
        except OSError as error:
            raise damaged(path, f"cannot be read ({error.strerror})") from error
        if stamp(data).sha256 != sha256:
            raise damaged(path, "was changed or cut short")
        return Head.from_bytes(data, path)

    def _path(self, version: int) -> Path:
        return self.root / f"manifests/{version}.json"

    def load(self, manifest: Manifest, known: Mapping[str, Sequence[Passage]]) -> Snapshot:
        """The version as a snapshot; its indexes and passages are compared with their checksums first.

        `known` are passages already in memory, by key; they are not read again. Nor are files of the indexes that were compared here, and
        stay as they were in the version before. Pages are compared when they are read.

        Raises:
            LibraryDamaged: a file is missing or was changed.
        """
        verified: dict[tuple[int, int, int], Stamp] = {}
        for name, expected in (manifest.files or {}).items():
            with suppress(FileNotFoundError):
                found = identity(self.root / name)
                verified[found] = expected
                if self._verified.get(found) == expected:
                    continue
            verify_file(self.root / name, expected)
        self._verified = verified
        folder = self.root / "indexes" / manifest.index
        vectors = self.vectors.load(folder) if manifest.entries else self.no_vectors()  # an empty library may have been another store's
        dim = vectors.vectors([0]).shape[1] if manifest.entries else 0
        return Snapshot(
            manifest.version,
            Passages([known.get(entry.key) or self.passages(entry, dim) for entry in manifest.entries]),
            vectors,
            self.lexical.load(folder) if manifest.entries else self.lexical.build([]),
            manifest.entries,
            self.reader,
        )

    def no_vectors(self) -> VectorIndex:
        """The vector index of an empty library."""
        return self.vectors.build(np.zeros((0, 0), dtype=np.float32))

    def passages(self, entry: Entry, dim: int = 0) -> Sequence[Passage]:
        """A document's passages; packed, where the size of its vectors says how many there are. `dim` is that of a vector; 0 is unknown.

        Raises:
            LibraryDamaged: the file is missing or was changed.
        """
        name = f"documents/{entry.key}/{PASSAGES}"
        path = f"{self.root}/{name}"
        data = read_verified(path, entry.files[name])
        count = vectors_in(entry.files[f"documents/{entry.key}/{VECTORS}"].size, dim)
        if count:
            return Packed(data, count, entry.document.id, path)
        return passages_from_json(unpack(data, Path(path)), entry.document.id)

    def read(self, name: str, expected: Stamp) -> bytes:
        """A file of the collection, compared with its stamp.

        Raises:
            LibraryDamaged: it is missing or was changed.
        """
        return read_verified(self.root / name, expected)

    def verify(self, manifest: Manifest) -> None:
        """Compare every file of the newest version with its checksum, also the lists that are in memory.

        Raises:
            LibraryDamaged: one is missing or was changed.
        """
        head = self.head()
        for file in head.lists if head else ():
            verify_file(self.root / file.name, file.stamp)
        sources = {stored_sources.name_of(entry.source): entry.source for entry in manifest.entries}
        for name, expected in manifest.all_files().items():
            path = self.root / name
            if name not in sources:
                verify_file(path, expected)
            else:
                stored_sources.check(self.root, sources[name])

    def publish(self, manifest: Manifest, last: Callable[[], None] = nothing) -> None:
        """Make this version the newest. Everything that it names must be on the disk already.

        `last` is called when nothing more has to be written; where it raises, the version before stays the newest.
        """
        if not (self.root / "CURRENT").exists():
            self._point_to(*NOTHING_YET)  # so that a manifest without it is damage, not a beginning
        path = self._path(manifest.version)
        with self.lists.written(manifest.entries, lambda: self.pointer()[0] == manifest.version) as lists:
            data = manifest.to_bytes(lists)
            write_atomically(path, data)
            self._needed.note(path, manifest, lists)
            try:
                self._point_to(manifest.version, stamp(data).sha256, last)
            except (OSError, RagError):
                with suppress(RagError):
                    if self.pointer()[0] != manifest.version:
                        path.unlink(missing_ok=True)
                raise
        self._newest = (manifest.version, stamp(data).sha256), manifest

    def _point_to(self, version: int, sha256: str, last: Callable[[], None] = nothing) -> None:
        write_atomically(self.root / "CURRENT", json.dumps({"generation": version, "sha256": sha256}).encode(), last=last)

    def clear(
        self,
        newest: int,
        live: Collection[int],
        unfinished: Collection[str],
        kept: int = KEPT_VERSIONS,
        *,
        insist: bool = False,
        half_made: bool = True,
    ) -> bool:
        """Delete what no kept version names and no unfinished source (by digest) needs; whether all of it is gone.

        Kept are the newest so many versions and the `live` ones. Without `half_made` an unfinished source keeps its bytes alone, and not
        what was made of it. What cannot be deleted now is tried again next time.

        Raises:
            RagError: it has to be deleted now (`insist`), and rows outside of the folder cannot be.
        """
        stay: list[Path] = []
        for path in (self.root / "manifests").glob("*.json"):
            version = int(path.stem) if path.stem.isdecimal() else 0
            if version in live or newest - kept < version <= newest:  # a newer one was never put in force: its process was killed
                stay.append(path)
            else:
                path.unlink(missing_ok=True)
        needed, gone = self._needed.by(stay), True
        for folder in ("indexes", "documents", "sources", LISTS, "work"):
            waited_for = unfinished if half_made or folder == "sources" else ()
            for name in names_in(self.root / folder):
                if f"{folder}/{name}" not in needed and name.split("-")[0] not in waited_for:
                    with suppress(*(() if insist else (RagError,))):
                        self.remove(self.root / folder / name)
                    gone = gone and not os.path.lexists(self.root / folder / name)
        return gone

    def keep_reserve(self, newest: Manifest) -> None:
        """Keep room for the next deletion on a disk that is full by then; as `rag_core.library.disk.room.keep_reserve`."""
        keep_reserve(self.root, newest.index_bytes)

    def remove(self, path: Path) -> None:
        """Delete a file or folder of the collection; before the indexes of a version, what they keep outside of it.

        Raises:
            RagError: that cannot be deleted now; the folder is still there then.
        """
        if path.parent.name == "indexes":
            self._forget_rows(path)
        _remove(path)

    def remembers(self, document_id: str) -> bool:
        """Whether a version that is kept has a document."""
        for path in (self.root / "manifests").glob("*.json"):
            with suppress(OSError, LibraryError):
                if any(entry.document.id == document_id for entry in self.lists.entries(Head.from_bytes(path.read_bytes(), path), path)):
                    return True
        return False


def sync_tree(folders: Iterable[Path]) -> None:
    """Wait until the files in these folders, the folders themselves and their parents are on the disk."""
    paths: set[Path] = set()
    for folder in folders:
        paths |= {folder, folder.parent, *folder.rglob("*")}
    sync(paths)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):
            path.unlink()
